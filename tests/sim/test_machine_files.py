"""Machine files: what may stand in one, what an error says, and that the built-in ones are what was measured."""

import csv
import re

import pytest

from conftest import step
from lessons import ROOT, run
from machine_files import capabilities, figures, machine_file

FOLDER = ROOT / "common/machines"
NAMES = sorted(path.stem for path in FOLDER.glob("*.machine"))
MODEL = (ROOT / "docs/MODEL.md").read_text()
H100 = (FOLDER / "h100.machine").read_text()


def line(text, key):
    return next(number for number, each in enumerate(text.splitlines(), 1) if each.startswith(key + " "))


def with_line(key, new, text=H100):
    """The text with another line in the place of a key's."""
    changed, count = re.subn(rf"^{key} =.*$", new, text, flags=re.MULTILINE)
    assert count == 1, key
    return changed


def counts_of(tmp_path, machine, *arguments):
    path = tmp_path / "counts.csv"
    done = step("step04", "--machine", machine, "--csv", path, *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (row,) = csv.DictReader(path.open())
    return {key: value for key, value in row.items() if key != "date_utc"}


def refusal(tmp_path, text):
    """The line that a file gets, without the names of program and file."""
    path = tmp_path / "card.machine"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    done = step("step04", "--machine", path, "--size", 64)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1, done.stderr
    begin = f"step04: --machine {path}:"
    assert done.stderr.startswith(begin)
    return done.stderr.removeprefix(begin).strip()


@pytest.mark.parametrize("name", ["h100", "gtx280", "gtx1080", "t4"])
def test_a_file_is_the_built_in_machine(tmp_path, name):
    (tmp_path / "card.machine").write_text((FOLDER / f"{name}.machine").read_text())
    size = 4096 if name == "h100" else 512
    assert counts_of(tmp_path, "card.machine", "--size", size) == counts_of(tmp_path, name, "--size", size)


def test_every_file_is_built_in_under_its_name():
    listed = step("step01", "--list-machines").stdout.split("\n\n")[0].splitlines()[1:]
    assert sorted(row.split()[0] for row in listed) == NAMES
    assert {machine_file(name)["name"] for name in NAMES} == set(NAMES)


def test_another_figure_is_another_result(tmp_path):
    """Also where the label is that of a built-in machine: a copy whose figures were changed."""
    for key, new in (("dram_scatter", "dram_scatter = 100 GB/s"), ("launch_time", "launch_time = 1e6 ns")):
        (tmp_path / "card.machine").write_text(with_line(key, new))
        changed = counts_of(tmp_path, "card.machine", "--size", 4096)
        usual = counts_of(tmp_path, "h100", "--size", 4096)
        assert float(changed["model_time_ms"]) > 1.5 * float(usual["model_time_ms"])
    (tmp_path / "card.machine").write_text(H100 + "threads_per_sm = 512\nblocks_per_sm = 1\n")
    out = step("step04", "--machine", "card.machine", "--size", 64, "--explain", cwd=tmp_path).stdout
    assert "1 block of 256 threads per SM" in out and "132 on all" in out


def test_a_map_that_is_not_known(tmp_path):
    """Its traffic is not counted."""
    (tmp_path / "card.machine").write_text(with_line("map_like", "", with_line("partitions", "partitions = 0")))
    unknown, assumed = (counts_of(tmp_path, m, "--size", 4096) for m in ("card.machine", "h100"))
    differ = {key for key, value in assumed.items() if unknown[key] != value}
    assert differ == {"busiest_partition_of_loads", "busiest_partition_of_stores", "partition_map"}
    assert unknown["partition_map"] == "" and unknown["model_limit"] == assumed["model_limit"]
    listed = step("step01", "--list-machines", "--machine", "card.machine", cwd=tmp_path).stdout
    assert re.search(r"h100 .* not known; map not published", listed)


# A text, the line that is named (its key, or 0 for none), and what is said of it.
WRONG = [
    (with_line("sms", "sms = many"), "sms", "sms = many: expected sms = NUMBER"),
    (with_line("sms", "sms ="), "sms", "sms has no value; expected sms = NUMBER"),
    (with_line("sms", "sms = 0"), "sms", "sms = 0: expected sms = NUMBER, above 0"),
    (with_line("sms", "sms = 1 2"), "sms", "sms = 1 2: expected sms = NUMBER"),
    (with_line("sm_clock", "sm_clock = 1.98 GHz"), "sm_clock", "sm_clock = 1.98 GHz: expected sm_clock = NUMBER MHz"),
    (with_line("sms", "smss = 132"), "smss", "unknown key smss; did you mean sms?"),
    (with_line("capability", "capability = 4.2"), "capability",
     "capability = 4.2: unknown limits; expected one of 1.0, "),
    (with_line("map_like", "map_like = t4"), "map_like",
     "map_like = t4: expected a built-in machine whose map is published"),
    (with_line("map_like", "hash = 10 64"), "hash", "hash = 10 64: expected hash = 10 13, 11 15"),
    (with_line("map_like", "banks = 16"), "banks", "banks follows from the capability; expected no line with it"),
    (with_line("name", "name = a/b"), "name", "name = a/b: expected up to 30 letters, digits, dots, dashes or "),
    (H100 + "sms = 4\n", "sms", f"sms is there twice, first on line {line(H100, 'sms')}"),
    ("", 0, "the file is empty; expected a figure on each line, as in sms = 132"),
    (with_line("sms", ""), 0, "sms is missing; expected a line sms = NUMBER"),
    (with_line("hit_time", ""), 0, "hit_time is missing; expected a line hit_time = NUMBER ns, because "
                                   f"barrier_thread_time is there on line {line(H100, 'barrier_thread_time')}"),
    (with_line("map_like", ""), 0, "partitions without a map; expected a line granularity = NUMBER B, hash = "),
    (with_line("map_like", "hash = 10 13,"), "hash", "the value of hash goes on after its last comma"),
]


def test_what_is_wrong_is_named(tmp_path):
    wrong = {}
    for text, key, message in WRONG:
        said = refusal(tmp_path, text)
        lines = [number for number, each in enumerate(text.splitlines(), 1) if key and each.startswith(f"{key} ")]
        begins = [f"{number + after}: {message}" for number in lines for after in (0, 1)] if key else [message]
        if not said.startswith(tuple(begins)): wrong[message] = said
    assert not wrong
    for content in (b"\0" * 100, bytes(range(256)), b"name = \x1b[2J\n"):
        assert "expected" in refusal(tmp_path, content)


def test_no_such_file_and_a_folder(tmp_path):
    for path, message in ((tmp_path / "none.machine", "No such file or directory"), (tmp_path, "Is a directory")):
        done = step("step04", "--machine", f"{path}/" if path == tmp_path else path)
        assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1


def test_the_example_of_the_page(tmp_path):
    (text,) = re.findall(r"^```\n(name = .*?)^```", MODEL, re.MULTILINE | re.DOTALL)
    (tmp_path / "a10.machine").write_text(text)
    out = step("step04", "--machine", "a10.machine", "--size", 64, "--explain", cwd=tmp_path).stdout
    assert out.startswith("step04 on the simulator of the A10 (compute capability 8.6)") and "on all 72 SMs" in out


def test_limits_of_a_capability():
    """Each limit that a machine file may have is that of the capability, if the file has none."""
    rows = capabilities()
    assert list(rows) == sorted(rows, key=lambda name: [int(part) for part in name.split(".")])
    for row in rows.values():
        assert int(row["shared_per_block"]) <= int(row["shared_per_block_optin"]) <= int(row["shared_per_sm"])
        assert int(row["threads_per_block"]) <= int(row["threads_per_sm"])
        assert int(row["registers_per_block"]) <= int(row["registers_per_sm"])
    assert not [key for name in NAMES for key in machine_file(name) if key in rows["9.0"] and key != "capability"]


def test_a_capability_without_a_row_has_that_before_it(tmp_path):
    (tmp_path / "card.machine").write_text(with_line("capability", "capability = 12.1"))
    out = step("step04", "--machine", "card.machine", "--size", 64, "--explain", cwd=tmp_path).stdout
    assert "(compute capability 12.1)" in out and "6 blocks of 256 threads per SM" in out  # 1536 threads


def derived(machine, *files):
    done = run(ROOT / "build/tools/machine_file", machine, *(ROOT / "plots/data" / name for name in files))
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("card, files", [("h100", ["h100_micro.csv"]), ("h200", ["h200_micro.csv", "h100_micro.csv"])])
def test_constants_are_the_measured_ones(tmp_path, card, files):
    """The committed file is what the tool makes of the measurements, line by line. A constant that was changed by hand
    gets its value again."""
    text = (FOLDER / f"{card}.machine").read_text()
    own = [each for each in text.splitlines() if not each.startswith("#")]
    assert [each for each in derived(card, *files).splitlines() if not each.startswith("#")] == own
    (tmp_path / "card.machine").write_text(with_line("load_time", "load_time = 1 ns", text))
    assert figures(derived(tmp_path / "card.machine", *files)) == machine_file(card)
