"""What the pytest tests share."""

import shutil

from lessons import ROOT, run

HAS_GPU = bool(shutil.which("nvidia-smi")) and run("nvidia-smi", "-L").returncode == 0


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
