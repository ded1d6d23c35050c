"""The files of common/machines, read in a second way."""

import csv

from lessons import ROOT


def figures(text):
    """{key: value with its unit} of a machine file."""
    lines = [line.partition("#")[0] for line in text.replace(",\n", ", ").splitlines()]
    return dict([part.strip() for part in line.split("=", 1)] for line in lines if "=" in line)


def machine_file(name):
    return figures((ROOT / f"common/machines/{name}.machine").read_text())


def capabilities():
    """{capability: {limit: number}}, in the units of the second row."""
    lines = (ROOT / "common/machines/capabilities.csv").read_text().splitlines()
    _, *rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return {row["capability"]: row for row in rows}
