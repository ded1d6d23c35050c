"""Grades a class: python3 lab/grade.py SUBMISSIONS [--exercise NN] [--jobs N] [--results FOLDER]

SUBMISSIONS holds a folder, a file or an archive for each person, as courses export them: NAME/exercise.cu,
NAME/.../step04_padding/exercise.cu (which may be part of a whole copy of the project), NAME.cu, or NAME.zip and
NAME/....zip, which are read in place. --exercise names the exercise to grade. Without it, every exercise that the names
of folders and files give is graded. FOLDER/labNN/NAME/results.json is in Gradescope's format. FOLDER/labNN.csv has a
line for each person, also for those without a submission, and FOLDER/labNN.html their statistics. For an open exercise,
FOLDER/labNN.leaderboard.html orders the fastest. --one OUT: SUBMISSIONS belongs to one person, whose results.json goes
to OUT.

Exit status: 0 all graded, whatever the points; 2 bad input; 130 interrupted. After an interruption,
FOLDER/labNN.interrupted.csv has the submissions graded so far, and FOLDER/labNN.csv is unchanged.
"""

import signal

signal.signal(signal.SIGINT, signal.SIG_DFL)  # until there is something to clean up

import argparse
import concurrent.futures
import json
import os
import pathlib
import queue
import random
import sys
import threading
import time

import check
import class_pages
import exports
import handed_in
import sandbox

sys.path.append(str(check.ROOT / "plots"))
import whole

