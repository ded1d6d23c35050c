"""Grades pre-lab sheets: python3 lab/prelab_grade.py SUBMISSIONS [--results FOLDER], or --key NAME

SUBMISSIONS holds a file or a folder for each person: NAME.md, NAME.txt, NAME/... with one such file in it, or an
archive of it. A file is a sheet of lab/prelab.py with its answers filled in, or any text with a line `Name: Ada
Lovelace` and lines `Answer 1: 24`. FOLDER/prelab.csv has a line for each person. --key prints a person's answers. This
file is for instructors and is not in the hand-out.

Exit status: 0 all graded, whatever the points; 2 bad input.
"""

import collections
import math
import pathlib
import re
import sys

import check
import class_files
import command_line
import handed_in
import names
import prelab
import spreadsheet
import whole  # of plots, whose folder check adds
from outside import printable

# ---- The answers -----------------------------------------------------------------------------------------------
# The rules of the simulator (sim/core/sinks/rules.cpp) for compute capability 5.0 and newer, and of
# common/base/machine.h. Tests hold them to its counts.


def sectors(addresses):
    return len({address // 32 for address in addresses})


def served(addresses, size):
    """Wavefronts of lanes that are served together: the most different words in one of 32 banks."""
    words = {(address + at) // 4 for address in addresses for at in range(0, size, 4)}
    return max(collections.Counter(word % 32 for word in words).values())


def wavefronts(addresses, size):
    """Of a load of a whole warp whose lanes all have different addresses. Up to 32 words of 4 bytes are served
    together."""
    together = 128 // size
    return sum(served(addresses[first:first + together], size) for first in range(0, 32, together))


def strided(begin, stride, size):
    return [(begin + stride * lane) * size for lane in range(32)]


def column(row, at, size):
    return [(row * lane + at) * size for lane in range(32)]


def resident(threads, shared, most_threads=2048, most_blocks=32, most_shared=228 << 10, reserved=1 << 10):
    return min(most_blocks, most_threads // (-(-threads // 32) * 32), most_shared // (shared + reserved))


ANSWERS = {
    "stride": lambda c: sectors(strided(c["begin"], c["stride"], c["bytes"])),
    "share": lambda c: 100 * 32 * c["bytes"] / (32 * sectors(strided(0, c["stride"], c["bytes"]))),
    "requests": lambda c: math.ceil(c["width"] / 32) * c["height"],
    # A lane stores to a row of its own, at least 32 bytes from the next.
    "naive": lambda c: c["width"] * c["height"],
    "bank": lambda c: wavefronts(column(c["row"], c["column"], 4), 4),
    "double": lambda c: wavefronts(column(c["row"], c["column"], 8), 8),
    "partitions": lambda c: len({row * c["width"] * 4 // c["piece"] % c["partitions"] for row in range(64)}),
    "flight": lambda c: c["gbs"] * c["ns"] / c["sms"] / 1024,
    "occupancy": lambda c: resident(c["threads"], c["tiles"] * 32 * 33 * c["bytes"]),
    "bandwidth": lambda c: 2 * c["width"] * c["height"] * c["bytes"] / c["ms"] / 1e6,
}


def answers(name):
    """[the answer to each question of a person's sheet]"""
    return [ANSWERS[question.key](prelab.constants(name, question)) for question in prelab.QUESTIONS]


def written(value):
    return f"{value:.4g}" if isinstance(value, float) and value < 1000 else f"{value:.0f}"


# ---- Sheets ----------------------------------------------------------------------------------------------------

MOST_BYTES = 1 << 16
ENDINGS = (".md", ".txt")
MARKS = r"[ \t>*_#`+-]*"
ANSWER = re.compile(rf"^{MARKS}answer[ \t]+([0-9]{{1,3}})\b([^:\n]*):(.*)$", re.IGNORECASE | re.MULTILINE)
NAME = re.compile(rf"^{MARKS}name[ *_`]*:(.*)$", re.IGNORECASE | re.MULTILINE)
EDITION = re.compile(rf"^{MARKS}edition[ *_`]*:[ *_`]*(\w+)", re.IGNORECASE | re.MULTILINE)
LONGEST = 60  # characters of an answer
SPACE = " \u00a0\u2009\u202f'"


def readings(text):
    """The numbers that an answer can mean: 1024, 1 024, 12.5, 12,5, 2e6, 1.024,5 or 1,024.5. No other digit may follow,
    but a unit. 1,914 has two: a comma separates thousands or decimals, and the right answer decides. (): there is no
    number."""
    match = re.match(rf"[\s*_`=≈~]*([+-]?[0-9.,{SPACE}]*[0-9](?:e[+-]?[0-9]+)?)(.*)$", text[:LONGEST + 1],
                     re.IGNORECASE | re.DOTALL)
    if not match or len(text) > LONGEST or any(c.isnumeric() for c in match[2]):
        return ()
    digits, found = match[1], []
    if re.fullmatch(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}", digits):
        found = [digits.replace(",", "")]
    elif re.fullmatch(r"[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+,[0-9]+", digits):
        digits = digits.replace(".", "")
    elif re.fullmatch(rf"[+-]?[1-9][0-9]{{0,2}}([,{SPACE}])[0-9]{{3}}(?:\1[0-9]{{3}})*(\.[0-9]+)?", digits):
        digits = re.sub(rf"[,{SPACE}]", "", digits)
    try:
        values = [float(each) for each in (*found, digits.replace(",", "."))]
    except ValueError:
        return ()
    return tuple(values) if all(map(math.isfinite, values)) else ()


def read(data):
    """{name, edition, answers: {number: text}} of a file. BadInput: it is no sheet."""
    if len(data) > MOST_BYTES:
        raise check.BadInput(f"longer than {MOST_BYTES} bytes")
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise check.BadInput("not a text in UTF-8") from None
    found, name, edition = {}, NAME.search(text), EDITION.search(text)
    for match in ANSWER.finditer(text):
        found.setdefault(int(match[1]), []).append(match[3].strip())
    if not found:
        raise check.BadInput("no line “Answer 1: …” in it")
    name = names.readable(names.from_markdown(name[1].strip(" *_`"))) if name else ""
    if not names.normalised(name):
        raise check.BadInput("no line “Name: …” in it")
    return {"name": name, "edition": edition[1] if edition else None, "answers": found}


def judged(question, expected, said):
    """Why an answer earns nothing, or ''. `said`: all that is written for this number."""
    values = {readings(text) for text in said if text}
    if not values:
        return "no answer"
    if len(values) > 1:
        return "several answers"
    (each,) = values
    if not each:
        return "not a number"

    def right(value):
        return (value == expected if question.tolerance == prelab.EXACT
                else abs(value - expected) <= question.tolerance * expected * (1 + 1e-9))

    # The two readings differ by a factor of 1000, so at most one of them is right.
    return ("" if any(map(right, each))
            else f"{' or '.join(f'{value:.6g}' for value in each)}, expected {written(expected)}")


def graded(data):
    """{name, points: [0 or 1 for each question], note} of a file."""
    found = read(data)
    if found["edition"] not in (None, prelab.edition()):
        raise check.BadInput("the sheet is of another edition of the questions; let the student make a new one")
    whys = [
        judged(question, expected, found["answers"].get(i, []))
        for i, (question, expected) in enumerate(zip(prelab.QUESTIONS, answers(found["name"])), 1)]
    return {
        "name": found["name"], "points": [int(not why) for why in whys],
        "note": "; ".join(f"{i}: {why}" for i, why in enumerate(whys, 1) if why)}


def sheet_of(contents):
    """The bytes of the one sheet of a person. BadInput: there is none, or more than one."""
    sheets = [(file.place, data)
              for file, data in ((file, check.read_submission(file.path)[:MOST_BYTES + 1]) for file in contents.files)
              if len(contents.files) == 1 or ANSWER.search(data.decode("utf-8", "replace"))]
    if len(sheets) != 1:
        raise check.BadInput("several sheets: " + ", ".join(printable(place) for place, _ in sheets)
                             if sheets else "; ".join(contents.troubles[:2]) or "no sheet in it")
    return sheets[0][1]


def table(found):
    """The text of the table: a line for each of [(entry's name, result or the reason why there is none)]."""
    lines, seen = [["name", "name on the sheet", "total", "of", *range(1, len(prelab.QUESTIONS) + 1), "note"]], {}
    for name, result in found:
        if isinstance(result, str):
            result = {"name": "", "points": [0] * len(prelab.QUESTIONS), "note": result}
        elif (other := seen.setdefault(names.normalised(result["name"]), name)) != name:
            result = {
                **result, "note": "; ".join(
                    filter(None, [f"the same name is on the sheet of {printable(other)}", result["note"]]))}
        lines.append([printable(name), result["name"], sum(result["points"]), len(result["points"]),
                      *result["points"], result["note"]])
    return spreadsheet.table(lines)


def key(name):
    prelab.file_of(name)
    lines = [
        f"{i:2}  {question.title}: {written(value)} {question.unit}"
        for i, (question, value) in enumerate(zip(prelab.QUESTIONS, answers(name)), 1)]
    return "\n".join([names.readable(name), *lines])


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("submissions", metavar="SUBMISSIONS", nargs="?", help="the folder of all sheets")
    parser.add_argument("--results", type=pathlib.Path, default=check.ROOT / "results/grades", metavar="FOLDER",
                        help="where the table goes; default: results/grades")
    parser.add_argument("--key", metavar="NAME", help="print the answers to this person's sheet instead")
    options = parser.parse_args()
    if options.key is not None:
        print(key(options.key))
        return 0
    found = []
    with handed_in.Reader(ENDINGS) as reader:
        for name, own in handed_in.entries(options.submissions, ENDINGS, "SUBMISSIONS").items():
            try:
                found.append((name, graded(sheet_of(handed_in.contents_of(reader, own)))))
            except check.BadInput as error:
                found.append((name, str(error)))
            except OSError as error:
                found.append((name, f"cannot be read: {error.strerror}"))
    if not found:
        raise check.BadInput(f"{printable(options.submissions)}: no sheets: expected NAME.md, NAME.txt, NAME.zip "
                             "or NAME/sheet.md")
    class_files.write(options.results / "prelab.csv", table(found), "utf-8-sig")
    results = [result for _, result in found if not isinstance(result, str)]
    for i, question in enumerate(prelab.QUESTIONS, 1):
        print(f"{sum(result['points'][i - 1] for result in results):4} of {len(results)} right  {i}. {question.title}")
    missing = len(found) - len(results)
    print(f"{len(results)} of {len(found)} graded{f', {missing} without a sheet' if missing else ''}: "
          f"{printable(options.results / 'prelab.csv')}")
    return 0


if __name__ == "__main__":
    sys.exit(whole.run(main, "prelab", (check.BadInput, RuntimeError, ValueError)))
