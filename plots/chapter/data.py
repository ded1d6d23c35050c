"""Whose results the chapter shows: those of the files it is given and, where no GPU ran, the H200's that are committed
with the project. Their texts enter here as Markdown, which everything in this folder is."""

import functools
import pathlib

import results as reader
from figures.shared import COPY_ENGINE, typical
from facts import IDEAS
from outside import markdown

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
STEPS, OTHERS = "h200_steps", ["h200_report", "h200_book", "h200_whitepaper", "h200_bandwidth", "h200_model"]
NOTE = "committed with the project"


def committed(given):
    """Rows to show where no GPU ran. A CPU of the given results stays the only one: no two machines share a table under
    one name."""
    rows = reader.load([DATA / f"{STEPS}.csv"]).all
    known = {reader.identity(r) for r in rows}  # the steps' pages show these, and the chapter is to agree with them
    rows += [
        r for r in reader.load([DATA / f"{name}.csv" for name in OTHERS]).all
        if reader.identity(r) not in known or r["one_launch_bandwidth_gbs"]]
    backends = {"cuda"} | ({"cpu"} if not any(r["backend"] == "cpu" for r in given) else set())
    return [r for r in rows if r["backend"] in backends or (r["backend"] == "sim" and r["width"] == "8192")]


escaped = functools.lru_cache(4096)(markdown)  # most rows have the same texts


class Shown:
    """plain: all rows that are shown; results: the same with their texts as Markdown; gpus: the machines that were
    measured, cpus, models: simulated machines with a model of times."""

    def __init__(self, given):
        added = [] if any(r["backend"] == "cuda" for r in given.all) else committed(given.all)
        self.plain = given.all + added
        self.results = reader.Results([{name: text if name in reader.CHECKED else escaped(text)
                                        for name, text in row.items()} for row in self.plain], [])
        self.committed = {(r["backend"], escaped(r["machine"])) for r in added if r["backend"] != "sim"}
        machines = self.results.machines()
        self.gpus = [m for m in machines if m.backend == "cuda"]
        self.cpus = [m for m in machines if m.backend == "cpu"]
        self.models = [m for m in machines if m.backend == "sim"]
        self.headline = next(((m, n) for m, n in ((m, self.best_side(m)) for m in self.gpus) if n), (None, None))

    def is_committed(self, machine):
        return (machine.backend, machine.name) in self.committed

    def source(self, machine):
        """A machine with all that a reader needs to know of it: `NVIDIA H200 (driver 580, 2026-11-22; committed with
        the project)`."""
        remarks = [f"driver {machine.driver}"] if machine.driver else []
        return (f"{machine.name} "
                f"({', '.join([*remarks, machine.days])}{f'; {NOTE}' if self.is_committed(machine) else ''})")

    def measured(self, machine):
        """Who measured, for a caption."""
        return f"Measured on {'one core of ' if machine.backend == 'cpu' else ''}{self.source(machine)}."

    def sides(self, machine, kernels=None):
        """n of the square matrices of floats that a machine has results for."""
        return sorted({
            int(r["width"])
            for r in self.results.rows
            if machine.has(r) and r["width"] == r["height"] and r["type"] == "float" and
            (kernels is None or r["kernel"] in kernels)})

    def best_side(self, machine):
        """The size that the project's own pages show, 16384, or the largest at which every lesson kernel has a
        bandwidth; None if there is none."""
        whole = [n for n in self.sides(machine)
                 if all(reader.bandwidth(self.results.find(k, n, machine=machine)) for k in IDEAS)]
        return 16384 if 16384 in whole else max(whole, default=None)

    def row(self, kernel, n, machine):
        """The row of a square of floats, or None. cudaMemcpy runs beside every step: of its rows the median one, as in
        the figures."""
        found = self.results.find(kernel, n, machine=machine)
        if kernel != COPY_ENGINE or found is None:
            return found
        return typical([r for r in self.results.all if machine.has(r) and r["kernel"] == kernel and r["type"] == "float"
                        and r["width"] == r["height"] == str(n) and r["time_median_ms"]], "time_median_ms")

    def ms(self, kernel, n, machine):
        """A time in ms; None if there is none."""
        figure = reader.time(self.row(kernel, n, machine))
        return figure and figure.value

    def gbs(self, kernel, n, machine):
        figure = reader.bandwidth(self.row(kernel, n, machine))
        return figure and figure.value

    def model_of(self, machine):
        """The simulated machine of the same name as a measured one, or None."""
        return next(
            (m for m in self.models if m.name.lower() in (machine.name.lower(), machine.name.split()[-1].lower())),
            None)

    def counted_side(self, machine):
        """The size at which the simulator counted the most lesson kernels for a machine, the largest of several; None
        if it counted none."""
        kernels = {
            n: sum(self.results.find(k, n, machine=machine) is not None for k in IDEAS) for n in self.sides(machine)}
        return max((n for n in kernels if kernels[n]), key=lambda n: (kernels[n], n), default=None)

    def counted(self, kernel):
        """The simulator's row of a kernel for an H200, at that size; None without."""
        machine = next((m for m in self.models if m.name == "H200"), None)
        side = machine and self.counted_side(machine)
        return self.results.find(kernel, side, machine=machine) if side else None
