"""Machine files: what may stand in one, what an error says, and that the built-in ones are what was measured."""

import csv
import os
import re

import pytest

from conftest import step
from lessons import ROOT, run
from machine_files import capabilities, figures, machine_file

FOLDER = ROOT / "common/machines"
NAMES = sorted(path.stem for path in FOLDER.glob("*.machine"))
MODEL = (ROOT / "docs/MODEL.md").read_text()
H100 = (FOLDER / "h100.machine").read_text()
GTX280 = (FOLDER / "gtx280.machine").read_text()


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
    size = 8192 if name == "h100" else 512
    assert counts_of(tmp_path, "card.machine", "--size", size) == counts_of(tmp_path, name, "--size", size)


def test_every_file_is_built_in_under_its_name():
    listed = step("step01", "--list-machines").stdout.split("\n\n")[0].splitlines()[1:]
    assert sorted(row.split()[0] for row in listed) == NAMES
    assert {machine_file(name)["name"] for name in NAMES} == set(NAMES)


def test_a_file_is_listed_behind_the_others(tmp_path):
    (tmp_path / "mine.machine").write_text(with_line("name", "name = mine", with_line("sms", "sms = 66")))
    done = step("step01", "--list-machines", "--machine", "mine.machine", "--csv", "all.csv", cwd=tmp_path)
    usual = step("step01", "--list-machines", "--machine", "h100").stdout
    assert usual == step("step01", "--list-machines").stdout
    machines, peaks, in_flight = done.stdout.split("\n\n")
    assert re.match(r"mine +H100 SXM +9\.0 +66 ", machines.splitlines()[-1])
    assert [row.split()[0] for row in peaks.splitlines()[1:]][-1] == "mine" and "\nmine " in in_flight
    assert list(csv.DictReader((tmp_path / "all.csv").open()))[-1]["name"] == "mine"


def test_a_name_with_a_slash_is_a_file(tmp_path):
    (tmp_path / "h100").write_text(with_line("label", "label = Another card"))
    for name, label in (("h100", "H100 SXM"), ("./h100", "Another card"), (tmp_path / "h100", "Another card")):
        done = step("step04", "--machine", name, "--size", 64, cwd=tmp_path)
        assert done.stdout.startswith(f"step04 on the simulator of the {label} ")


def test_another_figure_is_another_result(tmp_path):
    """Also where the label is that of a built-in machine: a copy whose figures were changed."""
    for key, new in (("dram_scatter", "dram_scatter = 100 GB/s"), ("launch_time", "launch_time = 1e6 ns")):
        (tmp_path / "card.machine").write_text(with_line(key, new))
        changed = counts_of(tmp_path, "card.machine", "--size", 8192)
        usual = counts_of(tmp_path, "h100", "--size", 8192)
        assert float(changed["model_time_ms"]) > 1.5 * float(usual["model_time_ms"])
    (tmp_path / "card.machine").write_text(H100 + "threads_per_sm = 512\nblocks_per_sm = 1\n")
    out = step("step04", "--machine", "card.machine", "--size", 64, "--explain", cwd=tmp_path).stdout
    assert "1 block of 256 threads per SM" in out and "132 on all" in out


def test_a_map_that_is_not_known(tmp_path):
    """Its traffic is not counted. The model's scattered stores are."""
    (tmp_path / "card.machine").write_text(with_line("map_like", "", with_line("partitions", "partitions = 0")))
    unknown, assumed = (counts_of(tmp_path, m, "--size", 8192) for m in ("card.machine", "h100"))
    differ = {key for key, value in assumed.items() if unknown[key] != value}
    assert differ == {"busiest_partition_of_loads", "busiest_partition_of_stores", "partition_map"}
    assert unknown["partition_map"] == "" and unknown["model_limit"] == "DRAM, scattered stores"
    listed = step("step01", "--list-machines", "--machine", "card.machine", cwd=tmp_path).stdout
    assert re.search(r"h100 .* not known; map not published", listed)


def test_what_a_person_writes(tmp_path):
    """Other orders, spaces, comments, units and line ends."""
    lines = [each.partition("#")[0].strip() for each in H100.splitlines()]
    text = "\r\n".join(reversed([each.replace(" = ", "\t=  ") + "  # why: it = this" for each in lines if each]))
    text = text.replace("80 GiB", "81920 MiB").replace("50 MiB", "51200 KiB").replace("2 KiB", "2048 B")
    (tmp_path / "card.machine").write_text(text)
    assert counts_of(tmp_path, "card.machine", "--size", 8192) == counts_of(tmp_path, "h100", "--size", 8192)


