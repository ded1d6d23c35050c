"""The page of an exercise's statistics that make grade writes for the instructor.

The page is one file, and it loads nothing. Names and hints may hold anything, so every text goes through text().
"""

import collections
import html
import re
import statistics

import policy  # of plots, whose folder check adds
from outside import printable
from parts import brief

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid #8888; }
td { overflow-wrap: anywhere; min-width: 3rem; } td:last-child { min-width: 10rem; }
"""
MOST_HINTS = 15


def text(value):
    return html.escape(printable(str(value)))


def paragraph(value):
    return f"<p>{text(value)}</p>"


def table(heads, lines):
    """A table. A cell that is a pair is a bar: so many of so many."""
    def cell(value):
        return (f'<meter value="{value[0]}" max="{value[1]}">{value[0]}</meter>' if isinstance(value, tuple)
                else text(value))
    rows = ["".join(f"<td>{cell(value)}</td>" for value in line) for line in lines]
    return "\n".join(["<table>", f"<tr>{''.join(f'<th>{text(head)}</th>' for head in heads)}</tr>",
                      *(f"<tr>{row}</tr>" for row in rows), "</table>"])


def histogram(values, bounds):
    """{label: how many}, in pieces that begin at each of the bounds; the last one has what equals it."""
    pieces = dict.fromkeys(
        [*(f"{a}–{b - 1}" if b - a > 1 else str(a) for a, b in zip(bounds, bounds[1:])), str(bounds[-1])], 0)
    for value in values:
        pieces[list(pieces)[max(i for i, bound in enumerate(bounds) if value >= bound)]] += 1
    return pieces


def without_numbers(hint):
    """The hint of all who miss the same thing: shapes, counts and places become …"""
    for pattern in (r"[^\s:;,()]*\.cu(\.txt)?:\d+", r"\d+ x \d+( of \w+)?", r"(?<![\w.])-?\d[\w.+]*"):
        hint = re.sub(pattern, "…", hint)
    return hint


def kind_of(verdict):
    """Why a submission was not run."""
    note = verdict["note"]
    if verdict["total"] is None:
        return "not graded"
    if note.startswith(("does not compile", "the compiler")):
        return "does not compile"
    return "refused" if note.startswith(("line ", "no KERNEL", "the file")) else "no submission"


def of_checks(run):
    """The lines of a table: each check and how many have none of its points, some, half of them or more, and all."""
    for i, check in enumerate(run[0]["checks"]):
        points, of = [verdict["checks"][i]["points"] for verdict in run], check["of"]
        yield [f"{check['name']}: {check['what']}", of, f"{statistics.fmean(points):.1f}", points.count(0),
               sum(0 < p < of / 2 for p in points), sum(of / 2 <= p < of for p in points), points.count(of)]


def statistics_page(number, rows):
    """The page of an exercise, of [(name, verdict)]."""
    run = [verdict for _, verdict in rows if not verdict["note"]]
    failed = sorted((kind_of(verdict), name, brief(verdict["note"])) for name, verdict in rows if verdict["note"])
    most = max(verdict["of"] for _, verdict in rows)
    totals = [verdict["total"] for _, verdict in rows if verdict["total"] is not None] or [0]
    whole = sum(v["total"] == v["of"] for v in run)
    body = [paragraph(f"{len(rows)} submissions. {len(run)} were run, and {whole} {'has' if whole == 1 else 'have'} "
                      f"all {most} points. Median {statistics.median(totals):g}, mean {statistics.mean(totals):.1f}."),
            "<h2>Points</h2>",
            table(["points", "submissions", ""],
                  [[label, n, (n, len(rows))] for label, n in histogram(totals, [*range(0, most, 10), most]).items()]),
            paragraph("Submissions that were not run have 0 points. Those without a grade are left out.")]
    if run:
        body += ["<h2>Checks</h2>",
                 table(["check", "points", "mean", "none", "some", "half", "all"], list(of_checks(run))),
                 paragraph(f"Of the {len(run)} submissions that were run, how many have none of a check's points, some "
                           "(less than half), half or more, and all.")]
    hints = collections.Counter(
        (c["name"], without_numbers(c["hint"])) for verdict in run for c in verdict["checks"] if c["hint"])
    if common := hints.most_common(MOST_HINTS):
        body += ["<h2>Hints</h2>",
                 table(["submissions", "", "check", "hint"],
                       [[n, (n, len(run)), name, hint] for (name, hint), n in common]),
                 paragraph(f"The {len(common)} commonest of {len(hints)} hints. Numbers, shapes and places are left "
                           "out (…), so that equal causes are counted together.")]
    if failed:
        kinds = collections.Counter(kind for kind, *_ in failed).most_common()
        body += ["<h2>Not run</h2>", paragraph(", ".join(f"{kind}: {n}" for kind, n in kinds) + "."),
                 table(["kind", "name", "reason"], failed)]
    seeds = {verdict["seed"] for _, verdict in rows if "seed" in verdict}
    if seeds:
        body.append(paragraph(
            f"The drawn shapes have the seed {min(seeds)}. make grade SEED={min(seeds)} grades with the same shapes."
            if len(seeds) == 1 else "Each person's shapes are drawn from the name."))
    title = f"Exercise {number}: statistics"
    return "\n".join([
        "<!doctype html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width">', policy.meta([STYLE]), f"<title>{title}</title>",
        f"<style>{STYLE}</style>", "</head>", "<body>", f"<h1>{title}</h1>", *body, "</body>", "</html>", ""])
