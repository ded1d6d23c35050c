"""Grades a class: python3 lab/grade.py SUBMISSIONS [--exercise NN] [--jobs N] [--results FOLDER]

SUBMISSIONS holds a folder, a file or an archive for each person, as courses export them: NAME/exercise.cu,
NAME/.../step04_padding/exercise.cu (which may be part of a whole copy of the project), NAME.cu, or NAME.zip and
NAME/....zip, which are read in place. --exercise names the exercise to grade. Without it, every exercise that the names
of folders and files give is graded. FOLDER/labNN/NAME/results.json is in Gradescope's format. FOLDER/labNN.csv has a
line for each person, also for those without a submission, and FOLDER/labNN.html their statistics. For an open exercise,
FOLDER/labNN.leaderboard.html orders the fastest. --one OUT: SUBMISSIONS belongs to one person, whose results.json goes
to OUT.

--watch SECONDS looks again and again, grades what is new or changed, and writes tables and pages anew, until Ctrl-C.
--best merges tables of several attempts: the best points of each person count.

Exit status: 0 all graded, whatever the points; 2 bad input; 130 interrupted. After an interruption,
FOLDER/labNN.interrupted.csv has the submissions graded so far, and FOLDER/labNN.csv is unchanged. With --watch, Ctrl-C
is the normal end: 0.
"""

import signal

signal.signal(signal.SIGINT, signal.SIG_DFL)  # until there is something to clean up

import argparse
import concurrent.futures
import datetime
import json
import math
import os
import pathlib
import queue
import random
import re
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


def write_tables(verdicts, exercises, options, interrupted, refresh=None):
    """For each exercise: the table, the page of statistics, the leaderboard if it has one, and the exports. After an
    interruption, only a table. `refresh`: seconds after which the pages load themselves again. Returns lines to
    print."""
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
        write(place.with_suffix(".html"), class_pages.statistics_page(number, rows, refresh))
        if number in exercises.EXERCISES and exercises.EXERCISES[number].speed:
            write(place.with_suffix(".leaderboard.html"), class_pages.leaderboard(number, rows, shown_as, refresh))
        said += export(place, number, rows, options.export)
    return said


def export(place, number, rows, chosen):
    """Writes the tables for course systems. Returns lines to print."""
    said = []
    for system in chosen:
        if exports.EXPORTS[system]:
            text, unknown = exports.EXPORTS[system](number, rows)
            write(place.with_suffix(f".{system}.csv"), text)
            if about := exports.about(system, unknown, rows):
                said.append(f"{place}.{system}.csv: {about}")
    return said


def same(number, file, drawn_by):
    """What makes two submissions one: files with the same bytes and name, as hand-outs that nobody touched are, get one
    verdict."""
    try:
        return number, file if isinstance(file, str) else (file.path.name, check.read_submission(file.path)), drawn_by
    except (check.BadInput, OSError):  # the verdict says why
        return number, str(file.path), drawn_by


def systems(text):
    """The value of --export."""
    chosen = text.split(",")
    for system in chosen:
        if system not in exports.EXPORTS:
            raise check.BadInput(f"--export {check.shown(system)}: expected one or more of "
                                 f"{', '.join(exports.EXPORTS)}")
    return chosen


def deadline(text):
    """The value of --due, a local time, in seconds since 1970."""
    for form in ("%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S"):
        try:
            return datetime.datetime.strptime(text.strip(), form).timestamp()
        except (ValueError, OverflowError):
            pass
    raise check.BadInput(f'--due {check.shown(text)}: expected a date and a time, for example "2026-11-30 18:00"')


def with_lateness(verdict, file, options):
    """A person's verdict with the days after the deadline and, where points are taken off, those before."""
    if options.due is None:
        return verdict
    after = 0 if isinstance(file, str) else file.received - options.due
    days = max(0, math.ceil(after / 86400))
    return {**verdict, "days_late": days, "points_before": verdict["total"],
            "total": max(0, verdict["total"] - days * options.late_points)}


