"""SIM='--ncu FILE': the counts of Nsight Compute next to those of the simulator. The files of tests/data/ncu are what
ncu printed on an H100 (tools/ncu_files.py)."""

import collections
import csv
import io
import os
import pathlib
import random
import re
import subprocess

import pytest

import ncu_files
from lessons import METRICS, NCU, ROOT, made
from samples import some

DATA = ROOT / "tests/data/ncu"
PATHS = {pathlib.Path(name).name: name for name in ncu_files.PROGRAMS}
ACCESSES = r"(?:global|shared) (?:load|store|atomic) (?:requests|sectors|wavefronts|conflicts)"
COUNT = re.compile(
    rf"^(  +)({ACCESSES}|local \w+ requests|threads|warps|registers per thread) +(\d+) +(\d+|-) +(\S.*)$")
TITLE = re.compile(r"^(\S.*<<<.*>>>), launch(?:es)? (.*); in the file, (?:IDs?|launch(?:es)?) (.*)$")

# Kernels whose sums differ, and what: as the tables of "What compilers merge" in sim/README.md have it.
MERGED = {
    "global load": {"storeBetween", "sharedStoreBetween", "barrierBetweenRestrict", "onlyWhatIsNeeded",
                    "membersOfAPair", "membersIncreased", "loadInBothArms", "loadAfterBranch", "unchangedInLoop"},
    "global store": {"membersIncreased", "oneValueInBothArms", "oneValueStoredBack", "twoConstantsInArms",
                     "overwrittenInBranch"},
    "shared load": {"neighboursShared"},
    "shared store": {"neverRead", "readByItselfOnly", "neighboursStoredShared"},
    "global atomic": {"atomicWithOneValueInBothArms"}}
# nvcc loads four elements of a tile's row at a time.
TILES = {"shared load": {"matrixMul<16>", "matrixMul<32>"}}
DIFFERENT = {"merges": MERGED, "matrix_mul": TILES}
# Lines whose counts differ where the sums do not. The debug information has the line of a header, or nvcc loads before
# the barrier what the loop needs after it.
MOVED = {
    "ncu": {"cuda_pipeline_helpers.h:190", "ncu.cu:55"}, "reduction": {"device_atomic_functions.hpp:107",
                                                                      "reduction.cu:23"},
    "scan": {"scan.cu:13", "scan.cu:15", "scan.cu:17", "scan.cu:19"}}


def tried(program, file, options=""):
    """The program with a file of Nsight Compute. Its output is that of the program and of the report."""
    return subprocess.run([made(f"build/try/tests/sim/{PATHS[program]}")], capture_output=True, text=True, cwd=ROOT,
                          env={**os.environ, "SIM_OPTIONS": f"--quiet --machine h100 --ncu '{file}' {options}"})


def compared(output):
    """The tables: {(title, launches): {place: {count: (theirs, ours)}}}. The place of a sum is empty."""
    found, table, place = {}, None, ""
    for line in output.splitlines():
        if title := TITLE.match(line):
            table, place = found.setdefault((title[1], title[2]), collections.defaultdict(dict)), ""
        elif line.startswith("  at "):
            place = line.removeprefix("  at ")
        elif row := COUNT.match(line):
            assert len(row[1]) == (4 if place else 2)
            table[place][row[2]] = (int(row[3]), None if row[4] == "-" else int(row[4]))
    return found


def shown(program, how):
    done = tried(program, DATA / f"{program}.{how}.csv")
    assert done.returncode == 0 and not done.stderr, done.stdout[-500:] + done.stderr
    return done.stdout


def different(tables, sums):
    """{memory and access: kernels} whose sums differ, or the lines that do."""
    found = collections.defaultdict(set)
    for (title, _), table in tables.items():
        for place, counts in table.items():
            for count, (theirs, ours) in counts.items():
                if bool(place) != sums and ours is not None and theirs != ours:
                    found[count.rsplit(" ", 1)[0] if sums else place].add(title.split("<<<")[0])
    return dict(found)


