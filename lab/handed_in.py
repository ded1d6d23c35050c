"""What a class handed in: a folder that holds a folder, a file or a .zip for each person, as course systems export
them.

Archives are read in place. Only the files that are asked for come out of one, at most MOST_FILES of them and of each no
more than a submission may have. They go into a temporary folder under names of ours, so no path in an archive leads
anywhere.
"""

import contextlib
import io
import os
import pathlib
import re
import stat
import tempfile
import time
import zipfile
from dataclasses import dataclass, field, replace
from typing import List, Optional

import check
import exports
from outside import printable

DEEP = 6                   # folders below that of a person, and in an archive
MOST_FILES = 500           # a copy of the project has about 60
MOST_CONTENTS = 4 << 20    # bytes of an archive's table of contents: some 40 000 files
# named where nothing else is found
OTHER = re.compile(r"\.(cu\.\w+|cpp|c|zip|zipx|tar|t?gz|bz2|xz|7z|rar)$", re.IGNORECASE)
LINK = "a link, which is not followed"


@dataclass
class File:
    path: pathlib.Path       # where its bytes are
    place: pathlib.PurePath  # below the person's entry, through archives; for people to read
    number: Optional[int]    # of the exercise, by its place
    edited: float = 0        # seconds since 1970: the file's time, or that of its entry in an archive
    received: float = 0      # the time of what lies in the class's folder: of an archive, the archive's
    beside: str = ""         # what could not be read next to it


@dataclass
class Contents:
    """Of the entry of a person, or of several."""
    files: List[File] = field(default_factory=list)
    others: List[pathlib.PurePath] = field(default_factory=list)  # of another kind, that may have been meant
    # archives and folders that cannot be read, with the reason
    troubles: List[str] = field(default_factory=list)


def number_of(names):
    """The exercise's number from the names of folders and files on a path: step04_padding, Lab 4, step04.cu; None if no
    name has one."""
    for part in reversed(names):
        if (re.match(r"exercise[ _-]*\(?\d\)?\.cu(\.txt)?$", part, re.IGNORECASE)
                and not re.match(r"exercise\d", part, re.IGNORECASE)):
            continue  # the number of a copy, by a browser or a course system
        if match := re.match(r"(?:step|lab|exercise)[ _-]?0?(\d)(?!\d)", part, re.IGNORECASE):
            return int(match.group(1))
    return None


def hidden(name):
    return name.startswith(".") or name == "__MACOSX"


class Archive(io.FileIO):
    """A file that is read in pieces only: zipfile would read a table of contents of any length at once."""

    def read(self, size=-1):
        if size > MOST_CONTENTS:
            raise zipfile.BadZipFile("it lists too many files")
        return super().read(MOST_CONTENTS if size < 0 else size)


