"""Findings as data: the terminal, --json and --sarif say the same, and say where."""

import collections
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import urllib.parse

import pytest
import yaml
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Sarif

import random_kernels
from found import lines_of
from lessons import ROOT, make_try, run, tried_of
from samples import few, some
from test_try import FAULTY, RIGHT, tried

PAGE = (ROOT / "sim/README.md").read_text()


def message_of(finding):
    """The sentence that the terminal shows."""
    kernel = f"{finding['kernel']}: " if finding["kernel"] else ""
    times = f" ({finding['count']} times)" if finding["count"] > 1 else ""
    return kernel + finding["text"] + times


def path_of(location, log):
    """The file of a physical location, and its line and column."""
    file, region = location["physicalLocation"]["artifactLocation"], location["physicalLocation"]["region"]
    base = log["runs"][0]["originalUriBaseIds"][file["uriBaseId"]]["uri"] if "uriBaseId" in file else ""
    parts = urllib.parse.urlsplit(base + file["uri"])
    assert parts.scheme == "file" and not parts.netloc
    return os.fsdecode(urllib.parse.unquote_to_bytes(parts.path)), region["startLine"], region.get("startColumn")


class Told:
    """The report, the SARIF file and the lines of one run, and what must hold for all of them."""

    def __init__(self, done, folder):
        self.report = json.loads((folder / "report.json").read_bytes().decode("utf-8"))
        text = (folder / "findings.sarif").read_bytes().decode("utf-8")
        Sarif.model_validate_json(text)
        self.log = json.loads(text)
        self.findings, self.run = self.report["findings"], self.log["runs"][0]
        self.lines = lines_of(done)
        assert self.report["version"] == 1 and self.log["version"] == "2.1.0"
        assert [message_of(f) for f in self.findings] == [line["text"] for line in self.lines]
        for finding, line, result in zip(self.findings, self.lines, self.run["results"], strict=True):
            self.compare(finding, line, result)
        prints = [result["partialFingerprints"]["findingHash/v1"] for result in self.run["results"]]
        assert len(set(prints)) == len(prints)

    def compare(self, finding, line, result):
        rule = self.run["tool"]["driver"]["rules"][result["ruleIndex"]]
        assert rule["id"] == result["ruleId"] == finding["kind"] == line["kind"]
        assert rule["defaultConfiguration"]["level"] == result["level"] == finding["level"] == line["level"]
        assert result["message"]["text"] == line["text"] and result["occurrenceCount"] == finding["count"]
        assert all(result["properties"].get(name) == finding[name] for name in ("block", "thread"))
        (location,) = result["locations"]
        places = [(finding, location), *zip(finding["related"], result["relatedLocations"], strict=True)]
        for told, location in places:
            path, row, column = path_of(location, self.log)
            assert os.path.samefile(path, ROOT / told["file"])
            assert (row, column) == (told["line"], told["column"])
        assert (line["file"], int(line["line"]), int(line["column"] or 0)) == (
            finding["file"], finding["line"], finding["column"] or 0)


def files(folder):
    return f"--csv {folder}/counts.csv --json {folder}/report.json --sarif {folder}/findings.sarif"


def same_counts(report, table):
    """Every cell of the table is a member of the report, and there are no more places."""
    rows = list(csv.DictReader(table.open(newline="")))
    places = [(kernel, place) for kernel in report["kernels"] for place in kernel["places"]]
    for row, (kernel, place) in zip(rows, places, strict=True):
        members = {**report, **kernel, **place}
        assert {name: str(members[name]) for name in row if name != "date_utc"} == {
            name: cell for name, cell in row.items() if name != "date_utc"}
    return len(rows)


@pytest.mark.parametrize("name", few([*FAULTY, *RIGHT], lambda name: name in (
    "barriers_missed", "race_of_threads", "uninitialized", "scan")))
