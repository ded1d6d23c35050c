"""A class as a course system exports it: 200 submissions of 60 students, right, poor, wrong, endless and broken, in
every form that one meets.

python3 tests/lab/mixed.py FOLDER writes it, to try `make grade` on. It is the same in every run.
"""

import contextlib
import io
import os
import pathlib
import random
import sys
import tempfile
import zipfile
from unittest import mock

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[2] / "lab")]
import cells
import corpus
import wrong
from edits import edited

FIRST = "Ada Grace Alan Edsger Barbara Donald Frances John Zoë Jürgen Łukasz 明 Ольга Nuñez Sinéad".split()
LAST = "Lovelace Hopper Turing Müller O'Brien García Nowak Åberg".split()
BARRIER = "    __syncthreads();\n"
STEPS = {number: wrong.handout(number).relative_to(wrong.ROOT) for number in corpus.NUMBERS}


def texts():
    """{exercise: [texts]}: of every kind about as many."""
    found = {number: [] for number in corpus.NUMBERS}
    for kinds in (corpus.right(), corpus.poor(), {(w.name, w.exercise): wrong.text_of(w) for w in wrong.WRONG},
                  {("handed_out", n): wrong.handout(n).read_text() for n in corpus.NUMBERS}):
        for (_, number), text in sorted(kinds.items()):
            found[number].append(text)
    return found


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


def odd():
    """{place: text or bytes}: what is no plain submission of exercise 4."""
    right, given = wrong.solution(4).read_text(), wrong.handout(4).read_text()
    return {
        "endless/step04/exercise.cu": edited(right, {BARRIER: "    while (true) { }\n"}),
        "endless quietly/step04/exercise.cu":
            edited(right, {BARRIER: "    for (int j = 0; j < width + 1; j += 0) if (width == -1) break;\n"}),
        "endless launcher/step04/exercise.cu":
            edited(right, {"    dim3 grid(": "    for (int i = 0; i >= 0; i = (i + 1) & 1023) ;\n    dim3 grid("}),
        "crash/step04/exercise.cu": edited(right, {BARRIER: "    odata[size_t(1) << 40] = odata[0];\n"}),
        "deep/step04/exercise.cu": edited(right, {BARRIER: BARRIER + "    width += deeper(width);\n",
                                                  "template <typename T>\n__global__":
                                                      "__device__ int deeper(int n) { return n == -1 ? 0 : "
                                                      "deeper(n + 1) + 1; }\n\ntemplate <typename T>\n__global__"}),
        "renamed/step04/my kernel (final).cu": right,
        "wrong exercise/step04/exercise.cu": wrong.solution(3).read_text(), "texted/step04/exercise.cu.txt": right,
        "two/step04/exercise.cu": right, "two/step04_padding/exercise.cu": given,
        "utf16/step04/exercise.cu": right.encode("utf-16"),
        "latin1/step04/exercise.cu": (right + "// M\u00fcller\n").encode("latin-1"),
        b"caf\xe9/step04/exercise.cu": right, "copied/step04/exercise.cu": right,
        "copied too/step04/exercise.cu": right, "nothing/step04/exercise.cu": "",
        "bomb.zip": zipped({"step04/exercise.cu": b"\0" * (64 << 20)}),
        "leaves.zip": zipped({"../../step04/exercise.cu": right, "/step04/exercise.cu": right}),
        "many.zip": zipped({f"step04/{i}/exercise.cu": "int x;\n" for i in range(3000)}),
        "encrypted.zip": encrypted(zipped({"step04/exercise.cu": right})),
        "broken.zip": zipped({"step04/exercise.cu": right})[:-30], "seven.7z": b"7z\xbc\xaf\x27\x1c",
    }


def write(folder):
    """Writes the class; how many submissions it has."""
    folder, draw, of = pathlib.Path(folder), random.Random(4), texts()
    people = [(f"{first} {last}", 4000 + 7 * i)
              for i, (first, last) in enumerate((first, last) for last in LAST for first in FIRST)]
    count = 0

    def put(place, data):
        path = os.path.join(os.fsencode(folder), os.fsencode(place))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)

    def drawn(most):
        nonlocal count
        count += most
        return {number: draw.choice(of[number]) for number in sorted(draw.sample(corpus.NUMBERS, most))}
    for i in range(13):  # the notebook's own archive, through Moodle and Canvas
        name, id_ = people.pop(0)
        file, data = notebooks(name, drawn(8))
        put(
            f"{name}_{id_}_assignsubmission_file_/{file}" if i %
            2 else f"{name.replace(' ', '').lower()}_{id_}_{id_ + 100000}_{file}", data)
    for i in range(8):  # several files through Canvas
        name, id_ = people.pop(0)
        for number, text in drawn(3).items():
            put(f"{name.replace(' ', '').lower()}_{'LATE_' if i == 3 else ''}{id_}_{id_ + 100000 + number}_lab"
                f"{number:02}.cu",
                text)
    for i in range(8):  # folders through Moodle, an archive of one's own among them
        name, id_ = people.pop(0)
        files = {f"my lab/{STEPS[number]}": text for number, text in drawn(3).items()}
        for place, text in {"all of it.zip": zipped(files)}.items() if i % 2 else files.items():
            put(f"{name}_{id_}_assignsubmission_file_/{place}", text)
    for i in range(8):  # copies of the repository
        name, _ = people.pop(0)
        for number, text in drawn(3).items():
            put(f"{name}/transpose-main/{STEPS[number]}", text)
            put(f"{name}/transpose-main/{STEPS[number].parent}/variants.cu", "not it\n")
    for place, data in odd().items():
        put(place, data)
    (folder / "linked").symlink_to("/")
    (folder / "empty").mkdir()
    return count + 24


if __name__ == "__main__":
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "plots"))
    import command_line
    parser = command_line.parser(__doc__)
    parser.add_argument("folder", metavar="FOLDER")
    folder = parser.parse_args().folder
    print(f"{write(folder)} submissions: make grade SUBMISSIONS={folder}")
