"""The chapter's page in a browser: its explorables, operated by mouse and by keyboard, say what the simulator
counts."""

import csv
import itertools
import random
import re
import sys

import pytest
from playwright.sync_api import expect

from browser import CHROMIUM, NEEDED
from browser import opened as opened_browser
from conftest import step
from lessons import LESSONS, ROOT, run
from samples import ALL, some

sys.path.insert(0, str(ROOT / "plots"))
from figures.bytes_in_flight import model
from traces import MEMORIES, read_trace

pytestmark = pytest.mark.skipif(not CHROMIUM, reason=NEEDED)
DATA = ROOT / "plots/data"
NAMES = ["warp", "banks", "partitions", "flight", "race"]
WIDTHS = (1280, 400)
CASES = 6000 if ALL else 500


@pytest.fixture(scope="module")
def written(chapter):
    return chapter / "chapter.html"


@pytest.fixture(scope="module")
def browser():
    with opened_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def opened(browser, written):
    """One page for all tests: its complaints and its requests are kept."""
    page = browser.new_page()
    page.set_default_timeout(60000)
    expect.set_options(timeout=60000)
    page.complaints, page.requests = listen(page)
    page.goto(written.as_uri())
    return page


@pytest.fixture
def page(opened, written, request):
    """The page, loaded anew: on a wide screen and light, or as a test that is parametrized with it asks for."""
    width, scheme = getattr(request, "param", (1280, "light"))
    opened.set_viewport_size({"width": width, "height": 900})
    opened.emulate_media(media="screen", color_scheme=scheme)
    opened.reload()
    yield opened
    assert opened.complaints == [] and set(opened.requests) == {written.as_uri()}


@pytest.fixture
def reference(browser, written, request):
    """The other part of the chapter, in the same way."""
    width, scheme = getattr(request, "param", (1280, "light"))
    page, address = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900}), written.with_name(
        "reference.html").as_uri()
    complaints, requests = listen(page)
    page.goto(address)
    yield page
    assert complaints == [] and set(requests) == {address}
    page.close()


def listen(page):
    complaints, requests = [], []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    return complaints, requests


def part(page, name):
    return page.locator(f'[data-explorable="{name}"] .play')


def said(panel, name):
    return panel.locator(f'[data-is="{name}"]').inner_text()


def control(panel, name):
    return panel.locator(f'[name="{name}"]')


def slide(panel, name, value):
    control(panel, name).fill(str(value))


def trace_of(tmp_path, program, *options):
    path = tmp_path / "trace.csv"
    done = step(program, "--trace", path, *options)
    assert done.returncode == 0, done.stderr
    return read_trace(path)


# The arithmetic.

def test_the_rules_are_the_simulators(page):
    """Random requests: their transactions, their wavefronts and the first lanes that meet, by the page and by the
    simulator."""
    cases = list(csv.DictReader(run(ROOT / "build/tests/sim/rules", "--cases", CASES).stdout.splitlines()))
    given = [[{"major": int(c["major"]), "minor": int(c["minor"])}, c["access"],
              int(c["bytes"]), [int(a) for a in c["addresses"].split()]] for c in cases]
    found = page.evaluate(
        """cases => cases.map(request => {
        const moved = chapter.rules.transactions(...request), served = chapter.rules.wavefronts(...request);
        const active = request[3].map((offset, lane) => offset >= 0 ? served.of[lane] : undefined)
            .filter(of => of !== undefined);
        return [moved.length, moved.reduce((sum, piece) => sum + piece.bytes, 0), served.count,
                Math.max(...active) === served.count - 1,
                (chapter.rules.conflicts(...request)[0] || [-1, -1]).join(" ")];
    })""", given)
    assert len(cases) == CASES
    for case, counts in zip(cases, found):
        assert counts == [int(case["transactions"]), int(case["bytes_moved"]), int(case["wavefronts"]), True,
                          case["meet"]], case