def test_terminal_json_and_sarif_are_one(name, tmp_path):
    done = tried(name, options=f"--quiet {files(tmp_path)}")
    told = Told(done, tmp_path)
    assert len(told.findings) == len(FAULTY.get(name, []))
    no_kernel_runs = name in ("device_query", "refused_launches")
    assert same_counts(told.report, tmp_path / "counts.csv") or name in FAULTY or no_kernel_runs
    assert all(finding["column"] for finding in told.findings), told.findings


@pytest.mark.variety
@pytest.mark.parametrize("mode, seed", [
    (mode, seed) for mode in ("races", "memory") for seed in some(random_kernels.SEEDS[mode], 10)])
def test_random_programs(mode, seed, tmp_path):
    """What they do is judged elsewhere. Here, the files must say what the terminal says."""
    kernels = random_kernels.kernels(mode, seed)
    (tmp_path / "random.cu").write_text(random_kernels.program(mode, kernels))
    done = make_try(tmp_path / "random.cu", f"SIM=--quiet {files(tmp_path)}")
    if mode == "memory":  # a fault ends a program, so each kernel is run by itself
        found = []
        for kernel in range(len(kernels)):
            done = run(tried_of(tmp_path) / "random", kernel,
                       env={**os.environ, "SIM_OPTIONS": f"--quiet {files(tmp_path)}"})
            told = Told(done, tmp_path)
            found += told.findings
            same_counts(told.report, tmp_path / "counts.csv")
    else:
        told = Told(done, tmp_path)
        found = told.findings
        assert same_counts(told.report, tmp_path / "counts.csv") > len(kernels)
    kinds = collections.Counter(finding["kind"] for finding in found)
    assert kinds["race" if mode == "races" else "uninitialized-load"] > 10, kinds
    assert all(finding["column"] for finding in found)


# Each kernel has one fault, at the character that the line below the access points at.
POINTED = """#define AT(a, i) a[i]
#define IF_SMALL(x) if ((x) < 40)
__global__ void plain(int* out, const int* in) { out[threadIdx.x] = in[threadIdx.x + 4000]; }
//                                                                                       ^
__global__ void spaced(int* out, const int* in) {\tint   t = threadIdx.x;  /* é */  out[t]  =  in[t +   4000];  }
//                                                                                                         ^
__global__ void inMacro(int* out, const int* in) { out[threadIdx.x] = 1 + AT(in, threadIdx.x + 4000); }
//                                                                        ^
__global__ void afterMacro(int* out, const int* in) { IF_SMALL(threadIdx.x) out[threadIdx.x] = in[threadIdx.x + 4000]; }
//                                                                                                                  ^
__global__ void inLoop(int* out, const int* in) { for (int i = 0; i < 1; ++i) out[threadIdx.x] = in[4000 + i]; }
//                                                                                                          ^
__device__ int helper(const int* in) { return 1; } __device__ int other(const int* in) { return  in[4000]; }
//                                                                                                      ^
__global__ void inFunction(int* out, const int* in) { out[threadIdx.x] = helper(in) + other(in); }
__global__ void inShared(int* out, const int* in) { __shared__ int s[32]; s[0] = in[4000]; out[0] = s[0]; }
//                                                                                      ^
int main()
{
    int *out, *in;
    cudaMalloc(&out, 128);
    cudaMalloc(&in, 128);
    cudaMemset(in, 0, 128);
    for (auto kernel : {plain, spaced, inMacro, afterMacro, inLoop, inFunction, inShared}) {
        kernel<<<1, 1>>>(out, in);
        cudaDeviceReset();
        cudaMalloc(&out, 128);
        cudaMalloc(&in, 128);
        cudaMemset(in, 0, 128);
    }
    cudaDeviceReset(); cudaMemcpy(out, in, 4, cudaMemcpyHostToHost);
//                               ^
}
"""


