#!/usr/bin/env python3
"""Tries the project on fresh systems, with their compilers, and under the circumstances of other people's machines.

usage: python3 tools/portability.py [--work DIR] [--csv FILE] [--only TEXT] [--list]

Runs as root on Debian, with debootstrap and a network. Each system is installed once, below DIR, and kept there. It
gets the packages that .ci/packages names, a user, and a clone of the last commit; changes that are not committed are
not tried. Each row runs a few commands in such a system, in mount and process namespaces of its own, and expects an
exit status and a line. A row that fails does not stop the next. A system that cannot be installed is skipped with a
line, and so are its rows. Prints a table. Exits 1 if a row failed, 2 if the script cannot run.

  --work DIR   where the systems are (default: /var/tmp/portability); a system takes 1 to 3 GB
  --csv FILE   also write the table to FILE; rows that were not run keep what FILE has of them
  --only TEXT  only rows whose name contains TEXT
  --list       the rows

Mirrors: DEBIAN_MIRROR and UBUNTU_MIRROR, or else those that debootstrap knows. A proxy: http_proxy, or that of apt.
UBUNTU_KEYRING: the keys of Ubuntu's archive, or else those in Debian's package ubuntu-keyring. JOBS, PIP_INDEX_URL and
PIP_CERT are passed on. A run takes about 25 minutes on two processors; the first also installs the systems.
"""

import collections
import csv
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

from lessons import ROOT
import command_line

SECONDS = 3600  # of a row, after which it is stopped
CERTIFICATES = "/srv/certificates.pem"  # in a system, those that PIP_CERT names
PASSED_ON = ("JOBS", "http_proxy", "https_proxy", "no_proxy", "PIP_INDEX_URL", "PIP_CERT")

System = collections.namedtuple("System", "suite kind components packages")
SYSTEMS = {
    "Debian stable": System("stable", "debian", "main", "g++-aarch64-linux-gnu qemu-user locales"),
    "Debian oldstable": System("oldstable", "debian", "main", ""),
    "Debian testing": System("testing", "debian", "main", ""),
    "Ubuntu 22.04": System("jammy", "ubuntu", "main,universe", ""),
}

Row = collections.namedtuple("Row", "name system script status line")
VERIFIED = r"transposeNoBankConflicts +transpose +verified"
ALL_KERNELS = "./step04 --all --size 133x77"
LAB = "make lab04 FILE=tests/lab/solutions/step04.cu"
FULL_POINTS = r"100 / 100"
# The chapter from the committed results, which must be UTF-8.
REPORT = ("make .venv/ready && .venv/bin/python plots/report.py plots/data/h200_book.csv && iconv -f utf-8 -t utf-8 "
          "report/chapter.html | grep -c '<h2'")
CHAPTER = r"^\d+$"
TESTED = r"\d+ passed, \d+ skipped\b.* in [\d.]+s\b"


def as_user(commands, where="/home/ada/transpose"):
    return ("exec su ada -s /bin/bash -c "
            f"{shlex.quote(f'set -e; export HOME=/home/ada; cd {shlex.quote(where)}; {commands}')}")


def compiler(which, package, program, least=0):
    """The oldest or newest version of a compiler that the system's archive has: every kernel is right, and the lines of
    the source are known."""
    return (f"package=$(apt-cache pkgnames {package}- | grep -E '^{re.escape(package)}-[0-9]+$' | sort -V | awk -F- "
            f"'$NF >= {least}' | {'head' if which == 'oldest' else 'tail'} -n 1); "
            f"apt-get install -y --no-install-recommends $package > /dev/null; cxx={program}-${{package##*-}}; echo "
            "compiler: $($cxx --version | head -n 1); "
            "rm -rf /tmp/with; git clone -q /srv/transpose.git /tmp/with; cd /tmp/with; make CXX=$cxx step04; "
            f"{ALL_KERNELS} --explain > said; cat said; "
            f"if grep 'an unknown line' said; then exit 1; fi; rm -rf /tmp/with")