def test_every_embedded_request_costs_what_the_simulator_counts(page, tmp_path):
    """Of all warps of all kernels: memory, line, offsets, and what the page's rules make of them on four machines."""
    machines = ["h200", "gtx280", "m2090", "k20x"]
    for kernel, element in some(itertools.product(LESSONS, ("char", "float", "double")), 4):  # one type of each kernel
        found = page.evaluate(
            """([kernel, element, machines]) => {
            const { sites, blocks, warps } = chapter.made.warp.kernels[kernel].types[element];
            return Object.entries(warps).flatMap(([name, requests]) => requests.map(request => {
                const { access, memory, line, bytes, offsets } = chapter.openRequest(request, sites);
                const [block, warp] = name.split(",").map(Number);
                const costs = machines.map(machine => chapter.made.machines[machine]).map(machine =>
                    memory === "shared" ? chapter.rules.wavefronts(machine, access, bytes, offsets).count
                    : chapter.rules.transactions(machine, access, bytes, offsets).length);
                return [...blocks[block], warp, memory, line, offsets.join(" "), costs];
            }));
        }""", [kernel, element, machines])
        traces = [
            trace_of(tmp_path, LESSONS[kernel], "--kernel", kernel, "--size", 64, "--type", element, "--machine",
                     machine) for machine in machines]
        first, offsets = traces[0], [" ".join(map(str, row)) for row in traces[0].offsets.tolist()]
        expected = [[*block, warp, MEMORIES[memory], line, offsets[i], costs]
                    for i, (block, warp, memory, line, *costs) in enumerate(
                        zip(first.block.tolist(), first.warp.tolist(), first.memory.tolist(), first.line.tolist(),
                            *(trace.units.tolist() for trace in traces)))]
        assert sorted(found) == sorted(expected), (kernel, element)


def test_as_many_blocks_run_as_the_simulator_says(page):
    """Random blocks on every machine."""
    cases = [(c["machine"], int(c["threads"]), int(c["shared"]), int(c["blocks"]))
             for c in csv.DictReader(run(ROOT / "build/tests/sim/rules", "--blocks", CASES).stdout.splitlines())]
    found = page.evaluate("cases => cases.map(([machine, threads, shared]) => "
                          "chapter.rules.residentBlocks(chapter.made.machines[machine], threads, shared))", cases)
    assert len(cases) == CASES and found == [blocks for *_, blocks in cases]


def test_expressions_are_those_of_c(page):
    chance = random.Random(16)

    def some(depth):
        if depth == 0 or chance.random() < 0.2:
            return chance.choice(["r", "c", str(chance.randrange(40))])
        one, other = some(depth - 1), some(depth - 1)
        return chance.choice([
            f"{one} {chance.choice(['+', '^', '&', '|'])} {other}", f"({one}) % {chance.randrange(1, 40)}",
            f"({one} ^ {other}) * {chance.randrange(9)}", f"(({one}) >> {chance.randrange(5)})",
            f"({one} & ~{chance.randrange(8)})", f"({one} + {other} << 1)"])

    # of Python, too, without division
    cases = [(some(3), chance.randrange(32), chance.randrange(32)) for _ in range(2000)]
    found = page.evaluate("cases => cases.map(([text, r, c]) => chapter.expression(text)(r, c))", cases)
    for (text, r, c), value in zip(cases, found):
        assert value == eval(text, {"r": r, "c": c}), (text, r, c)


# Follow a warp.

