"""What surrounds the code: the workflow, the container and the citation are valid, and name only what exists."""

import datetime
import json
import os
import re
import shutil

import pytest
import yaml

from lessons import ROOT, run

WORKFLOWS = {path.name: yaml.safe_load(path.read_text()) for path in (ROOT / ".github/workflows").glob("*.yml")}
WORKFLOW, PUBLISHING = WORKFLOWS["ci.yml"], WORKFLOWS["pages.yml"]
STEPS = [step for job in WORKFLOW["jobs"].values() for step in job["steps"]]
JOBS = [job for workflow in WORKFLOWS.values() for job in workflow["jobs"].values()]
DOCKERFILE = re.sub(r"\\\n", " ", (ROOT / ".devcontainer/Dockerfile").read_text())
PAGES = sorted((ROOT / ".github").glob("**/*.md"))


def installed(text):
    """The packages that commands of a shell install with apt-get."""
    return {
        word for names in re.findall(r"apt-get install ([^&|;\n]*)", text) for word in names.split()
        if not word.startswith("-")}


def asked_for(tmp_path, **environment):
    """The packages that .ci/packages asks apt-get for on a machine that has no program at all."""
    (tmp_path / "bin").mkdir()
    for name, text in (("apt-get", 'echo "apt-get $*"'), ("sudo", '"$@"')):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    done = run(shutil.which("bash"), ROOT / ".ci/packages", env={"PATH": str(tmp_path / "bin"), **environment})
    assert done.returncode == 0 and done.stdout.splitlines()[0] == "apt-get update", done.stderr
    return installed(done.stdout)


def missing_targets(text):
    """The targets that a text names after `make` and that the Makefile lacks. NN stands for a step's number."""
    names = {name.replace("NN", "04") for words in re.findall(r"\bmake ((?:[a-z.][\w./-]*,? ?)+)", text)
             for name in re.split(r"[, ]+", words.strip())}
    return sorted(name for name in names if run("make", "--dry-run", name).returncode)


def test_the_workflow_runs_what_exists():
    commands = [command for job in JOBS for step in job["steps"] if "run" in step
                for command in step["run"].splitlines()]
    assert any(command.startswith("make ") and "test" in command.split() for command in commands)
    for command in commands:
        program, *arguments = command.split()
        if installed(command):
            continue
        if program.startswith(".ci/"):
            assert os.access(ROOT / program, os.X_OK), command
            if program == ".ci/site": continue
            program, *arguments = arguments or ["make"]
        assert program == "make", command
        assert missing_targets(f"make {' '.join(arguments)}") == [], command


def test_the_workflow_has_few_rights_and_an_end():
    assert {"push", "pull_request"} <= set(WORKFLOW[True])  # `on` is a truth value in YAML 1.1
    for workflow in WORKFLOWS.values():
        assert workflow["permissions"] == {"contents": "read"}
    for job in JOBS:
        assert 0 < job["timeout-minutes"] <= 120
        assert all(("run" in step) != ("uses" in step) for step in job["steps"])
    # Only the job that publishes may write, it runs nothing of the repository, and a pull request does not start it.
    writing = [job for job in JOBS if "permissions" in job]
    assert writing == [PUBLISHING["jobs"]["publish"]] and set(PUBLISHING[True]) == {"push", "workflow_dispatch"}
    assert writing[0]["permissions"] == {"pages": "write", "id-token": "write"}
    assert [step["uses"].split("@")[0] for step in writing[0]["steps"]] == ["actions/deploy-pages"]


@pytest.mark.parametrize("path", [*(f".github/workflows/{name}" for name in WORKFLOWS), "lab/classroom.yml"])
def test_actions_are_pinned_by_hash(path):
    """A tag can be moved to other code, a commit cannot. The version is a comment, which Dependabot reads, too."""
    uses = re.findall(r"^ +- uses: (.*)$", (ROOT / path).read_text(), re.MULTILINE)
    assert uses and all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line) for line in uses), uses


def test_new_versions_are_looked_for_everywhere():
    updates = {update["package-ecosystem"]: update
               for update in yaml.safe_load((ROOT / ".github/dependabot.yml").read_text())["updates"]}
    assert set(updates) == {"github-actions", "pip", "docker"}
    assert set(updates["pip"]["directories"]) == {f"/{path.parent.name}" for path in ROOT.glob("*/requirements.txt")}
    assert (ROOT / updates["docker"]["directory"].strip("/") / "Dockerfile").is_file()


