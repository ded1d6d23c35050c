"""What a class hands in is found, in archives too, and nothing in an archive harms the grader: it gets one line."""

import contextlib
import csv
import io
import os
import pathlib
import random
import sys
import tempfile
import zipfile
from unittest import mock

import pytest

from conftest import assert_refused
from grading import SOLUTION, grade, graded, untouched  # noqa: F401
from lessons import ROOT, run

sys.path[:0] = [str(ROOT / "lab"), str(ROOT / "tests/lab")]
import cells
import check
import handed_in
import wrong

STEPS = {number: wrong.handout(number).relative_to(ROOT) for number in range(1, 10)}


def zipped(files):
    """The bytes of an archive of {name: text or bytes}."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return made.getvalue()


def notebooks(name, texts):
    """(the name, the bytes) of the archive that the notebook makes of {exercise: text}."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()), \
            mock.patch.multiple(cells, ROOT=pathlib.Path(folder),
                                PREDICTIONS=pathlib.Path(folder, "results/predictions.json")):
        for number, text in texts.items():
            (cells.ROOT / STEPS[number]).parent.mkdir(exist_ok=True)
            (cells.ROOT / STEPS[number]).write_bytes(text.encode())
        cells.hand_in(name)
        (made,) = cells.ROOT.glob("results/*.zip")
        return made.name, made.read_bytes()


def encrypted(archive):
    """The same archive, each of its files marked as encrypted."""
    data, at = bytearray(archive), 0
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        while (at := data.find(signature, at)) >= 0:
            data[at + flags] |= 1
            at += 4
        at = 0
    return bytes(data)


def chosen(entry, number=4):
    """What is chosen of a person's entry: bytes, or the reason."""
    with handed_in.Reader() as reader:
        one = handed_in.choose(reader.read(pathlib.Path(entry)), number)[number]
        return one if isinstance(one, str) else one.path.read_bytes()


def archive(path, files, change=None, **options):
    """Writes an archive of {name: text or bytes}. `change`: what to do with each ZipInfo."""
    with zipfile.ZipFile(path, "w", **{"compression": zipfile.ZIP_DEFLATED, **options}) as made:
        for name, data in files.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = made.compression
            if change:
                change(info)
            made.writestr(info, data)
    return path


GOOD = {
    "the notebook's": {"step04_padding/exercise.cu": "4", "step05_decomposed/exercise.cu": "5",
                       "step07_long_pieces/exercise08.cu": "8", "name.txt": "Ada", "predictions.json": "{}"},
    "one file": {"exercise.cu": "4"},
    "a Mac's": {"lab/exercise.cu": "4", "__MACOSX/lab/._exercise.cu": "other", "lab/.DS_Store": ""},
    "an old Windows'": {"transpose\\step04_padding\\exercise.cu": "4",
                        "transpose\\step04_padding\\step04.cu": "the lesson's"},
    "in capitals": {"STEP04/EXERCISE.CU": "4"},
}


@pytest.mark.parametrize("name", GOOD)
def test_an_archive_is_read_in_place(name, tmp_path, untouched):
    archive(tmp_path / "handin.zip", GOOD[name])
    (tmp_path / "folder").mkdir()
    archive(tmp_path / "folder/Lab.ZIP", GOOD[name])
    assert chosen(tmp_path / "handin.zip") == chosen(tmp_path / "folder") == b"4"


def linked(info):
    info.create_system, info.external_attr = 3, 0o120777 << 16


