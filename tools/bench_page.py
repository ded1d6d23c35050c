#!/usr/bin/env python3
"""How long the chapter's page takes to answer: the controls of the explorables that have most to do.

usage: .venv/bin/python tools/bench_page.py [report/chapter.html]        (make bench-page)

Opens the page in Chromium and operates each control 21 times. A time begins with the input. It ends when the next frame
has been painted, which on a screen of 60 Hz takes up to 17 ms on its own. Prints, in milliseconds, the median of the
script and layout alone, and the minimum, median and maximum up to the painted frame. A control that the page does not
have is left out. Exits 1 if a median is above one frame of 50 ms, and 2 if there is no page or no browser.
"""

import pathlib
import statistics
import sys

from browser import CHROMIUM, NEEDED, opened

from lessons import ROOT
import command_line

FRAME = 50  # ms, from an input to the painted frame
# Panel, control, two values in turn, and settings before that. First the controls that a reader sees, then some of
# those behind "more", with the largest matrix and the widest tile.
CONTROLS = [
    ("warp", "at", [3, 4], {}), ("banks", "pad", [0, 1], {}), ("partitions", "n", [2048, 2080], {}),
    ("partitions", "kernel", ["transposeDiagonal", "transposeNoBankConflicts"], {}),
    ("partitions", "machine", ["v100", "gtx280"], {}), ("flight", "loads", [1, 2], {}),
    ("flight", "threads", [1024, 2048], {}), ("race", "again", [None], {}),
    ("warp", "machine", ["gtx280", "h200"], {}), ("warp", "at-a", [1, 2], {}), ("warp", "lane", [3, 4], {}),
    ("banks", "width", [64, 63], {}), ("banks", "at", [1, 2], {}), ("banks", "lane", [1, 2], {}),
    ("partitions", "n", [4064, 4096], {"machine": "v100"}), ("partitions", "window", [0, 1], {"machine": "v100"}),
    ("flight", "latency", [300, 305], {})]
OPERATE = """async ([panel, name, values, before]) => {
    const find = name => document.querySelector(`[data-explorable=${panel}] [name="${name}"]`);
    if (!find(name)) return [];
    const more = find(name).closest("details");
    if (more) more.open = true;
    const act = (input, value) => {
        if (input.tagName === "BUTTON") return input.click();
        input.value = value;
        input.dispatchEvent(new Event(input.tagName === "SELECT" ? "change" : "input"));
    };
    const painted = () => new Promise(done => requestAnimationFrame(() => {
        const channel = new MessageChannel();  // its message comes after the frame
        channel.port1.onmessage = done;
        channel.port2.postMessage(0);
    }));
    for (const [other, value] of Object.entries(before)) act(find(other), value);
    document.querySelector(`[data-explorable=${panel}]`).scrollIntoView();
    await painted();
    await painted();
    const took = [];
    for (let i = 0; i < 21; ++i) {
        await new Promise(done => setTimeout(done, 30));
        const begin = performance.now();
        act(find(name), values[i % values.length]);
        document.body.getBoundingClientRect();
        const script = performance.now() - begin;
        await painted();
        took.push([script, performance.now() - begin]);
    }
    return took;
}"""


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("page", nargs="?", type=pathlib.Path, default=ROOT / "report/chapter.html")
    page_file = parser.parse_args().page.resolve()
    if not page_file.is_file() or not CHROMIUM:
        print(
            f"bench_page.py: {page_file}: no such page; make report writes it"
            if CHROMIUM else f"bench_page.py: {NEEDED}", file=sys.stderr)
        return 2
    slow = []
    with opened() as browser:
        print(f"ms per answer, 21 times{'':22} script  painted: minimum, median, maximum")
        for control in CONTROLS:
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(page_file.as_uri())
            took = page.evaluate(OPERATE, control)
            page.close()
            if not took: continue
            script, painted = zip(*took)
            what = " ".join([*control[:2], *(f"({value})" for value in control[3].values()),
                             f"{control[2][0] or ''}"])
            print(f"{what:45} {statistics.median(script):6.1f} {min(painted):17.1f} {statistics.median(painted):7.1f} "
                  f"{max(painted):7.1f}")
            if statistics.median(painted) > FRAME: slow.append(what)
    print(f"slower than {FRAME} ms: {'; '.join(slow)}" if slow else f"every median is within {FRAME} ms")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
