"""Sentences about the results, with numbers filled in from them. Each holds for whatever machine is shown, or says what
it depends on."""

import quoted
import results as reader
from figures.shared import MODEL_BAND
from sources.judging import FAILS, FASTER, HOLDS

from .numbers import deviation, factor, sig
from .tables import FITTED, GTX280, missing

ALIKE = FASTER - 1  # medians of separate runs differ by that much


def compared(ratio):
    """How fast one is against another, in words: '3.5 times as fast', 'as fast, within 3 %', '7 % slower'."""
    if abs(ratio - 1) < ALIKE:
        return "as fast, within 3 %"
    return f"{factor(ratio)} times as fast" if ratio > 1 else f"{100 * (1 - ratio):.0f} % slower"


def listed(words):
    """'a', 'a and b', 'a, b and c'."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def of_commits(machine):
    """Which versions of the project the rows of a machine come from."""
    names = listed(machine.commits)
    if len(machine.commits) == 1:
        return f"Commit {names} of the project."
    return f"Its rows come from {len(machine.commits)} commits of the project: {names}."


class Prose:
    """shown: data.Shown; tables: tables.Tables of it."""

    def __init__(self, shown, tables):
        self.shown, self.tables = shown, tables
        self.machine, self.n = shown.headline

    def gbs(self, kernel):
        return self.shown.gbs(kernel, self.n, self.machine)

    def ms(self, kernel):
        return self.shown.ms(kernel, self.n, self.machine)

    def share(self, kernel):
        return float(self.shown.row(kernel, self.n, self.machine)["bandwidth_percent_of_memcpy"])

    def abstract(self):
        """What the chapter shows, in three numbers."""
        if not self.machine:
            return missing("all seven steps at one size, measured on a GPU")
        best = "transposeLongPieces"
        why = (" No GPU ran here, so the chapter shows the measurements that the project comes with."
               if self.shown.is_committed(self.machine) else "")
        names = {"coalesced": "[coalescing](#term-coalesced-access)", "longer pieces": "moving longer pieces",
                 "padded": "[padding](#term-padding) the [tile](#term-tile)"}
        ideas = [f"{names[idea]} {'saves' if before > after else 'costs'} {abs(before - after):#.2g} ms"
                 for idea, before, after in self.tables.ideas()]
        peak = self.shown.row(best, self.n, self.machine)["dram_peak_gbs"]
        least = (f"For {self.n} × {self.n} floats this takes at least **{sig(8e-6 * self.n ** 2 / float(peak))} ms**, "
                 f"at {sig(float(peak))} GB/s, the peak of this card's memory. " if peak else "")
        return ("A matrix transpose computes nothing. It reads and writes every element once, and the order of the "
                f"memory accesses decides how fast. {least}This chapter speeds a transpose up in seven steps on one "
                "GPU and explains each step by what the hardware does. An eighth step is about several GPUs. The "
                "yardstick is "
                "`cudaMemcpy`, the copy that comes with CUDA, NVIDIA's extension of C++ for its GPUs. Three numbers "
                f"sum it up, for {self.n} × {self.n} floats on one "
                f"{self.machine.name}:\n\n- **{self.share('transposeNaive'):.0f} %** of `cudaMemcpy`'s "
                f"bandwidth is what the naive transpose of step 2 reaches: {sig(self.gbs('transposeNaive'))} GB/s.\n"
                f"- **{self.share(best):.0f} %** is what step 7 reaches: {sig(self.gbs(best))} GB/s.\n"
                f"- **{factor(self.gbs(best) / self.gbs('transposeNaive'))} ×** is the speed-up between them: "
                f"{sig(self.ms('transposeNaive'))} ms become {sig(self.ms(best))} ms.\n\n"
                f"In between, {ideas[0]}, {ideas[1]} and {ideas[2]} ([[figure waterfall]]). "
                f"{self.shown.measured(self.machine)}{why}")

    def machines(self):
        """Where the chapter's numbers come from, a line for each machine."""
        shown = self.shown
        lines = [f"- Measured: {shown.source(m)}. {of_commits(m)}\n" for m in shown.gpus]
        lines += [f"- Measured, one core: {shown.source(m)}. {of_commits(m)}\n" for m in shown.cpus]
        lines += [
            f"- Counted by the simulator, with times by its model: {m.name} ({m.days}). {of_commits(m)}\n"
            for m in shown.models]
        if any(shown.is_committed(m) for m in shown.gpus):
            lines.append("\nNo GPU ran in these results. The GPU's measurements are those that the project comes "
                         "with. `make report` on a machine with a GPU replaces them.\n")
        return "".join(lines)

    # What the steps bring.

    def on(self):
        """The machine and the size of the figures in a sentence, in brackets."""
        return f" ({self.machine.name}, {self.n}² floats)" if self.machine else ""

    def compared(self, kernel, other):
        return compared(self.gbs(kernel) / self.gbs(other)) if self.machine else "(not measured)"

    def step(self, before, after):
        """What a step brings, in one line."""
        if not self.machine:
            return ""
        return (f"**Before:** {sig(self.gbs(before))} GB/s (`{before}`). **After:** {sig(self.gbs(after))} GB/s "
                f"(`{after}`), {self.compared(after, before)}{self.on()}.")

    def gain(self, before, after):
        """The same, in the lesson's text."""
        if not self.machine:
            return ""
        return (f"`{after}` reaches {sig(self.gbs(after))} GB/s. `{before}` has {sig(self.gbs(before))} GB/s, so this "
                f"is {self.compared(after, before)}{self.on()}.")

    def reached(self, what, kernel):
        """A kernel's bandwidth (gbs) or its share of cudaMemcpy's (percent) at the headline's size."""
        if not self.machine:
            return "(not measured)"
        return sig(self.gbs(kernel)) if what == "gbs" else f"{self.share(kernel):.0f}"

    def halves(self):
        """What each half of the transpose costs."""
        if not self.machine:
            return ""
        fine, coarse = (self.gbs(k) / self.gbs("transposeNoBankConflicts")
                        for k in ("transposeFineGrained", "transposeCoarseGrained"))
        return (f"Compared with step 4, transposing the tiles in place is {compared(fine)}. Moving them is "
                f"{compared(coarse)}{self.on()}."
                + (" So the moving costs the time, and the rest little."
                   if fine > FASTER and abs(coarse - 1) < ALIKE else ""))

    def cost(self, kernel, what):
        """Sectors of a store, or wavefronts of a load from the tile, as counted for an H200; 'other' where nothing
        was."""
        row = self.shown.counted(kernel)
        above, below = {
            "store": ("global_store_transactions", "global_store_requests"),
            "tile": ("shared_load_wavefronts", "shared_load_requests")}[what]
        if not row or not int(row[below] or 0):
            return "other"
        return f"{int(row[above]) / int(row[below]):.0f}"

    @staticmethod
    def piece(what, card, side, tile, blocks, tiles="1"):
        """GB/s of a trial of bench/pieces.cu, 16384² floats in the order of rows, or its share of cudaMemcpy's."""
        wide, high = tile.split("x")
        row = quoted.only(f"{card}_pieces", type="float", width="16384", loads_first="1", tiles_per_block=tiles,
                          side=side, wide=wide, high=high, order="rows", offset="0", blocks_per_sm=blocks)
        return f"{float(row['bandwidth_gbs']):.0f}" if what == "gbs" else f"{float(row['of_memcpy']):.2f}"

    def ideas(self):
        """Which idea saves the most, and which kernel is how near to the copy."""
        ideas = self.tables.ideas()
        if not ideas:
            return ""
        most = max(ideas, key=lambda idea: idea[1] - idea[2])
        whole = ideas[0][1] - ideas[-1][2]
        names = {"coalesced": "Coalescing", "padded": "Padding", "longer pieces": "Moving longer pieces"}
        text = (f"{names[most[0]]} saves the most: {sig(most[1] - most[2])} ms of the {sig(whole)} ms between the "
                "first and the last bar of [[figure waterfall]]. "
                f"The later ideas save less time, but not a smaller share. ")
        factors = [f"{factor(before / after)} × ({idea})" for idea, before, after in ideas]
        text += (f"The three ideas, one after the other, make the kernel faster by {factors[0]}, {factors[1]} and "
                 f"{factors[2]}. ") if all(b > a for _, b, a in ideas) else ""
        faster = [
            k for k in ("copy", "transposeLongPieces", "transposeNoBankConflicts", "copySharedMem")
            if k != "copy" and self.gbs(k) > self.gbs("copy") * FASTER]
        if faster:
            text += (f"`copy` is not the upper limit. {listed(f'`{k}`' for k in faster)} "
                     f"{'is' if len(faster) == 1 else 'are'} faster on this machine, because a thread of `copy` has "
                     "one load in flight. "
                     "So the chapter compares with `cudaMemcpy`.")
        if not all(1 - after / before >= (1 - ideas[0][2] / ideas[0][1]) for _, before, after in ideas):
            text = text.replace("The later ideas save less time, but not a smaller share. ", "")
        return text + "\n"

    # The results.

    def serial(self):
        """What a column costs one core."""
        cpu = next(iter(self.shown.cpus), None)
        sides = self.shown.sides(cpu, ["transposeSerialRead"]) if cpu else []
        if len(sides) < 2:
            return ""
        ns = {n: 1e6 * self.shown.ms("transposeSerialRead", n, cpu) / n / n for n in sides}
        text = (f"On one core of {cpu.name}, an element costs {sig(ns[sides[0]])} ns at n = {sides[0]} and "
                f"{sig(ns[sides[-1]])} ns at n = {sides[-1]} "
                f"with `transposeSerialRead` ([[table serial]]). ")
        blocked, copy = (self.shown.ms(kernel, sides[-1], cpu) for kernel in ("transposeSerialBlocked", "memcpy"))
        if blocked:
            text += f"Square by square, it is {sig(1e6 * blocked / sides[-1] ** 2)} ns at n = {sides[-1]}"
            text += f", and `memcpy` needs {sig(1e6 * copy / sides[-1] ** 2)} ns. " if copy else ". "
        return text + "\n"

    def sizes(self):
        machine = self.machine
        sides = [n for n in self.shown.sides(machine, ["transposeLongPieces"]) if n & (n - 1) == 0] if machine else []
        if len(sides) < 3:
            return ""
        small, large = sides[0], sides[-1]
        kernels = ("transposeNaive", "transposeCoalesced", "transposeNoBankConflicts", "transposeLongPieces")
        times = [t for t in (self.shown.ms(k, small, machine) for k in kernels) if t]
        text = (f"At n = {small} the transposes of steps 2, 3, 4 and 7 take {sig(min(times))} to {sig(max(times))} "
                "ms ([[figure time_per_element]]). ")
        if small <= 512:
            text += (f"The matrix has only {sig(small * small * 4 / 1000)} kB. Most of that time is the start of the "
                     "kernel and the latency of the memory. ")
        naive, best = (self.shown.gbs(k, large, machine) for k in ("transposeNaive", "transposeLongPieces"))
        text += (f"At n = {large} step 7 is {factor(best / naive)} times as fast as the naive kernel ([[table "
                 "bandwidths]], [[figure bandwidth_over_n]]). ")
        peak = max(((self.shown.gbs("transposeLongPieces", n, machine), n) for n in sides), default=None)
        if peak and peak[1] != large and peak[0] > FASTER * best:
            text += f"Step 7 is fastest at n = {peak[1]}, with {sig(peak[0])} GB/s. "
        return text + "\n"

    def whitepaper(self):
        rows = self.tables.whitepaper_rows()
        there = {row: cards["GTX 280"] for row, (_, cards) in rows.items()}
        text = (f"On the GTX 280 the naive kernel reached {sig(there['W3'])} GB/s, "
                f"{100 * there['W3'] / there['W1']:.0f} % of the simple copy. Coalescing made it "
                f"{factor(there['W4'] / there['W3'])} times as fast, padding brought nothing ({sig(there['W4'])} "
                f"and {sig(there['W5'])} GB/s), and the diagonal order brought "
                f"a factor of {factor(there['W8'] / there['W5'])} ([[table whitepaper]]). ")
        machine = next(
            (m for m in self.shown.gpus
             if self.shown.gbs("transposeDiagonal", 2048, m) and self.shown.gbs("transposeNoBankConflicts", 2048, m)),
            None)
        if machine:
            naive, coalesced, padded, diagonal = (self.shown.gbs(k, 2048, machine)
                                                  for k in ("transposeNaive", "transposeCoalesced",
                                                            "transposeNoBankConflicts", "transposeDiagonal"))
            if naive and coalesced:
                text += (f"On the {machine.name}, at the same size, the same changes give "
                         f"{factor(coalesced / naive)} × for coalescing, {factor(padded / coalesced)} × for padding "
                         f"and {factor(diagonal / padded)} × for the diagonal order. ")
        return text + "\n"

    def gtx280(self):
        machine = next((m for m in self.shown.models if m.name == GTX280), None)
        off = {}
        for row, (name, cards) in self.tables.whitepaper_rows().items() if machine else ():
            model = reader.bandwidth(self.shown.results.find(row, 2048, machine=machine))
            if model and row not in FITTED:
                off[name] = 100 * (model.value / cards["GTX 280"] - 1)
        if not off:
            return ""
        worst = max(off, key=lambda name: abs(off[name]))
        return ("[[table gtx280]] compares this project's model of the card with the published figures. Of the "
                f"{len(off)} published rows that the model predicts, "
                f"*{worst}* deviates the most, by {deviation(1 + off[worst] / 100)}.\n")

    def model(self):
        """How near the model is to what was measured."""
        machine = self.machine or next(iter(self.shown.gpus), None)
        model = self.shown.model_of(machine) if machine else None
        if not model:
            return ""
        both = sorted(set(self.shown.sides(machine)) & set(self.shown.sides(model)))
        ratios = {}
        for n in both[-1:]:
            for kernel in ("copy", "copySharedMem", "transposeNaive", "transposeCoalesced", "transposeNoBankConflicts",
                           "transposeFineGrained", "transposeCoarseGrained", "transposeDiagonal",
                           "transposeLongPieces"):
                measured, modelled = self.shown.ms(kernel, n, machine), self.shown.ms(kernel, n, model)
                if measured and modelled:
                    ratios[kernel] = modelled / measured - 1
        if not ratios:
            return ""
        worst = max(ratios, key=lambda kernel: abs(ratios[kernel]))
        inside = all(abs(r) <= MODEL_BAND for r in ratios.values())
        return (
            f"At {both[-1]}² the model's time deviates from the measured one by at most "
            f"{100 * abs(ratios[worst]):.0f} % (`{worst}`, {deviation(1 + ratios[worst])}, "
            "[[figure predicted_measured]]). "
            f"That is {'inside' if inside else 'outside'} the band of {100 * MODEL_BAND:.0f} %. "
            "The model is an estimate. A kernel can be faster than modelled.\n")

    def book(self):
        published = {(r["table"], r["source_row"], r["side"]): float(r["value"])
                     for r in self.tables.published
                     if r["source"] == "book" and r["table"] in ("9.1", "9.3")}
        tile, loop = published["9.3", "B7", "8192"], published["9.3", "B9", "8192"]
        text = (f"On the K20c a fixed grid of looping blocks was {factor(tile / loop)} times as fast as one block "
                "per tile at n = 8192, but its threads raced ([[table book-9.3]]). ")
        machine = next((m for m in self.shown.gpus
                        if self.shown.gbs("transposeTile32Padded", 8192, m) and self.shown.gbs("B9", 8192, m)),
                       None)
        if machine:
            ratio = self.shown.gbs("B9", 8192, machine) / self.shown.gbs("transposeTile32Padded", 8192, machine)
            text += ("With its barrier, and with both kernels on tiles of 32 × 33, the looping kernel is "
                     f"{compared(ratio)} on the {machine.name}. ")
        return text + "\n"

    def post(self):
        ms = {r["source_row"]: float(r["value"]) * 1e3 for r in self.tables.published
              if r["source"] == "bandwidth post" and r["table"] == "kernels"}
        text = (f"On the GTX 1050 Ti reading by columns was {factor(ms['F3'] / ms['F4'])} times as fast as writing "
                "by columns ([[table post-kernels]]). ")
        for machine in self.shown.gpus:
            rows, columns = (
                reader.time(self.shown.results.find(f, 4096, block="32x32", machine=machine)) for f in ("F3", "F4"))
            if rows and columns:
                text += f"On the {machine.name} it is {compared(rows.value / columns.value)}. "
        return text + "\n"

    def claims(self, judged):
        """How many claims hold. judged: the Verdict that counts of each."""
        held, failed = (sum(v.verdict == what for v in judged) for what in (HOLDS, FAILS))
        return (f"Of {len(judged)} claims and parts of claims, {held} hold on the machines shown and {failed} do "
                "not ([[table claims]]). "
                f"The results do not decide the other {len(judged) - held - failed}.\n")
