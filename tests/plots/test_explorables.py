"""The chapter's page in a browser: its explorables, operated by mouse and by keyboard, say what the simulator
counts."""

import csv
import itertools
import math
import re
import sys

import pytest
from playwright.sync_api import expect

from browser import CHROMIUM, NEEDED
from browser import opened as opened_browser
from conftest import step
from lessons import LESSONS, ROOT, run
from samples import some

sys.path.insert(0, str(ROOT / "plots"))
from figures.bytes_in_flight import model
from traces import MEMORIES, read_trace

pytestmark = [pytest.mark.variety, pytest.mark.skipif(not CHROMIUM, reason=NEEDED)]
DATA = ROOT / "plots/data"
NAMES = ["warp", "banks", "partitions", "flight", "race"]
WIDTHS = (1280, 400)
CASES = 3000


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
    return panel.locator(f'[data-is="{name}"]').text_content()  # also of what is behind "more"


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
    """Random requests: their transactions, their wavefronts and the first lanes that meet; and random blocks on every
    machine: how many run."""
    def asked(*options): return list(csv.DictReader(run(ROOT / "build/tests/sim/rules", *options).stdout.splitlines()))
    cases = asked("--cases", CASES)
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
    blocks = asked("--blocks", CASES)
    assert page.evaluate("cases => cases.map(([machine, threads, shared]) => "
                         "chapter.rules.residentBlocks(chapter.made.machines[machine], threads, shared))",
                         [(c["machine"], int(c["threads"]), int(c["shared"])) for c in blocks]
                         ) == [int(c["blocks"]) for c in blocks]


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


# Each asks one question.

def verdict(panel):
    """(what the answer is: "right", "wrong" or "", its text)."""
    answer = panel.locator(".answer")
    return answer.get_attribute("class").removeprefix("answer").strip(), answer.inner_text()


def more(panel):
    """Opens what is behind "more", by keyboard."""
    panel.locator("summary").press("Enter")
    expect(panel.locator("details.more")).to_have_attribute("open", "")


@pytest.mark.parametrize("name", NAMES)
def test_one_question_and_at_most_three_controls(page, name):
    """The rest is behind "more", nothing is answered at the start, and all is reached by keyboard."""
    panel = part(page, name)
    question = panel.locator(".question").inner_text()
    assert question.count("?") == 1 and verdict(panel)[0] != "right"
    controls = panel.locator("input, select, button")
    first = [control for control in controls.all() if control.is_visible()]
    assert 1 <= len(first) <= 3 and controls.count() > 3 and not panel.locator("details.more").get_attribute("open")
    # By keyboard alone: the controls come one after the other, in the order in which they are seen, then "more".
    first[0].focus()
    for control in [*first, panel.locator("summary")]:
        for _ in range(12):  # past the marks of a chart
            if control.evaluate("control => control === document.activeElement"): break
            page.keyboard.press("Tab")
        assert control.evaluate("control => control === document.activeElement"), control
    page.keyboard.press("Enter")
    assert all(control.is_visible() for control in controls.all())


# Follow a warp.

def test_a_request_of_eight_times_the_bytes_is_found(page):
    panel = part(page, "warp")
    control(panel, "next").click()
    assert verdict(panel)[0] == "right"
    assert verdict(panel)[1].startswith("Right. transposeNaive stores 128 bytes of odata, which lie in 32 sectors.")
    control(panel, "at").press("ArrowRight")
    assert verdict(panel)[0] == "" and verdict(panel)[1].endswith("Go on, and watch the cost.")
    assert panel.locator('[data-memory="banks"]').first.is_hidden()
    control(panel, "at").press("End")  # the naive kernel's warp has no request 16, and its last one is not judged
    assert verdict(panel)[1].endswith("The warp of transposeNaive ended with its request 8. "
                                      "Go back, and watch the cost.")
    control(panel, "back").press("Enter")
    assert "reads the tile in 32 wavefronts" in verdict(panel)[1]
    assert panel.locator('[data-memory="banks"]').first.is_visible()


