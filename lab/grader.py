"""Grades submissions on several processors at a time, each text once. grade.py says which."""

import concurrent.futures
import math
import os
import queue
import threading
import traceback

import check
import exports
import sandbox
from outside import printable


def same(number, file, drawn_by):
    """The key under which a verdict is kept: files with the same bytes and name, as hand-outs that nobody touched are,
    get one verdict."""
    try:
        return number, file if isinstance(file, str) else (file.path.name, check.read_submission(file.path)), drawn_by
    except (check.BadInput, OSError):  # the verdict says why
        return number, str(file.path), drawn_by


def with_lateness(verdict, file, options):
    """A person's verdict with the days after the deadline and, where points are taken off, those before."""
    if options.due is None or verdict["total"] is None:
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

    def seed_of(self, name):
        return check.names.seed_of(exports.person(name)) if self.options.by_name and name else self.seed

    def grade(self, number, file, name=None):
        """The verdict on a File, or on the reason why there is none."""
        return self.verdict(number, file, self.seed_of(name))

    def verdict(self, number, file, seed):
        if number not in self.exercises.EXERCISES:  # a path without a number, or one that no exercise has
            why = file if number is None else f"there is no exercise {number}"
            return {"exercise": number, "total": 0, "of": 100, "checks": [], "note": why, "seconds": 0, "needs": True}
        exercise = self.exercises.EXERCISES[number]
        if isinstance(file, str):
            return {**check.verdict_of(exercise, 0, {}, file), "needs": True}
        processor = self.processors.get()
        try:
            verdict = self.lab.check(exercise, file.path, processor, seed)
            if self.options.graded_bandwidth is not None:
                with self.on_the_gpu:
                    check.add_bandwidth(verdict, self.lab, exercise, file.path, self.options.graded_bandwidth)
            return verdict
        except check.BadInput as error:  # the student reads this, and not where the class is
            why = str(error).replace(printable(file.path), printable(file.place))
            return {**check.verdict_of(exercise, 0, {}, why), "needs": True}
        except sandbox.Interrupted:
            raise
        except sandbox.Fault as error:
            return check.ungraded(number, str(error))
        except Exception as error:  # the others are graded nevertheless
            place = traceback.extract_tb(error.__traceback__)[-1]
            return check.ungraded(number, f"{os.path.basename(place.filename)}:{place.lineno}: {error!r}")
        finally:
            self.processors.put(processor)

    def every(self, found):
        """Yields (name, number, verdict) of each submission, as they are ready."""
        alike = {}
        for name, n, file in found:
            alike.setdefault(same(n, file, name if self.options.by_name else ""), []).append((name, n, file))
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            waiting = {}
            for people in alike.values():
                name, n, file = people[0]
                waiting[pool.submit(self.grade, n, file, name)] = people
            for done in concurrent.futures.as_completed(waiting):
                interrupted = isinstance(done.exception(), sandbox.Interrupted)
                for name, n, file in waiting[done]:
                    verdict = check.ungraded(n, "interrupted") if interrupted else done.result()
                    yield name, n, {**with_lateness(verdict, file, self.options),
                                    "seed": self.seed_of(name), "beside": getattr(file, "beside", "")}

    def line(self, name, n, verdict):
        """The line to print for a verdict."""
        days = verdict.get("days_late", 0)
        points = "" if verdict["total"] is None else f"{verdict['total']} / {verdict['of']}"
        late = f"{days} day{'s'[:days != 1]} late, {verdict['points_before']} before" if days else ""
        told = [points, late, check.brief(verdict["note"]), verdict["beside"] and f"not read: {verdict['beside']}"]
        return f"{printable(name)}: {'?' if n is None else f'lab{n:02}'}: {'  '.join(filter(None, told))}"

    def again(self):
        """A line: how to repeat the run."""
        return ("shapes drawn from the names; to repeat the run, add GRADE=--by-name" if self.options.by_name
                else f"seed of the drawn shapes: {self.seed}; to repeat the run, add SEED={self.seed}")