class Grader:
    """Grades submissions on several processors at a time."""

    def __init__(self, lab, exercises, options, seed):
        self.lab, self.exercises, self.options, self.seed = lab, exercises, options, seed
        # A worker and its programs stay on one processor, so that no submission slows others down.
        usable = sorted(os.sched_getaffinity(0))
        self.jobs = min(options.jobs, len(usable))
        self.processors = queue.SimpleQueue()
        for processor in usable[:self.jobs]:
            self.processors.put(processor)
        self.on_the_gpu = threading.Lock()  # one at a time: they are timed
        self.known = {}                     # verdicts of earlier rounds, by same()

    def seed_of(self, name):
        return check.names.seed_of(exports.person(name)) if self.options.by_name and name else self.seed

    def grade(self, number, file, name=None):
        """The verdict on a File, or on the reason why there is none."""
        return {**self.verdict(number, file, self.seed_of(name)), "seed": self.seed_of(name)}

    def verdict(self, number, file, seed):
        if number not in self.exercises.EXERCISES:  # a path without a number, or one that no exercise has
            why = file if number is None else f"there is no exercise {number}"
            return {"exercise": number, "total": 0, "of": 100, "checks": [], "note": why, "seconds": 0}
        exercise = self.exercises.EXERCISES[number]
        if isinstance(file, str):
            return check.verdict_of(exercise, 0, {}, file)
        processor = self.processors.get()
        try:
            verdict = self.lab.check(exercise, file.path, processor, seed)
            if self.options.graded_bandwidth is not None or exercise.speed and self.lab.cuda:
                with self.on_the_gpu:
                    check.add_bandwidth(verdict, self.lab, exercise, file.path, self.options.graded_bandwidth)
            return verdict
        except check.BadInput as error:
            return check.verdict_of(exercise, 0, {}, str(error))
        except sandbox.Interrupted:
            raise
        except Exception as error:  # the others are graded nevertheless
            return check.verdict_of(exercise, 0, {}, f"the grader failed: {error!r}")
        finally:
            self.processors.put(processor)

    def every(self, found):
        """Yields (name, number, verdict or None where it was interrupted) of each submission, as they are ready."""
        alike = {}
        for name, n, file in found:
            alike.setdefault(same(n, file, name if self.options.by_name else ""), []).append((name, n, file))
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            waiting = {}
            for key, people in alike.items():
                if key in self.known:
                    for name, n, file in people:
                        yield name, n, with_lateness(self.known[key], file, self.options)
                else:
                    name, n, file = people[0]
                    waiting[pool.submit(self.grade, n, file, name)] = key
            for done in concurrent.futures.as_completed(waiting):
                key = waiting[done]
                if not isinstance(done.exception(), sandbox.Interrupted):
                    self.known[key] = done.result()
                for name, n, file in alike[key]:
                    yield name, n, with_lateness(self.known[key], file, self.options) if key in self.known else None

    def line(self, name, n, verdict):
        """What is printed of a verdict."""
        days = verdict.get("days_late", 0)
        return (f"{check.shown(name)}: {'?' if n is None else f'lab{n:02}'}: {verdict['total']} / {verdict['of']}"
                + (f"  {days} day{'s'[:days != 1]} late, {verdict['points_before']} before" if days else "")
                + (f"  {check.brief(verdict['note'])}" if verdict["note"] else ""))

    def write_results(self, name, n, verdict):
        if n is not None:
            write(self.options.results / f"lab{n:02}" / name / "results.json",
                  json.dumps(exports.gradescope(verdict), indent=1) + "\n")


def again(seed, by_name):
    """A line: how to repeat the run."""
    return ("shapes drawn from the names; to repeat the run, add GRADE=--by-name" if by_name
            else f"seed of the drawn shapes: {seed}; to repeat the run, add SEED={seed}")


def grade_class(grader, number):
    """Grades a folder once. The exit status."""
    options, start = grader.options, time.monotonic()
    verdicts, graded = {}, 0
    with handed_in.Reader() as reader:
        found = handed_in.submissions(options.submissions, number, reader, newest=options.newest)
        for name, n, verdict in grader.every(found):
            if verdict is None:
                verdicts[name, n] = {**check.verdict_of(grader.exercises.EXERCISES[n], 0, {},
                                                        "not graded: interrupted"), "seed": grader.seed_of(name)}
                continue
            verdicts[name, n] = verdict
            graded += 1
            grader.write_results(name, n, verdict)
            print(f"{graded:4} of {len(found)}  {grader.line(name, n, verdict)}", flush=True)
    status, ending = (130, ".interrupted.csv") if sandbox.ended.is_set() else (0, ".csv")
    said = write_tables(verdicts, grader.exercises, options, bool(status))
    missing = sum(isinstance(file, str) for name, n, file in found)
    print(f"{'interrupted: ' if status else ''}{graded} of {len(found)} graded in {time.monotonic() - start:.0f} s"
          f"{f', {missing} of them without a submission' if missing else ''}: {options.results}/labNN{ending}")
    print(again(grader.seed, options.by_name))
    for line in said:
        print(line)
    return status


def watch(grader, number):
    """Grades a folder whenever something in it changes, until a signal comes. Only new and changed submissions are
    graded. The exit status."""
    options, verdicts, before = grader.options, {}, None
    if not pathlib.Path(options.submissions).is_dir():
        raise check.BadInput(f"{check.shown(options.submissions)}: expected a folder of submissions")
    refresh = max(1, math.ceil(options.watch))
    print(again(grader.seed, options.by_name))
    print(f"watching {check.shown(options.submissions)}; pages are in {options.results}; Ctrl-C ends this", flush=True)
    while not sandbox.ended.is_set():
        now = handed_in.state(options.submissions)
        if now != before:
            before, present, written = now, set(), time.monotonic()
            with handed_in.Reader() as reader:
                try:
                    found = handed_in.submissions(options.submissions, number, reader, newest=options.newest)
                except (check.BadInput, OSError) as error:  # nothing is there yet, or no longer
                    found = []
                    if verdicts:
                        print(f"not graded: {error}", flush=True)
                for name, n, verdict in grader.every(found):
                    present.add((name, n))
                    if verdict is None or verdicts.get((name, n)) == verdict:
                        continue
                    verdicts[name, n] = verdict
                    grader.write_results(name, n, verdict)
                    print(f"{time.strftime('%H:%M:%S')}  {grader.line(name, n, verdict)}", flush=True)
                    if time.monotonic() > written + refresh:
                        write_tables(verdicts, grader.exercises, options, False, refresh)
                        written = time.monotonic()
            if not sandbox.ended.is_set():
                verdicts = {key: verdict for key, verdict in verdicts.items() if key in present}
            write_tables(verdicts, grader.exercises, options, False, refresh)
        sandbox.ended.wait(options.watch)
    said = write_tables(verdicts, grader.exercises, options, False)  # pages that no longer load themselves again
    print(f"\nended: {len(verdicts)} graded: {options.results}/labNN.csv")
    for line in said:
        print(line)
    return 0