WRONG = [
    (with_line("sms", "sms = many"), "sms", "sms = many: expected sms = NUMBER"),
    (with_line("sms", "sms ="), "sms", "sms has no value; expected sms = NUMBER"),
    (with_line("sms", "sms = -132"), "sms", "sms = -132: expected sms = NUMBER"),
    (with_line("sms", "sms = 0"), "sms", "sms = 0: expected sms = NUMBER, above 0"),
    (with_line("sms", "sms = 1.5"), "sms", "sms = 1.5: expected sms = NUMBER"),
    (with_line("sms", "sms = 1e300"), "sms", "sms = 1e300: expected sms = NUMBER"),
    (with_line("sms", "sms = 0x10"), "sms", "sms = 0x10: expected sms = NUMBER"),
    (with_line("sms", "sms = nan"), "sms", "sms = nan: expected sms = NUMBER"),
    (with_line("sms", "sms = 1 2"), "sms", "sms = 1 2: expected sms = NUMBER"),
    (with_line("hit_time", "hit_time = inf ns"), "hit_time",
     "hit_time = inf ns: expected hit_time = NUMBER ns"),
    (with_line("sm_clock", "sm_clock = 1.98 GHz"), "sm_clock",
     "sm_clock = 1.98 GHz: expected sm_clock = NUMBER MHz"),
    (with_line("dram", "dram = 80"), "dram", "dram = 80: expected dram = NUMBER B, KiB, MiB, GB or GiB"),
    (with_line("sms", "smss = 132"), "smss", "unknown key smss; did you mean sms?"),
    (with_line("sms", "sms: 132"), "sms:", "'sms: 132': expected KEY = VALUE, as in sms = 132"),
    (with_line("capability", "capability = 4.2"), "capability",
     "capability = 4.2: unknown limits; expected one of 1.0, "),
    (with_line("capability", "capability = nine"), "capability",
     "capability = nine: expected capability = 9.0"),
    (with_line("map_like", "map_like = t4"), "map_like",
     "map_like = t4: expected a built-in machine whose map is published"),
    (with_line("map_like", "hash = 10 64"), "hash", "hash = 10 64: expected hash = 10 13, 11 15"),
    (with_line("map_like", "banks = 16"), "banks", "banks follows from the capability; expected no line with it"),
    (with_line("half_load", "half_load = -1"), "half_load",
     "half_load = -1: expected half_load = NUMBER"),
    (with_line("name", "name = a/b"), "name", "name = a/b: expected up to 30 letters, digits, dots, dashes or "),
    (with_line("partitions", "partitions = 100000"), "partitions", "partitions = 100000: expected at most 65536"),
]


@pytest.mark.parametrize("text, key, message", WRONG, ids=[message.split(":")[0] for *_, message in WRONG])
def test_a_wrong_line_is_named(tmp_path, text, key, message):
    assert refusal(tmp_path, text).startswith(f"{line(text, key) if key != 'sms:' else line(H100, 'sms')}: {message}")


@pytest.mark.parametrize("text, message", [
    ("", "the file is empty; expected a figure on each line, as in sms = 132"),
    ("# nothing\n\n", "the file is empty; expected a figure on each line, as in sms = 132"),
    (with_line("sms", ""), "sms is missing; expected a line sms = NUMBER"),
    (with_line("capability", ""), "capability is missing; expected a line capability = 9.0"),
    (with_line("l2", ""), "l2 is missing; expected a line l2 = NUMBER B, KiB, MiB, GB or GiB"),
    (with_line("hit_time", ""), "hit_time is missing; expected a line hit_time = NUMBER ns, because "
                                f"barrier_thread_time is there on line {line(H100, 'barrier_thread_time')}"),
    (with_line("scattered_time", "", GTX280), "scattered_time is missing; expected a line scattered_time = NUMBER ns, "
                                              f"because burst_time is there on line {line(GTX280, 'burst_time')}"),
    (with_line("map_like", ""), "partitions without a map; expected a line granularity = NUMBER B, hash = "),
    (with_line("partitions", "partitions = 0"), "a map without its number of partitions; expected a line partitions"),
])
def test_what_is_missing_is_named(tmp_path, text, message):
    assert refusal(tmp_path, text).startswith(message)


