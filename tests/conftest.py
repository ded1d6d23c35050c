"""What the pytest tests share."""

import os
import pathlib
import shutil
import signal
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(ROOT / "tools"), str(ROOT / "sim/command")]

from lessons import run, tried_of
from samples import ALL

# What `make` says to the makes that it starts itself is nothing for those that the tests run.
for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
    os.environ.pop(name, None)

# nohup and what runs in the background of a script begin with it ignored, and so would all that the tests interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

HAS_GPU = bool(shutil.which("nvidia-smi")) and run("nvidia-smi", "-L").returncode == 0


# The files that take longest.
FIRST = ["test_exercises", "test_seen", "test_figures", "test_audit", "test_lab", "test_grading", "test_try",
         "test_make", "test_kernels", "test_report", "test_refused"]


def pytest_configure(config):
    config.addinivalue_line("markers", "variety: more of what another test holds; only make test-all runs it")


def pytest_ignore_collect(collection_path, config):
    """Each worker imports every file. One that is all variety is spared, unless it is named."""
    if ALL or collection_path.suffix != ".py" or any(collection_path.name in argument for argument in config.args):
        return None
    return "\npytestmark = pytest.mark.variety\n" in collection_path.read_text(encoding="utf-8") or None


def pytest_collection_modifyitems(config, items):
    """Files run side by side (pytest-xdist), and the tests of a file one after another. Those that take longest begin
    first. Variety is for make test-all."""
    if not ALL:
        variety = [item for item in items if item.get_closest_marker("variety")]
        config.hook.pytest_deselected(items=variety)
        items[:] = [item for item in items if not item.get_closest_marker("variety")]
    items.sort(key=lambda item: [*FIRST, item.path.stem].index(item.path.stem))


def built():
    """The programs that `make test` builds, and when each was linked."""
    paths = [
        *ROOT.glob("step??"), ROOT / "build/rewrite",
        *(path for folder in ("tests", "try/tests") for path in (ROOT / "build" / folder).rglob("*"))]
    return {path: path.stat().st_mtime_ns for path in paths if path.is_file() and os.access(path, os.X_OK)}


def pytest_sessionstart(session):
    session.config.built = built()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    """Tests run side by side, so none may link a program that another may be running. That one would find half a
    file."""
    if session.config.getoption("dist", "no") == "no":  # one after another; or a worker
        return
    now = built()
    session.config.relinked = sorted(
        str(path.relative_to(ROOT)) for path, when in session.config.built.items() if now.get(path) != when)
    if session.config.relinked and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config):
    if getattr(config, "relinked", []):
        terminalreporter.section("linked anew while the tests ran, by a make with other flags, or after a change of "
                                 "the sources", red=True)
        terminalreporter.line(f"{len(config.relinked)} of the programs: "
                              f"{' '.join(config.relinked[:10])}{' ...' if len(config.relinked) > 10 else ''}")


@pytest.fixture(scope="session")
def chapter(tmp_path_factory):
    """The folder of a chapter that has everything."""
    import chapters  # with matplotlib, and most tests do without
    out = tmp_path_factory.mktemp("report")
    assert chapters.write(out, *chapters.MEASURED) == 0
    return out


@pytest.fixture(scope="session", autouse=True)
def no_tried_programs(tmp_path_factory):
    """What `make try` has built of programs in temporary folders goes with them."""
    yield
    ours = tried_of(tmp_path_factory.getbasetemp())
    for folder in ours.parent.glob(f"{ours.name}_*"):
        shutil.rmtree(folder, ignore_errors=True)


def pytest_report_header():
    return "everything is tried" if ALL else "of what takes long, a sample is tried; make test-all tries everything"


NO_SIGNAL_IGNORED = ["env", "--default-signal"]  # goes in front of a command, as the tests may run under nohup


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
