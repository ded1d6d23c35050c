"""What make grade writes for other programs: CSV tables for spreadsheets, Moodle and Canvas, and JSON for Gradescope.

All cells pass through cell(): a name or a hint may hold any character, and a spreadsheet must not run it as a formula.
"""

import csv
import html
import io
import re

from parts import brief

# What course systems put around the name when an instructor downloads all submissions.
MOODLE_NAME = re.compile(r"(?P<name>.+)_(?P<id>\d+)_assignsubmission_(?:(?:file|onlinetext)(?:_|$))?", re.DOTALL)
CANVAS_NAME = re.compile(r"(?P<name>[^_]+)(?:_LATE)?_(?P<id>\d+)_\d+_")


def printable(text):
    """A text without characters that move a cursor, end a line or cannot be encoded: they are written as codes,
    \\x1b."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def cell(value):
    """A cell of a table. A spreadsheet takes a text that begins with =, +, - or @ for a formula, unless ' is in
    front."""
    if not isinstance(value, str):
        return value
    text = printable(value)
    return "'" + text if text[:1] in tuple("=+-@") else text


def table(lines):
    text = io.StringIO()
    csv.writer(text).writerows([cell(value) for value in line] for line in lines)
    return text.getvalue()


def known(name):
    """The match of a name that a course system made, with the groups name and id; what follows it is the file's own
    name. Or None."""
    return MOODLE_NAME.match(name) or CANVAS_NAME.match(name)


def person(name):
    """The name without what a course system put around it."""
    match = known(name)
    return match["name"] if match else name


def first_hint(verdict):
    return brief(verdict["note"]) or next((f"{c['name']}: {c['hint']}" for c in verdict["checks"] if c["hint"]), "")


def grades(rows, shown_as):
    """The instructor's table: a line for each of [(name, verdict)]. `shown_as`: {name: pseudonym} of the leaderboard,
    or None."""
    names = next(([c["name"] for c in verdict["checks"]] for _, verdict in rows if verdict["checks"]), [])
    return table([["name", "total", "of", *names, "seconds", "note", *(["pseudonym"] if shown_as else [])], *[[
        name, v["total"], v["of"], *([c["points"] for c in v["checks"]] or [0] * len(names)), v["seconds"],
        first_hint(v), *([shown_as[name]] if shown_as else [])] for name, v in rows]])


def gradescope(verdict):
    """results.json, as https://gradescope-autograders.readthedocs.io/en/latest/specs/ specifies it."""
    speed = verdict.get("speed")
    return {"score": verdict["total"], "output": verdict["note"] or f"{verdict['total']} of {verdict['of']} points",
            "output_format": "text", "execution_time": verdict["seconds"],
            "tests": [{"name": f"{c['name']}: {c['what']}", "score": c["points"], "max_score": c["of"],
                       "output": c["hint"] or "ok", "output_format": "text"}
                      for c in verdict["checks"]],
            **({"leaderboard": [{"name": "% of a copy's bandwidth", "value": speed.get("measured", speed["percent"])},
                                {"name": "requests", "value": speed["requests"], "order": "asc"}]} if speed else {})}


def feedback(verdict):
    """HTML, because that is how Moodle stores comments."""
    lines = verdict["note"].split("\n") if verdict["note"] else [
        f"{c['points']} / {c['of']} {c['name']}: {c['hint'] or 'ok'}" for c in verdict["checks"]]
    return "<br>".join(html.escape(printable(line)) for line in lines)


def moodle(number, rows):
    """(a grading worksheet of an assignment, the names without a participant's number). Moodle's importer looks for
    Identifier, Grade, Last modified (grade) and Feedback comments."""
    lines, unknown = [["Identifier", "Full name", "Grade", "Maximum Grade", "Last modified (grade)",
                       "Feedback comments"]], []
    for name, verdict in rows:
        known = MOODLE_NAME.match(name)
        unknown += [] if known else [name]
        lines.append([f"Participant {known['id']}" if known else "", known["name"] if known else name, verdict["total"],
                      verdict["of"], "", feedback(verdict)])
    return table(lines), unknown


def canvas(number, rows):
    """(a gradebook to import, the names without a user's number). Canvas finds the assignment by the column's name, or
    offers to create it."""
    lines, unknown = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", f"Exercise {number}"],
                      ["    Points Possible", "", "", "", "",
                       max((verdict["of"] for _, verdict in rows), default=100)]], []
    for name, verdict in rows:
        known = CANVAS_NAME.match(name)
        unknown += [] if known else [name]
        lines.append([known["name"] if known else name, known["id"] if known else "", "", "", "", verdict["total"]])
    return table(lines), unknown


# Of EXPORT=: what makes the table. Gradescope's files are written for each submission, with every run.
EXPORTS = {"moodle": moodle, "canvas": canvas, "gradescope": None}
