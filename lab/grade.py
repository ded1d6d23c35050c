"""Grades a class: python3 lab/grade.py SUBMISSIONS [--exercise NN] [--jobs N] [--results FOLDER] [--graded-bandwidth SHARE]

SUBMISSIONS holds NAME/stepNN.../exercise.cu (any number of exercises of one person; the folder says which), or, with
--exercise NN, NAME/exercise.cu or NAME.cu. Of each, FOLDER/NAME/labNN/results.json is for Gradescope's autograder, and
FOLDER/grades.csv has a line. Exit status: 0 all graded, whatever the points; 2 bad input.
"""

import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import queue
import re
import sys
import time

import check


def submissions(folder, number):
    """(name, exercise number, file) of each, in order."""
    if not folder:  # the path '' would be the current folder
        raise check.BadInput("SUBMISSIONS=: expected a folder of submissions")
    folder = pathlib.Path(folder)
    if not folder.is_dir():
        raise check.BadInput(f"{folder}: expected a folder of submissions")
    found = []
    for entry in sorted(folder.iterdir()):
        if entry.suffix == ".cu" and not entry.is_dir():
            found.append((entry.stem, number, entry))
        elif entry.is_dir() and not entry.is_symlink():
            if os.path.lexists(entry / "exercise.cu"):
                found.append((entry.name, number, entry / "exercise.cu"))
            for step in sorted(entry.iterdir()):
                if (match := re.match(r"step(\d\d)", step.name)) and not step.is_symlink() and os.path.lexists(step / "exercise.cu"):
                    if number is None or number == int(match.group(1)):
                        found.append((entry.name, int(match.group(1)), step / "exercise.cu"))
    if not found:
        raise check.BadInput(f"{folder}: no submissions: expected NAME/stepNN/exercise.cu, NAME/exercise.cu or NAME.cu")
    for name, n, file in found:
        if n is None:
            raise check.BadInput(f"{file}: of which exercise? Say EXERCISE=NN")
    if len({(name, n) for name, n, _ in found}) < len(found):
        raise check.BadInput(f"{folder}: two submissions of one name for one exercise")
    return found


def gradescope(verdict):
    """results.json, as https://gradescope-autograders.readthedocs.io/en/latest/specs/ has it."""
    return {"score": verdict["total"], "output": verdict["note"] or f"{verdict['total']} of {verdict['of']} points", "output_format": "text",
            "execution_time": verdict["seconds"],
            "tests": [{"name": c["name"], "score": c["points"], "max_score": c["of"], "output": c["hint"] or "ok", "output_format": "text"} for c in verdict["checks"]]}


def main():
    parser = argparse.ArgumentParser(description="Grades a folder of submissions.")
    parser.add_argument("submissions")
    parser.add_argument("--exercise", type=int)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--results", type=pathlib.Path, default=check.ROOT / "results/grades")
    parser.add_argument("--exercises", help="default: lab/exercises.py")
    parser.add_argument("--graded-bandwidth", type=float, metavar="SHARE", help="as of check.py")
    options = parser.parse_args()
    if options.jobs < 1:
        raise check.BadInput(f"--jobs {options.jobs}: expected at least 1")
    exercises = check.load_exercises(options.exercises)
    found = submissions(options.submissions, options.exercise)
    for _, number, _ in found:
        check.exercise_of(exercises, number)
    lab, start = check.Lab(), time.monotonic()

    # A worker and all it runs keep to one processor, so that no submission takes time from others.
    processors = queue.SimpleQueue()
    usable = sorted(os.sched_getaffinity(0))
    for job in range(options.jobs):
        processors.put(usable[job % len(usable)])

    def grade(submission):
        _, number, file = submission
        exercise, processor = check.exercise_of(exercises, number), processors.get()
        try:
            return lab.check(exercise, file, [processor])
        except Exception as error:  # whatever it is, the others are graded
            why = str(error) if isinstance(error, check.BadInput) else f"the grader failed: {error!r}"
            return {"exercise": number, "total": 0, "of": sum(c.points for c in exercise.checks), "note": why, "seconds": 0,
                    "checks": [{"name": c.name, "what": c.what, "points": 0, "of": c.points, "hint": "not run: see above"} for c in exercise.checks]}
        finally:
            processors.put(processor)

    options.results.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool, open(options.results / "grades.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["name", "exercise", "points", "total", "of", "seconds", "note"])
        for (name, number, path), verdict in zip(found, pool.map(grade, found)):
            if options.graded_bandwidth is not None:  # here: one at a time
                check.add_bandwidth(verdict, lab, check.exercise_of(exercises, number), path, options.graded_bandwidth)
            folder = options.results / name / f"lab{number:02}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "results.json").write_text(json.dumps(gradescope(verdict), indent=1) + "\n")
            points = " ".join(f"{c['points']}/{c['of']}" for c in verdict["checks"])
            table.writerow([name, number, points, verdict["total"], verdict["of"], verdict["seconds"], verdict["note"]])
            file.flush()
            print(f"{name}: lab{number:02}: {verdict['total']} / {verdict['of']}" + (f"  {verdict['note']}" if verdict["note"] else ""), flush=True)
    print(f"{len(found)} graded in {time.monotonic() - start:.0f} s: {options.results / 'grades.csv'}")
    if not lab.isolate:
        print(f"(run without namespaces: {lab.why_not})")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except check.BadInput as error:
        print(f"grade: {error}", file=sys.stderr)
        sys.exit(2)