class Reader:
    """Reads what was handed in. As a context manager: files from archives are there until its end."""

    def __init__(self, endings=(".cu", ".cu.txt")):  # Windows adds .txt, and hides it
        self.endings = endings

    def __enter__(self):
        self.temporary = contextlib.ExitStack()
        self.folder, self.count = pathlib.Path(
            self.temporary.enter_context(tempfile.TemporaryDirectory(prefix="handed-in-"))), 0
        return self

    def __exit__(self, *_):
        self.temporary.close()

    def read(self, entry, name=None):
        """The Contents of a person's folder, file or archive. `name`: of a file, as the person wrote it, if a course
        system put more around it."""
        contents = Contents()
        if entry.is_symlink():
            contents.troubles.append(LINK)
        elif not entry.is_dir():
            self.add(contents, entry, pathlib.PurePath(name or entry.name), () if name is None else (name,))
        else:
            def refuse(error):
                contents.troubles.append(f"cannot be read: {error.strerror}")
            for folder, folders, files in os.walk(entry, onerror=refuse):
                here = pathlib.Path(folder).relative_to(entry)
                folders[:] = sorted(f for f in folders if not hidden(f) and len(here.parts) < DEEP)
                for file in sorted(files):
                    if not hidden(file):
                        self.add(contents, pathlib.Path(folder, file), here / file, (here / file).parts)
        return contents

    def add(self, contents, path, place, names):
        """A file at a place, which is an archive, or asked for, or may have been meant."""
        if place.name.lower().endswith(self.endings):
            contents.files.append(File(path, place, number_of(names), time_of(path), time_of(path)))
        elif place.name.lower().endswith(".zip"):
            try:
                self.unpack(contents, path, place, names)
            except check.BadInput as error:
                contents.troubles.append(f"{printable(place)}: {str(error).removeprefix(f'{printable(path)}: ')}")
            except (check.sandbox.Fault, PermissionError):
                raise
            except Exception as error:  # zipfile raises anything from struct.error to RuntimeError for a broken archive
                contents.troubles.append(f"{printable(place)}: cannot be read as an archive: {reason(error)}")
        elif OTHER.search(place.name):
            contents.others.append(place)

    def unpack(self, contents, path, place, names):
        with check.opened(path) as file, zipfile.ZipFile(Archive(file.fileno(), closefd=False)) as archive:
            found, others = [], []
            for info in archive.infolist():
                inside = pathlib.PurePosixPath(info.filename.replace("\\", "/"))
                wanted = inside.name.lower().endswith(self.endings)
                if info.is_dir() or not wanted and not OTHER.search(inside.name):
                    continue
                if inside.is_absolute() or ".." in inside.parts or re.match("[A-Za-z]:", inside.parts[0]):
                    contents.troubles.append(f"{printable(place / inside.name)}: its path leads out of the "
                                             f"archive: {printable(info.filename[:200])}")
                elif not any(map(hidden, inside.parts)) and len(inside.parts) <= DEEP + 1:
                    (found if wanted else others).append((info, inside))
            if len(found) > MOST_FILES:
                raise check.BadInput(f"{len(found)} files with {' or '.join(self.endings)} at the end, and at most "
                                     f"{MOST_FILES} are read")
            contents.others += [place / inside for _, inside in others[:MOST_FILES]]
            for info, inside in found:
                if why := not_read(info):
                    contents.troubles.append(f"{printable(place / inside)}: {why}")
                    continue
                with archive.open(info) as member:
                    data = member.read(check.submission.MOST_BYTES + 1)  # one byte too many is refused later
                self.count += 1
                copy = self.folder / str(self.count) / re.sub(r"[^A-Za-z0-9._-]", "_", inside.name)[-100:]
                try:
                    copy.parent.mkdir()
                    copy.write_bytes(data)
                except OSError as error:
                    raise check.sandbox.Fault(f"TMPDIR={self.folder.parent}: {error.strerror}; make room there, or set "
                                              "TMPDIR= to another folder") from None
                contents.files.append(File(copy, place / inside, number_of((*names, *inside.parts)),
                                           entered(info, time_of(path)), time_of(path)))


def time_of(path):
    """When a file was last changed; 0 if it is no longer there."""
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return 0


def entered(info, otherwise):
    """When an entry of an archive was last changed. Archives hold local times without a zone."""
    try:
        return time.mktime((*info.date_time, 0, 0, -1))
    except (OverflowError, ValueError):
        return otherwise


def not_read(info):
    """Why a file stays in its archive, or ''."""
    if stat.S_ISLNK(info.external_attr >> 16):
        return LINK
    if info.flag_bits & 1:
        return "encrypted; hand it in without a password"
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "compressed in a way that not every program reads; pack it with zip"
    return ""


def reason(error):
    """One line about an exception."""
    return printable(" ".join((getattr(error, "strerror", None) or str(error) or type(error).__name__).split())[:200])


def exercises_of(files):
    return [file for file in files if re.match(r"exercise(\d\d)?\b", file.place.name, re.IGNORECASE)]


def bytes_of(file):
    """What makes two files one. A file that cannot be read is like no other."""
    try:
        return check.read_submission(file.path)
    except check.BadInput:
        return str(file.path)


def one_of(found, newest):
    """The File of several that counts: they are equal, or it is the newest. None: there is no such one."""
    if len({bytes_of(file) for file in found}) == 1:
        return max(found, key=lambda file: file.edited)
    last = [file for file in found if file.edited == max(other.edited for other in found)]
    return one_of(last, False) if newest and len(last) < len(found) else None


