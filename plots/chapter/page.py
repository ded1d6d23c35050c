"""The chapter as one HTML file that needs nothing else: style, figures, and what makes them explorable are inside
it."""

import html
import pathlib
import re

import explorables
import policy

from . import markup

STYLE = pathlib.Path(__file__).resolve().parent / "style.css"
TALL = 0.85  # height / width of a figure that gets more of a printed page
WORDS, WIDE = 12, 34  # characters: a column of text with a cell longer than that is given room


def inline(name, path, alt):
    """An SVG file as a part of a page, where its names are its own."""
    svg = path.read_text(encoding="utf-8")
    # a browser would show it over the whole figure
    svg = re.sub(r"<title>.*?</title>", "", svg[svg.index("<svg"):], count=1, flags=re.DOTALL)
    # matplotlib's own style sheet is the same in every figure; style.css has it
    svg = re.sub(r"\s*<style\b.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(\bid="|(?<!<a xlink:)href="#|url\(#)', rf"\g<1>{name}-", svg)  # but links lead out of it
    svg = re.sub(r'(<image\b[^>]*?) id="[^"]*"', r"\1", svg)  # two panels may show the same
    wide, high = map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups()) if "viewBox" in svg else (1, 0)
    tall = ' class="tall"' if high > TALL * wide else ""
    return svg.replace("<svg", f'<svg{tall} role="img" aria-label="{html.escape(alt)}"', 1)


def anchor(text):
    """(id, the rest) of a paragraph that begins with an anchor."""
    found = re.match(r'(<p>)<a id="([^"]+)"></a>(.*)', text, re.DOTALL)
    return found[2], found[1] + found[3]


def figure(match, folder):
    """A figure with its number and caption. An explorable stands in the place of the still figure, and under the same
    caption."""
    name = match[1]
    where, caption = anchor(match[2].strip())
    picture = re.search(r'<p><img alt="([^"]*)" src="figures/(\w+)\.svg" /></p>', caption)
    if not picture:
        return f'<figure id="{where}" class="numbered"><figcaption>{caption}</figcaption></figure>'
    caption = caption[:picture.start()].strip()
    caption = caption.replace("<!-- notice -->", '<span class="notice">').replace("<!-- /notice -->", "</span>")
    svg = inline(name, folder / f"figures/{name}.svg", html.unescape(picture[1]))
    playing = explorables.IN_PLACE_OF.get(name)
    still = f'<figure class="still">{svg}</figure>'
    return (f'<figure id="{where}" class="numbered">' +
            (f'<div class="explorable" data-explorable="{playing}">{still}</div>' if playing else still) +
            f"<figcaption>{caption}</figcaption></figure>")


def columns(match):
    """A table's rows with a class for the cells of columns that hold text. A table of nothing else stacks on a narrow
    screen."""
    table = match[0]
    rows = [
        re.findall(r"<t[hd](.*?)>(.*?)</t[hd]>", row, re.DOTALL)
        for row in re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)]
    heads = [re.sub(r"<.*?>", "", cell) for _, cell in rows[0]]
    longest = [max(len(re.sub(r"<.*?>", "", row[i][1])) for row in rows[1:]) if "right" not in style else 0
               for i, (style, _) in enumerate(rows[0])]
    texts = {i: "wide" if length > WIDE else "words" for i, length in enumerate(longest) if length > WORDS}
    numbers = any("right" in style for style, _ in rows[0])
    body, kind = re.sub(r"<tr>(.*?)</tr>", lambda row: "<tr>" + cells(row[1], heads, texts) + "</tr>", table,
                        flags=re.DOTALL), "" if numbers else " stack"
    return f'<div class="table{kind}">{body}</div>'


def cells(row, heads, texts):
    parts = iter(range(len(heads)))

    def cell(match):
        i = next(parts)
        wide = f' class="{texts[i]}"' if i in texts else ""
        label = f' data-label="{html.escape(html.unescape(heads[i]))}"' if match[1] == "td" and heads[i] else ""
        return f"<{match[1]}{match[2]}{wide}{label}>"
    # where a long name may break
    row = re.sub(r"(?<=<code>)\w+(?=</code>)", lambda name: re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "<wbr>", name[0]), row)
    return re.sub(r"<(t[hd])((?: style=\"[^\"]*\")?)>", cell, row)


def table(match):
    """A table with its number and caption, and its notes below."""
    where, caption = anchor(match[2].strip())
    end = caption.index("</p>") + len("</p>")
    return (f'<figure id="{where}" class="numbered '
            f'of-table"><figcaption>{caption[:end]}</figcaption>{caption[end:].strip()}</figure>')


def body_of(text, folder):
    """The chapter's HTML, of its Markdown."""
    body = markup.to_html(text, "codehilite", codehilite={"guess_lang": False, "css_class": "code"})
    body = re.sub(r"<table>.*?</table>", columns, body, flags=re.DOTALL)
    body = re.sub(r"<!-- figure: ([\w.-]+) -->(.*?)<!-- /figure -->", lambda m: figure(m, folder), body,
                  flags=re.DOTALL)
    body = re.sub(r"<!-- table: ([\w.-]+) -->(.*?)<!-- /table -->", table, body, flags=re.DOTALL)
    return skippable(re.sub(r'<p><a id="([^"]+)"></a></p>\s*<(h[23])>', r'<\2 id="\1">', body))


def skippable(body):
    """The page with a link past the contents, which a reader sees who comes to it by keyboard."""
    found = re.search(r'<h2 id="contents[^"]*">.*?<h2 id="([^"]+)">', body, re.DOTALL)
    skip = f'</h1>\n<a class="skip" href="#{found[1]}">Skip the contents</a>' if found else "</h1>"
    return body.replace("</h1>", skip, 1)


def to_html(text, folder, made):
    """One page that needs nothing else. text: the chapter's Markdown; folder: where its figures are; made: of
    explorables.data."""
    title, body = html.escape(text.split("\n")[0].lstrip("# ")), body_of(text, folder)
    style, script = STYLE.read_text(encoding="utf-8") + explorables.style(), explorables.script()
    data = explorables.embedded(made if "data-explorable" in body else {})
    return ('<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
                   '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
                   f"{policy.meta([style], [script], attributes=True)}\n<title>{title}</title>\n"
                   f"<style>{style}</style>\n</head>\n<body>\n{body}\n"
                   f'<script type="application/json" id="explorables">{data}</script>\n'
                   f"<script>{script}</script>\n</body>\n</html>\n")
