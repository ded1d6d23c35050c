"""What the tests share: the repository's programs, run as a user runs them."""

import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Every lesson kernel: its step's program, its row in the table of sources, what it produces.
LESSONS = {
    "copy": ("step01", "W1", "copy"),
    "copySharedMem": ("step01", "W2", "copy"),
    "transposeNaive": ("step02", "W3", "transpose"),
    "transposeCoalesced": ("step03", "W4", "transpose"),
    "transposeNoBankConflicts": ("step04", "W5", "transpose"),
    "transposeFineGrained": ("step05", "W6", "tile-local transpose"),
    "transposeCoarseGrained": ("step05", "W7", "tile-moved copy"),
    "transposeDiagonal": ("step06", "W8", "transpose"),
}


def run(*command, cwd=ROOT, env=None, timeout=120):
    """Runs a program and returns its CompletedProcess, output as text. Never raises on failure."""
    return subprocess.run([str(c) for c in command], cwd=cwd, env=env, timeout=timeout,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)


def step(program, *arguments, **options):
    """Runs ./program on the simulator."""
    return run(ROOT / program, "--device", "sim", *arguments, **options)


def assert_refused(done, status, *words):
    """One line on stderr, with these words in it, and this exit status."""
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    lines = done.stderr.splitlines()
    assert len(lines) == 1, lines
    for word in words:
        assert word in lines[0], lines[0]


@pytest.fixture
def root():
    return ROOT