@pytest.mark.parametrize("how", ["raw", "lines"])
@pytest.mark.parametrize("program", PATHS)
def test_counts_side_by_side(program, how):
    """Every launch has its counterpart. What differs is known, and has a cause."""
    output = shown(program, how)
    tables = compared(output)
    assert "Launches that only" not in output and "does not have" not in output
    assert different(tables, True) == DIFFERENT.get(program, {})
    causes = re.findall(rf"^  (?:fewer|more) ({ACCESSES}) on the card: ", output, re.M)
    assert {count.rsplit(" ", 1)[0] for count in causes} == set(DIFFERENT.get(program, {}))
    launches, off, counts = map(int, re.search(r"^ncu: (\d+) launch\w* compared, (\d+) of (\d+) counts differ$",
                                               output, re.M).groups())
    assert launches == int(re.search(r"^try: \d+ kernels?, (\d+) launch", output, re.M)[1])
    sums = [pair for table in tables.values() for name, pair in table[""].items() if pair[1] is not None]
    assert counts == len(sums) > 0 and off == sum(theirs != ours for theirs, ours in sums)


@pytest.mark.parametrize("program", [name for name in PATHS if name not in DIFFERENT])
def test_lines_side_by_side(program):
    output = shown(program, "lines")
    tables = compared(output)
    assert set(different(tables, False)) == MOVED.get(program, set())
    assert ("a line, and not the sum" in output) == (program in MOVED)
    for table in tables.values():
        for count, (theirs, _) in table[""].items():
            assert sum(counts.get(count, (0, 0))[0] for place, counts in table.items() if place) == theirs, count


def test_lines_of_what_nvcc_merges():
    lines = {place: kernels for place, kernels in different(compared(shown("merges", "lines")), False).items()
             if place.startswith("merges.cu:")}  # and not in a header
    text = (ROOT / "tests/sim/merges.cu").read_text().splitlines()
    for place, kernels in lines.items():
        above = "\n".join(text[:int(place.removeprefix("merges.cu:"))])
        assert kernels == {re.findall(r"__global__ void (\w+)\(", above)[-1]}
    # The debug information puts two atomic operations of one line on a line of the header.
    assert set().union(*lines.values()) == {"twoAtomics", *set().union(*MERGED.values())}


def test_an_instruction_of_two_lines(tmp_path):
    """An inlined function's load also stands under the line of the call, which has a load itself. It counts once."""
    lines, inlined = [], ""
    for line in (DATA / "ncu.lines.csv").read_text().splitlines(keepends=True):
        if lines and lines[-1].startswith('"33",'):
            inlined = line
        lines.append(line)
        if line.startswith('"38",'):
            lines.append(inlined)
    file = tmp_path / "twice.csv"
    file.write_text("".join(lines))
    assert inlined and compared(tried("ncu", file).stdout) == compared(shown("ncu", "lines"))


@pytest.mark.parametrize("program, how, lacks", [
    ("histogram", "long", set()), ("vector_add", "section", {"threads", "warps", "registers per thread"}),
    ("ncu", "function", set()), ("ncu", "mangled", set()), ("ncu", "full", {"warps"})])
def test_every_format_has_the_same_counts(program, how, lacks):
    """Of names, too: ncu prints void <unnamed>::k<int, (bool)1>(T1 *), k, or _Z1k…."""
    wanted = {launches: {count: pair for count, pair in table[""].items() if count not in lacks}
              for (_, launches), table in compared(shown(program, "raw")).items()}
    assert {launches: dict(table[""]) for (_, launches), table in compared(shown(program, how)).items()} == wanted


def test_what_only_one_side_counts():
    (local,) = [table[""] for (title, _), table in compared(shown("ncu", "raw")).items() if "localArray" in title]
    assert local["local load requests"] == (66, None) and local["registers per thread"] == (27, None)
    assert "  local load requests: nvcc keeps arrays" in shown("ncu", "raw")


def test_launches_with_equal_counts_share_a_table():
    assert [launches for title, launches in compared(shown("ncu", "raw")) if title.startswith("byArgument")] == [
        "11, 14", "12", "13"]
    assert ("transposeNaive<<<(4, 4), (32, 8)>>>", "1 to 4") in compared(shown("transpose", "raw"))


def test_the_command_for_what_the_file_lacks():
    output = shown("vector_add", "default")
    assert set().union(*(table[""] for table in compared(output).values())) == {"threads", "registers per thread"}
    assert ("\nThe file does not have global load requests, global load sectors, global store requests, global store "
            "sectors. To count all, type\n  ncu --csv --page raw --print-units base --log-file counts.csv --metrics "
            f"{ncu_files.COUNTS} ./vector_add\n") in output


