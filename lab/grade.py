"""Grades a class: python3 lab/grade.py SUBMISSIONS [--exercise NN] [--jobs N] [--results FOLDER]

SUBMISSIONS holds a folder, a file or an archive for each person, as courses export them: NAME/exercise.cu,
NAME/.../step04_padding/exercise.cu (which may be part of a whole copy of the project), NAME.cu, or NAME.zip and
NAME/....zip, which are read in place. --exercise names the exercise to grade. Without it, every exercise that the names
of folders and files give is graded. FOLDER/labNN/NAME/results.json is in Gradescope's format. FOLDER/labNN.csv has a
line for each person, also for those without a submission, and FOLDER/labNN.html their statistics. --one OUT:
SUBMISSIONS belongs to one person, whose results.json goes to OUT.

Exit status: 0 all graded, whatever the points; 2 bad input, or a fault of the machine left some without a grade; 130
interrupted. Those without a grade have a row without points. After an interruption,
FOLDER/labNN.interrupted.csv has the submissions graded so far, and FOLDER/labNN.csv is unchanged.
"""

import signal

signal.signal(signal.SIGINT, signal.SIG_DFL)  # until there is something to clean up

import collections
import contextlib
import datetime
import json
import os
import pathlib
import random
import sys
import time

import check
import command_line
import exports
import handed_in
import sandbox
import whole  # of plots, whose folder check adds
from class_files import write, write_tables
from grader import Grader, with_lateness
from outside import printable


def systems(text):
    """The value of --export."""
    chosen = text.split(",")
    for system in chosen:
        if system not in exports.EXPORTS:
            raise check.BadInput(f"--export {printable(system)}: expected one or more of "
                                 f"{', '.join(exports.EXPORTS)}")
    return chosen


def deadline(text):
    """The value of --due, a local time, in seconds since 1970."""
    try:
        if ":" in text:  # a date alone is no time
            return datetime.datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError):
        pass
    raise check.BadInput(f'--due {printable(text)}: expected a date and a time, for example "2026-11-30 18:00"')


def try_results(folder):
    """OSError if no file can be written there: before a class is graded, and not after."""
    with whole.together(folder) as new:
        (new / "trial").write_bytes(bytes(1 << 16))
        (new / "trial").unlink()


def grade_class(grader, number):
    """Grades a folder once. The exit status."""
    options, start = grader.options, time.monotonic()
    verdicts, graded = {}, 0
    with handed_in.Reader() as reader:
        found = handed_in.submissions(options.submissions, number, reader, newest=options.newest)
        try_results(options.results)
        for name, n, verdict in grader.every(found):
            verdicts[name, n] = verdict
            graded += verdict["total"] is not None
            if not sandbox.ended.is_set() or verdict["total"] is not None:
                with contextlib.suppress(OSError):  # who reads has read enough; the tables are written nevertheless
                    print(f"{graded:4} of {len(found)}  {grader.line(name, n, verdict)}", flush=True)
    status, ending = (130, ".interrupted.csv") if sandbox.ended.is_set() else (0, ".csv")
    said = write_tables(verdicts, options, bool(status))
    missing = sum(isinstance(file, str) for name, n, file in found)
    print(f"{'interrupted: ' if status else ''}{graded} of {len(found)} graded in {time.monotonic() - start:.0f} s"
          f"{f', {missing} of them without a submission' if missing else ''}: {options.results}/labNN{ending}")
    print(grader.again())
    for line in said:
        print(line)
    if status == 0 and graded < len(found):
        why = collections.Counter(v["note"].split("\n")[0] for v in verdicts.values() if v["total"] is None)
        raise check.BadInput(
            f"{len(found) - graded} of {len(found)} have no grade, and their rows no points: "
            + "; ".join(f"{note.removeprefix('not graded: ')} ({n} of them)" for note, n in why.most_common(3))
            + "; then repeat the run")
    return status


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("submissions", metavar="SUBMISSIONS",
                        help="the folder of all submissions; with --one, the folder of one person")
    parser.add_argument("--exercise", metavar="NN",
                        help="the exercise to grade; default: each that the names of folders and files give")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N",
                        help="how many run at a time, at most one per processor")
    parser.add_argument("--results", type=pathlib.Path, default=check.ROOT / "results/grades", metavar="FOLDER",
                        help="where the grades go; default: results/grades")
    parser.add_argument("--one", type=pathlib.Path, metavar="OUT",
                        help="grade one person, and always write results.json there")
    parser.add_argument("--exercises", metavar="FILE", help="the file of exercises; default: lab/exercises.py")
    parser.add_argument("--export", default="gradescope", metavar="SYSTEM,...",
                        help=f"also write tables for course systems: {', '.join(exports.EXPORTS)}")
    parser.add_argument("--seed", type=int, metavar="N",
                        help="the seed of the shapes that are not on the page, to repeat a run")
    parser.add_argument(
        "--by-name", action="store_true",
        help="draw each person's shapes from the name of the folder or file, as `make labNN "
        "NAME=...` does")
    parser.add_argument("--graded-bandwidth", type=float, metavar="SHARE", help="see lab/check.py --help")
    parser.add_argument("--newest", action="store_true",
                        help="of several different files of a person, the newest counts")
    parser.add_argument("--due", metavar="'YYYY-MM-DD HH:MM'",
                        help="the deadline, in local time; the table then has the days that each file is late")
    parser.add_argument("--late-points", type=int, default=0, metavar="N",
                        help="points to take off for each day that has begun after the deadline, never below 0")
    options = parser.parse_args()
    if options.jobs < 1:
        raise check.BadInput(f"--jobs {options.jobs}: expected at least 1")
    if options.late_points < 0 or options.late_points and options.due is None:
        raise check.BadInput(f"--late-points {options.late_points}: expected a number of points, and a deadline: "
                             '--due "2026-11-30 18:00"')
    options.due = None if options.due is None else deadline(options.due)
    options.export = systems(options.export)
    exercises = check.load_exercises(options.exercises)
    number = check.exercise_of(exercises, options.exercise).number if options.exercise is not None else None
    if number is not None:
        check.refuse_bandwidth(exercises.EXERCISES[number], options.graded_bandwidth)
    # everybody gets the same shapes
    seed = random.SystemRandom().randrange(1 << 20) if options.seed is None else options.seed
    grader = Grader(check.Lab(), exercises, options, seed)
    for exercise in exercises.EXERCISES.values() if number is None else [exercises.EXERCISES[number]]:
        grader.lab.registered(exercise)
    if options.one:
        if number is None:
            raise check.BadInput("--one: no exercise given; add --exercise NN")
        with handed_in.Reader() as reader:
            contents = reader.read(pathlib.Path(options.submissions))
            file = handed_in.choose(contents, number, options.newest)[number]
            verdict = {**with_lateness(grader.grade(number, file), file, options), "seed": seed}
        if verdict["total"] is None:
            raise check.BadInput(verdict["note"])
        write(options.one, json.dumps(exports.gradescope(verdict), indent=1) + "\n")
        print(check.report(verdict))
        return 0
    status = grade_class(grader, number)
    if not grader.lab.isolate:
        print("This system allows no namespaces, so submissions ran without a part of the sandbox. The points are "
              f"the same. The reason: {grader.lab.why_not}")
    return status


if __name__ == "__main__":
    sys.exit(check.program(main, "grade"))
