"""Packs this copy of the project, without tests and solutions: python3 lab/pack.py OUT.zip [--gradescope NN]

The archive is for students and leaves out what only an instructor needs. With --gradescope it is the autograder of
exercise NN, with the scripts of lab/gradescope at the top. It holds the files that git tracks, with uncommitted
changes, and for students the notebook. Exercises are the exception: they are packed as they were committed, and a
changed one is named. Prints OUT.
Exit status: 0; 2 bad input.
"""

import io
import pathlib
import subprocess
import sys
import zipfile

import check
import command_line
import notebook
import whole

NOT_PACKED = ("tests/", ".ci/", ".github/", "lab/gradescope/")
NOT_FOR_STUDENTS = (*NOT_PACKED, "lab/README.md", "lab/grade.py", "lab/grader.py", "lab/handed_in.py",
                    "lab/exports.py", "lab/class_files.py", "lab/class_pages.py", "lab/pack.py",
                    "lab/notebook.py", "lab/prelab_grade.py", "lab/slides.py", "lab/transpose.ipynb")
ELSEWHERE = {"lab/classroom.yml": ".github/workflows/classroom.yml"}  # in a student's repository


def git(*arguments):
    done = subprocess.run(["git", *arguments], cwd=check.ROOT, capture_output=True)
    if done.returncode:
        raise check.BadInput(f"git {arguments[0]}: {done.stderr.decode(errors='backslashreplace').strip()}")
    return done.stdout


def contents(name, exercises):
    """The bytes to pack of a file. An exercise is packed as it was committed."""
    data = (check.ROOT / name).read_bytes()
    if name not in exercises:
        return data
    committed = git("show", f"HEAD:{name}")
    if committed != data:
        print(f"pack: {name} differs from the committed file; the committed file is packed", file=sys.stderr)
    return committed


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("out", metavar="OUT.zip", type=pathlib.Path)
    parser.add_argument("--gradescope", metavar="NN", help="pack the autograder of this exercise")
    options = parser.parse_args()
    left_out = NOT_PACKED if options.gradescope is not None else NOT_FOR_STUDENTS
    names = [
        name for name in git("ls-files", "-z").decode().split("\0")
        if name and not name.startswith(left_out) and (check.ROOT / name).is_file()]
    every = check.load_exercises()
    exercises = {f"{exercise.step}/{exercise.file}" for exercise in every.EXERCISES.values()}
    number = check.exercise_of(every, options.gradescope).number if options.gradescope is not None else None
    options.out.parent.mkdir(parents=True, exist_ok=True)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            info = zipfile.ZipInfo.from_file(check.ROOT / name,
                                             name if number else f"transpose/{ELSEWHERE.get(name, name)}")
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, contents(name, exercises))
        if number:
            for file in sorted((check.ROOT / "lab/gradescope").iterdir()):
                archive.write(file, file.name)
            archive.writestr("exercise", f"{number}\n")
        else:
            info = zipfile.ZipInfo.from_file(check.ROOT / "lab/cells.py", "transpose/lab/transpose.ipynb")
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, notebook.notebook("", lambda file: git(
                "show", f"HEAD:{file.relative_to(check.ROOT)}").decode()))
    whole.write(options.out, packed.getvalue())
    print(options.out)


if __name__ == "__main__":
    sys.exit(whole.run(main, "pack", check.BadInput))
