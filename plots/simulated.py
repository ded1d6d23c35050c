"""The steps' programs, run on the simulator."""

import csv
import pathlib
import subprocess
import tempfile

from outside import printable

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(program, *options):
    """What ./program prints. RuntimeError: it is not there, or fails."""
    try:
        done = subprocess.run([ROOT / program, *options], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True,
                              encoding="utf-8", errors="replace")
    except OSError as error:
        raise RuntimeError(f"./{program} cannot be run ({error.strerror}): make all") from None
    if done.returncode:
        raise RuntimeError(f"./{program} {' '.join(map(str, options))}: {printable(done.stderr.strip()) or 'failed'}")
    return done.stdout


def rows(program, *options):
    """(what ./program prints, the rows of its --csv)."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "rows.csv"
        said = run(program, *options, "--csv", path)
        with path.open(encoding="utf-8", newline="") as lines:
            return said, list(csv.DictReader(lines))
