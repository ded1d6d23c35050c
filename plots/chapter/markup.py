"""Markdown as HTML. HTML in it is text: a tag is shown, and never made. The exceptions are the few elements that the
project's own pages and template.py write, each of one exact form.
"""

import re
import xml.etree.ElementTree as tree

import markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.preprocessors import Preprocessor

ANCHOR = r'<a id="([\w.-]+)"></a>'
NOTICE = r"<!-- (/?)notice -->"
BLOCKS = [re.compile(form, re.MULTILINE) for form in (
    r"^<!-- (?:figure|table): [\w.-]+ -->$", r"^<!-- /(?:figure|table) -->$",
    r'^<p class="formula">(?:[\w =]|</?(?:i|sub)>)+</p>$')]


class Own(Preprocessor):
    """Lines that stay as they are, each a block."""

    def run(self, lines):
        text = "\n".join(lines)
        for form in BLOCKS:
            text = form.sub(lambda match: f"\n\n{self.md.htmlStash.store(match[0])}\n\n", text)
        return text.split("\n")


class Anchor(InlineProcessor):
    def handleMatch(self, match, _):
        return tree.Element("a", {"id": match[1]}), match.start(), match.end()


class Mark(InlineProcessor):
    """A comment inside a paragraph, which page.py replaces."""

    def handleMatch(self, match, _):
        return self.md.htmlStash.store(match[0]), match.start(), match.end()


class OwnHtml(Extension):
    def extendMarkdown(self, md):
        md.preprocessors.deregister("html_block")
        md.inlinePatterns.deregister("html")
        md.preprocessors.register(Own(md), "own_html", 20)
        md.inlinePatterns.register(Anchor(ANCHOR, md), "own_anchor", 90)
        md.inlinePatterns.register(Mark(NOTICE, md), "own_mark", 89)


def to_html(text, *more, **configs):
    """The HTML of a text. more, configs: further extensions of the library, and their settings."""
    return markdown.markdown(text, extensions=["tables", "fenced_code", "sane_lists", *more, OwnHtml()],
                             extension_configs=configs)