def choose(contents, number, newest=False):
    """{exercise number: its File, or the reason why there is none} for one person. The file is an exercise.cu, or else
    any .cu file. Its place gives the exercise; with `number`, a place without a number counts as that exercise. Of
    several files, equal ones are one; of others, none counts, or the newest."""
    placed = {}
    for file in contents.files:
        placed.setdefault(number if file.number is None else file.number, []).append(file)
    # A copy of the project also has the steps' kernels.
    placed = {n: exercises_of(files) or files for n, files in placed.items()}
    if number is not None:
        placed = {number: placed.get(number, [])}

    def names(places):
        return (", ".join(printable(place) for place in places[:3])
                + (f" and {len(places) - 3} more" if len(places) > 3 else ""))

    def instead():
        """The end of a sentence: files of other kinds or exercises, and what could not be read."""
        there = [file.place for file in exercises_of(contents.files) or contents.files] or contents.others
        return "; ".join(["", *([f"there is {names(there)}"] if there else []), *contents.troubles[:2]])
    if not placed or list(placed) == [None]:
        return {
            None: "no exercise number in its path; add EXERCISE=NN"
            if contents.files else contents.troubles[0] if contents.troubles else "no .cu file in it" + instead()}

    def the_one(found):
        if found:
            one = one_of(found, newest)
            return (replace(one, beside="; ".join(contents.troubles[:2])) if one else
                    f"several files: {names([file.place for file in found])}")
        return (contents.troubles[0] if contents.troubles and not contents.files and not contents.others
                else "no file of this exercise in it" + instead())
    return {n: the_one(found) for n, found in placed.items() if n is not None}


def entries(folder, endings, asked):
    """{name of a person: [(path, the file's own name, or None for a name that is the person's)]} of a class. A course
    system's names are taken apart."""
    if not folder:  # the path '' would be the current folder
        raise check.BadInput(f"{asked}=: expected a folder of submissions")
    folder = pathlib.Path(folder)
    if folder.is_file() and folder.suffix.lower() == ".zip":
        raise check.BadInput(f"{printable(folder)}: an archive; unpack it into a folder, and give the folder: "
                             f"unzip -d class {printable(folder.name)}")
    if not folder.is_dir():
        raise check.BadInput(f"{printable(folder)}: expected a folder of submissions")
    people, called = {}, {}
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith("._") or entry.name == "__MACOSX":
            continue
        known = exports.known(entry.name)
        if not (known or entry.is_symlink() or entry.is_dir() or entry.name.lower().endswith((*endings, ".zip"))
                or OTHER.search(entry.name)):
            continue
        alone = known is None or entry.is_dir()
        name = entry.name if alone else known[0]
        if alone and not entry.is_dir():
            name = re.sub(rf"({'|'.join(map(re.escape, (*endings, '.zip')))})$", "", name, flags=re.IGNORECASE)
            if name in ("", ".", ".."):  # of the file `...cu`; results go to a folder of this name
                name = entry.name
        key = (known["name"], known["id"]) if known else name
        people.setdefault(called.setdefault(key, name), []).append((entry, None if alone else entry.name[known.end():]))
    return people


def contents_of(reader, own):
    """The Contents of all entries of a person."""
    contents = Contents()
    for path, name in own:
        more = reader.read(path, name)
        for part in ("files", "others", "troubles"):
            getattr(contents, part).extend(getattr(more, part))
    return contents


def of_one_name(reader, own, number, newest):
    """As choose(), of entries that share a name by chance, as `ada` and `ada.cu` do: only the newest counts, or files
    that are equal."""
    several = "several of this name: " + ", ".join(printable(path.name) for path, _ in own)
    files = {}
    for path, of in own:
        for n, file in choose(reader.read(path, of), number, newest).items():
            files.setdefault(n, []).extend([file] if isinstance(file, File) else [])
    return {n: several if not found or len(found) < len(own) and not newest else one_of(found, newest) or several
            for n, found in files.items()}


def submissions(folder, number, reader, asked="SUBMISSIONS", newest=False):
    """[(name, exercise number, File or the reason why there is none)] of each person, in order. The files hold while
    the reader does."""
    found = []
    for name, own in entries(folder, reader.endings, asked).items():
        by_chance = len(own) > 1 and any(
            of is None and not (path.is_dir() and exports.known(path.name)) for path, of in own)
        chosen = (of_one_name(reader, own, number, newest) if by_chance
                  else choose(contents_of(reader, own), number, newest))
        found += [(name, n, file) for n, file in sorted(chosen.items(), key=str)]
    if not found:
        raise check.BadInput(f"{printable(folder)}: no submissions: expected NAME/exercise.cu, "
                             "NAME/stepNN/exercise.cu, NAME.cu or NAME.zip")
    if all(n is None for _, n, _ in found):
        raise check.BadInput(f"{printable(folder)}: {printable(found[0][0])}: {found[0][2]}")
    return found
