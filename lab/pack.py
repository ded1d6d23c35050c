"""Packs the project as it lies here, without tests and solutions: python3 lab/pack.py OUT.zip [--gradescope NN]

For students; or, with --gradescope, as the autograder of exercise NN: its scripts of lab/gradescope lie on top. What is packed is what
git knows, with changes that are not committed. Prints OUT. Exit status: 0; 2 bad input.
"""

import argparse
import pathlib
import subprocess
import sys
import zipfile

import check

NOT_FOR_STUDENTS = ("tests/", ".ci/", "lab/gradescope/")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", metavar="OUT.zip", type=pathlib.Path)
    parser.add_argument("--gradescope", metavar="NN", help="pack the autograder of this exercise")
    options = parser.parse_args()
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=check.ROOT, capture_output=True, text=True)
    if listed.returncode:
        raise check.BadInput(f"git ls-files: {listed.stderr.strip()}")
    names = [name for name in listed.stdout.split("\0") if name and not name.startswith(NOT_FOR_STUDENTS) and (check.ROOT / name).is_file()]
    number = check.exercise_of(check.load_exercises(), options.gradescope).number if options.gradescope is not None else None
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(options.out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.write(check.ROOT / name, name if number else f"transpose/{name}")
        if number:
            for file in sorted((check.ROOT / "lab/gradescope").iterdir()):
                archive.write(file, file.name)
            archive.writestr("exercise", f"{number}\n")
    print(options.out)


if __name__ == "__main__":
    try:
        main()
    except (check.BadInput, OSError) as error:
        print(f"pack: {error}", file=sys.stderr)
        sys.exit(2)
