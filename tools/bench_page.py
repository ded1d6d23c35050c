#!/usr/bin/env python3
"""How long the chapter's page takes to answer: the controls of the explorables that have most to do.

usage: .venv/bin/python tools/bench_page.py [report/chapter.html]        (make bench-page)

Opens the page in Chromium, operates each control twenty times and prints the minimum, median and maximum of the
milliseconds until the page is laid out again. Exits 2 if there is no page or no browser.
"""

import pathlib
import statistics
import sys

from browser import CHROMIUM, NEEDED, opened

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Panel, control, two values in turn.
CONTROLS = [("warp", "machine", ["gtx280", "h200"]), ("warp", "at-a", [1, 2]), ("warp", "at-b", [8, 9]),
            ("warp", "lane", [3, 4]), ("banks", "width", [64, 63]), ("banks", "at", [1, 2]), ("banks", "lane", [1, 2]),
            ("partitions", "n", [4064, 4096]), ("partitions", "window", [0, 1]), ("flight", "latency", [300, 305])]
OPERATE = """([panel, name, values]) => Array.from({length: 20}, (_, i) => {
    const input = document.querySelector(`[data-explorable=${panel}] [name=${name}]`), begin = performance.now();
    input.value = values[i % 2];
    input.dispatchEvent(new Event(input.tagName === "SELECT" ? "change" : "input"));
    document.body.getBoundingClientRect();
    return performance.now() - begin;
})"""


def main():
    page_file = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "report/chapter.html").resolve()
    if not page_file.is_file() or not CHROMIUM:
        print(
            f"bench_page.py: {page_file}: no such page; make report writes it"
            if CHROMIUM else f"bench_page.py: {NEEDED}", file=sys.stderr)
        return 2
    with opened() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(page_file.as_uri())
        page.locator('[data-explorable=partitions] [name="machine"]').select_option("v100")
        print("ms per answer: minimum, median, maximum of 20")
        for control in CONTROLS:
            took = page.evaluate(OPERATE, control)
            print(f"{control[0] + ' ' + control[1]:20} {min(took):7.1f} {statistics.median(took):7.1f} "
                  f"{max(took):7.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