def test_a_launch_without_a_counterpart(tmp_path):
    lines = (DATA / "ncu.raw.csv").read_text().splitlines(keepends=True)
    part = tmp_path / "part.csv"
    part.write_text("".join(line for line in lines if not re.match(r'"([357]|1[0-3])",', line)).replace(
        "localArray(", "otherArray("))
    output = tried("ncu", part).stdout
    assert ("\nLaunches that only the simulator has:\n"
            "  byArgument<<<1, 64>>>: launches 11 to 14\n"
            "  inlined<<<2, 128>>>: launch 7\n"
            "  inlined<<<4, 32>>>: launch 8\n"
            "  localArray<<<1, 64>>>: launch 9\n"
            "  shapes::apply<<<1, 128>>>: launch 4\n"
            "\nLaunches that only the file has:\n"
            "  otherArray<<<1, 64>>>: ID 8\n") in output
    assert "\nncu: 6 launches compared, 0 of " in output


def test_another_card():
    done = tried("transpose", DATA / "transpose.raw.csv", "--machine t4")
    assert ("\nThe file is from a card of compute capability 9.0, and the simulator counts for Tesla T4 (7.5). For a "
            "card like that, use --machine h100 or h200.\n") in done.stdout


def test_separators_of_other_languages(tmp_path):
    """131,072 is 131.072 elsewhere. A spreadsheet leaves out the quotes."""
    text = (DATA / "scan.raw.csv").read_text()
    assert re.search(r'"\d+,\d{3}"', text)
    unquoted = io.StringIO()
    csv.writer(unquoted).writerows(csv.reader(io.StringIO(text)))
    for name, other in (("points", re.sub(r'(?<=\d),(?=\d{3}")', ".", text)), ("spreadsheet", unquoted.getvalue())):
        assert other != text
        (tmp_path / name).write_bytes(other.encode())
        assert compared(tried("scan", tmp_path / name).stdout) == compared(shown("scan", "raw")), name


def cut(file, begin, end=None):
    return lambda: (DATA / file).read_text()[begin:end]


def changed(file, old, new):
    def change():
        text = (DATA / file).read_text()
        assert re.search(old, text)
        return re.sub(old, new, text, count=1)

    return change