def merge(options):
    """Writes the table of the best attempts of --best. The exit status."""
    paths = [pathlib.Path(path) for path in options.best]
    for path in paths:
        if path.is_dir():
            raise check.BadInput(f"--best {check.shown(path)}: a folder; name the table in it, for example "
                                 f"{check.shown(path / 'lab04.csv')}")
    place = options.results / (paths[0].name if len({path.name for path in paths}) == 1 else "best.csv")
    if any(place.exists() and path.exists() and os.path.samefile(place, path) for path in paths):
        raise check.BadInput(f"--results {check.shown(options.results)}: {place.name} there is one of the tables; name "
                             "another folder")
    try:
        lines = exports.best([(str(path), path.read_text(encoding="utf-8-sig")) for path in paths])
    except ValueError as error:  # also of bytes that are no text
        raise check.BadInput(check.shown(str(error))) from None
    heads = list(lines[0]) if lines else ["name", "total", "of"]
    write(place, exports.table([heads, *[[line[head] for head in heads] for line in lines]]), "utf-8-sig")
    print(f"{len(lines)} people, the best of {len(paths)} tables: {place}")
    number = re.search(r"\d+", place.name)
    rows = [(line["name"], {"total": float(line["total"]), "of": float(line["of"]), "checks": [], "note":
                            f"from {line['from']}" + (f": {line['note']}" if line["note"] else "")}) for line in lines]
    for line in export(place.with_suffix(""), int(number[0]) if number else "", rows, options.export):
        print(line)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("submissions", metavar="SUBMISSIONS", nargs="?",
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
    parser.add_argument("--newest", action="store_true",
                        help="of several different files of a person, the newest counts")
    parser.add_argument("--due", metavar="'YYYY-MM-DD HH:MM'",
                        help="the deadline, in local time; the table then has the days that each file is late")
    parser.add_argument("--late-points", type=int, default=0, metavar="N",
                        help="points to take off for each day that has begun after the deadline, never below 0")
    parser.add_argument("--watch", type=float, metavar="SECONDS",
                        help="look for new and changed files so often, and grade them, until Ctrl-C")
    parser.add_argument("--best", nargs="+", metavar="TABLE",
                        help="merge tables of several attempts into --results instead: the best points count")
    options = parser.parse_args()
    if options.jobs < 1:
        raise check.BadInput(f"--jobs {options.jobs}: expected at least 1")
    if options.late_points < 0 or options.late_points and options.due is None:
        raise check.BadInput(f"--late-points {options.late_points}: expected a number of points, and a deadline: "
                             '--due "2026-11-30 18:00"')
    if options.watch is not None and not 0 < options.watch <= 86400:
        raise check.BadInput(f"--watch {options.watch:g}: expected a number of seconds above 0")
    options.due = None if options.due is None else deadline(options.due)
    options.export = systems(options.export)
    check.begin()
    if options.best:
        return merge(options)
    if options.submissions is None:
        raise check.BadInput("no SUBMISSIONS: expected a folder of submissions")
    exercises = check.load_exercises(options.exercises)
    number = check.exercise_of(exercises, options.exercise).number if options.exercise is not None else None
    if number is not None:
        check.refuse_bandwidth(exercises.EXERCISES[number], options.graded_bandwidth)
    # everybody gets the same shapes
    seed = random.SystemRandom().randrange(1 << 20) if options.seed is None else options.seed
    grader = Grader(check.Lab(), exercises, options, seed)
    if options.one:
        if number is None:
            raise check.BadInput("--one: no exercise given; add --exercise NN")
        with handed_in.Reader() as reader:
            contents = reader.read(pathlib.Path(options.submissions))
            file = handed_in.choose(contents, number, options.newest)[number]
            verdict = with_lateness(grader.grade(number, file), file, options)
        write(options.one, json.dumps(exports.gradescope(verdict), indent=1) + "\n")
        print(check.report(verdict))
        return 0
    status = (grade_class if options.watch is None else watch)(grader, number)
    if not grader.lab.isolate:
        print("This system allows no namespaces, so submissions ran without a part of the sandbox. The points are "
              f"the same. The reason: {grader.lab.why_not}")
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