# Banks.

def test_a_padding_is_found(page):
    """Every odd padding is right; of an even one it is said how many lanes meet."""
    panel = part(page, "banks")
    for pad in range(9):
        slide(panel, "pad", pad)
        meet = math.gcd(32, 32 + pad)
        kind, text = verdict(panel)
        assert (kind, text.split(".")[0]) == (("right", "Right, 1 wavefront") if pad % 2 else
                                              ("wrong", f"{meet} wavefronts")), pad


def banks_read(panel):
    """The banks of lanes 0 to 31, as a reader who sees no picture hears them."""
    return [int(bank) for bank in panel.locator("canvas.tile").get_attribute("aria-label").split(": ")[1].split()]


def test_banks_by_keyboard_and_what_is_wrong_with_an_input(page):
    panel = part(page, "banks")
    more(panel)
    assert said(panel, "meets") == "lanes 1\u2060–\u206031 in a bank" and panel.locator(".lanes p").count() == 32
    control(panel, "pad").press("ArrowUp")
    slide(panel, "at", 5)
    assert said(panel, "cost") == "1 wavefront" and said(panel, "meets") == "no other lane"
    slide(panel, "lane", 7)
    assert said(panel, "lane") == "lane 7: element (7, 5), bank 12, wavefront 1"
    assert banks_read(panel) == [(33 * r + 5) % 32 for r in range(32)]
    for text, words in (("c +", "ends too early"), ("c + 40", "outside the row"), ("c & r", "both land in"),
                        ("x", "“x” is not expected"), ("c / 0", "division by 0"), ("(c", "not closed")):
        slide(panel, "swizzle", text)
        assert words in panel.locator("#swizzle-fault").inner_text(), text
    control(panel, "swizzled").click()
    assert said(panel, "cost") == "1 wavefront" and panel.locator("#swizzle-fault").inner_text() == ""
    slide(panel, "width", "999")  # gets a message, and changes nothing
    assert "999 is no whole number from 8 to 64" in panel.locator("#width-fault").inner_text()
    assert said(panel, "cost") == "1 wavefront" and control(panel, "width").get_attribute("aria-invalid") == "true"


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


def test_camping_has_three_ways_out(page):
    panel = part(page, "partitions")
    assert verdict(panel)[0] == "wrong" and "A row of 2048 floats is 4 rounds of the 8 partitions" in verdict(panel)[1]
    before = float(said(panel, "stores"))
    for name, value, words, end in (("n", "2080", "A row of 2080 floats is 4.06 rounds", "1 of 3 ways."),
                                    ("kernel", "transposeDiagonal", "along diagonals", "2 of 3 ways."),
                                    ("machine", "v100", "Tesla V100", "all three ways.")):
        was = control(panel, name).input_value()
        (slide(panel, name, value) if name == "n" else control(panel, name).select_option(value))
        kind, text = verdict(panel)
        assert kind == "right" and words in text and text.endswith(end) and float(said(panel, "stores")) < 2 < before
        (slide(panel, name, was) if name == "n" else control(panel, name).select_option(was))
        assert verdict(panel)[0] == "wrong" and float(said(panel, "stores")) == before


# Bytes in flight.


def test_bytes_in_flight_follow_the_model(page):
    panel = part(page, "flight")
    assert verdict(panel)[0] == "wrong" and "8,192 bytes in flight are 62 % of the 13,2" in verdict(panel)[1]
    slide(panel, "loads", 2)
    assert verdict(panel)[0] == "right" and "It has 16,384." in verdict(panel)[1]
    more(panel)
    micro = {row["constant"]: float(row["value"]) for row in csv.DictReader((DATA / "h200_micro.csv").open())}
    for latency in (400, 800):
        slide(panel, "latency", latency)
        assert float(said(panel, "gbs").split()[0].replace(",", "")) == pytest.approx(
            float(model(16384, 132, latency, micro["stream"])), abs=0.6)
    control(panel, "machine").select_option("t4")  # the marks are those of the card that was measured
    assert said(panel, "roof") == "320 GB/s" and panel.locator("g.point").count() == 0
    control(panel, "machine").select_option("h200")
    control(panel, "later").check()
    measured = {row["kernel"]: row for row in csv.DictReader((DATA / "h200_steps.csv").open())
                if row["type"] == "float" and row["width"] == row["height"] == "16384"}
    texts = [point.get_attribute("data-say") for point in panel.locator("g.point").all()]
    assert sorted(text.split(",")[0] for text in texts) == sorted(LESSONS)
    for text in texts:
        assert f": {float(measured[text.split(',')[0]]['bandwidth_gbs']):,.10g} GB/s measured" in text


