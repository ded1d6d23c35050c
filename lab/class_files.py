"""Writes the files of a class: verdicts, tables, pages and exports. class_pages.py and exports.py make their
contents."""

import json

import class_pages
import exports
import whole  # of plots, whose folder exports adds
from outside import printable


def write(path, text, encoding="utf-8"):
    """Writes the file whole or not at all, for everybody to read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    whole.write(path, text, encoding, mode=0o644)


def write_tables(verdicts, options, interrupted):
    """For each exercise: the verdicts, the table, the page of statistics and the exports. After an interruption, only a
    table. Of two graders at once, one replaces all that the other has written. Returns lines to print."""
    with whole.together(options.results) as folder:
        return tables_in(folder, verdicts, options, interrupted)


def tables_in(folder, verdicts, options, interrupted):
    said = []
    for number in sorted({n for _, n in verdicts if n is not None}):
        rows = [(printable(name), v)
                for (name, n), v in sorted(verdicts.items(), key=lambda item: item[0][0])
                if n in (number, None)]
        place = folder / f"lab{number:02}"
        if interrupted:
            write(place.with_suffix(".interrupted.csv"), exports.grades(rows), "utf-8-sig")
            continue
        for (name, n), verdict in verdicts.items():
            if n == number and verdict["total"] is not None:
                write(place / name / "results.json", json.dumps(exports.gradescope(verdict), indent=1) + "\n")
        write(place.with_suffix(".csv"), exports.grades(rows), "utf-8-sig")
        write(place.with_suffix(".html"), class_pages.statistics_page(number, rows))
        for system in options.export:
            if exports.EXPORTS[system]:
                text, unknown = exports.EXPORTS[system](number, rows)
                write(place.with_suffix(f".{system}.csv"), text)
                if unknown:
                    said.append(f"{options.results / place.name}.{system}.csv: {len(unknown)} of {len(rows)} names are "
                                f"not as {system.capitalize()} exports them, so their rows have no number: "
                                f"{', '.join(unknown[:3])}")
    return said
