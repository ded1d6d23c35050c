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
import errno
import fcntl
import pathlib
import secrets
import shutil
import signal
import stat
import tempfile
import threading

from outside import Terminal, Text


def write(path, content, encoding="utf-8", mode=None):
    """Writes a file, text or bytes, whole or not at all: without a name until it is there, so that even a program that
    is killed leaves nothing. An old one is replaced and keeps its permissions, a link stays a link, and a device gets
    the bytes. mode: permissions, whatever was there. OSError names `path`."""
    data = content.encode(encoding) if isinstance(content, str) else content
    path = os.fspath(path)
    try:
        place(path, data, mode)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None


def place(path, data, mode):
    try:
        old = os.stat(path)
    except FileNotFoundError:
        old = None
    if old and not stat.S_ISREG(old.st_mode):
        with open(path, "wb") as file:
            file.write(data)
        return
    if old:
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        mode = old.st_mode & 0o777 if mode is None else mode
    path = os.path.realpath(path)  # where a link leads, though nothing may be there yet
    if mode is None:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    folder, name = os.path.split(path)
    at = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            file = os.open(folder or ".", os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except (AttributeError, OSError) as error:
            # EISDIR: the system is older than files without a name.
            if getattr(error, "errno", errno.EISDIR) not in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL):
                raise
            return replace_by_copy(at, name, data, mode)
        with open(file, "wb") as unnamed:
            unnamed.write(data)
            unnamed.flush()
            os.fchmod(file, mode)
            try:
                link(file, at, name)
            except FileExistsError:
                # A link replaces nothing; a name does. For a moment, the file has one of its own.
                with name_for_a_moment(at) as own:
                    link(file, at, own)
                    os.rename(own, name, src_dir_fd=at, dst_dir_fd=at)
            except OSError:  # /proc is not there
                replace_by_copy(at, name, data, mode)
    finally:
        os.close(at)


@contextlib.contextmanager
def together(folder):
    """A folder for files that belong to each other. They take their places in `folder` when the block ends, and of two
    programs that do so at once, one waits: the files there are of one of them. After an exception or a signal, none is
    there. A link stays a link."""
    folder = pathlib.Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        own = pathlib.Path(tempfile.mkdtemp(prefix=".new-", dir=folder))
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(folder)) from None
    try:
        with signals_raise():
            yield own
        with alone(folder), signals_wait():
            for path in sorted(path for path in own.rglob("*") if not path.is_dir()):
                move(path, folder / path.relative_to(own))
    finally:
        shutil.rmtree(own, ignore_errors=True)


def move(path, place):
    """Within one file system, so that a full disk is no matter."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.is_symlink() or place.exists() and not place.is_file():
        write(place, path.read_bytes())
    else:
        if place.exists():
            path.chmod(place.stat().st_mode & 0o777)
        path.replace(place)


@contextlib.contextmanager
def alone(folder):
    """Waits until no other program is here, in this folder."""
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


@contextlib.contextmanager
def signals_raise():
    """Those that would end the program where it stands raise SystemExit, so that nothing is left behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    def leave(number, _):
        raise SystemExit(128 + number)
    before = {number: signal.signal(number, leave) for number in (signal.SIGHUP, signal.SIGTERM)
              if signal.getsignal(number) == signal.SIG_DFL}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def link(file, at, name):
    # with a folder given, it is what the link leads to that gets the name
    os.link(f"/proc/self/fd/{file}", name, src_dir_fd=at, dst_dir_fd=at)


@contextlib.contextmanager
def name_for_a_moment(at):
    own = f".new-{secrets.token_hex(8)}"
    with signals_wait():
        try:
            yield own
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(own, dir_fd=at)
            raise


@contextlib.contextmanager
def signals_wait():
    """Those that end the program. Python allows this in its main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came = []
    before = {
        number: signal.signal(number, lambda number, _: came.append(number))
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in came:
            signal.raise_signal(number)


def replace_by_copy(at, name, data, mode):
    with name_for_a_moment(at) as own:
        with open(os.open(own, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600, dir_fd=at), "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
        os.rename(own, name, src_dir_fd=at, dst_dir_fd=at)


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
    `refused`."""
    on_terminals()
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
        said = f"{Text(error.filename or 'standard output cannot be written')}: {error.strerror}"
    except refused as error:
        said = str(error)
    except MemoryError:
        said = "out of memory"
    with contextlib.suppress(OSError):
        print(f"{name}: {said}", file=sys.stderr)
    os._exit(2)  # without another try to write what is left
