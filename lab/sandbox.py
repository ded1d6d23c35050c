"""Runs one untrusted command with limits, isolated from everything else.

Always: a separate session, an empty environment, closed stdin, limits on CPU time, address space, file size, open
files and processes, no core dump, capped output, and a wall-clock limit that kills the session.
Where the kernel allows it (see isolation()): separate namespaces for mounts, processes, network, IPC and, unless
we are root, users. The command then sees only /usr and the folders it is given. All are read-only except its folder
and a /tmp in memory, and every process that it starts dies with it. As root there is no user namespace. The command
then runs under an unused user number, because limits on processes do not apply to root. Without namespaces it does
so only if that number can read the files that it needs.

The file is two programs: the module, and the one between it and the command (python3 -I -S sandbox.py SPEC).
"""

import ctypes
import json
import os
import signal
import sys

NEWNS, NEWIPC, NEWUTS, NEWUSER, NEWPID, NEWNET = 0x20000, 0x8000000, 0x4000000, 0x10000000, 0x20000000, 0x40000000
RDONLY, NOSUID, NODEV, REMOUNT, BIND, REC, PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
STARTED = b"started\n"  # what the one in between says when all is set up
LETTERS = {"CPU": "t", "AS": "v", "FSIZE": "f", "NOFILE": "n", "NPROC": "u", "CORE": "c"}  # of ulimit
PDEATHSIG, CAPBSET_DROP, NO_NEW_PRIVS = 1, 24, 38

SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/ld.so.cache", "/etc/alternatives"]


# ---- Between us and the command --------------------------------------------------------------------------------

