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

    def step(self, number):
        """Before, after and why, in one line."""
        before, after, why = self.CHANGES[number]
        costs = {
            f"{kernel}_{what}": self.cost(kernel, what)
            for kernel in ("copy", "transposeNaive", "transposeCoalesced", "transposeNoBankConflicts")
            for what in ("store", "tile")}
        why = why.format(**costs)
        if not self.machine:
            return f"**Why:** {why}"
        old, new = self.gbs(before), self.gbs(after)
        return (f"**Before:** {sig(old)} GB/s (`{before}`). **After:** {sig(new)} GB/s (`{after}`), "
                f"{compared(new / old)} "
                f"({self.machine.name}, {self.n}² floats). **Why:** {why}")

    def before_and_after(self, number):
        """The same, in the lesson's text."""
        before, after, _ = self.CHANGES[number]
        if not self.machine:
            return ""
        old, new = self.gbs(before), self.gbs(after)
        return (f"`{after}` reaches {sig(new)} GB/s. `{before}` has {sig(old)} GB/s, so this is {compared(new / old)} "
                f"({self.machine.name}, {self.n}² floats).")

    def figure(self, what, kernel):
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
                f"{compared(coarse)} ({self.machine.name}, {self.n}² floats)."
                + (" So the moving costs the time, and the rest little."
                   if fine > FASTER and abs(coarse - 1) < ALIKE else ""))

    CHANGES = {
        1: ("copy", "copySharedMem",
            "a thread of `copySharedMem` has four loads in flight, a thread of `copy` has one."),
        2: ("copy", "transposeNaive", "the stores of a warp go to 32 rows of `odata`. One store touches "
                                      "{transposeNaive_store} sectors instead of {copy_store}."),
        3: ("transposeNaive", "transposeCoalesced",
            "a tile in shared memory is filled by rows and emptied by columns. One store touches "
            "{transposeCoalesced_store} sectors instead of {transposeNaive_store}."),
        4: ("transposeCoalesced", "transposeNoBankConflicts",
            "a column of the padded tile lies in 32 banks. Reading it takes {transposeNoBankConflicts_tile} wavefront "
            "instead of {transposeCoalesced_tile}."),
        5: ("transposeNoBankConflicts", "transposeFineGrained",
            "the fine-grained kernel leaves every tile where it stands, and the coarse-grained one moves it. "
            "The two halves show what each part of the transpose costs."),
        6: ("transposeNoBankConflicts", "transposeDiagonal",
            "the diagonal order spreads the stores over the memory partitions. That matters where neighbouring rows "
            "fall into one partition, as on a GTX 280 ([[figure partition_traffic]])."),
        7: ("transposeNoBankConflicts", "transposeLongPieces",
            "rows of a tile are twice as long, an SM can have twice as many bytes of loads in flight, a thread starts "
            "all its loads before its first store to the tile, and blocks that run together write to neighbouring "
            "addresses."),
    }

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
    def trial(card, side, wide, high, blocks):
        """GB/s of a trial of bench/pieces.cu, 16384² floats in the order of rows."""
        row = quoted.only(f"{card}_pieces", type="float", width="16384", loads_first="1", tiles_per_block="1",
                          side=side, wide=str(wide), high=str(high), order="rows", offset="0",
                          blocks_per_sm=str(blocks))
        return f"{float(row['bandwidth_gbs']):.0f}"

    def trials_of_the_tile(self):
        """What tells the bytes in flight from the length of the pieces."""
        less, more = ([self.trial("h200", "transpose", side, side, blocks) for side, blocks in tiles]
                      for tiles in ([(32, 8), (64, 2)], [(32, 16), (64, 4)]))
        slower = [self.trial("h100", "transpose", 64, 64, blocks) for blocks in (2, 4)]
        short, long = ([self.trial(card, "write", *tile, 8) for card in ("h200", "h100")]
                       for tile in ((64, 32), (32, 64)))
        return (f"With at most 32 KiB in flight on an SM, an H200 has {less[0]} GB/s in tiles of 32 × 32 and {less[1]} "
                f"in tiles of 64 × 64, and with 64 KiB {more[0]} and {more[1]}. So the bytes come first, and the "
                "pieces count when there are enough. An H100, whose memory has 0.70 of the peak, goes from "
                f"{slower[0]} to {slower[1]} only. Writes alone, out of order and from tiles of equal size, reach "
                f"{short[0]} GB/s in pieces of 128 bytes and {long[0]} in pieces of 256 on an H200, and {short[1]} and "
                f"{long[1]} on an H100 (measured, float, 16384²).")

    def trials_of_the_blocks(self):
        """What tells the number of blocks from both."""
        several, one = (
            float(quoted.only("h100_pieces", type="float", width="16384", side="transpose", wide="32", high="32",
                              loads_first="1", order="rows", blocks_per_sm="8", tiles_per_block=tiles)["of_memcpy"])
            for tiles in ("4", "1"))
        return (f"Blocks that move four tiles of 32 × 32 one after another reach {several:.2f}, and a block for each "
                f"tile reaches {one:.2f} of `cudaMemcpy`'s bandwidth (H100).")

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
                f"*{worst}* deviates the most, by {deviation(1 + off[worst] / 100)}. "
                "The counts show why steps 3 and 4 are slow on this card. In step 4's order nearly all stores of a "
                "moment go to one of eight partitions. "
                  "The card's partitions are published [[cite whitepaper]]. Later cards hash addresses. The hashes "
                  "of a GTX 1080 and a V100 are published, too [[cite jain]]. "
                  "For newer cards this project assumes a hash, and its tables say so.\n")

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

    def conclusions(self):
        """What the figures and tables show, with the numbers."""
        if not self.machine:
            return "The sections above say which results are missing. With them, the conclusions stand here.\n"
        on = f"({self.machine.name}, {self.n}² floats)"
        coalesced, padded, best = (
            self.gbs(k) for k in ("transposeCoalesced", "transposeNoBankConflicts", "transposeLongPieces"))
        copies = self.gbs("copySharedMem") / self.gbs("copy")
        fine, coarse, diagonal = (
            self.gbs(k) / padded for k in ("transposeFineGrained", "transposeCoarseGrained", "transposeDiagonal"))
        points = [
            "**Coalescing.** Neighbouring threads should touch neighbouring elements, in loads and in stores. A tile "
            "in shared memory makes that possible on both sides. It makes the naive kernel "
            f"{compared(coalesced / self.gbs('transposeNaive'))} {on}. See [[figure sectors_naive_coalesced]] and "
            "[[table step-3]].",
            "**Banks.** A column of a tile with 32 columns lies in one bank. One unused column, or a swizzle, spreads "
            f"it over all 32. The padded kernel is {compared(padded / coalesced)}. See [[figure banks]] and "
            "[[table step-4]].",
            "**Barriers.** Put a barrier between the stores to shared memory and the loads of other threads. In a "
            "loop, put another one before the next stores. See [[figure race]].",
            "**Bytes in flight.** Bandwidth is the bytes in flight divided by the latency. With four loads per thread "
            f"instead of one, a copy is {compared(copies)} ([[table step-1]]). See [[figure bytes_in_flight]].",
            "**Long pieces.** Step 7 moves longer pieces of rows and has more loads in flight, and blocks that run "
            f"together write next to each other. Compared with step 4, it is {compared(best / padded)}. "
            "[[table rungs]] has its ideas one by one. See [[figure block_orders]].",
            f"**The two halves.** Compared with step 4, transposing the tiles in place is {compared(fine)}. "
            f"Moving them is {compared(coarse)} ([[table step-5]]). "
            + ("So moving the tiles costs the time. The other half costs little."
               if fine > FASTER and abs(coarse - 1) < ALIKE else ""),
            "**Partitions.** A card's memory consists of partitions that work at the same time. Where all rows begin "
            "in the same partition, one of the GTX 280's eight partitions gets nearly all the stores of a moment "
            f"([[table gtx280]], [[figure partition_traffic]]). On the {self.machine.name}, step 4 in "
            f"diagonal order is {compared(diagonal)}.",
            "**Measuring.** Check every element, after the timing too. Use more data than the caches hold. Report "
            "medians and spread, and a copy from the same run. Several of the published faults changed a published "
            "result ([[table book-9.1]], [[table book-9.3]]).",
        ]
        return "".join(f"- {point.strip()}\n" for point in points)
