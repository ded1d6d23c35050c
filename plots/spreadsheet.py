"""CSV for people, who open it in a spreadsheet. A text is shown there and never run as a formula.

Every cell is quoted. A spreadsheet of another country splits at ; or a tab inside quotes, too. So ' stands before a
sign that begins a formula, at the start of a cell and after each separator. unguarded() takes exactly these away:
unguarded(guarded(text)) == text for every text.
"""

import csv
import io
import re

from outside import printable

BEGIN = r"(^|[;\t])"
FORMULA = "(?=[' ]*[=+\\-@＝＋－＠].)"  # a sign alone is a text: - where there is no value
GUARD, GUARDED = re.compile(BEGIN + FORMULA), re.compile(f"{BEGIN}'{FORMULA}")


def guarded(text):
    return GUARD.sub(r"\1'", text)


def unguarded(text):
    """The text of a cell that guarded() made."""
    return GUARDED.sub(r"\1", text)


def cell(value):
    """Numbers stay numbers."""
    return guarded(printable(value)) if isinstance(value, str) else value


def table(lines):
    """The text of a CSV file."""
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([cell(value) for value in line] for line in lines)
    return text.getvalue()
