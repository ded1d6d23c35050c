"""Merges the tables of several attempts, for make grade BEST='table table'."""

import os
import pathlib
import re

import check
import exports
from class_files import export, whole, write
from outside import printable
from spreadsheet import table


def merge(options):
    """Writes the table of the best attempts of --best. The exit status."""
    paths = [pathlib.Path(path) for path in options.best]
    for path in paths:
        if path.is_dir():
            raise check.BadInput(f"--best {printable(path)}: a folder; name the table in it, for example "
                                 f"{printable(path / 'lab04.csv')}")
    place = options.results / (paths[0].name if len({path.name for path in paths}) == 1 else "best.csv")
    if any(place.exists() and path.exists() and os.path.samefile(place, path) for path in paths):
        raise check.BadInput(f"--results {printable(options.results)}: {place.name} there is one of the tables; name "
                             "another folder")
    try:
        lines = exports.best([(str(path), path.read_text(encoding="utf-8-sig")) for path in paths])
    except ValueError as error:  # also of bytes that are no text
        raise check.BadInput(printable(str(error))) from None
    heads = list(lines[0]) if lines else ["name", "total", "of"]
    number = re.search(r"\d+", place.name)
    rows = [(line["name"], {"total": float(line["total"]), "of": float(line["of"]), "checks": [], "note":
                            f"from {line['from']}" + (f": {line['note']}" if line["note"] else "")}) for line in lines]
    with whole.together(options.results) as folder:
        write(folder / place.name, table([heads, *[[line[head] for head in heads] for line in lines]]), "utf-8-sig")
        said = export(folder / place.stem, int(number[0]) if number else "", rows, options)
    print(f"{len(lines)} people, the best of {len(paths)} tables: {place}")
    for line in said:
        print(line)
    return 0