BAD = {
    "absolute": ({"/tmp/left_behind/exercise.cu": "x"}, {},
                 "its path leads out of the archive: /tmp/left_behind/exercise.cu"),
    "up": ({"../../left_behind/exercise.cu": "x"}, {}, "its path leads out of the archive"),
    "up, as on Windows": ({"..\\left_behind\\exercise.cu": "x"}, {}, "its path leads out of the archive"),
    "drive": ({"C:\\left_behind\\exercise.cu": "x"}, {}, "its path leads out of the archive"),
    "link": ({"exercise.cu": "/etc/passwd"}, {"change": linked}, "bad.zip/exercise.cu: a link, which is not followed"),
    "unusual": ({"exercise.cu": "x"}, {"compression": zipfile.ZIP_LZMA},
                "compressed in a way that not every program reads"),
    "many": ({f"{i}/exercise.cu": "x" for i in range(3000)}, {},
             "bad.zip: 3000 files with .cu or .cu.txt at the end, and at most 500 are read"),
    "archive inside": ({"exercise.zip": zipped({"exercise.cu": "x"})}, {},
                       "no file of this exercise in it; there is bad.zip/exercise.zip"),
    "other kind": ({"exercise.cpp": "x"}, {}, "no file of this exercise in it; there is bad.zip/exercise.cpp"),
    "another exercise": ({"step05/exercise.cu": "x"}, {},
                         "no file of this exercise in it; there is bad.zip/step05/exercise.cu"),
    "two": ({"a/exercise.cu": "x", "b/exercise.cu": "y"}, {},
            "several files: bad.zip/a/exercise.cu, bad.zip/b/exercise.cu"),
    "empty": ({}, {}, "no file of this exercise in it"),
    "deep": ({"d/" * 40 + "exercise.cu": "x"}, {}, "no file of this exercise in it"),
    "escape": ({"\x1b[31m/../exercise.cu": "x"}, {}, r"its path leads out of the archive: \x1b[31m/../exercise.cu"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_archive_is_one_line(name, tmp_path, untouched):
    files, options, words = BAD[name]
    said = chosen(archive(tmp_path / "bad.zip", files, **options))
    assert words in said and said.isprintable()
    # An exercise next to it counts.
    (tmp_path / "both/step04").mkdir(parents=True)
    (tmp_path / "bad.zip").rename(tmp_path / "both/bad.zip")
    (tmp_path / "both/step04/exercise.cu").write_text("right")
    assert chosen(tmp_path / "both") == b"right" or name == "two"
    if "archive" in words or "link" in words:  # and what could not be read is said
        with handed_in.Reader() as reader:
            file = handed_in.choose(reader.read(tmp_path / "both"), 4)[4]
        assert words.removeprefix("bad.zip") in file.beside and str(tmp_path) not in file.beside


def test_archives_that_are_none(tmp_path, untouched):
    good = zipped({"exercise.cu": SOLUTION})
    for data, words in ((good[:-30], "cannot be read as an archive"), (b"", "cannot be read as an archive"),
                        (os.urandom(1000), "cannot be read as an archive"),
                        (encrypted(good), "encrypted; hand it in without a password"),
                        (good.replace(b"exercise.cu", b"exercise.cv", 1), "cannot be read as an archive")):
        (tmp_path / "bad.zip").write_bytes(data)
        assert words in chosen(tmp_path / "bad.zip")
    (tmp_path / "linked.zip").symlink_to(tmp_path / "bad.zip")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/linked.zip").symlink_to(tmp_path / "bad.zip")
    os.mkfifo(tmp_path / "folder/pipe.zip")
    assert chosen(tmp_path / "linked.zip") == handed_in.LINK
    assert chosen(tmp_path / "folder") == "linked.zip: a link"


def test_a_bomb_stays_small(tmp_path, untouched):
    """Of 64 MB of zeros, and of a table of contents of 5 MB, only what can be graded is read."""
    (tmp_path / "bomb.zip").write_bytes(zipped({"step04/exercise.cu": b"\0" * (64 << 20)}))
    assert len(chosen(tmp_path / "bomb.zip")) == check.submission.MOST_BYTES + 1
    with zipfile.ZipFile(tmp_path / "listed.zip", "w") as made:
        for i in range(20000):
            made.writestr(f"{i}{'x' * 200}.txt", "")
    assert chosen(tmp_path / "listed.zip") == "listed.zip: cannot be read as an archive: it lists too many files"


def test_a_person_of_a_course_system_has_one_line(tmp_path):
    """Moodle's folders and files, and Canvas's files with a number for each, belong to whom they name."""
    for name in ("doejane_12345_678901_lab04.cu", "doejane_12345_678902_lab05.cu",
                 "doejane_12345_678903_exercise08-1.cu", "roejohn_LATE_99_100_exercise-2.cu",
                 "Ada Lovelace_4711_assignsubmission_file_exercise.cu",
                 "Ada Lovelace_4711_assignsubmission_file_step05.cu", "poe_7_8_report.pdf",
                 # Moodle writes no _ in a name, and the student chooses that of the file.
                 "Mal_9_assignsubmission_file_Ada Lovelace_4711_assignsubmission_file_exercise.cu"):
        (tmp_path / name).write_text(name)
    for name in ("Zo\u00eb_5_assignsubmission_file_", "Zo\u00eb_5_assignsubmission_onlinetext_"):
        (tmp_path / name).mkdir()
    archive(tmp_path / "Zo\u00eb_5_assignsubmission_file_/handin-zo\u00eb.zip", GOOD["the notebook's"])
    (tmp_path / "Zo\u00eb_5_assignsubmission_onlinetext_/onlinetext.html").write_text("<p>")
    with handed_in.Reader() as reader:
        found = {
            name: file if isinstance(file, str) else file.path.read_text()
            for name, _, file in handed_in.submissions(tmp_path, 4, reader)}
        every = sorted((n, name) for name, n, _ in handed_in.submissions(tmp_path, None, reader) if n)
    assert found == {
        "doejane_12345_678901_": "doejane_12345_678901_lab04.cu",
        "roejohn_LATE_99_100_": "roejohn_LATE_99_100_exercise-2.cu", "poe_7_8_": "no file of this exercise in it",
        "Mal_9_assignsubmission_file_":
            "Mal_9_assignsubmission_file_Ada Lovelace_4711_assignsubmission_file_exercise.cu",
        "Ada Lovelace_4711_assignsubmission_file_": "Ada Lovelace_4711_assignsubmission_file_exercise.cu",
        "Zo\u00eb_5_assignsubmission_file_": "4"}
    assert ([n for n, name in every if name == "doejane_12345_678901_"] == [4, 5, 8]
            and [n for n, name in every if name.startswith("Zo")] == [4, 5, 8])


def test_a_class_of_archives_is_graded(tmp_path, untouched):
    """As make grade does it: what the notebook packs, next to what nobody can read."""
    folder, results = tmp_path / "class", tmp_path / "results"
    folder.mkdir()
    name, data = notebooks("Ada Lovelace", {4: SOLUTION, 5: "another exercise"})
    (folder / f"lovelaceada_1_2_{name}").write_bytes(data)
    (folder / "broken.zip").write_bytes(data[:-30])
    (folder / "seven.7z").write_bytes(b"7z\xbc\xaf\x27\x1c")
    (folder / "up.zip").write_bytes(zipped({"exercise.cu": SOLUTION, "../../b.cu": "x"}))
    (folder / "inside").mkdir()
    (folder / "inside/exercise.cu").symlink_to(folder / "broken.zip")
    done = grade(folder, results, "--export", "canvas,moodle")
    assert str(tmp_path) not in (results / "lab04.moodle.csv").read_text()
    assert done.returncode == 0 and done.stderr == "", done.stderr
    rows = {row["name"]: row for row in graded(results)}
    assert {name: row["note"] for name, row in rows.items()} == {
        "lovelaceada_1_2_": "", "up": "ok; not read: up.zip/b.cu: its path leads out of the archive: ../../b.cu",
        "inside": "exercise.cu: a link",
        "broken": "broken.zip: cannot be read as an archive: File is not a zip file",
        "seven.7z": "no file of this exercise in it; there is seven.7z"}
    assert rows["lovelaceada_1_2_"]["total"] == "100"
    with open(results / "lab04.canvas.csv") as file:
        assert [row["ID"] for row in csv.DictReader(file)][2:].count("1") == 1
    # Submissions of one person go to results.json in the same way.
    assert (grade(folder / "broken.zip", results, "--one", tmp_path / "one.json").returncode == 0
            and "cannot be read as an archive" in (tmp_path / "one.json").read_text())


def found_in(folder, newest=False):
    """{name: the text that counts, or the reason why none does}"""
    with handed_in.Reader() as reader:
        return {name: file if isinstance(file, str) else file.path.read_text()
                for name, _, file in handed_in.submissions(folder, 4, reader, newest=newest)}


def test_several_files_of_a_person(tmp_path):
    """Equal files are one. Of others none counts, or the newest, by the time of the file or of an archive's entry."""
    def put(place, text, when):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text)
        os.utime(tmp_path / place, (when, when))

    put("copied/exercise.cu", "same", 1e9)
    put("copied/exercise (1).cu", "same", 2e9)
    put("several/exercise.cu", "new", 1.6e9)
    put("several/exercise (1).cu", "old", 1.5e9)
    put("equally old/exercise.cu", "one", 1.6e9)
    put("equally old/exercise (1).cu", "another", 1.6e9)
    put("twice/exercise.cu", "first", 1.5e9)
    put("twice.cu", "second", 1.6e9)
    put("alike/exercise.cu", "same", 1.5e9)
    put("alike.cu", "same", 1.6e9)
    entries = {"a/exercise.cu": (2027, "entered later"), "b/exercise.cu": (2026, "entered before")}
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as made:
        for name, (year, text) in entries.items():
            made.writestr(zipfile.ZipInfo(name, (year, 1, 1, 0, 0, 0)), text)
    several = {"several": "several files: exercise (1).cu, exercise.cu",
               "twice": "several of this name: twice, twice.cu",
               "archive": "several files: archive.zip/a/exercise.cu, archive.zip/b/exercise.cu"}
    always = {"copied": "same", "alike": "same", "equally old": "several files: exercise (1).cu, exercise.cu"}
    assert found_in(tmp_path) == {**always, **several}
    assert found_in(tmp_path, newest=True) == {
        **always, "several": "new", "twice": "second", "archive": "entered later"}


def test_names_that_are_no_name_of_a_folder(tmp_path, untouched):
    """The results of `...cu` stay in the folder of the exercise."""
    folder, results = tmp_path / "class", tmp_path / "results"
    folder.mkdir()
    for name in ("...cu", "..cu", ".cu", "..zip", "a.cu"):
        (folder / name).write_text(f"int x;  // {name}\n")
    done = grade(folder, results)
    assert done.returncode == 0, done.stderr
    assert {row["name"] for row in graded(results)} == {"...cu", "..cu", ".cu", "..zip", "a"}
    assert sorted(os.listdir(results)) == ["lab04", "lab04.csv", "lab04.html"]
    assert sorted(os.listdir(results / "lab04")) == sorted(["...cu", "..cu", ".cu", "..zip", "a"])


def test_the_class_itself_is_no_archive(tmp_path):
    (tmp_path / "class.zip").write_bytes(zipped({"a/exercise.cu": SOLUTION}))
    assert_refused(run(sys.executable, ROOT / "lab/grade.py", tmp_path / "class.zip", "--results", tmp_path), 2,
                   "class.zip: an archive", "unzip -d class")