def test_a_key_twice(tmp_path):
    assert refusal(tmp_path, H100 + "sms = 4\n") == (
        f"{H100.count(chr(10)) + 1}: sms is there twice, first on line {line(H100, 'sms')}")


def test_a_value_that_goes_on(tmp_path):
    text = with_line("map_like", "hash = 10 13,")
    begin = f"{line(text, 'hash') + 1}: the value of hash goes on after its last comma"
    assert refusal(tmp_path, text).startswith(begin)
    assert "goes on after its last comma" in refusal(tmp_path, with_line("map_like", "") + "hash = 10 13,\n")


@pytest.mark.parametrize("content", [b"\0" * 100, bytes(range(256)), b"\x7fELF\x02\x01", b"name = \xff\xfe\n",
                                     b"name = \x1b[2J\n"])
def test_binary_rubbish(tmp_path, content):
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


def micro(card):
    with (ROOT / f"plots/data/{card}_micro.csv").open() as file:
        return {row["constant"]: float(row["value"]) for row in csv.DictReader(file)}


def rounded(figure, digits):
    return f"{float(figure.split()[0]):.{digits}g}"


def times_ten(figure):
    """5.1e+11 /s as the page has it: 5.1 × 10¹¹."""
    mantissa, power = f"{float(figure.split()[0]):.1e}".split("e+")
    return f"{mantissa} × 10{str(int(power)).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def test_the_page_has_the_constants():
    """docs/MODEL.md explains the model with those of the H100."""
    h100 = machine_file("h100")
    block = ("{} ns + {} ns × threads + {} ns × batches of loads + {} ns for the stores + ({} ns + {} ns × threads) × "
             "barriers.")
    keys = {"block_time": 3, "thread_time": 2, "load_time": 3, "store_time": 2, "barrier_time": 2,
            "barrier_thread_time": 2}
    assert block.format(*(rounded(h100[key], digits) for key, digits in keys.items())) in MODEL
    assert f"({times_ten(h100['blocks_started'])} a second)" in MODEL
    lines = float(h100["dram_stream"].split()[0]) * 1e9 / 128
    for key, what in (("half_load", "loaded"), ("half_store", "stored"), ("unfilled_store", "stored")):
        (row,) = re.findall(rf"^\| DRAM, lines of which 64 bytes or less are {what} \|.*$", MODEL, re.MULTILINE)
        assert times_ten(f"{lines / float(h100[key])}") in row
    for key, what in (("l1_turns", "L1"), ("l1_lines", "L1, lines that miss"), ("wavefronts", "shared memory"),
                      ("partial_lines", "L2, lines that stores fill in part")):
        assert f"\n| {what} | {times_ten(h100[key])} " in MODEL


def test_constants_by_hand():
    """The same figures, computed a second time. Those of an H200's SMs are an H100's. Of a load, the latency of the
    DRAM is the H200's own."""
    h100, h200 = micro("h100"), micro("h200")
    pair = {n: (h100[f"life_9_barrier_pairs_{n}"] - h100[f"life_1_barrier_pair_{n}"]) / 16 for n in (32, 1024)}
    of_an_sm = {
        "block_time": h100["life_empty_32"], "thread_time": (h100["life_empty_1024"] - h100["life_empty_32"]) / 992,
        "store_time": h100["life_store_32"] - h100["life_empty_32"], "barrier_time": pair[32],
        "barrier_thread_time": (pair[1024] - pair[32]) / 992, "l1_turns": 32 * h100["l1_loads_stride_32"],
        "l1_lines": h100["line_misses"], "constant_words": 32 * h100["constant_by_lane_near"],
        "launch_time": h100["launch"], "half_load": h100["stream"] * 1e9 / 128 / h100["random_sectors"],
        "half_store": h100["stream"] * 1e9 / 8 / h100["random_stores_of_pairs"],
        "unfilled_store": h100["stream"] * 1e9 / 128 / h100["random_stores"]}
    for card, own in (("h100", h100), ("h200", h200)):
        load = h100["life_load_32"] - h100["life_empty_32"] - h100["latency_dram_ns"] + own["latency_dram_ns"]
        expected = {
            **of_an_sm, "load_time": load, "loads_in_flight": own["one_in_flight"], "hit_time": own["latency_l1_ns"],
            "blocks_started": own["empty_warps_256"] / 8, "dram_stream": own["stream"],
            "dram_scatter": own["scatter_near"], "partial_lines": own["partial_lines_l2"],
            "wavefronts": own["wavefronts"]}
        given = machine_file(card)
        assert {key: float(given[key].split()[0]) for key in expected} == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("text, message", [
    ("", "cannot be read, or is empty"), ("a,b\n1,2\n", "expected what ./microbench prints"),
    ("date_utc,machine,cuda_driver,constant,unit,value,spread_percent\n", "has no measurement"),
    ("date_utc,machine,cuda_driver,constant,unit,value,spread_percent\nd,m,13.0,stream,GB/s,fast,1\n",
     ":2: expected a constant and its value"),
    ("date_utc,machine,cuda_driver,constant,unit,value,spread_percent\nd,m,13.0,stream,GB/s,1,1\nd,n,13.0,x,GB/s,1,1\n",
     ":3: of the n, but the lines before are of the m"),
])
def test_wrong_measurements(tmp_path, text, message):
    (tmp_path / "micro.csv").write_text(text)
    done = run(ROOT / "build/tools/machine_file", "h100", tmp_path / "micro.csv")
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1 and not done.stdout


