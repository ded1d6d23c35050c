"""What the cells of lab/transpose.ipynb call: predictions and the counts to compare them with, edits that are undone,
and the file to hand in.

Standard library only, because it runs wherever the notebook does. The counts are always the simulator's, with and
without a GPU.
"""

import csv
import json
import math
import pathlib
import shlex
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from typing import Callable

import names

ROOT = pathlib.Path(__file__).resolve().parent.parent
PREDICTIONS = ROOT / "results/predictions.json"
NEAR = 0.01  # a prediction this near to a count is right: some counts are means


@dataclass
class Quantity:
    what: str                      # for students; it is the key of a prediction
    command: str                   # a step and its options; the kernel is one
    of: Callable[[dict], float]    # of the row of its CSV file


def per_request(kind, unit="transactions"):
    return lambda row: float(row[f"{kind}_{unit}"]) / float(row[f"{kind}_requests"])


def column(name):
    return lambda row: float(row[name])


STORES, LOADS = per_request("global_store"), per_request("global_load")
TILE_LOADS, TILE_STORES = per_request("shared_load", "wavefronts"), per_request("shared_store", "wavefronts")
# Of each step's questions under Predict, those whose answers are counts.
QUANTITIES = {
    "step01": [Quantity("load requests of copy, 1024 x 1024 floats", "step01 --kernel copy --size 1024",
                        column("global_load_requests")),
               Quantity("sectors of such a load", "step01 --kernel copy --size 1024", LOADS),
               Quantity("sectors of a load that begins one element late", "step01 --kernel addMisaligned --size 256",
                        LOADS)],
    "step02":
        [Quantity("sectors of a load", "step02 --kernel transposeNaive --size 256", LOADS),
         Quantity("sectors of a store", "step02 --kernel transposeNaive --size 256", STORES),
         Quantity("percent of the bytes in them that are asked for", "step02 --kernel transposeNaive --size 256",
                  column("coalesced_percent")),
         Quantity("sectors of a load of doubles", "step02 --kernel transposeNaive --size 256 --type double", LOADS),
         Quantity("sectors of a store of doubles", "step02 --kernel transposeNaive --size 256 --type double", STORES)],
    "step03": [Quantity("sectors of a load from idata", "step03 --kernel transposeCoalesced --size 256", LOADS),
               Quantity("sectors of a store to odata", "step03 --kernel transposeCoalesced --size 256", STORES),
               Quantity("bytes of shared memory of a block", "step03 --kernel transposeCoalesced --size 256",
                        column("shared_bytes_per_block"))],
    "step04": [Quantity("wavefronts of a load of a column, rows of 32 words",
                        "step03 --kernel transposeCoalesced --size 256", TILE_LOADS),
               Quantity("wavefronts of the same, rows of 33 words",
                        "step04 --kernel transposeNoBankConflicts --size 256", TILE_LOADS),
               Quantity("wavefronts of a store to a row of 33 words",
                        "step04 --kernel transposeNoBankConflicts --size 256", TILE_STORES),
               Quantity("wavefronts of a load of 32 doubles",
                        "step04 --kernel transposeNoBankConflicts --size 256 --type double", TILE_LOADS)],
    "step05": [Quantity("sectors of a store, tiles turned", "step05 --kernel transposeFineGrained --size 1024", STORES),
               Quantity("sectors of a store, tiles moved", "step05 --kernel transposeCoarseGrained --size 1024",
                        STORES),
               Quantity("wavefronts of a load from the tile, tiles turned",
                        "step05 --kernel transposeFineGrained --size 1024", TILE_LOADS)],
    "step06": [Quantity("traffic of the busiest partition over the mean, stores of step 6",
                        "step06 --kernel transposeDiagonal --machine gtx280 --size 2048",
                        column("busiest_partition_of_stores")),
               Quantity("the same for step 4 and 2080 x 2080 floats",
                        "step04 --kernel transposeNoBankConflicts --machine gtx280 --size 2080",
                        column("busiest_partition_of_stores"))],
    "step07": [Quantity("load requests, 1024 x 1024 floats", "step07 --kernel transposeLongPieces --size 1024",
                        column("global_load_requests")),
               Quantity("sectors of such a load", "step07 --kernel transposeLongPieces --size 1024", LOADS),
               Quantity("bytes of shared memory of a block", "step07 --kernel transposeLongPieces --size 1024",
                        column("shared_bytes_per_block"))],
}