RAW = "histogram.raw.csv"
SECTORS = r"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
BAD = {
    "empty": (lambda: "", "no table of Nsight Compute; expected what ncu --csv prints"),
    "output of a program": (lambda: 'x,"ID"\n==PROF== nothing\n', "no table of Nsight Compute; .*"),
    "ncu failed": (cut("ncu.failed.csv", 0), r"Nsight Compute failed: ==ERROR== Failed to find metric regex:.nosuch.*"),
    "no launch": (lambda: (DATA / RAW).read_text().rsplit("\n", 2)[0] + "\n",
                  "a table of Nsight Compute without a launch"),
    "cut in a row": (cut(RAW, 0, -3), r"line \d+: a quote is not closed; is the file whole\?"),
    "cut between cells": (cut(RAW, 0, -6), r"line \d+: \d+ cells, where the heading has \d+; is the file whole\?"),
    "cut in the page source": (cut("scan.lines.csv", 0, -20), r"line \d+: no row of a table; is the file whole\?"),
    "a row of the page source": (changed("scan.lines.csv", r'"","","0x\w+".*\n', '"",""\n'),
                                 r"line \d+: 2 cells, where the heading has \d+; is the file whole\?"),
    "no lines": (cut("vector_add.sass.csv", 0), "line 2: no lines of the source; compile with nvcc -lineinfo, profile "
                 "with --import-source yes, and print with --page source --print-source cuda,sass"),
    "no counts": (lambda: '"File Name","a.cu"\n"Line No","Source"\n"1","x"\n',
                  "line 2: no column 'Address'; print with --page source --print-source cuda,sass, .*"),
    "a fraction": (changed("histogram.long.csv", rf'{SECTORS}","sector","625"', rf'{SECTORS}","sector","6.25"'),
                   rf"line \d+: {SECTORS} is '6.25 sector'; expected a whole number, as ncu --print-units base "
                   "prints it"),
    "a unit": (changed("histogram.long.csv", rf'{SECTORS}","sector","625"', rf'{SECTORS}","Ksector","1"'),
               rf"line \d+: {SECTORS} is '1 Ksector'; expected a whole number, .*"),
    "a long number": (changed("histogram.long.csv", '"625"', '"' + "9" * 40 + '"'),
                      r"line \d+: .* expected a whole .*"),
    "a shape": (changed(RAW, r'"\(128, 1, 1\)"', '"(128, 1)"'),
                r"line \d+: Block Size is '\(128, 1\)'; expected three numbers, as in \(32, 8, 1\)"),
    "an ID": (changed(RAW, r'\n"0"', '\n"-1"'), r"line \d+: ID is '-1'; expected a number"),
    "no shape": (changed(RAW, '"Grid Size"', '"Grid"'), "no column 'Grid Size'; expected what ncu --csv prints"),
    "a long name": (changed(RAW, "histogram\\(", "h" * 100_000 + "("), r"line \d+: a kernel's name of \d+ bytes"),
    "control characters": (changed(RAW, r'\n"0"', '\n"\x1b[2J"'), r"line \d+: ID is '\\x1b\[2J'; expected a number"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_cannot_be_read(name, tmp_path):
    """One line and exit status 2, before the program runs."""
    text, message = BAD[name]
    file = tmp_path / "bad.csv"
    file.write_text(text())
    done = tried("histogram", file)
    assert done.returncode == 2 and not done.stdout, done.stdout
    assert re.fullmatch(rf"histogram: --ncu {re.escape(str(file))}: {message}\n", done.stderr), done.stderr


@pytest.mark.parametrize("options, message", [
    ("--ncu /nowhere.csv", "--ncu /nowhere.csv: No such file or directory"),
    ("--ncu /tmp", "--ncu /tmp: Is a directory"), ("--ncu ''", "SIM_OPTIONS: --ncu: expected a file name"),
    ("--ncu", "SIM_OPTIONS: --ncu needs a value"),
    ("--ncu x --blocks 4", "SIM_OPTIONS: --ncu compares whole launches; remove --blocks")])
def test_options(options, message):
    done = subprocess.run([made("build/try/tests/sim/programs/histogram")], capture_output=True, text=True,
                          env={**os.environ, "SIM_OPTIONS": options})
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"histogram: {message}\n")


def damaged(text, chosen):
    """A text that differs from another one in some places, or garbage."""
    if chosen.random() < .1:
        return bytes(chosen.choices(range(256), k=chosen.randrange(4000)))
    data = bytearray(text)
    for _ in range(chosen.randrange(1, 8)):
        at = chosen.randrange(len(data) + 1)
        piece = data[at:at + chosen.randrange(40)]
        data[at:at + chosen.choice([0, 1, len(piece)])] = chosen.choice(
            [b"", piece + piece, b'"', b",", b"\n", b"-1", b"n/a", b"9" * 30, b'","', b"<(", b"\0", b"==", b"\r\n",
             bytes(chosen.choices(range(256), k=5))])
    return bytes(data[:chosen.choice([len(data), chosen.randrange(len(data) + 1)])])


@pytest.mark.parametrize("seed", some(range(120), 12))
def test_damaged_files(seed, tmp_path):
    """A report or one line, and never anything else."""
    chosen = random.Random(seed)
    files = sorted(path for path in DATA.iterdir() if path.name.startswith("histogram."))
    for number in range(10):
        file = tmp_path / f"{number}.csv"
        file.write_bytes(damaged(chosen.choice(files).read_bytes(), chosen))
        done = tried("histogram", file)
        if done.returncode == 0:
            assert not done.stderr and re.search(r"^ncu: \d+ launch", done.stdout, re.M)
        else:
            assert done.returncode == 2 and not done.stdout and done.stderr.count("\n") == 1, (number, done.stderr)
        assert all(c.isprintable() or c == "\n" for c in done.stdout + done.stderr)


def test_one_table_has_the_metrics():
    """Of the simulator and of the tools. h200_metrics.csv says what was measured as what."""
    measured = {row["column"]: row["metric"] for row in csv.DictReader(open(ROOT / "tests/data/h200_metrics.csv"))}
    assert measured.items() <= METRICS.items()
    for count in {row.count for row in NCU if row.count}:
        ways = {int(row.way) for row in NCU if row.count == count}
        assert ways == set(range(1, len(ways) + 1)), count
    assert all(not row.way and not row.since for row in NCU if not row.count)


def test_the_page():
    """docs/PROFILING.md has the command of the report, and a table as the program prints it."""
    page = (ROOT / "docs/PROFILING.md").read_text()
    own = page.split("## Your own program")[1].split("\n## ")[0].replace("\\\n", "")
    assert ("ncu --csv --page raw --print-units base --log-file counts.csv --metrics " + ncu_files.COUNTS
            in re.sub(" +", " ", own))
    (table,) = re.findall("```text\n(.*?)```", own, re.S)
    assert table in shown("matrix_mul", "raw")
