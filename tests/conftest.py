"""What the pytest tests share."""

import os
import shutil
import signal

import pytest

from lessons import ROOT, run
from samples import ALL

# What `make` says to the makes that it starts itself is nothing for those that the tests run.
for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
    os.environ.pop(name, None)

# nohup and what runs in the background of a script begin with it ignored, and so would all that the tests interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

HAS_GPU = bool(shutil.which("nvidia-smi")) and run("nvidia-smi", "-L").returncode == 0


# Files whose tests build in the checkout or write to it, and those that see to it that nothing there changes.
CHECKOUT = {"test_devices", "test_divergence", "test_grading", "test_kinds", "test_lab", "test_language", "test_mutation", "test_notebook", "test_prelab", "test_steps", "test_tables", "test_try"}


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(items):
    """Files of tests run side by side (pytest-xdist): those of CHECKOUT one after another, on one worker. What takes longest begins first."""
    items.sort(key=lambda item: (item.path.stem not in CHECKOUT, item.path.stem != "test_build"))
    for item in items:
        name = item.path.stem
        item.add_marker(pytest.mark.xdist_group("checkout" if name in CHECKOUT else name))


def pytest_report_header():
    return "everything is tried" if ALL else "of what takes long, a sample is tried; make test-all tries everything"


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


def a_terminal():
    """Both ends of a pseudo-terminal; skips the test on a system without."""
    try:
        return os.openpty()
    except OSError as error:
        pytest.skip(f"no pseudo-terminal: {error.strerror}")


def needs_git():
    """Skips the test where the project is no checkout, but was unpacked."""
    if run("git", "rev-parse", "HEAD").returncode:
        pytest.skip("no git, or no checkout")


def needs(path):
    """Skips the test on a system without this device."""
    if not os.path.exists(path):
        pytest.skip(f"no {path}")
