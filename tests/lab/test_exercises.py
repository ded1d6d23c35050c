"""The lab's exercises: hand-outs fail, solutions get full points, and wrong solutions lose exactly what they should,
with the right hint.

Each submission takes a compilation: make test grades a sample of each kind. All of them, in about ten minutes:
TESTS=all .venv/bin/python -m pytest tests/lab/test_exercises.py
"""

import csv
import re
import sys

import pytest

from lessons import ROOT
from samples import few, some

sys.path[:0] = [str(ROOT / "lab"), str(ROOT / "tests/lab")]
import check
import corpus
import sandbox
import wrong
from edits import edited

EXERCISES = check.load_exercises().EXERCISES
NUMBERS = list(range(1, 10))
EVERY_RIGHT, EVERY_POOR = corpus.right(), corpus.poor()
RIGHT, POOR = ({key: texts[key] for key in some(texts, every)}
               for texts, every in ((EVERY_RIGHT, 256), (EVERY_POOR, 256)))
# Wrong solutions that other tests are about, too: make test grades these.
SHARED = [("guard_exchanged", 3), ("no_barrier", 3), ("only_tiles", 5), ("no_fallback", 7), ("grid_exchanged", 2),
          ("grid_not_divided", 7), ("tile_of_ints", 3)]


class Verdicts(dict):
    """{(name, exercise): verdict}: a submission is graded when a test first asks."""

    def __init__(self, files):
        self.files, self.lab = files, check.Lab()

    def __missing__(self, key):
        self[key] = self.lab.check(EXERCISES[key[1]], self.files[key])
        return self[key]


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory):
    return Verdicts({
        **wrong.write_class(tmp_path_factory.mktemp("wrong")),
        **corpus.write_class(tmp_path_factory.mktemp("corpus"), {**RIGHT, **POOR})})


def test_every_exercise_is_whole():
    assert list(EXERCISES) == NUMBERS and len(list(ROOT.glob("step*/exercise*.cu"))) == len(NUMBERS)
    for exercise in EXERCISES.values():
        checks = [*exercise.right(1), *exercise.costs(1)]
        assert (len({c.name for c in checks}) == len(checks) and sum(c.points for c in checks) == 100
                and sum(c.points for c in exercise.right(1)) == (40 if exercise.number == 6 else 20))
        assert len({w.name for w in wrong.WRONG if w.exercise == exercise.number}) >= 8
        for texts, least in ((EVERY_RIGHT, 14), (EVERY_POOR, 7)):
            assert len([key for key in texts if key[1] == exercise.number]) >= least
        shapes = {(w, h) for c in checks for w, h, _, _ in c.runs}
        assert len(shapes) >= 12 and {type_ for c in checks for _, _, type_, _ in c.runs} == {"float", "double", "int"}
        # Cost is counted at a shape that students know, and at one that they do not.
        drawn = [{key for c in exercise.costs(seed) for key in c.runs} for seed in range(40)]
        assert set.intersection(*drawn) and all(len(keys) >= 2 for keys in drawn) and len(set.union(*drawn)) >= 5


def test_no_shape_has_whole_tiles_and_broken_warps_of_vectors():
    """A warp's 32 vectors are 128 floats or 64 doubles. What the shape costs beyond that is allowed at edges."""
    exercise = EXERCISES[7]
    drawn = {key for seed in [559, 480, *range(2000)] for c in exercise.costs(seed) + exercise.limits(seed)
             for key in c.runs}
    assert len(drawn) > 400
    for width, height, type_, _ in drawn:
        assert width % 32 or height % 32 or width % {"float": 128, "double": 64}[type_] == 0


@pytest.mark.parametrize("number", few(NUMBERS, lambda n: n in (4, 5)))
def test_handout_fails_with_a_hint(number, verdicts):
    verdict, text = verdicts["handed_out", number], wrong.handout(number).read_text()
    assert not verdict["note"] and verdict["total"] <= 20
    assert all(c["hint"] and "\n" not in c["hint"] for c in verdict["checks"] if c["points"] == 0)
    assert f"make lab{number:02}" in text and text.count("#include") == 1


@pytest.mark.parametrize("name, number", sorted({**RIGHT, **{("solved", n): "" for n in NUMBERS}}))
def test_right_is_right(name, number, verdicts):
    assert verdicts[name, number]["total"] == 100, verdicts[name, number]


