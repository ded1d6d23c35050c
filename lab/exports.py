"""What make grade writes for other programs: CSV tables for spreadsheets, Moodle and Canvas, and JSON for Gradescope.

A name or a hint may hold any character. plots/spreadsheet.py writes all tables, and a spreadsheet runs none of it.
"""

import html
import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "plots"))
from outside import printable
from parts import brief
from spreadsheet import table

# What course systems put around the name when an instructor downloads all submissions.
# Both write no _ in a name. What follows is the name of a file, which a student chooses.
MOODLE_NAME = re.compile(r"(?P<name>[^_]+)_(?P<id>\d+)_assignsubmission_(?:(?:file|onlinetext)(?:_|$))?")
CANVAS_NAME = re.compile(r"(?P<name>[^_]+)(?:_LATE)?_(?P<id>\d+)_\d+_")


def known(name):
    """The match of a name that a course system made, with the groups name and id; what follows it is the file's own
    name. Or None."""
    return MOODLE_NAME.match(name) or CANVAS_NAME.match(name)


def person(name):
    """The name without what a course system put around it."""
    match = known(name)
    return match["name"] if match else name


def first_hint(verdict):
    hint = brief(verdict["note"]) or next((f"{c['name']}: {c['hint']}" for c in verdict["checks"] if c["hint"]), "")
    return "; not read: ".join(filter(None, (hint or verdict.get("beside") and "ok", verdict.get("beside"))))


def points(verdict):
    """Its points as a cell, which is empty where there is no grade: that is not 0 points."""
    return "" if verdict["total"] is None else verdict["total"]


def grades(rows):
    """The instructor's table: a line for each of [(name, verdict)]."""
    names = next(([c["name"] for c in verdict["checks"]] for _, verdict in rows if verdict["checks"]), [])
    late = any("days_late" in v for _, v in rows)
    return table([["name", "total", "of", *(["days late", "points before"] if late else []), *names, "seconds",
                   "needs you", "note", "seed"], *[[
        name, points(v), v["of"], *([v.get("days_late", 0), v.get("points_before", points(v))] if late else []),
        *([c["points"] for c in v["checks"]] or [points(v)] * len(names)), v["seconds"],
        "yes" if v.get("needs") or v.get("beside") else "", first_hint(v), v.get("seed", "")] for name, v in rows]])


def lateness(verdict):
    """A sentence about points that were taken off, or ''."""
    days = verdict.get("days_late", 0)
    return days and (f"{days} day{'s'[:days != 1]} late: {verdict['total']} of {verdict['points_before']} points "
                     "count.") or ""


def gradescope(verdict):
    """results.json, as https://gradescope-autograders.readthedocs.io/en/latest/specs/ specifies it."""
    said = verdict["note"] or f"{verdict.get('points_before', verdict['total'])} of {verdict['of']} points"
    return {"score": verdict["total"], "output": f"{said}. {lateness(verdict)}" if lateness(verdict) else said,
            "output_format": "text", "execution_time": verdict["seconds"],
            "extra_data": {"seed": verdict.get("seed")},
            "tests": [{"name": f"{c['name']}: {c['what']}", "score": c["points"], "max_score": c["of"],
                       "output": c["hint"] or "ok", "output_format": "text"}
                      for c in verdict["checks"]]}


def feedback(verdict):
    """HTML, because that is how Moodle stores comments."""
    if verdict["total"] is None:
        return "Not graded yet."
    lines = verdict["note"].split("\n") if verdict["note"] else [
        f"{c['points']} / {c['of']} {c['name']}: {c['hint'] or 'ok'}" for c in verdict["checks"]]
    lines += [lateness(verdict)] if lateness(verdict) else []
    return "<br>".join(html.escape(printable(line)) for line in lines)


def moodle(number, rows):
    """(a grading worksheet of an assignment, the names without a participant's number). Moodle's importer looks for
    Identifier, Grade, Last modified (grade) and Feedback comments."""
    lines, unknown = [["Identifier", "Full name", "Grade", "Maximum Grade", "Last modified (grade)",
                       "Feedback comments"]], []
    for name, verdict in rows:
        known = MOODLE_NAME.match(name)
        unknown += [] if known else [name]
        lines.append([f"Participant {known['id']}" if known else "", known["name"] if known else name, points(verdict),
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
        if verdict["total"] is None:  # an empty cell would delete the grade that is there
            continue
        unknown += [] if known else [name]
        lines.append([known["name"] if known else name, known["id"] if known else "", "", "", "", verdict["total"]])
    return table(lines), unknown


# Of EXPORT=: what makes the table. Gradescope's files are written for each submission, with every run.
EXPORTS = {"moodle": moodle, "canvas": canvas, "gradescope": None}
