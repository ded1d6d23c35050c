"""Accesses that compilers merge, drop or repeat: what the simulator counts, what nvcc makes of them, and the page's
tables of both."""

import collections
import csv
import random
import re
import sys

import pytest

from lessons import ROOT, made, make_try, run

sys.path.insert(0, str(ROOT / "plots"))
import ncu_join

PAGE = (ROOT / "sim/README.md").read_text()
FORMS = ROOT / "tests/sim/merges.cu"
KERNELS = 200
KINDS = ["global_loads", "global_stores", "shared_loads", "shared_stores", "atomics"]
CARD = {(row["kernels"], row["kernel"]): {kind: int(row[kind]) for kind in KINDS}
        for row in csv.DictReader(open(ROOT / "tests/data/nvcc_merges.csv"))}


def requests(table):
    """{kernel: {kind: requests}} of the simulator's CSV file."""
    counted = collections.defaultdict(lambda: dict.fromkeys(KINDS, 0))
    for row in csv.DictReader(open(table)):
        kind = "atomics" if row["access"] == "atomic" else f"{row['memory']}_{row['access']}s"
        counted[row["kernel"]][kind] += int(row["requests"])
    return counted


def rows(heading):
    """Of the page's table under the heading: the cells of each row."""
    section = PAGE[PAGE.index(f"\n{heading}"):]
    table = re.search(r"\n\|.*\|\n\|[-|: ]+\|\n((?:\|.*\|\n)+)", section)[1]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table.splitlines()]


def numbers(cell):
    """'2 shared loads' is {'shared_loads': 2}; loads and stores without 'shared' are of global memory."""
    found = {}
    for number, shared, kind in re.findall(r"(\d+) (shared )?(load|store|atomic)s?\b", cell):
        memory = "" if kind == "atomic" else "shared_" if shared else "global_"
        found[f"{memory}{kind}s"] = int(number)
    assert found, cell
    return found


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    table = tmp_path_factory.mktemp("merges") / "counts.csv"
    done = run("env", f"SIM_OPTIONS=--quiet --csv {table}", made("build/try/tests/sim/merges"))
    assert done.returncode == 0 and " 0 findings" in done.stdout, done.stdout
    return requests(table)


def test_every_form_is_in_the_table(simulated):
    forms = [name.strip("`") for name, *_ in rows("**In one warp.**")]
    assert sorted(forms) == sorted(kernel for of, kernel in CARD if of == "forms")
    assert set(forms) >= set(simulated) and len(forms) >= 30


@pytest.mark.parametrize("name, source, here, card", rows("**In one warp.**"),
                         ids=lambda cell: cell if re.fullmatch(r"`\w+`", cell) else "")
def test_counts_of_the_table(name, source, here, card, simulated):
    name = name.strip("`")
    for kind, number in numbers(here).items(): assert simulated[name][kind] == number, kind
    for kind, number in numbers(card).items(): assert CARD["forms", name][kind] == number, kind
    equal = simulated[name] == CARD["forms", name]
    assert numbers(here).keys() == numbers(card).keys()
    assert here.startswith("**") == (numbers(here) != numbers(card)) == (not equal), "bold cells are those that differ"
    # The row shows the kernel's text.
    text = re.search(rf"\b{name}\(.*\n{{(?:\n.*)*?\n}}", FORMS.read_text())[0]
    for part in re.findall(r"`(.*?)`", source):
        for statement in filter(None, part.split(";")):
            assert re.sub(r"\s", "", statement) in re.sub(r"\s", "", text), statement


def test_counts_measured_on_a_card():
    """The second table: totals of kernels that test_divergence.py and test_kinds.py compare, too."""
    measured = {(row["kernel"], row["type"]): row for file in ("divergence", "kinds")
                for row in csv.DictReader(open(ROOT / f"tests/data/h200_{file}.csv"))}
    table = rows("**In loops and between lanes.**")
    assert len(table) >= 6
    for name, _, here, card in table:
        kernel, element = re.fullmatch(r"`(\w+)<(\w+)>`", name).groups()
        row = measured[kernel, element]
        total = {"loads": "global_load_requests", "stores": "global_store_requests",
                 "sectors": "global_reduction_sectors", "instructions": "shared_load_instructions"}
        number, kind = re.search(r"^(\d+) .*?(\w+)$", card).groups()
        assert int(row[total[kind]]) == int(number), name
        assert here != card, "these differ"