def test_a_warp_is_followed_by_mouse_and_by_keyboard(page, tmp_path):
    panel = part(page, "warp")
    for side, kernel, machine, element, block, warp in (
        ("a", "transposeNoBankConflicts", "gtx280", "double", (1, 0), 3),
        ("b", "transposeLongPieces", "h200", "float", (0, 0), 5)):
        control(panel, "machine").select_option(machine)
        control(panel, "type").select_option(element)
        control(panel, f"kernel-{side}").select_option(kernel)
        control(panel, f"block-{side}").select_option(label=f"({block[0]}, {block[1]})")
        control(panel, f"warp-{side}").select_option(str(warp))
        requests = trace_of(tmp_path, LESSONS[kernel], "--kernel", kernel, "--size", 64, "--type", element, "--machine",
                            machine).select(block=block, warp=warp)
        half = panel.locator(f'[data-side="{side}"]')
        slide(panel, f"at-{side}", 0)
        for at in range(len(requests)):
            memory = MEMORIES[requests.memory[at]]
            shown = half.evaluate("""half => ({
                ...Object.fromEntries([...half.querySelectorAll("[data-is]")].map(of => [of.dataset.is, of.innerText])),
                line: half.querySelector(".line").innerText,
                memory: half.querySelector("figure.now svg").dataset.memory})""")
            assert shown["cost"].split()[0] == str(requests.units[at]), (kernel, at)
            assert shown["asked"] == str(requests.bytes[at])
            assert shown["request"].startswith(("load", "store")[requests.access[at]] +
                                               f" of {'the tile' if memory == 'shared' else memory}")
            assert f":{requests.line[at]} " in shown["line"] and shown["memory"] == memory
            if at + 1 < len(requests):
                if at % 2:
                    control(panel, f"next-{side}").click()
                else:
                    control(panel, f"at-{side}").press("ArrowRight")
        assert half.locator("output").inner_text() == f"{len(requests)} of {len(requests)}"
        seen = [said(half, "sofar").split()[i].replace(",", "") for i in (0, 2)]
        tile = requests.memory == MEMORIES.index("shared")
        assert seen == [str(requests.units[~tile].sum()), str(requests.units[tile].sum())]
        control(panel, f"back-{side}").press("Enter")
        assert half.locator("output").inner_text() == f"{len(requests) - 1} of {len(requests)}"


# Banks.

LAYOUTS = [  # kernel, its program; tile width, padding, swizzle
    ("transposeCoalesced", "step03", 32, 0, "c"), ("transposeNoBankConflicts", "step04", 32, 1, "c"),
    ("transposeSwizzled", "step04", 32, 0, "c ^ r"), ("transposeTile16", "step03", 16, 0, "c"),
    ("transposeTile16Padded", "step04", 16, 1, "c"), ("transposeTile16Swizzled", "step04", 16, 0, "c ^ (r & ~1)"),
]


def test_banks_of_the_steps_tiles(page, tmp_path):
    """The tiles of six kernels, set by hand: what the first warp's requests cost is what the simulator counts."""
    panel = part(page, "banks")
    for (kernel, program, width, pad, swizzle), (element, machine) in some(
            itertools.product(LAYOUTS, [("float", "h200"), ("double", "h200"), ("float", "gtx280")]), 4):
        trace = trace_of(tmp_path, program, "--kernel", kernel, "--size", 64, "--type", element, "--machine",
                         machine).select("shared", launch=0, warp=0)
        for name, value in (("width", width), ("pad", pad), ("swizzle", swizzle)):
            slide(panel, name, value)
        control(panel, "type").select_option(element)
        control(panel, "machine").select_option(machine)
        slide(panel, "at", 0)
        for way, access in (("column", "load"), ("row", "store")):
            control(panel, "way").select_option(way)
            assert (said(panel, "cost").split()[0]
                    == str(trace.select(access=access).units[0])), (kernel, element, machine, way)
        assert panel.locator(".fault").inner_text() == ""


def test_banks_by_keyboard_and_what_is_wrong_with_a_swizzle(page):
    panel = part(page, "banks")
    assert (said(panel, "cost") == "32 wavefronts" and said(panel, "meets") == "lanes 1\u2060–\u206031 in a bank"
            and panel.locator(".lanes p").count() == 32)
    control(panel, "pad").focus()
    page.keyboard.press("ArrowUp")
    assert said(panel, "cost") == "1 wavefront" and said(panel, "meets") == "no other lane"
    control(panel, "lane").focus()
    for _ in range(7):
        page.keyboard.press("ArrowRight")
    assert said(panel, "lane") == "lane 7: element (7, 5), bank 12, wavefront 1"
    assert panel.locator("svg.tile text.wanted").all_text_contents() == [str((33 * r + 5) % 32) for r in range(32)]
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowRight")
    assert said(panel, "lane") == "lane 7: element (7, 6), bank 13, wavefront 1"
    for text, words in (("c +", "ends too early"), ("c + 40", "outside the row"), ("c & r", "both land in"),
                        ("x", "“x” is not expected"), ("c / 0", "division by 0"), ("(c", "not closed")):
        slide(panel, "swizzle", text)
        assert words in panel.locator(".fault").inner_text(), text
    control(panel, "swizzled").click()
    assert said(panel, "cost") == "1 wavefront" and panel.locator(".fault").inner_text() == ""


