"""Two threads of a kernel without its second barrier, until one of them reads a wrong value."""

from matplotlib.patches import Rectangle

from .shared import BLUE, GREY, RED, canvas, save, styled

EXPLORABLE = "race"


def wrong_order(threads):
    """[(thread, number of the instruction)], up to the wrong read: one thread stays at its first barrier, the other
    runs on to where it fills the tile again. Barriers between reading and filling are left out."""
    programs = [
        [step for i, step in enumerate(t["program"]) if step != "barrier" or t["program"][:i].count("barrier") % 2 == 0]
        for t in threads]
    first = [program.index("barrier") for program in programs]
    again = [i for i, step in enumerate(programs[0]) if step[1:3] == ["store", "shared"]][1]
    order = [(1, i) for i in range(first[1] + 1)] + [(0, i) for i in range(again + 1)] + [(1, first[1] + 1)]
    # A barrier is passed by both at once.
    return programs, [(who, i) for who, i in order if (who, i) != (1, first[1])]


@styled
def draw(data, stem):
    """Time runs down, a column per thread. Of the kernels in the data, the one with a loop."""
    data = data[-1]
    programs, order = wrong_order(data["threads"])
    names = {"idata": data["width"], "odata": data["height"], "shared": data["row"]}

    def place(memory, offset):
        row, column = divmod(offset // 4, names[memory])
        return f"{'tile' if memory == 'shared' else memory}[{row}][{column}]"

    figure, [[axes]] = canvas(7, 1.3 + 0.36 * len(order), left=0.1, right=0.1, bottom=0.75, top=0.35)
    axes.set(xlim=(0, 2), ylim=(len(order) + 0.5, 0))
    axes.axis("off")
    tile, register = {}, {}
    for column, thread in enumerate(data["threads"]):
        axes.text(column + 0.5, -0.35, f"thread ({thread['thread'][0]}, {thread['thread'][1]})", ha="center",
                  fontweight="bold")
    for line, (who, i) in enumerate(order):
        step = programs[who][i]
        if step == "barrier":
            axes.plot([0.03, 1.97], [line + 0.5] * 2, color="black", lw=1.2, ls=(0, (5, 3)))
            axes.text(1, line + 0.5, "__syncthreads()", ha="center", va="center", backgroundcolor="white", fontsize=9.5)
            continue
        _, access, memory, offset = step
        wrong = False
        if memory == "idata":
            register[who] = text = place(memory, offset)
            text = f"register = {text}"
        elif access == "store":
            tile[offset] = register[who] if memory == "shared" else tile.get(offset)
            text = f"{place(memory, offset)} = register"
        else:
            wrong = line == len(order) - 1
            text = f"register = {place(memory, offset)}" + (f"\nholds {tile[offset]}: wrong" if wrong else "")
            register[who] = tile[offset]
        fill = access == "store" and memory == "shared" and line > order.index((0, 2))
        colour = RED if wrong else BLUE if fill else GREY
        tall = 1.26 if wrong else 0.76
        axes.add_patch(
            Rectangle((who + 0.1, line + 0.12), 0.8, tall, fc="white", ec=colour, lw=2 if wrong or fill else 0.9))
        axes.text(who + 0.5, line + 0.12 + tall / 2, text + (", fills the tile again" if fill else ""), ha="center",
                  va="center", fontsize=9, color=RED if wrong else "black")
    save(figure, stem, f"{data['kernel']} without its second barrier. Time runs down.\nThe simulator reports this "
                       f"{data['hazard']} hazard, at byte {data['byte']} of the tile.")
    return None
