"""The pages that make grade writes: an exercise's statistics for the instructor, and the leaderboard of an open
exercise.

A page is one file of HTML with its plots in SVG, and it loads nothing. It is built as a tree of elements (xml.etree),
which escapes every text when it is written: names and hints may hold anything.
"""

import collections
import hashlib
import re
import statistics
import xml.etree.ElementTree as tree

from exports import person  # first: it adds the folder of plots
import policy
from outside import printable
from parts import brief

STYLE = """
:root { color-scheme: light dark; --bar: #2a6f97; --line: #ccc; --faint: #666; --text: #111; --page: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --bar: #74b3d8; --line: #555; --faint: #aaa; --text: #eee; --page: #161616; }
}
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: var(--text); background: var(--page); }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); }
td, li { overflow-wrap: anywhere; }
td:not(.number) { min-width: 6.5rem; } /* as long as the longest name of a check */
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
p.caption, small { color: var(--faint); }
svg { display: block; max-width: 100%; }
svg rect { fill: var(--bar); }
svg line { stroke: var(--line); }
svg text { fill: currentColor; font: 12px system-ui, sans-serif; }
@media (max-width: 40rem) { /* a table scrolls, and not the page; the letters of a picture grow as it shrinks */
  body { margin: 1rem auto; }
  table { display: block; overflow-x: auto; }
  td:not(.number):not(:has(svg)) { min-width: 8.5rem; }
  td:last-child:not(.number):not(:has(svg)) { min-width: 14rem; }
  svg text { font-size: 19px; }
  td svg { max-width: none; } td svg text { font-size: 12px; }
  td:has(svg[role=presentation]) { min-width: 0; } td svg[role=presentation] { width: 4rem; height: auto; }
}
"""
MOST_HINTS = 15


def element(name, /, *content, **attributes):
    """An element of HTML or SVG; its content is texts and elements. A text gets codes for what cannot be printed."""
    made = tree.Element(name,
                        {key.rstrip("_").replace("_", "-"): printable(str(value)) for key, value in attributes.items()})
    last = None
    for part in content:
        if isinstance(part, tree.Element):
            made.append(part)
            last = part
        elif last is None:
            made.text = (made.text or "") + printable(str(part))
        else:
            last.tail = (last.tail or "") + printable(str(part))
    return made


def page(title, *content):
    style = tree.Element("style")
    style.text = STYLE
    head = element(
        "head", element("meta", charset="utf-8"), element("meta", name="viewport", content="width=device-width"),
        element("meta", http_equiv="Content-Security-Policy", content=policy.content([STYLE])),
        element("title", title), style)
    return "<!doctype html>\n" + tree.tostring(
        element("html", head, element("body", element("h1", title), *content), lang="en"), encoding="unicode",
        method="html") + "\n"


def rows_of(heads, lines):
    """A table. Numbers stand on the right of their column."""
    def cells(name, line):
        return [
            element(
                name, value,
                **({"class_": "number"} if isinstance(value, (int, float)) or
                   name == "th" and isinstance(lines[0][i], (int, float)) else {})) for i, value in enumerate(line)]

    return element("table", element("thead", element("tr", *cells("th", heads))),
                   element("tbody", *[element("tr", *cells("td", line)) for line in lines]))


def columns(counts, width, height, label):
    """A histogram: {what is below a column: its count}. `label` describes it to who cannot see it."""
    most, step = max([*counts.values(), 1]), width / len(counts)
    drawn = []
    for i, (below, count) in enumerate(counts.items()):
        tall = (height - 36) * count / most
        drawn += [
            element("rect", x=f"{i * step + 2:.1f}", y=f"{height - 18 - tall:.1f}", width=f"{step - 4:.1f}",
                    height=f"{tall:.1f}"),
            element("text", below, x=f"{(i + .5) * step:.1f}", y=height - 4, text_anchor="middle")]
        if count:
            drawn.append(
                element("text", count, x=f"{(i + .5) * step:.1f}", y=f"{height - 22 - tall:.1f}", text_anchor="middle"))
    axis = element("line", x1=0, x2=width, y1=height - 18, y2=height - 18)
    return element("svg", element("title", label), *drawn, axis, viewBox=f"0 0 {width} {height}", width=width,
                   height=height, role="img")


