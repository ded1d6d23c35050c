"""The slides: they follow the guide's plan, an answer comes after its question, and every slide fits on the screen and
on a page."""

import re
import sys

import pytest

from browser import CHROMIUM, NEEDED
from browser import opened as opened_browser
from conftest import assert_refused
from lessons import ROOT, run
from samples import some

sys.path[:0] = [str(ROOT / "plots"), str(ROOT / "lab")]
import quoted
import slides
import words

needs_a_browser = pytest.mark.skipif(not CHROMIUM, reason=NEEDED)
GUIDE = slides.GUIDE.read_text()
DECK = list(slides.deck(GUIDE))


def of_kind(kind):
    return [slide for slide in DECK if slide.kind == kind]


def test_they_follow_the_plan():
    parts = slides.plan(GUIDE)
    assert parts[-1].end == 90 and [part.what.split(":")[0] for part in parts] == [
        "step 1", "step 2", "step 3", "step 4", "exercise 4", "homework"]
    feet = list(dict.fromkeys(slide.foot for slide in DECK if slide.foot))
    assert feet == [*(f"{part.what.split(':')[0]}, minutes {part.begin} to {part.end}" for part in parts), "summary"]
    for part in parts[:4]:
        kinds = [slide.kind for slide in DECK if slide.foot.startswith(part.what.split(":")[0] + ",")]
        assert kinds[0] == "part" and kinds[-1] == "numbers" and part.asked, kinds
        assert kinds.index("words") < kinds.index("code") < kinds.index("question"), kinds
    assert not of_kind("plan")[0].text.count("Step 2 |")  # every line says what the minutes are for


def test_every_word_is_defined_before_it_is_used():
    """The plan's words, each where it is new, as the glossary has them; the columns of the numbers among them."""
    for part in slides.plan(GUIDE)[:4]:
        new = slides.words_of(part)
        (slide,) = [s for s in of_kind("words") if s.foot.startswith(part.what.split(":")[0] + ",")]
        assert new and re.findall(r"^\| \*\*(.*?)\*\*", slide.text, re.MULTILINE) == new
        for word in new:
            said = words.definition(word)
            assert f"| {said} |" in slide.text and 20 < len(said) < 200, said
            assert "](" not in said and "<!--" not in said, said
    with pytest.raises(ValueError, match="has no word “warp speed”"):
        words.definition("warp speed")
    first = {word: i for i, slide in reversed(list(enumerate(DECK)))
             for word in ("wavefront", "sector", "bank", "race")
             if re.search(rf"\b{word}s?\b", slide.text)
            and slide.kind in ("question", "answer", "numbers", "words", "picture")}
    assert {DECK[i].kind for i in first.values()} == {"words"}, first


def test_no_slide_shows_an_answer_of_a_later_step():
    at = {slide.figure: i for i, slide in enumerate(DECK) if slide.figure}
    asked = {slide.text: i for i, slide in enumerate(DECK) if slide.kind == "question"}
    assert at["bandwidth_steps"] > max(asked.values())
    assert asked["What happens without the barrier?"] < at["race"]
    assert max(asked[text] for text in asked if "bank" in text) < at["banks"]
    assert at.get("sectors_naive_coalesced", len(DECK)) > asked["What happens without the barrier?"]
    assert at["transpose"] < asked["The warp reads a row. What does it write?"] < at["sectors_naive"]
    assert at["gpu"] < min(asked.values())


def test_an_answer_is_on_the_slide_after_its_question():
    asked = [pair for part in slides.plan(GUIDE) for pair in part.asked]
    assert len(asked) == GUIDE[GUIDE.index("**90 minutes.**"):GUIDE.index("**Three hours.**")].count('?"')
    for question, answer in asked:
        (at,) = [i for i, slide in enumerate(DECK) if slide.kind == "question" and slide.text == question]
        assert ((DECK[at + 1].kind, DECK[at + 1].title, DECK[at + 1].text)
                == ("answer", question, slides.sentence(answer)))