def test_packages_are_the_same_everywhere(tmp_path):
    system = re.search(r"^ID=(\w+)", open("/etc/os-release").read(), re.MULTILINE)[1]
    wanted = asked_for(tmp_path)
    container = installed(DOCKERFILE)
    assert {"g++", "make", "git", "python3-venv"} <= wanted
    assert wanted == (container if system == "debian" else container - {"chromium"})
    # The workflow installs what the checkout needs, and the rest by .ci/packages.
    assert any(step.get("run") == ".ci/packages" for step in STEPS)
    assert {"git", "ca-certificates"} == installed("\n".join(step.get("run", "") for step in STEPS)) < wanted
    readme = installed((ROOT / "README.md").read_text())
    assert readme and readme <= wanted
    assert ".ci/packages" in (ROOT / ".ci/run").read_text()


def test_the_container_is_built_and_used_as_one_user():
    settings = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    assert (ROOT / ".devcontainer" / settings["build"]["dockerfile"]).is_file()
    (image,) = re.findall(r"^FROM (.*)$", DOCKERFILE, re.MULTILINE)
    assert re.fullmatch(r"debian:\d+", image), "an image for x86-64 and arm64"
    (user,) = re.findall(r"^USER (.*)$", DOCKERFILE, re.MULTILINE)
    assert user == settings["remoteUser"] != "root"
    assert re.search(rf"^RUN useradd .*\b{user}$", DOCKERFILE, re.MULTILINE)
    assert missing_targets(settings["postCreateCommand"]) == []


def test_the_citation_is_valid():
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cff["cff-version"] == "1.2.0" and cff["type"] == "software"
    for key in ("message", "title", "abstract"):
        assert isinstance(cff[key], str) and cff[key]
    assert cff["license"] == "MIT" and (ROOT / "LICENSE").read_text().startswith("MIT License")
    assert f"# {cff['title']}\n" in (ROOT / "README.md").read_text()
    assert all(isinstance(word, str) for word in cff["keywords"])
    assert "date-released" not in cff or isinstance(cff["date-released"], datetime.date)
    for work in (cff, *cff["references"]):
        assert work["type"] and work["title"] and work["authors"]
        for author in work["authors"]:
            assert (set(author) in ({"name"}, {"family-names", "given-names"})
                    and all(isinstance(name, str) for name in author.values()))
        assert isinstance(work.get("year", 0), int)


def test_pages_name_what_exists():
    code = [piece for page in PAGES for piece in re.findall(r"`([^`]+)`", page.read_text())]
    assert missing_targets("\n".join(code)) == []
    for word in {word for piece in code for word in piece.split()}:
        # the example of a step to come
        if re.fullmatch(r"\.?[\w.-]+(/[\w.*-]*)+", word) and not word.startswith("step09"):
            assert (ROOT / word.rstrip("/")).exists() or list(ROOT.glob(word)), word
        elif re.fullmatch(r"[A-Z_]{6,}", word) and word not in ("COMMIT", "ERRATUM", "README"):
            assert (run("git", "grep", "-q", rf"^{word}\b", "--", "*.py").returncode == 0
                    or list((ROOT / "plots/figures").glob(word))), word


def test_the_top_level_is_small():
    """One file more here is one more that a reader meets before the steps."""
    names = {name.split("/")[0] for name in run("git", "ls-files").stdout.splitlines()}
    folders = {
        ".ci", ".devcontainer", ".github", "bench", "common", "docs", "lab", "mk", "plots", "sim", "tests", "tools"}
    rest = {name for name in names if not re.match(r"step\d\d_", name)}
    assert rest == folders | {
        ".clang-format", ".editorconfig", ".gitattributes", ".gitignore", ".ruff.toml", "CITATION.cff", "LICENSE",
        "Makefile", "README.md", "environment.yml"}


def test_no_program_is_in_the_repository():
    for name in run("git", "ls-files").stdout.splitlines():
        path = ROOT / name
        assert not path.is_file() or path.open("rb").read(4) != b"\x7fELF", name
    for source in (ROOT / "bench").glob("*.cu"):
        assert run("git", "check-ignore", source.stem).returncode == 0, source.stem