def bar(share, width=160):
    return element("svg", element("rect", x=0, y=4, width=f"{width * min(share, 1):.1f}", height=14),
                   viewBox=f"0 0 {width} 22", width=width, height=22, role="presentation")


def histogram(values, bounds):
    """{label: how many}, in pieces that begin at each of the bounds; the last one has what equals it."""
    pieces = dict.fromkeys(
        [*(f"{a}–{b - 1}" if b - a > 1 else str(a) for a, b in zip(bounds, bounds[1:])), str(bounds[-1])], 0)
    for value in values:
        pieces[list(pieces)[max(i for i, bound in enumerate(bounds) if value >= bound)]] += 1
    return pieces


def without_numbers(hint):
    """The hint of all who miss the same thing: shapes, counts and places become …"""
    for pattern in (r"[^\s:;,()]*\.cu:\d+", r"\d+ x \d+( of \w+)?", r"(?<![\w.])-?\d[\w.+]*"):
        hint = re.sub(pattern, "…", hint)
    return hint


def kind_of(verdict):
    """Why a submission was not run."""
    note = verdict["note"]
    for words, kind in (("does not compile", "does not compile"), ("the compiler", "does not compile"),
                        ("line ", "refused"), ("no KERNEL", "refused"), ("the file", "refused")):
        if note.startswith(words):
            return kind
    return "no submission, or not graded"


def drawn_by(rows):
    """Paragraphs about the seed of the shapes that are drawn, if all have one."""
    seeds = {verdict["seed"] for _, verdict in rows if "seed" in verdict}
    said = (f"The drawn shapes have the seed {min(seeds)}. make grade SEED={min(seeds)} grades with the same shapes."
            if len(seeds) == 1 else "Each person's shapes are drawn from the name." if seeds else "")
    return [element("p", said, class_="caption")] if said else []


def statistics_page(number, rows):
    """The page of an exercise, of [(name, verdict)]."""
    run = [verdict for _, verdict in rows if not verdict["note"]]
    failed = [(kind_of(verdict), name, brief(verdict["note"])) for name, verdict in rows if verdict["note"]]
    most = max((verdict["of"] for _, verdict in rows), default=100)
    totals = [verdict["total"] for _, verdict in rows]
    whole = sum(v["total"] == v["of"] for v in run)
    content = [element("p", f"{len(rows)} submissions. {len(run)} were run, and "
                            f"{whole} {'has' if whole == 1 else 'have'} all {most} points. "
                            f"Median {statistics.median(totals):g}, mean {statistics.mean(totals):.1f}.")]
    content += [
        element("h2", "Points"),
        columns(histogram(totals, [*range(0, most, 10), most]), 720, 200, "Histogram of the points"),
        element("p", f"Submissions by their points of {most}. Those that were not run have 0.", class_="caption")]
    if run:
        content.append(element("h2", "Checks"))
        lines = []
        for i, check in enumerate(run[0]["checks"]):
            points = [verdict["checks"][i]["points"] for verdict in run]
            of = check["of"]
            pieces = {
                "none": sum(p == 0 for p in points), "some": sum(0 < p < of / 2 for p in points),
                "half": sum(of / 2 <= p < of and p > 0 for p in points), "all": sum(p == of for p in points)}
            lines.append([f"{check['name']}: {check['what']}", of, round(statistics.fmean(points), 1),
                          columns(pieces, 200, 80, f"Histogram of {check['name']}")])
        content += [rows_of(["check", "points", "mean", "distribution"], lines),
                    element("p", f"Of the {len(run)} submissions that were run, how many have none of a check's "
                                 "points, some (less than half), half or more, and all.", class_="caption")]
        hints = collections.Counter(
            (c["name"], without_numbers(c["hint"])) for verdict in run for c in verdict["checks"] if c["hint"])
        if hints:
            common = hints.most_common(MOST_HINTS)
            content += [
                element("h2", "Hints"),
                rows_of(["submissions", "", "check", "hint"],
                        [[n, bar(n / len(run)), name, hint] for (name, hint), n in common]),
                element(
                    "p", f"The {len(common)} commonest of {len(hints)} hints. Numbers, shapes and "
                    "places are left out (…), so that equal causes are counted together. A full "
                    "bar is all submissions that were run.", class_="caption")]
    if failed:
        counted = collections.Counter(kind for kind, _, _ in failed)
        content += [
            element("h2", "Not run"),
            element("ul", *[element("li", f"{kind}: {n}") for kind, n in counted.most_common()]),
            rows_of(["kind", "name", "reason"], sorted(failed))]
    return page(f"Exercise {number}: statistics", *content, *drawn_by(rows))