@pytest.mark.parametrize("name, number", sorted(POOR))
def test_poor_is_not(name, number, verdicts):
    """The result is right, the cost is not: some points, and never all."""
    verdict = verdicts[name, number]
    assert not verdict["note"] and verdict["checks"][0]["points"] > 0 and verdict["total"] <= 91, verdict
    assert any(c["hint"] for c in verdict["checks"] if c["name"] not in ("squares", "shapes", "double", "clean"))


@pytest.mark.variety
@pytest.mark.parametrize("number, unsolved, solved", [
        (1, "handed_out", "wrong_direction"), (2, "handed_out", "copied_columns"), (2, "copied_columns", "solved"),
        (2, "handed_out", "sides_exchanged"), (6, "one_barrier", "solved"), (5, "swizzled_too_little", "solved"),
        (4, "handed_out", "padded"), (4, "padded", "swizzled_by_row"),
        (5, "handed_out", "conflicts"), (5, "conflicts", "swizzled_too_little"), (6, "handed_out", "one_barrier"),
        (6, "handed_out", "column_by_column"), (6, "column_by_column", "solved"),
        (7, "handed_out", "floats_only_vectors"), (8, "handed_out", "copied_conflicts"),
        (8, "copied_conflicts", "copied_padding"), (8, "copied_padding", "solved"), (9, "handed_out", "rotated_only"),
        (9, "rotated_only", "unswizzled"), (9, "handed_out", "tile_only"), (9, "tile_only", "plain_order"),
        (9, "plain_order", "solved"), (9, "tile_only", "unswizzled"), (9, "unswizzled", "solved")])
def test_progress_earns_points(number, unsolved, solved, verdicts):
    """5: each piece that is solved is worth something."""
    assert verdicts[unsolved, number]["total"] < verdicts[solved, number]["total"]


@pytest.mark.parametrize("submission", few([w for w in wrong.WRONG if w.loses],
                                           lambda w: (w.name, w.exercise) in SHARED),
                         ids=lambda w: f"{w.exercise}_{w.name}")
def test_wrong_solution_loses_what_it_should(submission, verdicts):
    verdict = verdicts[submission.name, submission.exercise]
    # In an open exercise, what the course taught may be pasted in.
    assert verdict["total"] <= (99 if submission.exercise == 8 else
                                40 if submission.name == "copied_lesson" else 90)
    lost = {c["name"]: verdict["note"] or c["hint"] for c in verdict["checks"] if c["points"] < c["of"]}
    assert set(lost) == set(submission.loses.split(", ")), (verdict["note"], lost)
    assert any(submission.hint in hint for hint in lost.values()), lost


def test_cost_is_judged_where_the_result_is_right(verdicts):
    """At the shape of the page, a square, it is; at the drawn one it is not: a quarter, and the reason."""
    cost = verdicts["guard_exchanged", 3]["checks"][-1]
    assert (cost["points"] == 20 and "Not judged without a right and clean result" in cost["hint"]
            and "a quarter" in cost["hint"])


def test_no_time_is_modelled_for_what_was_not_counted(verdicts):
    """A matrix of one element, the only one that is right, says nothing of a large one."""
    assert (verdicts["handed_out", 5]["model"] == ""
            and re.match(r"1\.\d+ times the time of a copy", verdicts["handed_out", 4]["model"]))


def test_what_too_large_a_block_is_told(tmp_path):
    """All shapes share a process, also where each launch is refused."""
    file, lab, exercise = tmp_path / "large.cu", check.Lab(), EXERCISES[2]
    file.write_text(
        edited(wrong.handout(2).read_text(), {"BLOCK_X = 32;": "BLOCK_X = 64;", "BLOCK_Y = 8;": "BLOCK_Y = 64;"}))
    started, run = [], lab.run
    lab.run = lambda *arguments: started.append(arguments) or run(*arguments)
    verdict = lab.check(exercise, file)
    assert verdict["total"] == 0 and all(
        "4096 threads in a block, and CUDA launches 1 to 1024: choose a smaller block" in c["hint"]
        for c in verdict["checks"][:2])
    assert len(started) == 3  # of three types