# Race.

def test_the_race_begins_with_step_3(page):
    """Its kernel without its barrier: a thread reads an element that the other has not filled. A wrong order is played,
    without motion at once."""
    panel = part(page, "race")
    assert panel.locator("h5").all_inner_texts() == ["thread (3, 0)", "thread (0, 3)"]
    assert panel.locator("li.missing").all_inner_texts() == ["barrier 1 is missing here"] * 2
    assert panel.locator("[name=kernel] option").all_text_contents() == ["transposeCoalesced", "transposeLoopingBlocks"]
    assert page.evaluate("[true, false].map(barrier => !!chapter.wrongOrder(chapter.made.race[0], [barrier, true]))"
                         ) == [False, True]
    page.emulate_media(reduced_motion="reduce")
    control(panel.locator("details"), "show").evaluate("button => button.click()")
    assert verdict(panel)[0] == "right"
    page.emulate_media(reduced_motion="no-preference")
    control(panel, "again").click()
    for _ in range(3):
        control(panel, "run-0").click()
    assert verdict(panel) == ("right", "Found. Thread (3, 0) reads what lay there before from tile[3][0], but it has "
                              "to write idata[3][0]. The other thread has not filled it yet. Barrier 1, behind “more”, "
                              "forbids that.")
    more(panel)
    control(panel, "barrier-0").check()
    assert "no order of these threads reads a wrong value" in verdict(panel)[1]
    assert control(panel, "barrier-1").count() == 0


def looping(page):
    """The race of a kernel with a loop, which is behind “more”."""
    panel = part(page, "race")
    more(panel)
    control(panel, "kernel").select_option(label="transposeLoopingBlocks")
    assert control(panel, "kernel").evaluate("control => control === document.activeElement")
    return panel