# Partitions over time.

def test_partitions_carry_what_the_simulator_counts(page, tmp_path):
    panel = part(page, "partitions")
    kernels = ["copy", "transposeNoBankConflicts", "transposeDiagonal", "transposeLongPieces"]
    assert [option.get_attribute("value") for option in control(panel, "kernel").locator("option").all()] == kernels
    for kernel, (machine, n) in some(itertools.product(kernels,
                                                       [("gtx280", 1024), ("gtx280", 1056), ("gtx1080", 512),
                                                        ("v100", 512), ("h200", 1024)]),
                                     3):
        done = step(LESSONS[kernel], "--kernel", kernel, "--size", n, "--machine", machine, "--csv",
                    tmp_path / "counts.csv")
        assert done.returncode == 0, done.stderr
        (row,) = csv.DictReader((tmp_path / "counts.csv").open())
        control(panel, "kernel").select_option(kernel)
        control(panel, "machine").select_option(machine)
        slide(panel, "n", n)
        for name, column in (("loads", "busiest_partition_of_loads"), ("stores", "busiest_partition_of_stores")):
            assert (float(said(panel, name))
                    == pytest.approx(float(row[column]), abs=1.1e-3)), (kernel, machine, n, column)


def test_camping_comes_and_goes_with_n(page):
    panel = part(page, "partitions")
    before = float(said(panel, "stores"))
    control(panel, "more").click()
    assert panel.locator('label:has([name="n"]) output').inner_text() == "2080 × 2080"
    assert before > 6 > 2 > float(said(panel, "stores"))
    control(panel, "n").press("ArrowLeft")
    assert float(said(panel, "stores")) == before
    assert said(panel, "now").endswith("1 for stores") and said(panel, "resident") == "90"
    control(panel, "window").press("End")
    assert panel.locator('label:has([name="window"]) output').inner_text() == "46 of 46"
    control(panel, "back").click()
    assert panel.locator('label:has([name="window"]) output').inner_text() == "45 of 46"
    control(panel, "play").press("Enter")
    page.wait_for_function(
        """() => document.querySelector('[data-explorable=partitions] [name=window]').value === '45'""")
    page.wait_for_function(
        """() => document.querySelector('[data-explorable=partitions] [name=play]').textContent.includes('play')""")


# Bytes in flight.

def test_bytes_in_flight_follow_the_model(page):
    panel = part(page, "flight")
    micro = {row["constant"]: float(row["value"]) for row in csv.DictReader((DATA / "h200_micro.csv").open())}
    shown = lambda: float(said(panel, "gbs").split()[0].replace(",", ""))  # noqa: E731
    assert shown() == pytest.approx(float(model(8192, 132, 425, micro["stream"])), abs=0.6)
    # The same as the simulator's model of the kernel that has one load in flight.
    (row,) = [
        r for r in csv.DictReader((DATA / "h200_model.csv").open()) if r["kernel"] == "copy" and r["width"] == "8192"]
    assert shown() == pytest.approx(float(row["model_bandwidth_gbs"]), rel=0.003)
    control(panel, "loads").press("ArrowRight")
    assert said(panel, "inflight") == "2048 × 2 × 4 = 16,384 bytes" and "100 % of the roof" in said(panel, "gbs")
    slide(panel, "latency", 800)
    assert shown() == pytest.approx(float(model(16384, 132, 800, micro["stream"])), abs=0.6)
    control(panel, "machine").select_option("t4")
    assert (said(panel, "roof") == "320 GB/s" and panel.locator("g.point").count() == 0
            and said(panel, "inflight").startswith("1024 × 2 × 4"))
    control(panel, "machine").select_option("h200")
    measured = {row["kernel"]: row for row in csv.DictReader((DATA / "h200_steps.csv").open())
                if row["type"] == "float" and row["width"] == row["height"] == "16384"}
    texts = [point.get_attribute("data-say") for point in panel.locator("g.point").all()]
    assert sorted(text.split(",")[0] for text in texts) == sorted(LESSONS)
    for text in texts:
        assert f": {float(measured[text.split(',')[0]]['bandwidth_gbs']):,.10g} GB/s measured" in text