@pytest.mark.variety
def test_points_for_the_order_of_blocks_begin_at_the_order_that_is_handed_out(tmp_path):
    """In each of the drawn shapes, with the race mended."""
    file, lab, exercise = tmp_path / "mended.cu", check.Lab(), EXERCISES[6]
    file.write_text(edited(
        wrong.handout(6).read_text(),
        {"        // TODO: what must be true before the next turn fills the tile?\n": "        __syncthreads();\n"}))
    checks = [c for seed in range(20) for c in exercise.costs(seed)]
    shapes = sorted({key[:2] for c in checks for key in c.runs})
    with sandbox.Box() as box:
        assert lab.build(box, exercise, file, [check.any_processor()]) == ""
        _, told = lab.run(exercise, box, shapes, "float", "gtx280", [check.any_processor()])
    assert len(shapes) == 5
    for c in checks:
        share, hint = c.judge({key: told[key[:2]] for key in c.runs})
        assert share < 0.01 and hint, hint


@pytest.mark.variety
def test_points_for_the_receivers_begin_at_the_order_that_is_handed_out(tmp_path):
    """In exercise 9, for each number of GPUs that is drawn."""
    lab, exercise, file = check.Lab(), EXERCISES[9], wrong.handout(9)
    checks = {key: c for seed in range(40) for c in exercise.costs(seed) if c.name == "receivers" for key in c.runs}
    with sandbox.Box() as box:
        assert lab.build(box, exercise, file, [check.any_processor()]) == ""
        told = {key: lab.run(exercise, box, [key[:2]], *key[2:], [check.any_processor()])[1][key[:2]] for key in checks}
    assert sorted(check.gpus_of(key[3])[0] for key in told) == [3, 4, 5, 6, 7]
    for key, c in checks.items():
        share, hint = c.judge({other: told[key] for other in c.runs})
        assert share < 0.01 and hint, hint


@pytest.mark.parametrize("name, number", some([("no_barrier", 3), ("no_fallback", 7), ("only_tiles", 5)], 3))
def test_no_sentence_decides_points(name, number, verdicts, monkeypatch):
    """Points and what is judged are the same if every text for people is another one."""
    def without_words(value):
        if isinstance(value, dict):
            return {key: "x" if key in ("text", "diagnosis", "source") else without_words(each)
                    for key, each in value.items()}
        return [without_words(each) for each in value] if isinstance(value, list) else value

    def points(verdict):
        return [(c["name"], c["points"], bool(c["hint"])) for c in verdict["checks"]]

    accounts, last_words, first = check.accounts, check.last_words, verdicts[name, number]
    monkeypatch.setattr(check, "accounts", lambda *given: without_words(accounts(*given)))
    monkeypatch.setattr(check, "last_words", lambda *given: [check.Finding("", "x") for _ in last_words(*given)])
    again = verdicts.lab.check(EXERCISES[number], verdicts.files[name, number], seed=first["seed"])
    assert points(again) == points(first)


def printed(verdict):
    return [line.strip() for line in check.report(verdict).splitlines() if line.strip().startswith("-> ")]


def test_the_most_telling_shape_is_described(verdicts):
    """In exercise 7, 1 x 1 shows only that the grid is empty. In exercise 5, the index shows nothing of the matrix."""
    hint = {c["name"]: c["hint"] for c in verdicts["no_fallback", 7]["checks"]}["shapes"]
    assert "31 x 33" in hint and "a row of 31 floats is no whole number of vectors of 4" in hint, hint
    empty = check.Run(1, 1, "float", "h200", None, [check.Finding("refused-launch", "k: ")], "", 1)
    odd = check.Run(31, 33, "float", "h200", None, [check.Finding("wrong-result", "k: ")], "", 1)
    apart = check.Run(33, 31, "float", "h200", None,
                      [check.Finding("misaligned-access", "k: ", True), check.Finding("wrong-result", "k: ")], "", 1)
    shapes = EXERCISES[7].right(1)[1]
    runs = {tuple(key): odd for key in shapes.runs}
    for worst, others in ((apart, [odd, empty]), (odd, [empty]), (empty, [empty])):
        runs = dict(zip(runs, [*others, worst, *[others[0]] * len(runs)]))
        assert shapes.judge(runs)[1].startswith(f"Not right at {worst.shape} of float: ")
    hint = {c["name"]: c["hint"] for c in verdicts["only_tiles", 5]["checks"]}["shapes"]
    assert hint.endswith("; the element at row 31, column 0 belongs in its place: its mirror image in the tile, row 0, "
                         "column 31, lies outside the matrix of 33 rows and 31 columns."), hint


