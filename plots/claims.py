#!/usr/bin/env python3
"""The claims that the sources make, judged from the results at hand.

usage: python3 plots/claims.py [--all] RESULTS.csv...

Takes the files that `./stepNN --csv` writes. For every machine in them, each claim holds, does not hold, or is not
decided here. The figures say why, and those that the source published stand next to them. Claims for which figures are
missing are listed with the command that measures them. Figures of the simulator's model are marked `model`. What cannot
be read goes to stderr, one line each, and the rest is judged; exits 2 if nothing is left. plots/sources/table.py has a
row for each claim, and judging.py says how it is decided.
"""

import sys
import textwrap

import whole  # first: Ctrl-C may come while the others are imported
import command_line
import results as reader
from sources import judging
from sources.table import CLAIMS


def judge(results, machine):
    """All claims, in order, on one of results.machines(): a Verdict each."""
    return [judging.judge(claim, results, machine) for claim in CLAIMS]


def show(results, machine, everything):
    kinds = {"cuda": "measured", "cpu": "one core, measured", "sim": "simulated: figures of its model"}
    driver = f", driver {machine.driver}" if machine.driver else ""
    about = f"{machine.name}, {kinds[machine.backend]}{driver}, {machine.days}, {machine.of_commits}"
    print(textwrap.fill(about, 125, break_on_hyphens=False) + "\n")
    left_out = {}
    for v in judge(results, machine):
        if v.why_not and not everything:
            left_out.setdefault(v.why_not, []).append(v.number)
            continue
        print(textwrap.fill(f"{v.number:>3}  {v.verdict:<19}  {v.claim} ({v.source})", 125, subsequent_indent=" " * 25))
        print(textwrap.fill(f"{v.sentence} {v.why}", 125, initial_indent=" " * 25, subsequent_indent=" " * 25) + "\n")
    if left_out:
        print("     not decided here (--all shows each in full)")
        for why, numbers in left_out.items():
            print(
                textwrap.fill(f"{', '.join(numbers)}: {why}", 125, initial_indent=" " * 25, subsequent_indent=" " * 27,
                              break_on_hyphens=False))
        print()


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("results", nargs="+", metavar="RESULTS.csv")
    parser.add_argument("--all", action="store_true", help="also show in full the claims that not decided here, "
                                                           "each with the figures that it lacks")
    options = parser.parse_args()
    results = reader.load(options.results)
    for problem in results.problems:
        print(f"claims.py: {problem}", file=sys.stderr)
    if not results.rows:
        print("claims.py: nothing is left to judge", file=sys.stderr)
        return 2
    for machine in results.machines():
        show(results, machine, options.all)
    return 0


if __name__ == "__main__":
    sys.exit(whole.run(main, "claims.py"))