# Race.

def test_a_race_is_run_to_the_wrong_value(page):
    panel = part(page, "race")
    errata = step("step04", "--errata").stdout
    hazard = re.search(r"byte (\d+):\s+thread \((\d+), (\d+), 0\) reads at \S+ and thread \((\d+), (\d+), 0\) writes",
                       errata)
    writer, reader = f"thread ({hazard[4]}, {hazard[5]})", f"thread ({hazard[2]}, {hazard[3]})"
    assert panel.locator("h5").all_inner_texts() == [writer, reader]
    assert page.evaluate("[[true, true], [true, false], [false, true], [false, false]].map(barriers => "
                         "!!chapter.wrongOrder(chapter.made.race, barriers))") == [False, True, True, True]
    verdict = panel.locator(".verdict")
    # By keyboard: both fill the tile and pass the barrier; the writer goes on and fills it again; the reader reads.
    for who, times in ((0, 2), (1, 3), (0, 4)):
        for _ in range(times):
            control(panel, f"run-{who}").press("Enter")
    assert verdict.inner_text() == "No wrong value so far."
    control(panel, "run-0").press("Enter")
    control(panel, "run-1").press("Enter")
    at = f"tile[0][{int(hazard[1]) // 4}]"
    assert verdict.inner_text() == f"Wrong: {reader} reads idata[0][1025] from {at}, but it has to write idata[0][1]."
    assert panel.locator("li.wrong").inner_text() == f"r = {at}"
    control(panel, "back").click()
    assert panel.locator("li.wrong").count() == 0
    # With both barriers no order is wrong, and the run ends with the transpose.
    control(panel, "barrier-1").press("Space")
    assert verdict.inner_text() == "No order of these two threads reads a wrong value."
    assert control(panel, "show").is_disabled()
    while any(control(panel, f"run-{who}").is_enabled() for who in (0, 1)):
        control(panel, "run-0" if control(panel, "run-0").is_enabled() else "run-1").click()
    assert verdict.inner_text().startswith("Both threads are done")
    out = page.evaluate("""() => { const race = chapter.made.race, ran = [];
        for (let now; (now = chapter.runRace(race, [true, true], ran)).may.some(Boolean);)
            ran.push(now.may.indexOf(true));
        return [...chapter.runRace(race, [true, true], ran).out]; }""")
    assert len(out) == 4
    for offset, element in out:
        row, column = divmod(offset // 4, 40)
        assert element == column * 1100 + row
    # Without the first barrier, too.
    control(panel, "barrier-0").click()
    control(panel, "show").click()
    assert verdict.inner_text().startswith("Wrong: ")


# Tables and points.

def test_tables_of_bandwidths_sort(reference):
    tables = reference.locator(".table:has(th button)").all()
    assert len(tables) >= 6
    for table in some(tables, 3):
        table.scroll_into_view_if_needed()  # it is laid out when it is near
        if ("GB/s" in table.locator("xpath=preceding-sibling::figcaption").inner_text()
            + table.locator("thead").inner_text()):
            heads = table.locator("th")
            filled = [c for c in range(1, heads.count())
                      if sum(bool(re.search(r"\d", row[c])) for row in cells_of(table)) > 1]
            column = filled[-1]
            heads.nth(column).locator("button").click()
            first = numbers(table, column)
            heads.nth(column).locator("button").press("Enter")
            assert first == sorted(first, reverse=True) and numbers(table, column) == sorted(first) and len(first) > 1
            assert heads.nth(column).get_attribute("aria-sort") == "ascending"


def cells_of(table):
    return table.evaluate("table => [...table.querySelectorAll('tbody tr')].map(row => "
                          "[...row.querySelectorAll('td')].map(cell => cell.innerText))")


def numbers(table, column):
    texts = [row[column] for row in cells_of(table)]
    figures = [float(re.search(r"[\d.]+", text).group()) for text in texts if re.search(r"\d", text)]
    assert all(not re.search(r"\d", text) for text in texts[len(figures):])  # what has none is last
    return figures


def test_every_plotted_point_says_what_it_is(page, reference):
    rows = {
        f"{float(row['bandwidth_gbs']):.0f}" for file in ("report", "steps")
        for row in csv.DictReader((DATA / f"h200_{file}.csv").open())
        if row["kernel"] == "transposeNaive" and row["bandwidth_gbs"]}
    for name in ("predicted_measured", "bandwidth_steps", "bandwidth_over_n", "time_per_element"):
        points = (page if name == "predicted_measured" else reference).locator(
            f"figure.still:has(#{name}-figure_1) g[data-say]")
        assert points.count() >= 9, name
    naive = reference.locator(
        'figure.still:has(#bandwidth_over_n-figure_1) g[data-say^="transposeNaive"][data-say*="GB/s"]')
    assert naive.count() > 3
    for point in naive.all():
        assert re.search(r"(\d+) GB/s", point.get_attribute("data-say"))[1] in rows
    bubble = reference.locator(".bubble")
    naive.last.hover()
    assert bubble.inner_text() == naive.last.get_attribute("data-say")
    naive.nth(1).focus()
    assert bubble.inner_text() == naive.nth(1).get_attribute("data-say")
    reference.keyboard.press("Escape")
    assert bubble.is_hidden()


# The page.

@pytest.mark.parametrize("page", some(itertools.product(WIDTHS, ("light", "dark")), 3), indirect=True)
def test_page_fits_and_follows_the_scheme(page):
    width, dark = page.viewport_size["width"], page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for name in NAMES:
        panel = part(page, name)
        assert panel.is_visible() and not page.locator(f'[data-explorable="{name}"] > .still').is_visible()
        for box in panel.evaluate("panel => [panel, ...panel.querySelectorAll('input, select, button')].map(of => "
                                  "of.getBoundingClientRect().toJSON())"):
            assert box["left"] >= 0 and box["right"] <= width + 0.5, name
    light = page.evaluate("""() => ['.play', 'body']
        .map(of => getComputedStyle(document.querySelector(of)).backgroundColor)
        .map(c => Number(c.match(/\\d+/)[0]) > 128)""")
    assert light == [not dark] * 2


def test_still_figures_without_javascript_and_in_print(browser, written, page):
    plain = browser.new_page(java_script_enabled=False)
    plain.goto(written.as_uri())
    page.emulate_media(media="print")
    for shown in (plain, page):
        for name in NAMES:
            assert shown.locator(f'[data-explorable="{name}"] > .still').is_visible()
            assert not shown.locator(f'[data-explorable="{name}"] .play').is_visible()
    plain.close()


@pytest.mark.parametrize("page, reference", [[(width, "light")] * 2 for width in WIDTHS], indirect=True)
def test_columns_of_words_are_not_the_narrowest(page, reference):
    """The idea of a step and the words of a claim have room; what does not fit scrolls inside its table."""
    width = page.viewport_size["width"]
    widths = page.evaluate("""() => [...document.querySelectorAll('#table-steps tbody tr')]
        .map(row => [...row.cells].map(cell => cell.getBoundingClientRect().width))""")
    for cells in widths:
        assert cells[1] == max(cells[:3]) or cells[1] > 160, cells
    words = reference.evaluate("""() => [...document.querySelectorAll('#table-claims tbody tr')]
        .map(row => row.cells[1].getBoundingClientRect().width)""")
    assert min(words) > (250 if width > 1000 else 0.8 * width)


@pytest.mark.parametrize("reference", itertools.product(WIDTHS, ("light", "dark")), indirect=True)
def test_the_reference_fits(reference):
    assert reference.evaluate("document.documentElement.scrollWidth") <= reference.viewport_size["width"]
    assert not reference.locator(".play").count()


def test_no_line_of_code_is_cut_off_in_print(page):
    page.emulate_media(media="print")
    assert page.evaluate("() => [...document.querySelectorAll('pre')].every(pre => "
                         "getComputedStyle(pre).whiteSpace === 'pre-wrap')")