def test_a_card_whose_constants_are_not_all_measured(tmp_path):
    """A machine without constants, and measurements without the time of a launch."""
    lines = H100.splitlines()
    constants = next(i for i, each in enumerate(lines) if each.startswith("measured"))
    (tmp_path / "card.machine").write_text("\n".join(lines[:constants]) + "\n")
    measured = (ROOT / "plots/data/h100_micro.csv").read_text().splitlines(True)
    (tmp_path / "micro.csv").write_text("".join(line for line in measured if ",launch," not in line))
    done = run(ROOT / "build/tools/machine_file", tmp_path / "card.machine", tmp_path / "micro.csv")
    assert done.returncode == 2 and "launch_time does not follow from these measurements" in done.stderr
    (tmp_path / "micro.csv").write_text("".join(re.sub(",launch,ns,[0-9.]+", ",launch,ns,2345.6", line)
                                                for line in measured))
    done = run(ROOT / "build/tools/machine_file", tmp_path / "card.machine", tmp_path / "micro.csv")
    assert figures(done.stdout)["launch_time"] == "2345.6 ns"
    (tmp_path / "new.machine").write_text(done.stdout)
    assert step("step04", "--machine", tmp_path / "new.machine", "--size", 64).returncode == 0


@pytest.fixture(scope="module")
def with_option(tmp_path_factory):
    """A program with the command line of ./microbench, which prints the path and all arguments."""
    folder = tmp_path_factory.mktemp("arguments")
    (folder / "program.cpp").write_text("""#include "bench/arguments.h"
int main(int argc, char** argv)
{
    const std::vector<std::string> given = arguments_of(argc, argv, "", {"--machine-file FILE", "--once"});
    printf("%s", value_of(given, "--machine-file").c_str());
    for (const std::string& word : given) printf("; %s", word.c_str());
}
""")
    objects = [ROOT / "build/common/base.o", ROOT / "build/common/base/commit.o"]
    done = run("c++", "-std=c++17", f"-I{ROOT}", folder / "program.cpp", *objects, "-o", folder / "program", "-pthread")
    assert done.returncode == 0, done.stderr
    return folder / "program"


@pytest.mark.parametrize("arguments, status, text", [
    (["--machine-file", "a.machine"], 0, "a.machine; --machine-file=a.machine"), ([], 0, ""),
    (["--machine-file=a b=c"], 0, "a b=c; --machine-file=a b=c"),
    (["--once", "--machine-file", "a", "--once"], 0, "a; --once; --machine-file=a; --once"),
    (["--machine-file", "a", "--machine-file", "b"], 0, "b; --machine-file=a; --machine-file=b"),
    (["--once=1"], 2, "--once=1: expected one of --machine-file FILE, --once, --help, --version; did you mean --once?"),
    (["--machine-file"], 2, "--machine-file needs a value"), (["--machine-file="], 2, "--machine-file needs a value"),
    (["--machine-fil", "a"], 2, "--machine-fil: expected one of --machine-file FILE, --once, --help, --version"),
])
def test_the_option_of_microbench(with_option, arguments, status, text):
    done = run(with_option, *arguments)
    assert done.returncode == status
    assert done.stdout == text if status == 0 else done.stderr == f"program: {text}\n"