def rows():
    for system in SYSTEMS:
        yield Row(f"{system}: build and run as root", system, f"cd /root/transpose; make step04; {ALL_KERNELS}", 0,
                  VERIFIED)
        yield Row(f"{system}: make check as a user", system, as_user("make check"), 0,
                  "^step07: every kernel is right.* the requests that an H200 makes")
        yield Row(f"{system}: lab", system, as_user(LAB), 0, FULL_POINTS)
        yield Row(f"{system}: a program that waits", system, as_user("make try FILE=tests/sim/language/barriers.cu"), 0,
                  r"^try: \d+ kernels, \d+ launches, 0 findings$")
        yield Row(f"{system}: report", system, as_user(REPORT), 0, CHAPTER)
        yield Row(f"{system}: make test", system, as_user("make test"), 0, TESTED)
    for system in SYSTEMS:
        for which in ("oldest", "newest"):
            yield Row(f"{system}: {which} g++", system, compiler(which, "g++", "g++", 11), 0, VERIFIED)
        yield Row(f"{system}: newest clang++", system, compiler("newest", "clang", "clang++"), 0, VERIFIED)
    yield Row("Ubuntu 22.04: a g++ that is too old", "Ubuntu 22.04", compiler("oldest", "g++", "g++"), 2,
              r"is g\+\+ \d+\. The simulator needs g\+\+ 11 ")

    def here(name, script, status, line): return Row(f"circumstances: {name}", "Debian stable", script, status, line)
    for language in ("C", "de_DE", "de_DE.UTF-8", "tr_TR", "tr_TR.UTF-8"):
        said = ("printf '// \\350\\275\\254 \\303\\251\\n' | cat tests/lab/solutions/step04.cu - > /tmp/é.cu; "
                f"{LAB.replace('tests/lab/solutions/step04', '/tmp/é')}")
        yield here(f"locale {language}",
                   as_user(f"export LC_ALL={language}; {ALL_KERNELS} --csv /tmp/l.csv; {said}; {REPORT}"), 0, CHAPTER)
    for path in ("mat riks é", "it's \"a\" $HOME #1 (x);&"):
        place = f"/home/ada/{path}"
        clone = (f"rm -rf {shlex.quote(place)}; su ada -c "
                 f"{shlex.quote(f'git clone -q /srv/transpose.git {shlex.quote(place)}')}; ")
        yield here(f"path {path}",
                   clone + as_user(f"export LC_ALL=tr_TR; make step04; {ALL_KERNELS}; {LAB}; {REPORT}", place), 0,
                   CHAPTER)
    yield here(f"make test in {path}", clone + as_user("make test", place), 0, TESTED)
    archive = ("rm -rf /tmp/plain; mkdir /tmp/plain; git -C /srv/transpose.git archive HEAD | tar -x -C /tmp/plain; "
               "chown -R ada /tmp/plain; ")
    yield here("without .git",
               archive + as_user("make step04; ./step04 --size 64 --csv a.csv; cut -d, -f2 a.csv", "/tmp/plain"), 0,
               "^unknown$")
    yield here("read-only home", "mount --bind /home/ada/transpose /mnt; mount --bind /home/ada /home/ada; mount -o "
                                 "remount,ro,bind /home/ada; "
               + as_user(f"! touch /home/ada/x; {ALL_KERNELS}; {LAB}; {REPORT}", "/mnt"), 0, CHAPTER)
    # Everything is built, as where one person installs the project for a class.
    goals = f"make step04; {LAB}; make list; make check; make try FILE=tests/sim/programs/vector_add.cu"
    yield here("read-only project", f"su ada -c {shlex.quote(f'cd ~/transpose && make all lab-ready && {goals}')}; "
                                    "mount --bind /home/ada/transpose /home/ada/transpose; mount -o remount,ro,bind "
                                    "/home/ada/transpose; "
               + as_user(f"! touch x; {goals}; {ALL_KERNELS} --csv /tmp/a.csv"), 0, VERIFIED)
    full = "mount -t tmpfs -o size=64k,mode=1777 tmpfs /tmp; head -c 1M /dev/zero > /tmp/full || true; "
    yield here("/tmp full: run", full + as_user(f"{ALL_KERNELS} --csv /home/ada/a.csv"), 0, VERIFIED)
    yield here("/tmp full: results", full + as_user("./step04 --size 64 --csv /tmp/a.csv"), 2,
               r"^step04: --csv /tmp/a.csv: cannot be written: No space left on device$")
    yield here("/tmp full: lab", full + as_user(LAB), 0, FULL_POINTS)
    yield here("one core", "cd /home/ada/transpose; exec taskset -c 0 ./step04 --all --size 133x77", 0,
               r"^step04 on the simulator of the H200 .*, 1 host thread\b")
    yield here("160 MB of memory", as_user("ulimit -v 160000; ./step04 --size 1024 --csv /tmp/m.csv"), 2,
               "^step04: (out of memory on the host|.* GB of memory)")
    yield here("3 threads", as_user("ulimit -u 3; exec ./step04 --size 133x77"), 0, VERIFIED)
    yield here("a stack of 32 KB", as_user(f"ulimit -s 32; {ALL_KERNELS}"), 0, VERIFIED)
    yield here("8 open files", as_user("ulimit -n 8; ./step04 --size 133x77 --csv /tmp/n.csv"), 0, VERIFIED)
    yield here("terminal gone", as_user("./step04 --size 133x77 --csv /tmp/g.csv >&-"), 2,
               "^step04: standard output cannot be written$")
    yield here("aarch64", "rm -rf /tmp/arm; git clone -q /srv/transpose.git /tmp/arm; cd /tmp/arm; echo compiler: "
                          "$(aarch64-linux-gnu-g++ --version | head -n 1); "
               "make CXX=aarch64-linux-gnu-g++ HOSTCXX=g++ step04; qemu-aarch64 -R 64G -L /usr/aarch64-linux-gnu "
               "./step04 --all --size 33x65; rm -rf /tmp/arm", 0, VERIFIED)


