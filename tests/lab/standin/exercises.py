"""A stand-in for lab/exercises.py that the grader's tests program against: exercise 4, a swizzle instead of the
padding."""

from parts import Check, Exercise, Limit

SHAPES = [(1, 1), (33, 31), (64, 96), (257, 131)]
TYPES = ["float", "double", "int"]


def right(runs):
    for run in runs.values():
        if run.row is None:
            why = run.findings[0].text if run.findings else run.status
            return 0, f"{run.width} x {run.height} of {run.type}: {why}"
    return 1, ""


def conflicts(runs):
    return ((1, "") if all(run.row and int(run.row["worst_conflict"]) == 1 for run in runs.values())
            else (0, "two lanes of a warp meet in a bank"))


def memory(runs):
    return ((1, "") if all(run.row and int(run.row["shared_bytes_per_block"]) <= 4096 for run in runs.values())
            else (4, "more than 4096 bytes of shared memory"))


LARGE = [(256, 256, "float", "h200")]
RIGHT = [Check("right", 40, "right on all shapes and types", [(w, h, t, "h200") for w, h in SHAPES for t in TYPES],
               right)]
EXERCISES = {4: Exercise(
    4, "step04_padding", "transposeSwizzle", "transpose", "transposes",
    lambda seed: RIGHT,
    lambda seed: [Check("conflicts", 60, "no bank conflicts", LARGE, conflicts)], lambda seed: [Limit(LARGE, memory)])}
