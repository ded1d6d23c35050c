"""Prints pairs of similar submissions: python3 lab/similar.py CLASS [--exercise NN] [--threshold PERCENT] [--csv FILE]

CLASS is a folder as for lab/grade.py. Two numbers are given for a pair, in percent of the longer text: `text` compares
the words as they are written, `structure` compares them with every name and number replaced, so that renaming does not
hide a copy. Statements that the hand-out has count for neither, nor do comments, spaces and the order of the
statements. Submissions that leave fewer than 20 words are not compared.

A similar pair is a reason to look at both files, not a proof: small tasks have few solutions. Needs
lab/requirements.txt. Exit status: 0, whatever is found; 2 bad input, or a package is missing.
"""

import itertools
import pathlib
import shlex
import sys

import check
import class_files
import command_line
import handed_in
import spreadsheet
import whole
from outside import printable

LEAST_TOKENS = 20
THRESHOLD = 80
MOST_PRINTED = 40  # pairs of an exercise: ten copies of one file are 45

try:
    from pygments.lexers import CudaLexer
    from pygments.token import Comment, Literal, Name, Text
    from rapidfuzz.distance import Indel
except ImportError as error:
    install = shlex.join([
        sys.executable, "-m", "pip", "install", "-r",
        str(pathlib.Path(__file__).parent / "requirements.txt")])
    print(f"similar: the package {error.name} is missing; type {install}", file=sys.stderr)
    sys.exit(2)


def tokens_of(text):
    """[(the word, the word without its name)] of a file, without comments and spaces."""
    found = []
    for kind, word in CudaLexer().get_tokens(text):
        if kind not in Text and (kind not in Comment or kind in Comment.Preproc) and word.strip():
            found.append((word.strip(), "name" if kind in Name else "number" if kind in Literal else word.strip()))
    return found


def statements_of(tokens):
    """The tokens in pieces that end at ; { or }, but not inside ( )."""
    pieces, piece, depth = [], [], 0
    for token in tokens:
        piece.append(token)
        depth += (token[0] == "(") - (token[0] == ")")
        if token[0] in ("{", "}") or token[0] == ";" and depth <= 0:
            pieces.append(tuple(piece))
            piece, depth = [], 0
    return [*pieces, tuple(piece)]


def views(text):
    """(the statements as they are written, the statements without names)"""
    statements = statements_of(tokens_of(text))
    return tuple([tuple(token[view] for token in statement) for statement in statements] for view in (0, 1))


def own(text, handout):
    """(tokens of `text`, tokens of `structure`) that are not the hand-out's. Sorted statements, so that their order
    does not count."""
    left = []
    for statements, given in zip(views(text), views(handout)):
        given = set(given)
        left.append([token for statement in sorted(s for s in statements if s not in given) for token in statement])
    return left


def similar(first, second):
    return tuple(100 * Indel.normalized_similarity(a, b) for a, b in zip(first, second))


def pairs(texts, handout, threshold):
    """([(text, structure, name, name)] at or above the threshold, the most similar first; the names that have too
    little text). {name: text}"""
    parts = {name: own(text, handout) for name, text in texts.items()}
    short = [name for name, part in parts.items() if len(part[0]) < LEAST_TOKENS]
    found = []
    for a, b in itertools.combinations([name for name in parts if name not in short], 2):
        numbers = similar(parts[a], parts[b])
        if max(numbers) >= threshold:
            found.append((*numbers, a, b))
    return sorted(found, key=lambda pair: (-pair[0], -pair[1], pair[2:])), short


def text_of(file):
    """A submission's text, whatever bytes it holds; '' if it cannot be read."""
    try:
        return check.read_submission(file).decode("utf-8", "replace")
    except check.BadInput:
        return ""


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("folder", metavar="CLASS", help="the folder of all submissions")
    parser.add_argument("--exercise", metavar="NN",
                        help="the exercise to compare; default: each that the names of folders and files give")
    parser.add_argument("--threshold", type=float, default=THRESHOLD, metavar="PERCENT",
                        help=f"print pairs from this similarity on; default: {THRESHOLD}")
    parser.add_argument("--csv", type=pathlib.Path, metavar="FILE", help="also write the pairs as a table")
    parser.add_argument("--exercises", metavar="FILE", help="the file of exercises; default: lab/exercises.py")
    options = parser.parse_args()
    check.begin()
    if not 0 < options.threshold <= 100:
        raise check.BadInput(f"--threshold {options.threshold:g}: expected a number above 0, at most 100")
    exercises = check.load_exercises(options.exercises)
    number = check.exercise_of(exercises, options.exercise).number if options.exercise is not None else None
    with handed_in.Reader() as reader:
        found = [(printable(name), n, text_of(file.path))
                 for name, n, file in handed_in.submissions(options.folder, number, reader, "CLASS")
                 if n in exercises.EXERCISES and not isinstance(file, str)]
    lines = []
    for n in sorted({n for _, n, _ in found}):
        exercise = exercises.EXERCISES[n]
        texts = {name: text for name, m, text in found if m == n}
        print(f"similar: exercise {n}: comparing {len(texts)} submissions", file=sys.stderr, flush=True)
        close, short = pairs(texts, (check.ROOT / exercise.step / exercise.file).read_text(encoding="utf-8"),
                             options.threshold)
        print(f"exercise {n}: {len(texts)} submissions, {len(close)} similar pairs" +
              (f"; {len(short)} have too little text of their own to compare" if short else ""))
        if close:
            print(f"{'text':>6} {'structure':>10}")
        for text, structure, a, b in close[:MOST_PRINTED]:
            print(f"{int(text):5} % {int(structure):8} %  {a}  and  {b}")
        if len(close) > MOST_PRINTED:
            print(f"and {len(close) - MOST_PRINTED} more; --csv FILE writes all of them")
        lines += [[n, round(text, 1), round(structure, 1), a, b] for text, structure, a, b in close]
    if options.csv:
        heads = ["exercise", "text", "structure", "first", "second"]
        class_files.write(options.csv, spreadsheet.table([heads, *lines]), "utf-8-sig")
    return 0


if __name__ == "__main__":
    sys.exit(whole.run(main, "similar", check.BadInput))