def test_the_numbers_are_measured():
    *before, last = of_kind("numbers")
    assert all("wavefronts" not in slide.text for slide in before)  # step 4 asks about them
    found = {kernel: cells.split(" | ") for slide in [last]
             for kernel, cells in re.findall(r"^\| `(\w+)` \| (.*) \|$", slide.text, re.MULTILINE)}
    assert (found["transposeNaive"][:3] == ["4", "32", "-"] and found["transposeCoalesced"][2] == "32"
            and found["transposeNoBankConflicts"][2] == "1")
    for kernel, cells in found.items():
        assert cells[3:] == [
            f"**{quoted.number(f'gbs {kernel} float 16384')}**",
            quoted.number(f"share {kernel} float 16384")]


def test_no_solution_is_on_them():
    text = slides.to_html(DECK)
    assert "&lt;p" not in text  # no element is shown as text
    assert "Hints" not in text and "r / 2" not in text and "tests/lab" not in text


def test_what_the_guide_must_have(tmp_path):
    with pytest.raises(ValueError, match="no table follows"):
        slides.plan(GUIDE.replace("**90 minutes.**", "**80 minutes.**"))
    assert_refused(run(sys.executable, ROOT / "lab/slides.py", "--out", "/dev/null/slides.html"), 2, "/dev/null")


@pytest.fixture(scope="module")
def browser():
    with opened_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("slides") / "slides.html"
    done = run(sys.executable, ROOT / "lab/slides.py", "--out", path)
    assert (done.returncode, done.stdout) == (0, f"{path}\n"), done.stderr
    return path


@pytest.mark.variety
@needs_a_browser
@pytest.mark.parametrize("width, height", some([(1280, 720), (1920, 1080), (1024, 768)], 2))
def test_every_slide_fits(browser, written, width, height):
    page = browser.new_page(viewport={"width": width, "height": height})
    complaints, requests = [], []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(written.as_uri())
    for number, slide in enumerate(DECK, 1):
        now = page.locator(".slide.now")
        assert now.get_attribute("id") == f"slide-{number}" and now.count() == 1
        over = now.evaluate("""slide => {
            const foot = slide.querySelector("footer").getBoundingClientRect().top;
            return [...slide.querySelectorAll("h1, p, pre, code, table, svg")].filter(e => {
                const box = e.getBoundingClientRect();
                return e.scrollWidth > e.clientWidth + 1 && e.tagName === "PRE" || box.right > innerWidth ||
                    box.left < 0 || box.top < 0 || box.bottom > foot + 1;
            }).map(e => e.outerHTML.slice(0, 80));
        }""")
        assert over == [], (number, slide.title)
        page.keyboard.press("ArrowRight")
    assert complaints == [] and set(requests) == {written.as_uri()}
    page.close()


@pytest.mark.variety
@needs_a_browser
def test_letters_can_be_read_on_a_telephone(browser, written):
    page = browser.new_page(viewport={"width": 400, "height": 800})
    page.goto(written.as_uri())
    for number, slide in enumerate(DECK, 1):
        small = page.locator(".slide.now").evaluate("""slide =>
            [...slide.querySelectorAll("p, td, th, pre, h1, footer")]
                .filter(e => parseFloat(getComputedStyle(e).fontSize) < 10 ||
                             e.getBoundingClientRect().right > innerWidth)
                .map(e => e.outerHTML.slice(0, 80))""")
        assert small == [], (number, slide.title)
        page.keyboard.press("ArrowRight")
    page.close()


@pytest.mark.variety
@needs_a_browser
def test_keys(browser, written):
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.goto(written.as_uri() + "#3")
    at = lambda: int(page.locator(".slide.now").get_attribute("id").split("-")[1])  # noqa: E731
    for key, expected in (("ArrowRight", 4), ("Space", 5), ("PageDown", 6), ("ArrowLeft", 5), ("PageUp", 4),
                          ("End", len(DECK)), ("ArrowRight", len(DECK)), ("Home", 1), ("ArrowLeft", 1), ("a", 1)):
        page.keyboard.press(key)
        assert at() == expected, key
    page.mouse.click(1000, 300)
    assert at() == 2
    page.mouse.click(100, 300)
    assert at() == 1
    page.goto(written.as_uri() + "#999")
    page.reload()
    assert at() == len(DECK)
    page.close()


@pytest.mark.variety
@needs_a_browser
def test_print(browser, written):
    page = browser.new_page()
    page.goto(written.as_uri())
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True, print_background=True))) == len(DECK)
    page.close()