def of_apt(*names):
    """This machine's settings of apt that begin so, a line each."""
    said = subprocess.run(["apt-config", "dump"], capture_output=True, text=True).stdout
    return [line for line in said.splitlines() if line.startswith(names) and not line.endswith('"";')]


def proxy():
    """That of the environment, or that of this machine's apt."""
    found = re.search('"(.*)"', "".join(of_apt("Acquire::http::Proxy ")))
    return {"http_proxy": found[1]} if found and "http_proxy" not in os.environ else {}


class Fresh:
    """A system below DIR."""

    def __init__(self, name, work):
        self.name, self.of, self.work = name, SYSTEMS[name], work
        self.folder = work / self.of.suite
        self.environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ} | proxy()

    def keyring(self):
        given = os.environ.get("UBUNTU_KEYRING")
        stable = Fresh("Debian stable", self.work)
        found = pathlib.Path(given) if given else stable.folder / "usr/share/keyrings/ubuntu-archive-keyring.gpg"
        if not given and not found.exists():
            stable.install()
            stable.run("apt-get install -y --no-install-recommends ubuntu-keyring")
        return found

    def install(self):
        """Raises CalledProcessError with what was printed."""
        if not (self.folder / ".ready").exists():
            shutil.rmtree(self.folder, ignore_errors=True)
            options = [f"--keyring={self.keyring()}"] if self.of.kind == "ubuntu" else []
            mirror = os.environ.get(f"{self.of.kind.upper()}_MIRROR")
            subprocess.run(["debootstrap", "--variant=minbase", f"--components={self.of.components}", *options,
                            self.of.suite, self.folder, *([mirror] if mirror else [])],
                           env=os.environ | self.environment, check=True, capture_output=True, text=True)
            (self.folder / ".ready").touch()
        if "PIP_CERT" in self.environment:
            shutil.copyfile(self.environment["PIP_CERT"], self.folder / CERTIFICATES.lstrip("/"))
        shutil.copyfile("/etc/resolv.conf", self.folder / "etc/resolv.conf")
        # A mirror may be a copy of some date.
        (self.folder / "etc/apt/apt.conf.d/90host").write_text(
            "".join(line + "\n" for line in of_apt("Acquire::Check-")))
        shutil.rmtree(self.folder / "srv/transpose.git", ignore_errors=True)
        subprocess.run(["git", "clone", "-q", "--bare", "--no-local", ROOT, self.folder / "srv/transpose.git"],
                       check=True, capture_output=True, text=True)
        done = self.run(
            "id ada > /dev/null 2>&1 || useradd --create-home ada; rm -rf /root/transpose /tmp/first; mkdir -p "
            "/tmp/first; chmod 1777 /tmp; "
            # As a fresh system has neither git nor a compiler, the script comes without the rest.
            f"cat > /tmp/first/packages <<'END'\n{(ROOT / '.ci/packages').read_text()}END\nBROWSER= bash "
            "/tmp/first/packages; "
            + (f"apt-get install -y --no-install-recommends {self.of.packages}; " if self.of.packages else "")
            + ("for l in de_DE tr_TR; do localedef -i $l -f $([ $l = tr_TR ] && echo ISO-8859-9 || echo "
               "ISO-8859-1) $l; localedef -i $l -f UTF-8 $l.UTF-8; done; " if "locales" in self.of.packages else "")
            + "git clone -q /srv/transpose.git /root/transpose; "
            # What was built stays, as on a machine that pulls.
            "chmod -R a+rX /srv/transpose.git; su ada -c 'git config --global --replace-all safe.directory \"*\"; "
            "test -d ~/transpose || git clone -q /srv/transpose.git ~/transpose; "
            "cd ~/transpose && git fetch -q && git reset -q --hard origin/HEAD'")
        if done.returncode:
            raise subprocess.CalledProcessError(done.returncode, "packages", done.stdout)

    def run(self, script):
        """Commands of bash as root, in the system. What they mount is gone with them."""
        enter = ('set -e; mount -t proc proc "$0/proc"; mount --rbind /dev "$0/dev"; exec chroot "$0" env -i '
                 'HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive '
                 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"')
        environment = self.environment | ({"PIP_CERT": CERTIFICATES} if "PIP_CERT" in self.environment else {})
        settings = [f"{name}={value}" for name, value in environment.items()]
        return subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", enter,
                               self.folder, *settings, "bash", "-c", f"set -e\n{script}"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=SECONDS)


