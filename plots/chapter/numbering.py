"""Figures, tables and citations numbered in the order in which the parts of the chapter have them; headings that can be
linked to, and the list of them; links from one part to another.

In the text, `<!-- table: KEY -->` begins a table whose caption begins with `**Table.**`, and `<!-- figure: KEY -->` a
figure. `[[table KEY]]` and `[[figure KEY]]` refer to them, `[[cite NAME]]` to a source.
"""

import re

LINK = re.compile(r"\]\(#([^)]+)\)")
ANCHOR = re.compile(r'<a id="([^"]+)"></a>')
BEGIN = re.compile(r"<!-- (figure|table): ([\w.-]+) -->\n\n\*\*(?:Figure|Table)\.\*\*")
REFERENCE = re.compile(r"\[\[(figure|table) ([\w.-]+)\]\]")
LISTED = re.compile(r"^## References\n\n((?:- `[\w-]+`: .*\n)+)", re.MULTILINE)
CITATION = re.compile(r"\[\[cite ([\w-]+)\]\]")
HEADING = re.compile(r"(?:<a id=\"([^\"]+)\"></a>\n\n)?^(##+) (.*)$", re.MULTILINE)


def slug(text):
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")


def outside_code(text, change):
    """The text with a change made to what stands between its fenced code."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if i % 2 else change(part) for i, part in enumerate(parts))


def number(text):
    """The text with numbers in captions and references. KeyError: it refers to what it does not have."""
    numbers, counts = {}, {"figure": 0, "table": 0}

    def begin(match):
        kind, key = match.groups()
        if (kind, key) in numbers:
            raise KeyError(f"two {kind}s called {key}")
        counts[kind] += 1
        numbers[kind, key] = counts[kind]
        return f'<!-- {kind}: {key} -->\n\n<a id="{kind}-{key}"></a>**{kind.capitalize()} {counts[kind]}.**'

    text = BEGIN.sub(begin, text)
    return REFERENCE.sub(lambda m: f"[{m[1].capitalize()} {numbers[m[1], m[2]]}](#{m[1]}-{m[2]})", text)


def cite(text):
    """The text with citations as [1], and its references, `- NAME: what is cited`, in the order of citation."""
    names = list(dict.fromkeys(CITATION.findall(text)))
    known = dict(re.findall("^- `(.*?)`: (.*)$", LISTED.search(text)[1], re.MULTILINE))
    text = CITATION.sub(lambda m: f"[\\[{names.index(m[1]) + 1}\\]](#reference-{names.index(m[1]) + 1})", text)
    listed = "".join(f'{i}. <a id="reference-{i}"></a>{known[name]}\n' for i, name in enumerate(names, 1))
    return LISTED.sub(lambda _: f"## References\n\n{listed}", text)


def headings(text):
    """The text with an anchor before each heading of levels 2 and 3, and [(level, anchor, title)...]."""
    found = []

    def anchor(match):
        given, marks, title = match.groups()
        if len(marks) > 3:
            return match[0]
        name, n = given or slug(title), 1
        while name in [other for _, other, _ in found]:
            n += 1
            name = f"{given or slug(title)}-{n}"
        found.append((len(marks), name, title))
        return f'<a id="{name}"></a>\n\n{marks} {title}'

    return outside_code(text, lambda part: HEADING.sub(anchor, part)), found


def contents(found):
    """A list of links to headings. Terms of the glossary have links enough."""
    return "".join(f"{'    ' * (level - 2)}- [{title}](#{anchor})\n" for level, anchor, title in found
                   if not anchor.startswith(("term-", "gpu-")) and title != "Contents")


def whole(parts):
    """The parts {name: text} with numbers, citations and lists of contents. Numbers run through all of them, and a link
    leads to the part that has its target. KeyError: no part has it."""
    between = "\n<!-- the next part -->\n"
    text, found = headings(cite(number(between.join(parts.values()))))
    texts = dict(zip(parts, text.split(between)))
    texts = {name: part.replace("{{contents}}", contents([h for h in found if f'<a id="{h[1]}"></a>' in part]))
             for name, part in texts.items()}
    homes = {anchor: name for name, part in texts.items() for anchor in ANCHOR.findall(part)}
    return {name: outside_code(part, lambda text, name=name: LINK.sub(
        lambda m: f"](#{m[1]})" if homes[m[1]] == name else f"]({homes[m[1]]}.html#{m[1]})", text))
            for name, part in texts.items()}