def test_each_finding_has_the_column_of_the_source(tmp_path):
    """Behind macros, tabs, comments and letters of two bytes, and in what the rewriter changes."""
    (tmp_path / "pointed.cu").write_text(POINTED)
    done = make_try(tmp_path / "pointed.cu", f"SIM=--quiet {files(tmp_path)}")
    told = Told(done, tmp_path)
    lines = POINTED.splitlines()
    pointed = {(number, mark.index("^") + 1) for number, mark in enumerate(lines) if re.fullmatch(r"//\s+\^", mark)}
    found = {(f["line"], f["column"]) for f in told.findings if f["kind"] in ("out-of-bounds-load", "bad-copy")}
    assert len(pointed) == 8 and found == pointed, done.stdout


def test_the_page_explains_every_kind(tmp_path):
    assert tried("vector_add", options=f"--sarif {tmp_path}/none.sarif").returncode == 0
    log = json.loads((tmp_path / "none.sarif").read_text())
    assert log["runs"][0]["results"] == []
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    sections = dict(re.findall(r"^### (Findings [^\n]*)\n(.*?)(?=^##)", PAGE, re.M | re.S))
    found = []
    for title, text in sections.items():
        anchor = title.lower().replace(" ", "-")
        for kind, level, fault, remedy in re.findall(r"^\| `([\w-]+)` \| (\w+) \| (.*?) \| (.+?) \|$", text, re.M):
            found.append((kind, level, fault, f"{fault} See sim/README.md#{anchor}."))
    assert found == [(rule["id"], rule["defaultConfiguration"]["level"], rule["shortDescription"]["text"],
                      rule["help"]["text"]) for rule in rules] and len(found) > 20


WORKFLOW = yaml.safe_load((ROOT / "sim/annotate.yml").read_text())


@pytest.mark.variety
@pytest.mark.parametrize("job", WORKFLOW["jobs"])
def test_the_workflow_for_github(job, tmp_path):
    """Its lines run here, but for the one that installs the compiler."""
    assert set(WORKFLOW) == {"name", True, "permissions", "env", "defaults", "jobs"}  # YAML 1.1 reads `on` so
    steps = WORKFLOW["jobs"][job]["steps"]
    (checkout,) = [step["with"] for step in steps if "repository" in step.get("with", {})]
    (tmp_path / checkout["path"]).symlink_to(ROOT)
    shutil.copy(ROOT / "tests/sim/programs/uninitialized.cu", tmp_path / WORKFLOW["env"]["PROGRAM"])
    commands = [step["run"] for step in steps if "run" in step and "apt-get" not in step["run"]]
    assert len(commands) == 1
    done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", commands[0]], cwd=tmp_path,
                          env={**os.environ, **WORKFLOW["env"]}, capture_output=True, text=True)
    assert done.returncode != 0, "findings fail the step"
    line = next(line for line in done.stdout.splitlines() if ": warning: " in line)
    if job == "review":
        (upload,) = [step for step in steps if step.get("uses", "").startswith("github/codeql-action/upload-sarif@")]
        log = json.loads((tmp_path / upload["with"]["sarif_file"]).read_text())
        (result,) = log["runs"][0]["results"]
        path, number, _ = path_of(result["locations"][0], log)
        assert pathlib.Path(path).samefile(tmp_path / WORKFLOW["env"]["PROGRAM"]) and number == 4
        assert WORKFLOW["jobs"][job]["permissions"]["security-events"] == "write"
    else:
        matcher = re.search(r"::add-matcher::(\S+)", done.stdout)[1]
        (pattern,) = json.loads((tmp_path / matcher).read_text())["problemMatcher"][0]["pattern"]
        parts = re.fullmatch(pattern["regexp"], line)
        assert parts and pathlib.Path(parts[pattern["file"]]).samefile(tmp_path / WORKFLOW["env"]["PROGRAM"])
        assert (parts[pattern["line"]], parts[pattern["severity"]]) == ("4", "warning")
        assert parts[pattern["column"]] and parts[pattern["message"]].endswith(" [uninitialized-load]")