# ---- Leaderboard -----------------------------------------------------------------------------------------------

COLOURS = ("amber azure black blue brass bronze copper coral cream crimson cyan ebony golden green grey indigo "
           "ivory jade lilac lime olive orange pearl pink plum purple red ruby scarlet silver teal white").split()
ANIMALS = ("badger bear bison crane crow deer dove duck eagle falcon finch fox hare hawk heron horse ibis lark lynx "
           "moose newt otter owl panda puma raven robin seal stork swan tiger wolf").split()


def pseudonyms(names, seed):
    """{name: pseudonym}: the same for a name and a seed in every run, unless two names would share one; nobody derives
    the name without the seed."""
    given = {}
    for name in sorted(names):
        for attempt in range(1 << 16):
            digest = int.from_bytes(
                hashlib.blake2b(f"{name}\0{attempt}".encode("utf-8", "surrogateescape"),
                                key=hashlib.sha256(seed.encode("utf-8", "surrogateescape")).digest(),
                                digest_size=8).digest(), "big")
            word = f"{COLOURS[digest % 32]} {ANIMALS[digest // 32 % 32]} {digest // 1024 % 100}"
            if word not in given.values():
                given[name] = word
                break
    return given


def ranked(rows):
    """[(place, name, verdict)] of the submissions with a speed, the fastest first: by the bandwidth measured, that
    modelled, the requests. Equals share a place."""
    def key(verdict):
        speed = verdict["speed"]
        return -speed.get("measured", 0), -speed["percent"], speed["requests"]
    found, place = [], 0
    for i, (name, verdict) in enumerate(
            sorted(((name, v) for name, v in rows if v.get("speed")), key=lambda row: key(row[1])), 1):
        place = place if found and key(found[-1][2]) == key(verdict) else i
        found.append((place, name, verdict))
    return found


def leaderboard(number, rows, shown_as=None):
    """The page for students. `shown_as`: {name: pseudonym}; None: real names. It leaves out who has no right and
    complete submission."""
    found = [(place, shown_as[name] if shown_as else person(name), verdict) for place, name, verdict in ranked(rows)]
    found.sort(key=lambda row: (row[0], row[1]))  # so that pseudonyms of one place are not in the order of the names
    measured = any("measured" in verdict["speed"] for _, _, verdict in found)
    heads = ["place", "name", *(["measured, %"] if measured else []), "modelled, %", "", "limited by", "requests"]
    lines = [[
        place, name, *([verdict["speed"].get("measured", "")] if measured else []), verdict["speed"]["percent"],
        bar(verdict["speed"].get("measured", verdict["speed"]["percent"]) / 100), verdict["speed"]["limit"],
        verdict["speed"]["requests"]] for place, name, verdict in found]
    said = ("Bandwidth as a share of a copy's: " + ("measured on a GPU, against cudaMemcpy, and " if measured else "")
            + "modelled for an H200 at the slower of two shapes, with the resource that limits it there. Requests are "
              "loads and stores of warps to global and shared memory, for each 32 elements. Of equally fast "
              "submissions, the one with fewer requests is ahead.")
    return page(f"Exercise {number}: as fast as you can",
                *([rows_of(heads, lines)] if lines else [element("p", "No submission is right and complete yet.")]),
                element("p", said, class_="caption"), *drawn_by(rows))