def test_a_race_is_run_to_the_wrong_value(page):
    """That the check of the published fault reports."""
    panel = looping(page)
    hazard = re.search(r"byte (\d+):\s+thread \((\d+), (\d+), 0\) reads at \S+ and thread \((\d+), (\d+), 0\) writes",
                       step("step04", "--errata").stdout)
    writer, reader = f"thread ({hazard[4]}, {hazard[5]})", f"thread ({hazard[2]}, {hazard[3]})"
    assert panel.locator("h5").all_inner_texts() == [writer, reader]
    assert page.evaluate("[[true, true], [true, false], [false, true], [false, false]].map(barriers => "
                         "!!chapter.wrongOrder(chapter.made.race[1], barriers))") == [False, True, True, True]
    # By keyboard: both fill the tile and pass the barrier; the writer goes on and fills it again; the reader reads.
    for who, times in ((0, 2), (1, 3), (0, 4)):
        for _ in range(times):
            control(panel, f"run-{who}").press("Enter")
    assert verdict(panel)[0] == "" and verdict(panel)[1].endswith(" No wrong value so far.")
    control(panel, "run-0").press("Enter")
    control(panel, "run-1").press("Enter")
    at = f"tile[0][{int(hazard[1]) // 4}]"
    assert verdict(panel)[0] == "right" and verdict(panel)[1].startswith(
        f"Found. T{reader[1:]} reads idata[0][1025] from {at}, but it has to write idata[0][1].")
    assert panel.locator("li.wrong").inner_text() == f"r = {at}"
    # With both barriers, no order is wrong, and the run ends with the transpose.
    control(panel, "barrier-1").press("Space")
    assert "no order of these threads reads a wrong value" in verdict(panel)[1]
    out = page.evaluate("""() => { const race = chapter.made.race[1], ran = [];
        for (let now; (now = chapter.runRace(race, [true, true], ran)).may.some(Boolean);)
            ran.push(now.may.indexOf(true));
        return [...chapter.runRace(race, [true, true], ran).out]; }""")
    assert len(out) == 4
    for offset, element in out:
        row, column = divmod(offset // 4, 40)
        assert element == column * 1100 + row


# Tables and points.

def test_tables_of_bandwidths_sort(reference):
    """By a click or a key. What has no figure stays last."""
    table = reference.locator("#table-bandwidths .table")
    table.scroll_into_view_if_needed()  # it is laid out when it is near
    head = table.locator("th:has(button)").last

    def numbers():
        texts = table.locator("tbody tr td:last-child").all_inner_texts()
        figures = [float(re.search(r"[\d.]+", text)[0]) for text in texts if re.search(r"\d", text)]
        assert all(not re.search(r"\d", text) for text in texts[len(figures):])
        return figures
    head.locator("button").click()
    assert numbers() == sorted(numbers(), reverse=True) and len(numbers()) > 1
    head.locator("button").press("Enter")
    assert numbers() == sorted(numbers()) and head.get_attribute("aria-sort") == "ascending"


def test_every_plotted_point_says_what_it_is(page, reference):
    for name in ("predicted_measured", "bandwidth_steps", "bandwidth_over_n", "time_per_element"):
        points = (page if name == "predicted_measured" else reference).locator(
            f"figure.still:has(#{name}-figure_1) g[data-say]")
        assert points.count() >= 9, name
    point, bubble = points.last, reference.locator(".bubble")
    point.hover()
    assert bubble.inner_text() == point.get_attribute("data-say")
    points.nth(1).focus()
    assert bubble.inner_text() == points.nth(1).get_attribute("data-say")
    reference.keyboard.press("Escape")
    assert bubble.is_hidden()


# The page.

def fits(page):
    """Neither the page nor a still figure needs to be moved sideways."""
    return page.evaluate("""() => document.documentElement.scrollWidth <= innerWidth &&
        [...document.querySelectorAll("figure.still svg")].every(svg => svg.scrollWidth <= svg.parentNode.clientWidth
            && svg.getBoundingClientRect().right <= innerWidth)""")


@pytest.mark.parametrize("page", some(itertools.product(WIDTHS, ("light", "dark")), 3), indirect=True)
def test_page_fits_and_follows_the_scheme(page):
    width, dark = page.viewport_size["width"], page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert fits(page)
    for name in NAMES:
        panel = part(page, name)
        assert panel.is_visible() and not page.locator(f'[data-explorable="{name}"] > .still').is_visible()
        for box in panel.evaluate("panel => [panel, ...panel.querySelectorAll('input, select, button')].map(of => "
                                  "of.getBoundingClientRect().toJSON())"):
            assert box["left"] >= 0 and box["right"] <= width + 0.5, name
    # Two kernels stay side by side, and the cost stands above the tile, whose rows have room for 10 pixels of text.
    left, right = (part(page, "warp").locator(f"section[data-side={side}]").first.bounding_box() for side in "ab")
    assert left["x"] + left["width"] <= right["x"] and abs(left["y"] - right["y"]) < 1
    tile, answer = (part(page, "banks").locator(of).bounding_box() for of in ("canvas.tile", ".answer"))
    assert answer["y"] + answer["height"] <= tile["y"] and tile["height"] >= 32 * 12 and tile["width"] <= width
    light = page.evaluate("""() => ['.play', 'body']
        .map(of => getComputedStyle(document.querySelector(of)).backgroundColor)
        .map(c => Number(c.match(/\\d+/)[0]) > 128)""")
    assert light == [not dark] * 2
