"""Text from outside: cells of result files, paths, what programs and machines say. It is shown and never taken for
markup.

Text(value) holds such a text. Its ASCII punctuation and its control characters are replaced by characters of a private
use area, one for one. No format gives those a meaning, so the text can be joined, cut, formatted and put into any
template. Whoever writes a file or a line for a person calls the one function of its format, once, for all that is
written. The function puts the characters back, escaped:

    in_markdown(text)    a .md file
    in_html(text)        HTML and SVG, in text and in attributes
    on_terminal(text)    what a program prints; run() of whole.py does it for every print
    revealed(text)       formats whose writers escape: spreadsheet.py, matplotlib, xml.etree, json

A text that nobody puts back shows the private characters. It is ugly and harmless. A file cannot forge them: they
become characters that are escaped.
"""

import html
import os
import re

FIRST = 0x10FF00  # the private character of U+0000
ASIDE = re.compile("[!-/:-@[-`{-~]|^ | (?=$| )")  # punctuation, and spaces that Markdown gives a meaning
HELD = re.compile(f"[{chr(FIRST)}-{chr(FIRST + 0x7f)}]")


def printable(value):
    """A text or a path on one line. Characters that move a cursor, end a line or cannot be shown are written as codes:
    \\x1b. So are bytes that are not UTF-8: \\xe9."""
    text = os.fspath(value) if isinstance(value, os.PathLike) else str(value)
    text = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() or HELD.match(c) else c.encode("unicode_escape").decode() for c in text)


class Text(str):
    """A text from outside, printable. It equals the plain text. A string that is made of it holds it in the same way.
    A text without punctuation is a string like any other."""
    def __new__(cls, value):
        text = printable(value)
        held = ASIDE.sub(lambda match: chr(FIRST + ord(match[0])), text)
        if held == text and not HELD.search(text):
            return text
        made = str.__new__(cls, held)
        made.plain = held.translate(AS_THEY_WERE)  # to compare millions of times
        return made

    def __eq__(self, other):
        if not isinstance(other, str):
            return NotImplemented
        return self.plain == (other.plain if isinstance(other, Text) else revealed(other))

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self.plain)


def put_back(escape):
    """A table of str.translate()."""
    return {FIRST + c: escape(chr(c)) for c in range(0x80)}


AS_THEY_WERE, ENTITIES, ESCAPED = put_back(str), put_back(lambda c: f"&#{ord(c)};"), put_back(html.escape)


def revealed(text):
    """With all characters as they were. For writers that escape, and for comparisons."""
    return text.translate(AS_THEY_WERE)


def in_markdown(text):
    """Entities have no meaning to Markdown, and mean the same in the HTML inside it."""
    return text.translate(ENTITIES)


def in_html(text):
    return text.translate(ESCAPED)


def on_terminal(text):
    """What a program prints. Its own line breaks stay."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in revealed(text))


class Terminal:
    """A stream that shows what is printed to it as on_terminal() does."""

    def __init__(self, stream):
        self.stream = stream

    def write(self, text):
        self.stream.write(on_terminal(text))
        return len(text)

    def __getattr__(self, name):
        return getattr(self.stream, name)
