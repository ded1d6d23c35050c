"""Text from outside: cells of result files, paths, what programs and machines say. It is shown and never taken for
markup.

In the programs it is plain text. It is escaped once, where it enters what has a markup:

    markdown(text)     everything in chapter/ is Markdown. Rows and messages pass here where they come in
                       (chapter/data.py, chapter/template.py), and so no sentence or table has to think of it
    printable(text)    a message of one line, in which no code moves a cursor
    Terminal           what a program prints; run() of whole.py sees to it

Writers of other formats escape by themselves: matplotlib, json, csv (spreadsheet.py), xml and html.
A template library would not do: Jinja2 escapes for HTML, and a * or [ of a name would still be Markdown.
"""

import os
import re

MARKS = re.compile(r"[!-'*/:-@[-`{-~]")  # to Markdown and to HTML; + - . ( ) , have no meaning inside a line


def printable(value):
    """A text or a path on one line. Characters that move a cursor, end a line or cannot be shown are written as codes:
    \\x1b. So are bytes that are not UTF-8: \\xe9."""
    text = os.fspath(value) if isinstance(value, os.PathLike) else str(value)
    text = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return shown(text)


def shown(text, but=""):
    return "".join(c if c.isprintable() or c in but else c.encode("unicode_escape").decode() for c in text)


def markdown(text):
    """The text with its punctuation as entities, which have no meaning to Markdown and mean the same in HTML."""
    return MARKS.sub(lambda match: f"&#{ord(match[0])};", printable(text))


class Terminal:
    """A stream that shows what is printed to it, but for its line breaks, as printable() does."""

    def __init__(self, stream):
        self.stream = stream

    def write(self, text):
        self.stream.write(shown(text, "\n"))
        return len(text)

    def __getattr__(self, name):
        return getattr(self.stream, name)