def write(path, text, encoding="utf-8"):
    """Writes the file whole or not at all, for everybody to read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    whole.write(path, text, encoding, mode=0o644)


def write_tables(verdicts, exercises, options, interrupted):
    """For each exercise: the table, the page of statistics, the leaderboard if it has one, and the exports. After an
    interruption, only a table. Returns lines to print."""
    said = []
    for number in sorted({n for _, n in verdicts if n is not None}):
        rows = [(check.shown(name), v)
                for (name, n), v in sorted(verdicts.items(), key=lambda item: item[0][0])
                if n in (number, None)]
        shown_as = (class_pages.pseudonyms([name for name, _ in rows], options.pseudonyms) if options.pseudonyms
                    else None)
        place = options.results / f"lab{number:02}"
        if interrupted:
            write(place.with_suffix(".interrupted.csv"), exports.grades(rows, shown_as), "utf-8-sig")
            continue
        write(place.with_suffix(".csv"), exports.grades(rows, shown_as), "utf-8-sig")
        write(place.with_suffix(".html"), class_pages.statistics_page(number, rows))
        if number in exercises.EXERCISES and exercises.EXERCISES[number].speed:
            write(place.with_suffix(".leaderboard.html"), class_pages.leaderboard(number, rows, shown_as))
        for system in options.export:
            if exports.EXPORTS[system]:
                text, unknown = exports.EXPORTS[system](number, rows)
                write(place.with_suffix(f".{system}.csv"), text)
                if unknown:
                    said.append(f"{place}.{system}.csv: {len(unknown)} of {len(rows)} names are not as "
                                f"{system.capitalize()} exports them, so their rows have no number: "
                                f"{', '.join(unknown[:3])}")
    return said


def same(number, file, drawn_by):
    """What makes two submissions one: files with the same bytes and name, as hand-outs that nobody touched are, get one
    verdict."""
    try:
        return number, file if isinstance(file, str) else (file.name, check.read_submission(file)), drawn_by
    except (check.BadInput, OSError):  # the verdict says why
        return number, str(file), drawn_by


def systems(text):
    """The value of --export."""
    chosen = text.split(",")
    for system in chosen:
        if system not in exports.EXPORTS:
            raise check.BadInput(f"--export {check.shown(system)}: expected one or more of "
                                 f"{', '.join(exports.EXPORTS)}")
    return chosen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
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
    parser.add_argument("--pseudonyms", metavar="SEED",
                        help="leaderboards show pseudonyms that this text gives the names; the table lists them")
    parser.add_argument("--seed", type=int, metavar="N",
                        help="the seed of the shapes that are not on the page, to repeat a run")
    parser.add_argument(
        "--by-name", action="store_true",
        help="draw each person's shapes from the name of the folder or file, as `make labNN "
        "NAME=...` does")
    parser.add_argument("--graded-bandwidth", type=float, metavar="SHARE", help="see lab/check.py --help")
    options = parser.parse_args()
    if options.jobs < 1:
        raise check.BadInput(f"--jobs {options.jobs}: expected at least 1")
    options.export = systems(options.export)
    check.begin()
    exercises = check.load_exercises(options.exercises)
    number = check.exercise_of(exercises, options.exercise).number if options.exercise is not None else None
    if number is not None:
        check.refuse_bandwidth(exercises.EXERCISES[number], options.graded_bandwidth)
    lab, start = check.Lab(), time.monotonic()
    # everybody gets the same shapes
    seed = random.SystemRandom().randrange(1 << 20) if options.seed is None else options.seed

    # A worker and its programs stay on one processor, so that no submission slows others down.
    usable = sorted(os.sched_getaffinity(0))
    jobs = min(options.jobs, len(usable))
    processors = queue.SimpleQueue()
    for processor in usable[:jobs]:
        processors.put(processor)

    on_the_gpu = threading.Lock()  # one at a time: they are timed

    def grade(number, file, name=None):
        if number not in exercises.EXERCISES:  # a path without a number, or one that no exercise has
            why = file if number is None else f"there is no exercise {number}"
            return {"exercise": number, "total": 0, "of": 100, "checks": [], "note": why, "seconds": 0}
        exercise = exercises.EXERCISES[number]
        if isinstance(file, str):
            return check.verdict_of(exercise, 0, {}, file)
        processor = processors.get()
        try:
            verdict = lab.check(exercise, file, processor,
                                check.names.seed_of(exports.person(name)) if options.by_name and name else seed)
            if options.graded_bandwidth is not None or exercise.speed and lab.cuda:
                with on_the_gpu:
                    check.add_bandwidth(verdict, lab, exercise, file, options.graded_bandwidth)
            return verdict
        except check.BadInput as error:
            return check.verdict_of(exercise, 0, {}, str(error))
        except sandbox.Interrupted:
            raise
        except Exception as error:  # the others are graded nevertheless
            return check.verdict_of(exercise, 0, {}, f"the grader failed: {error!r}")
        finally:
            processors.put(processor)

    if options.one:
        if number is None:
            raise check.BadInput("--one: no exercise given; add --exercise NN")
        with handed_in.Reader() as reader:
            chosen = handed_in.choose(reader.read(pathlib.Path(options.submissions)), number)[number]
            verdict = grade(number, chosen if isinstance(chosen, str) else chosen.path)
        write(options.one, json.dumps(exports.gradescope(verdict), indent=1) + "\n")
        print(check.report(verdict))
        return 0

    verdicts, graded = {}, 0
    with handed_in.Reader() as reader, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        found = handed_in.submissions(options.submissions, number, reader)
        alike = {}
        for name, n, file in found:
            alike.setdefault(same(n, file, name if options.by_name else ""), []).append((name, n, file))
        waiting = {pool.submit(grade, n, file, name): every for every in alike.values() for name, n, file in every[:1]}
        for done in concurrent.futures.as_completed(waiting):
            for name, n, _ in waiting[done]:
                if isinstance(done.exception(), sandbox.Interrupted):
                    verdicts[name, n] = check.verdict_of(exercises.EXERCISES[n], 0, {}, "not graded: interrupted")
                    continue
                verdict = verdicts[name, n] = done.result()
                graded += 1
                if n is not None:
                    write(options.results / f"lab{n:02}" / name / "results.json",
                          json.dumps(exports.gradescope(verdict), indent=1) + "\n")
                print(f"{graded:4} of {len(found)}  {check.shown(name)}: {'?' if n is None else f'lab{n:02}'}: "
                      f"{verdict['total']} / {verdict['of']}"
                      + (f"  {check.brief(verdict['note'])}" if verdict["note"] else ""), flush=True)
    status, ending = (130, ".interrupted.csv") if sandbox.ended.is_set() else (0, ".csv")
    said = write_tables(verdicts, exercises, options, bool(status))
    missing = sum(isinstance(file, str) for name, n, file in found)
    print(f"{'interrupted: ' if status else ''}{graded} of {len(found)} graded in {time.monotonic() - start:.0f} s"
          f"{f', {missing} of them without a submission' if missing else ''}: {options.results}/labNN{ending}")
    for line in said:
        print(line)
    if not lab.isolate:
        print(f"(run without namespaces: {lab.why_not})")
    return status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except sandbox.Interrupted:
        sys.exit(130)
    except check.BadInput as error:
        print(f"grade: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        print(f"grade: {error.filename}: {error.strerror}", file=sys.stderr)
        sys.exit(2)