def about(fresh):
    """The system, its compiler and its Python, in words."""
    said = fresh.run(
        ". /etc/os-release; echo $PRETTY_NAME; g++ --version | head -n 1; python3 --version").stdout.splitlines()
    return said if len(said) == 3 else ["", "", ""]


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("/var/tmp/portability"))
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    chosen = [row for row in rows() if options.only in row.name]
    if options.list or not chosen:
        print(
            "\n".join(row.name for row in chosen) or
            f"portability.py: --only {options.only}: no row is called so; --list has their names",
            file=sys.stdout if chosen else sys.stderr)
        return 0 if chosen else 2
    lacking = [name for name in ("debootstrap", "unshare", "chroot", "git") if not shutil.which(name)]
    if os.geteuid() or lacking:
        print("portability.py: " + (f"needs {', '.join(lacking)}: apt-get install {' '.join(lacking)}" if lacking
                                    else "needs root: run it with sudo"),
              file=sys.stderr)
        return 2
    options.work.mkdir(parents=True, exist_ok=True)
    options.work = options.work.resolve()
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=10", "HEAD"], capture_output=True,
                            text=True).stdout.strip()
    installed, lines, failed = {}, [], 0
    for row in chosen:
        if row.system not in installed:
            fresh = Fresh(row.system, options.work)
            try:
                fresh.install()
                installed[row.system] = fresh, about(fresh)
            except (subprocess.SubprocessError, OSError) as error:
                last = (getattr(error, "stdout", "") or getattr(error, "stderr", "") or
                        str(error)).strip().splitlines()[-1]
                installed[row.system] = None
                print(f"{row.system}: skipped: it cannot be installed: {last}", flush=True)
        if not installed[row.system]: continue
        fresh, (system, cxx, python) = installed[row.system]
        began = time.monotonic()
        try:
            done = fresh.run(row.script)
            said, status = done.stdout, done.returncode
        except subprocess.TimeoutExpired as late:
            said, status = (late.stdout or b"").decode("utf-8", "replace"), "timeout"
        seconds = time.monotonic() - began
        found = re.search(row.line, said, re.MULTILINE)
        right = status == row.status and bool(found)
        failed += not right
        other = re.search("^compiler: (.*)", said, re.MULTILINE)
        shown = found[0] if found else said.strip().splitlines()[-1] if said.strip() else ""
        lines.append([
            time.strftime("%Y-%m-%d", time.gmtime()), commit, row.name, "ok" if right else "FAILED", row.status, status,
            " ".join(shown.split()), system, other[1] if other else cxx, python,
            round(seconds)])
        print(f"{'ok    ' if right else 'FAILED'}  {seconds:5.0f} s  {row.name}" + (
                  "" if right
                  else f"\n  expected {row.status} and {row.line}, got {status} and\n"
                       + "\n".join("  | " + line for line in said.splitlines()[-25:])),
              flush=True)
        if options.csv: write(options.csv, lines)  # after each row, so that a run that is stopped keeps those before
    skipped = len(chosen) - len(lines)
    print(f"{len(lines)} rows, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


HEADING = [
    "date_utc", "commit", "row", "result", "status_expected", "status", "line", "system", "compiler", "python",
    "seconds"]


def write(path, lines):
    kept = {}
    if path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            kept = {row["row"]: [row[name] for name in HEADING] for row in csv.DictReader(file)}
    kept |= {line[2]: line for line in lines}
    with path.open("w", newline="", encoding="utf-8") as file:
        written = [HEADING, *(kept[row.name] for row in rows() if row.name in kept)]
        csv.writer(file, lineterminator="\n").writerows(written)


if __name__ == "__main__":
    sys.exit(main())