def test_the_simulator_counts_those(tmp_path):
    counted = collections.defaultdict(collections.Counter)
    for program in ("divergence", "atomics_async"):
        table = tmp_path / f"{program}.csv"
        run("env", f"SIM_OPTIONS=--quiet --csv {table}", made(f"build/try/tests/sim/{program}"), timeout=600)
        for row in csv.DictReader(open(table)):
            kernel = row["kernel"].replace(", 1>", ">").replace("sharedAdd<", "sharedAdd1<")
            if row["memory"] == "global": counted[kernel][row["access"] + "s"] += int(row["requests"])
            elif row["access"] == "load": counted[kernel]["instructions"] += int(row["requests"])
            if row["access"] == "atomic": counted[kernel]["sectors"] += int(row["units"])
    for name, _, here, _ in rows("**In loops and between lanes.**"):
        number, kind = re.search(r"^(\d+) .*?(\w+)$", here).groups()
        assert counted[name.strip("`")][kind] == int(number), name


def kernel(number, chosen):
    """Text: some loads and stores of two arrays that are written, one that is read, and one in shared memory."""
    restrict = "__restrict__ " if chosen.random() < .4 else ""
    lines = [f"__global__ void k{number}(int* {restrict}a, int* {restrict}b, const int* {restrict}x)", "{",
             "    __shared__ int s[128];", "    const int i = threadIdx.x;",
             "    for (int k = 0; k < 128; k += 32) s[i + k] = i;", "    __syncthreads();"]
    values = ["i"]

    def place(arrays):
        return f"{chosen.choice(arrays)}[{chosen.choice(['i', 'i', 'i', 'i + 32', '31 - i', '2 * i', 'i ^ 1'])}]"

    for k in range(chosen.randint(3, 7)):
        kind = chosen.random()
        if kind < .3:
            lines.append(f"    const int v{k} = {place('xxxabs')}{chosen.choice(['', ' + 1', ' * 3'])};")
            values.append(f"v{k}")
        elif kind < .5: lines.append(f"    {place('abs')} = {place('xxxabs')};")
        elif kind < .65:
            lines.append(f"    {place('abs')} = {chosen.choice(values)}{chosen.choice(['', ' + 5', ' * 7'])};")
        elif kind < .8:
            lines.append(f"    {place('abs')} = {place('xxxabs')} * {place('xxxabs')} + {chosen.choice(values)};")
        elif kind < .93: lines.append(f"    {place('abs')} += {place('xxxabs')};")
        else: lines.append("    __syncthreads();")
    total = " + ".join(f"{factor} * {value}" for factor, value in enumerate(values, 2))
    lines += [f"    b[i + 64] = {total};", "    __syncthreads();", "    a[i + 96] = s[i * 5 % 128];", "}"]
    return "\n".join(lines)


def program():
    """All random kernels, and a main() that launches each."""
    chosen = random.Random(5)
    kernels = [kernel(number, chosen) for number in range(KERNELS)]
    launches = [f"    k{number}<<<1, 32>>>(a, b, x);" for number in range(KERNELS)]
    memory = [f"    cudaMalloc(&{p}, 1024);\n    cudaMemset({p}, 0, 1024);" for p in "abx"]
    body = ["    int *a, *b, *x;", *memory, *launches, "    return cudaDeviceSynchronize();"]
    return "\n\n".join([*kernels, "\n".join(["int main()", "{", *body, "}", ""])])


@pytest.mark.variety
def test_random_kernels(tmp_path):
    """In those whose counts are not nvcc's, the simulator counts more: g++ does not know that shared memory and arrays
    of the device never overlap. In one it counts less: a store in between stores the value that was loaded."""
    (tmp_path / "random.cu").write_text(program())
    done = make_try(tmp_path / "random.cu", f"SIM=--quiet --csv {tmp_path / 'counts.csv'}")
    counted = requests(tmp_path / "counts.csv")
    card = {kernel: counts for (of, kernel), counts in CARD.items() if of == "random"}
    assert set(counted) == set(card) and len(card) == KERNELS, done.stdout
    equal = sum(counted[kernel] == card[kernel] for kernel in card)
    fewer = [kernel for kernel in card if any(counted[kernel][kind] < card[kernel][kind] for kind in KINDS)]
    print(equal, fewer)
    said = re.search(r"Of (\d+) random kernels without branches, (\d+) have equal counts", re.sub(r"\s+", " ", PAGE))
    assert (len(card), equal) == tuple(map(int, said.groups()))
    assert len(fewer) <= 1, fewer


def test_the_instructions_are_the_requests_of_a_card():
    """As Nsight Compute counted them on an H100. No access has a bank conflict, so a wavefront of shared memory is a
    request, but for 8 bytes per lane, which take two."""
    twice = {("neighboursShared", "shared_loads"), ("neighboursStoredShared", "shared_stores")}
    counts = ["global load requests", "global store requests", "shared load wavefronts", "shared store wavefronts",
              "global atomic requests"]
    card = {kernel: {kind: ncu_join.measured(metrics, count) // (1 + ((kernel, kind) in twice))
                     for kind, count in zip(KINDS, counts)}
            for (kernel, *_), metrics in ncu_join.theirs(ROOT / "tests/data/ncu/merges.raw.csv").items()}
    assert card == {kernel: counts for (of, kernel), counts in CARD.items() if of == "forms"}