def test_a_cause_is_printed_once():
    """The other shape that shows it is named."""
    def lines_of(*hints):
        checks = [{"name": "n", "what": "w", "points": 0, "of": 20, "hint": hint} for hint in hints]
        return printed({"note": "", "checks": checks, "model": "", "total": 0, "of": 100})

    never = "wrong result: {} of {} elements differ; first at row 1, column {} of odata; it was never written."
    first = "Not right at 31 x 33 of float: " + never.format(112, 1023, 25)
    unjudged = "Not judged without a right and clean result at 1025 x 64 of float: " + never.format(224, 65600, 0)
    above = "-> As above, at 1025 x 64 of float."
    assert lines_of(first, unjudged, unjudged) == [f"-> {first}", above, above]
    assert lines_of(first, f"{unjudged} {check.NOT_RIGHT}", f"{unjudged} {check.NOT_RIGHT}")[1:] == [
        f"{above} {check.NOT_RIGHT}", above]
    assert lines_of("", first, "") == [f"-> {first}"]
    # Other causes stay apart.
    hints = ["At 1 x 1 of float: race at a.cu:31 (5 times).", "At 1 x 1 of float: race at a.cu:7 (5 times).",
             "At 2 x 1 of float: race at a.cu:7 (9 times).", check.NOT_RIGHT, check.NOT_RIGHT]
    assert lines_of(*hints) == [
        f"-> {hints[0]}", f"-> {hints[1]}", "-> As above, at 2 x 1 of float.", f"-> {check.NOT_RIGHT}",
        "-> As above."]


def test_no_hint_is_a_bare_exit_status():
    """A run that ended without a result and without a finding, and one whose accesses were not all counted."""
    for number in NUMBERS:
        exercise = EXERCISES[number]
        for status in (0, 1, 2, 127, "timeout", "memory", "killed"):
            runs = {tuple(key): check.Run(*key, None, [], "", status)
                    for c in [*exercise.right(1), *exercise.costs(1), *exercise.limits(1)] for key in c.runs}
            hints = [c["hint"] for c in check.verdict_of(exercise, 1, runs)["checks"]]
            assert all(hints) and not [h for h in hints if re.search(r"exit status 0|: \d+\.?$", h)], hints
            assert "exit status 0" not in check.shown_matrix(exercise, 1, 1, status, [], [])
    row = {"width": "64", "height": "64", "element_bytes": "4", "global_bytes_moved": "16384"}
    told = check.not_counted(row)[0].text
    assert "counted 16384 bytes" in told and "needs 32768" in told and "by an assignment of its own" in told
    assert check.not_counted({**row, "global_bytes_moved": "32768"}) == []


@pytest.mark.variety
def test_each_half_of_exercise_6_earns_what_it_covers(verdicts):
    """The barrier alone, the diagonal alone, both; and in exercise 5 padding, the obvious first step."""
    guide = (ROOT / "lab/README.md").read_text()
    barrier, diagonal = map(int, re.search(r"The barrier\s+alone earns (\d+) points in all, and the diagonal order "
                                           r"alone (\d+)", guide).groups())
    padding = int(re.search(r"It earns (\d+) points in all", guide)[1])
    assert (verdicts["row_by_row", 6]["total"], verdicts["one_barrier", 6]["total"]) == (barrier, diagonal)
    assert verdicts["constant_changed", 5]["total"] == padding
    assert verdicts["handed_out", 6]["total"] < barrier <= diagonal < 60 and 40 < padding < 100