def counted(command):
    """The row that a step writes about its kernel on the simulator."""
    program, *options = shlex.split(command)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "counts.csv"
        done = subprocess.run([f"./{program}", "--device", "sim", *options, "--csv", path], cwd=ROOT,
                              stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace")
        if done.returncode:
            raise SystemExit(f"{program}: {(done.stderr or done.stdout).strip()}\nTo build it, type make {program}.")
        with open(path, encoding="utf-8") as file:
            return next(csv.DictReader(file))


def saved():
    try:
        return json.loads(PREDICTIONS.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def predict(step, mine):
    """Saves the predictions {what: number or None} for a step."""
    wanted = [quantity.what for quantity in QUANTITIES[step]]
    for what, value in mine.items():
        if what not in wanted:
            raise SystemExit(f"“{what}” is not a prediction of {step}. The names are: {'; '.join(wanted)}.")
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))
                                  or not math.isfinite(value)):
            raise SystemExit(f"{what}: {value!r} is not a number. Write a number, or None.")
    made = {what: mine[what] for what in wanted if mine.get(what) is not None}
    PREDICTIONS.parent.mkdir(exist_ok=True)
    PREDICTIONS.write_text(json.dumps({**saved(), step: made}, indent=1), encoding="utf-8")
    print(f"{len(made)} of {len(wanted)} predictions are saved." +
          ("" if len(made) == len(wanted) else " Write a number in the place of each None, and run the cell again."))


def compare(step):
    """Prints the saved predictions next to the simulator's counts."""
    mine, rows = saved().get(step, {}), {}
    print(f"{'predicted':>10} {'counted':>10}")
    for quantity in QUANTITIES[step]:
        if quantity.command not in rows:
            rows[quantity.command] = counted(quantity.command)
        count, value = quantity.of(rows[quantity.command]), mine.get(quantity.what)
        verdict = "" if value is None else "right" if abs(value - count) <= NEAR * count else "not so"
        print(f"{'-' if value is None else format(value, '.6g'):>10} {count:>10.6g}  {verdict:<7} {quantity.what}")


def bash(command):
    """(exit status, output) of a command in the project's folder."""
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
    return done.returncode, done.stdout


def show(program, commands):
    """Builds a step and runs commands, one a line, which may have a remark behind a #. Prints each without its remark
    above its output."""
    status, said = bash(f"make -s {shlex.quote(program)}")
    if status:
        print(said, end="", flush=True)
        return
    for line in filter(None, (line.strip() for line in commands.splitlines())):
        print(f"$ {line.partition(' #')[0].strip()}", flush=True)
        print(bash(line)[1], flush=True)


def try_edit(file, old, new, *commands):
    """Replaces `old` by `new` in a step's file, builds the step, runs the commands, and undoes the edit."""
    path = ROOT / file
    text = path.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise SystemExit(f"{file} has “{old}” {text.count(old)} times, and the edit needs it once. Undo your "
                         "changes of this file.")
    program = path.stem

    def build():
        status, said = bash(f"make -s {shlex.quote(program)}")
        print(said if status else "", end="", flush=True)
        return status == 0
    try:
        path.write_text(text.replace(old, new), encoding="utf-8")
        print(f"{file}: “{old}” is now “{new}”.", flush=True)
        if build():
            for command in commands:
                print(f"$ {command}\n{bash(command)[1]}", end="", flush=True)
    finally:
        path.write_text(text, encoding="utf-8")
        build()
    print(f"The edit of {file} is undone.")


def hand_in(name):
    """Packs every exercise and the predictions as results/handin-NAME.zip. On Colab, the browser downloads it."""
    if not names.slug(name):
        print('Write your name between the quotation marks, as in hand_in("Ada Lovelace"), and run the cell again.')
        return
    path = ROOT / f"results/handin-{names.slug(name)}.zip"
    path.parent.mkdir(exist_ok=True)
    files = sorted(ROOT.glob("step*/exercise*.cu")) + ([PREDICTIONS] if PREDICTIONS.is_file() else [])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.write(file, file.relative_to(ROOT) if file != PREDICTIONS else file.name)
        archive.writestr("name.txt", names.readable(name) + "\n")
    print(f"{path}: {len(files)} files. Hand in this file.")
    if "google.colab" in sys.modules:
        sys.modules["google.colab"].files.download(str(path))
