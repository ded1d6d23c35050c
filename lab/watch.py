"""Grades a folder of submissions again and again, for make grade WATCH=seconds."""

import math
import pathlib
import time

import check
import handed_in
import sandbox
from class_files import write_tables
from outside import printable


def watch(grader, number):
    """Grades a folder whenever something in it changes, until a signal comes. Only new and changed submissions are
    graded. The exit status."""
    options, verdicts, before = grader.options, {}, None
    if not pathlib.Path(options.submissions).is_dir():
        raise check.BadInput(f"{printable(options.submissions)}: expected a folder of submissions")
    refresh = max(1, math.ceil(options.watch))
    print(grader.again())
    print(f"watching {printable(options.submissions)}; pages are in {options.results}; Ctrl-C ends this", flush=True)
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