def test_guide_says_what_they_are_worth(verdicts):
    """What is handed out, the step's own kernel pasted in, and what is tried first."""
    table = re.findall(r"^\| (\d) \| ([\w, ]+) \| (\d+) \| (\d+) \| (\d+) \|$", (ROOT / "lab/README.md").read_text(),
                       re.MULTILINE)
    assert [int(row[0]) for row in table] == NUMBERS
    for row in few(table, lambda row: row[0] == "5"):
        number, handed_out, pasted, solved = (int(row[i]) for i in (0, 2, 3, 4))
        assert row[1] == ", ".join(c.name for c in EXERCISES[number].costs(1))
        assert ([verdicts[name, number]["total"] for name in ("handed_out", "copied_lesson", "solved")]
                == [handed_out, pasted, solved])
    # What step 4's kernel earns in the open exercise.
    reached, earned = re.search(r"step 4 reaches (\d+) % and earns (\d+) points",
                                (ROOT / "lab/README.md").read_text()).groups()
    pasted = verdicts.lab.check(EXERCISES[8], verdicts.files["copied_padding", 8], seed=1)  # others: up to 80
    percent = re.match(r"([\d.]+) % of a copy's bandwidth", pasted["checks"][-1]["hint"])[1]
    assert abs(int(reached) - float(percent)) <= 1 and abs(int(earned) - pasted["total"]) <= 1


@pytest.mark.variety
def test_guide_says_what_attempts_are_worth(verdicts):
    """The parts of exercise 9, and the usual first attempts at exercise 4."""
    earned = re.search(r"The order alone earns (\d+) points, rows by way\s+of a tile (\d+),\s+a tile without conflicts "
                       r"(\d+), and the order with a tile (\d+)",
                       (ROOT / "lab/README.md").read_text()).groups()
    assert [int(points) for points in earned] == [
        verdicts[name, 9]["total"] for name in ("rotated_only", "tile_only", "plain_order", "unswizzled")]
    said = re.findall(r"\((\d+)[ :]", re.search(r"^The usual first attempts.*?\n\n",
                                                (ROOT / "lab/README.md").read_text(), re.MULTILINE | re.DOTALL)[0])
    assert [int(points) for points in said] == [
        verdicts[name, 4]["total"] for name in ("padded", "swizzled_by_row", "filled_only", "leaves_its_row")]


# In front of a launch of the solution: where it does nothing.
NOTHING = {
    "large": "if (width > 512 || height > 512) return;",
    "odd": "if (width % 2 && height % 2 && width * height > 257 * 67) return;",
    "thin": "if (width < 9 && height > 250) return;",
    "ints": "if (T(0.5) == T(0)) return;",
}


@pytest.mark.parametrize("number, where", some([(n, where) for n in NUMBERS for where in NOTHING], 36))
def test_every_class_of_shapes_and_types_counts(number, where, tmp_path):
    """A solution that does nothing at the shapes of a class that no page names, or for a type."""
    head, body = wrong.solution(number).read_text().rsplit("\nvoid launch", 1)
    (tmp_path / "some.cu").write_text(f"{head}\nvoid launch{body.replace('{', '{ ' + NOTHING[where], 1)}")
    verdict = check.Lab().check(EXERCISES[number], tmp_path / "some.cu")
    assert verdict["note"] == "" and verdict["total"] <= 40, verdict
    lost = [c["name"] for c in verdict["checks"] if c["points"] < c["of"]]
    assert ("double" if where == "ints" else "shapes") in lost, lost


def of_one_block(text):
    """A solution whose only block goes through all tiles, one after the other."""
    head, kernel = text.split("__global__", 1)
    kernel, launcher = kernel.split("\n}\n", 1)
    for axis in "xy":
        kernel = kernel.replace(f"blockIdx.{axis}", f"b{axis}")
    kernel = kernel.replace("int height)\n{", "int height, int across, int down)\n{\n    for (int by = 0; by < down; "
                            "++by) for (int bx = 0; bx < across; ++bx) {", 1)
    launcher = launcher.replace("<<<grid, ", "<<<1, ").replace("width, height);", "width, height, grid.x, grid.y);")
    return f"{head}__global__{kernel}\n    __syncthreads();\n    }}\n}}\n{launcher}"


@pytest.mark.variety
@pytest.mark.parametrize("number", [2, 3, 4, 5, 8])
def test_one_block_does_not_fill_a_gpu(number, tmp_path):
    (tmp_path / "one.cu").write_text(of_one_block(wrong.solution(number).read_text()))
    verdict = check.Lab().check(EXERCISES[number], tmp_path / "one.cu")
    assert verdict["note"] == "" and 20 <= verdict["total"] <= 40, verdict
    assert any("an H200 has 132 SMs" in c["hint"] for c in verdict["checks"]), verdict
