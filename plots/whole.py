"""What every program of plots/ and lab/ does in the same way: write files that are whole or not there, and end without
a traceback.

    write("chapter.html", text)      # bytes are written as they are
    with together("report") as folder: ...     # files that are right only beside each other
    sys.exit(run(main, "tables.py"))
"""

import os
import sys


def end_quietly(kind, error, trace):
    """Ctrl-C while modules are imported, too, which takes seconds."""
    if issubclass(kind, KeyboardInterrupt):
        os._exit(130)
    sys.__excepthook__(kind, error, trace)


sys.excepthook = end_quietly

import contextlib
import fcntl
import pathlib
import secrets
import signal
import tempfile

from outside import Terminal, printable


def write(path, content, encoding="utf-8", mode=None):
    """Writes a file, text or bytes, whole or not at all: under a name of its own, which it changes when it is whole. An
    old one is replaced and keeps its permissions, a link stays a link, and a device gets the bytes. mode: permissions,
    whatever was there. OSError names `path`."""
    data = content.encode(encoding) if isinstance(content, str) else content
    place = pathlib.Path(os.fsdecode(os.path.realpath(path)))
    new = place.with_name(f".new-{secrets.token_hex(8)}")
    try:
        if place.exists() and not (place.is_file() and os.access(place, os.W_OK)):
            place.write_bytes(data)  # a device; a folder, or what nobody may write, refuses
            return
        try:
            with open(new, "xb") as file:
                file.write(data)
            move(new, place, mode)
        finally:
            new.unlink(missing_ok=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None


def move(path, place, mode=None):
    if mode is not None or place.exists():
        path.chmod(place.stat().st_mode & 0o777 if mode is None else mode)
    path.replace(place)


@contextlib.contextmanager
def together(folder):
    """A folder for files that belong to each other. They take their places in `folder` when the block ends, and of two
    programs that do so at once, one waits: the files there are of one of them. After an exception, none is there."""
    folder = pathlib.Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        made = tempfile.TemporaryDirectory(prefix=".new-", dir=folder)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(folder)) from None
    with made as own:
        yield pathlib.Path(own)
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for path in sorted(path for path in pathlib.Path(own).rglob("*") if path.is_file()):
                place = folder / path.relative_to(own)
                place.parent.mkdir(parents=True, exist_ok=True)
                move(path, pathlib.Path(os.path.realpath(place)))
        finally:
            os.close(lock)


def leave(number, _):
    raise SystemExit(128 + number)


def on_terminals():
    """From now on, text from outside is shown on standard output and standard error, and escaped (outside.py)."""
    os.environ.setdefault("NO_COLOR", "1")  # argparse of Python 3.14 colours its help by characters that are escaped
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream and not isinstance(stream, Terminal):
            stream.reconfigure(errors="backslashreplace")
            setattr(sys, name, Terminal(stream))


def run(main, name, refused=()):
    """The exit status of a program, for sys.exit(). What it prints is printed in any locale, and moves no cursor; what
    the system refuses is one line and 2, and so is what the program itself refuses by an exception of the class
    `refused`. Signals that end a program leave no file of another name behind."""
    on_terminals()
    for number in (signal.SIGHUP, signal.SIGTERM):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, leave)
    try:
        status = main()
        if sys.stdout:
            sys.stdout.flush()
        return status
    except BrokenPipeError:  # whoever read has read enough
        os._exit(1)
    except KeyboardInterrupt:
        os._exit(130)
    except OSError as error:
        said = f"{printable(error.filename or 'standard output cannot be written')}: {error.strerror}"
    except refused as error:
        said = str(error)
    except MemoryError:
        said = "out of memory"
    with contextlib.suppress(OSError):
        print(f"{name}: {said}", file=sys.stderr)
    os._exit(2)  # without another try to write what is left