def inner(spec):
    import resource
    os.set_inheritable(spec["failed"], False)
    libc = ctypes.CDLL(None, use_errno=True)

    def call(name, *arguments):
        if getattr(libc, name)(*arguments) < 0:
            raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")

    def mount(source, target, kind, flags, data=b""):
        call("mount", os.fsencode(source), os.fsencode(target), kind, ctypes.c_ulong(flags), data)

    def bind(source, target, writable):
        """Mounts a file or folder at another place as well; links stay links."""
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.islink(source):
            return os.symlink(os.readlink(source), target)
        if os.path.isdir(source):
            os.makedirs(target, exist_ok=True)
        elif not os.path.exists(target):  # it does where it is mounted below a folder that is bound
            open(target, "w").close()
        mount(source, target, None, BIND)
        # A flag that the mount has already must be named again.
        kept = os.statvfs(source).f_flag & (NOSUID | NODEV | 8)
        mount("none", target, None, BIND | REMOUNT | NOSUID | kept | (0 if writable else RDONLY))

    def limit_to(name, limit):
        kind, more = getattr(resource, "RLIMIT_" + name), 5 if name == "CPU" else 0
        hard = resource.getrlimit(kind)[1]
        if 0 <= hard < limit + more:
            raise OSError(f"ulimit -H{LETTERS[name]} allows {hard}{' bytes' * (name in ('AS', 'FSIZE'))}, and a "
                          f"submission needs {limit + more}; use a shell without this limit")
        resource.setrlimit(kind, (limit, limit + more))

    def end_with_the_grader():
        """Also if it is killed. A change of user or namespace forgets this."""
        call("prctl", PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != spec["parent"]:
            os._exit(1)

    end_with_the_grader()
    root_user, number = os.getuid() == 0, os.getpid()
    if spec["isolate"]:
        user, group = os.getuid(), os.getgid()
        call("unshare", NEWNS | NEWPID | NEWNET | NEWIPC | NEWUTS | (0 if root_user else NEWUSER))
        end_with_the_grader()
        if not root_user:
            for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"),
                               ("gid_map", f"{group} {group} 1")):
                with open(f"/proc/self/{name}", "w") as file:
                    file.write(text)
        first = os.fork()
        if first:  # outside: passes the exit status on
            os._exit(os.waitstatus_to_exitcode(os.waitpid(first, 0)[1]) & 255)
        # Process 1 of the namespace: it dies with the one outside, and all others with it.
        call("prctl", PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        new, box = spec["root"], spec["box"]
        mount("none", "/", None, REC | PRIVATE)
        mount("none", new, b"tmpfs", NOSUID | NODEV, b"mode=755,size=1m")
        for path in SYSTEM:
            if os.path.lexists(path):
                bind(path, new + path, False)
        os.makedirs(new + "/tmp")
        mount("none", new + "/tmp", b"tmpfs", NOSUID | NODEV,
              b"mode=1777,size=256m" if spec["writable"] else b"mode=555,size=64k")
        for path in spec["visible"]:
            bind(path, new + path, False)
        bind(box, new + "/lab", spec["writable"])
        for device in ["/dev/null", *spec["devices"]]:
            bind(device, new + device, True)
            mount("none", new + device, None, BIND | REMOUNT | NOSUID)  # a device after all
        if spec["devices"]:  # a driver asks there what they are
            bind("/sys", new + "/sys", False)
        os.makedirs(new + "/proc")
        mount("none", new + "/proc", b"proc", NOSUID | NODEV)
        os.chdir(new)
        call("syscall", {"x86_64": 155, "aarch64": 41}[os.uname().machine], b".", b".")  # pivot_root
        call("umount2", b".", 2)
        mount("none", "/", None, BIND | REMOUNT | NOSUID | NODEV | RDONLY)
        os.chdir("/lab")
        # Process 1 does not feel signals that it does not handle: the command is process 2.
        second = os.fork()
        if second:
            while True:  # orphans also come here
                pid, status = os.wait()
                if pid == second:
                    os._exit(os.waitstatus_to_exitcode(status) & 255)
        for capability in range(64):
            if libc.prctl(CAPBSET_DROP, capability, 0, 0, 0) < 0:
                break
    else:
        os.chdir(spec["box"])
    if root_user:
        nobody = 2**31 - 2**22 + number  # unique among running commands, because processes are counted per user
        if not spec["isolate"]:  # where others could find it
            os.chown(".", nobody, nobody)
            os.chmod(".", 0o700)
        os.setgroups([])
        os.setegid(nobody)
        os.seteuid(nobody)
        sees = spec["isolate"] or all(os.access(path, os.R_OK, effective_ids=True) for path in spec["visible"])
        os.seteuid(0)
        os.setegid(0)
        if sees:  # without namespaces a checkout in root's home is root's alone
            os.setresgid(nobody, nobody, nobody)
            os.setresuid(nobody, nobody, nobody)
    if not spec["isolate"]:  # in a namespace, process 1 sees to it
        end_with_the_grader()
    call("prctl", NO_NEW_PRIVS, 1, 0, 0, 0)
    if spec["processors"]:
        os.sched_setaffinity(0, spec["processors"])
    if spec["result"]:
        if spec["failed"] == spec["result_as"]:
            spec["failed"] = os.dup(spec["failed"])
        # A pipe belongs to who made it, and the command opens it by name.
        if spec["result"] == spec["result_as"]:  # a number drawn among those of other runs
            os.set_inheritable(spec["result"], True)
        else:
            os.dup2(spec["result"], spec["result_as"], inheritable=True)
            os.close(spec["result"])
    for name, limit in spec["limits"].items():
        if limit is not None:
            limit_to(name, limit)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)  # Python ignores them
    os.write(spec["failed"], STARTED)
    os.execve(
        spec["command"][0], spec["as"],
        {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TMPDIR": "/tmp" if spec["isolate"] else ".", **spec["environment"]})


if __name__ == "__main__":
    spec = json.loads(sys.argv[1])
    try:
        inner(spec)
    except BaseException as error:  # the command has not run, because it could not write to this pipe
        os.write(spec["failed"], os.fsencode(f"sandbox: {error}\n"))
        os._exit(1)


# ---- The module ------------------------------------------------------------------------------------------------

import atexit
import dataclasses
import errno
import fcntl
import functools
import random
import selectors
import shutil
import subprocess
import tempfile
import threading
import time


@dataclasses.dataclass
class Done:
    # the exit status; negative: the signal that ended it; or 'timeout', 'output' (too much of it)
    status: object
    stdout: str
    stderr: str
    result: str     # what was written to the pipe `result`


class Fault(RuntimeError):
    """The machine's, and not the command's. No submission gets points, or loses them, for it."""


def fault_of(path):
    """What is wrong with the folder in which submissions are compiled and run, or ''."""
    there, status = f"TMPDIR={tempfile.gettempdir()}", os.statvfs(path)
    if status.f_bavail * status.f_frsize < LEAST_FREE or status.f_files and status.f_favail < 16:
        return (f"{there} is full: less than {LEAST_FREE / 1e6:.0f} MB are free; make room there, or set TMPDIR= to "
                "another folder")
    if status.f_flag & os.ST_NOEXEC:
        return f"{there} is mounted with noexec, so no program runs there; set TMPDIR= to another folder"
    return ""


def said_of(error):
    """An OSError in words."""
    return (f"{os.fsdecode(error.filename)}: " if error.filename else "") + error.strerror + (
        "; use a shell with ulimit -n 1024" if error.errno == errno.EMFILE else "")


LEAST_FREE = 64 << 20  # bytes; only looked at where something has failed
PREFIX = "transpose-lab-"


def remove(folder):
    os.chmod(folder, 0o700)
    for inside, folders, _ in os.walk(folder):
        # before it is walked: what a command made unreadable would stay
        for path in (os.path.join(inside, name) for name in folders):
            if not os.path.islink(path):
                os.chmod(path, 0o700)
    shutil.rmtree(folder)


@functools.cache
def remove_abandoned():
    """What a process left that was killed. A folder in use is locked; one that is new is perhaps not locked yet."""
    for entry in os.scandir(tempfile.gettempdir()):
        try:
            found = entry.stat(follow_symlinks=False)
            if (not entry.name.startswith(PREFIX) or not entry.is_dir(follow_symlinks=False)
                    or found.st_uid != os.geteuid() or found.st_mtime > time.time() - 60):
                continue
            lock = os.open(entry.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue  # another process was faster
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove(entry.path)
        except OSError:
            pass
        finally:
            os.close(lock)


def mounted_below():
    """The mount points below the system's folders: a container has its GPU's driver there."""
    with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as file:
        points = [line.split()[1].replace("\\040", " ") for line in file]
    return sorted({p for p in points if any(p.startswith(f"{folder}/") for folder in SYSTEM)})


class Box:
    """A private folder. box.path belongs to the command; all of it is removed at the end of the `with`."""

    def __enter__(self):
        try:
            remove_abandoned()
            self.outer = tempfile.mkdtemp(prefix=PREFIX)
            self.lock = os.open(self.outer, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(self.lock, fcntl.LOCK_SH)
            self.path, self.root = os.path.join(self.outer, "box"), os.path.join(self.outer, "root")
            os.mkdir(self.path)
            os.mkdir(self.root)
            os.chmod(self.path, 0o777)
            os.chmod(self.outer, 0o711)
        except OSError as error:
            raise Fault(said_of(error) if error.errno == errno.EMFILE else
                        f"TMPDIR={os.environ.get('TMPDIR', '/tmp')}: {error.strerror}; make room there, or set TMPDIR= "
                        "to another folder") from None
        return self

    def __exit__(self, kind, error, trace):
        why = isinstance(error, OSError) and (fault_of(self.path) or said_of(error))
        remove(self.outer)
        os.close(self.lock)
        if why:
            raise Fault(why) from None


def run(command, box, *, isolate, visible=(), writable=False, cpu=5, wall=15, memory=2**30, file_size=0, processes=16,
        output=2**20, argv0=None, result=None, processors=(), environment={}, devices=()):
    """Runs the command in box.path and returns Done. `result`: the number of a descriptor that it may write to, whose
    other end we read; `processors`: the only ones it may use; `environment`: variables in addition to
    PATH, LC_ALL and TMPDIR; `devices`: paths of devices that it may use. Limits in seconds and bytes; memory may be
    None, which is without limit."""
    if ended.is_set():
        raise Interrupted("interrupted")
    limits = {
        "CPU": cpu, "AS": memory, "FSIZE": file_size, "CORE": 0, "NOFILE": 256,
        "NPROC": processes + (0 if isolate else mine())}
    read_end, write_end = os.pipe() if result else (None, None)
    why_not, failed = os.pipe()
    if result:
        os.fchmod(write_end, 0o666)
    spec = {
        "isolate": isolate, "parent": os.getpid(), "root": box.root, "box": box.path, "visible": list(visible),
        "writable": writable, "limits": limits, "processors": list(processors), "failed": failed, "result": write_end,
        "result_as": result,
        "environment": environment, "devices": list(devices), "command": command,
        "as": [argv0 or command[0], *command[1:]]}
    child = subprocess.Popen([sys.executable, "-I", "-S", __file__, os.fsencode(json.dumps(spec, ensure_ascii=False))],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, env={}, cwd="/",
                             start_new_session=True, pass_fds=[failed, *([write_end] if result else [])])
    stdout, stderr = child.stdout.fileno(), child.stderr.fileno()
    for end in filter(None, (failed, write_end)):
        os.close(end)
    streams = {stream: bytearray() for stream in (stdout, stderr, read_end, why_not) if stream is not None}
    running.add(child)
    if ended.is_set():
        kill(child)
    try:
        status = wait(child, streams, time.monotonic() + wall, output)
    finally:  # also when we are interrupted
        running.discard(child)
        kill(child)
        child.wait()
        child.stdout.close()
        child.stderr.close()
        for end in filter(None, (why_not, read_end)):
            os.close(end)
    if ended.is_set():
        raise Interrupted("interrupted")
    out, errors, results, trouble = (
        bytes(streams.get(stream, b"")).decode("utf-8", "replace") for stream in (stdout, stderr, read_end, why_not))
    told = trouble.removeprefix(STARTED.decode()).strip()
    if told or not trouble:
        raise Fault(fault_of(box.path) or told or f"the sandbox ended before its command, with {child.returncode}: "
                    f"{(errors.splitlines() or ['it said nothing'])[-1]}")
    if status is None:
        # -11 came through the pipe of exits as 245
        status = child.returncode if child.returncode < 128 else child.returncode - 256
        # A command has no way to do this to itself, and its limits end it by other signals.
        if status == -signal.SIGKILL or isolate and child.returncode < 0:
            raise Fault(f"a sandbox was ended by signal {-status}: by the system, for lack of memory, or by somebody; "
                        "grade with fewer JOBS=")
        status = "timeout" if status == -signal.SIGXCPU else status
    return Done(status, out, errors, results)


class Interrupted(RuntimeError):
    pass


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
running, ended = set(), threading.Event()


def kill(child):
    """Kills its process group. In namespaces, processes that left the group die with process 1."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    child.kill()


def kill_all(*_):
    """Ends all running commands and prevents new ones: each run() raises Interrupted. Handles any number of signals."""
    ended.set()
    for child in list(running):
        kill(child)


def end_on_signals():
    """From here on, signals end what runs; who called reports it and chooses the exit status."""
    for number in SIGNALS:
        signal.signal(number, kill_all)
    atexit.register(ignore_signals)


def ignore_signals():
    """Python takes its handlers away while it ends, and one signal more would end it with another status."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def wait(child, streams, end, output):
    """Reads the streams until the child has ended. Returns None, or why it must be killed: 'timeout' or 'output'."""
    status = None
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map() and status is None:
            for key, _ in selector.select(max(0, end - time.monotonic())):
                data = os.read(key.fd, 65536)
                streams[key.fd] += data
                if not data:
                    selector.unregister(key.fd)
                elif len(streams[key.fd]) > output:
                    status = "output"
            # Processes that the command left running may hold the pipes open, so its end is enough. What it wrote is in
            # them.
            if child.poll() is not None and not selector.select(0):
                break
            if time.monotonic() >= end:
                status = "timeout"
    if status is None:
        try:
            child.wait(max(0, end - time.monotonic()))  # a process closes its streams before it ends
        except subprocess.TimeoutExpired:
            status = "timeout"
    return status


def mine():
    """The number of this user's processes and threads. Outside a user namespace, the limit on processes counts them
    all."""
    count = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            count += len(os.listdir(f"/proc/{pid}/task")) if os.stat(f"/proc/{pid}").st_uid == os.getuid() else 0
        except OSError:
            pass  # it has ended
    return count


@functools.lru_cache
def isolation():
    """'' where the system allows namespaces, or the reason why not."""
    with Box() as box:
        try:
            done = run(["/bin/sh", "-c", "test ! -e /root && echo x > file"], box, isolate=True, writable=True,
                       file_size=1024)
            return "" if done.status == 0 else f"a trial ended with {done.status}: {done.stderr.strip()}"
        except (Fault, OSError) as error:
            return str(error)


def secret():
    """A random name and descriptor, which a submission cannot know."""
    draw = random.SystemRandom()
    return "".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=20)), draw.randrange(20, 250)
