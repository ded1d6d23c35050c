"""The page of a run: its text has the counts and the findings of the record, whatever is in the names and the source.
In a browser, a click on an access draws its request."""

import html.parser
import json

import pytest

import browser
from conftest import ROOT, run, assert_refused

PROGRAM = """\
// </script><script>window.planted = 1</script>
__global__ void strided(float* a) { a[threadIdx.x * 8] = 1; }  // <img src=x onerror=planted=2> " ' &
__global__ void column(float* a)
{
    __shared__ float tile[32][32];
    tile[threadIdx.x][0] = 1;
    a[threadIdx.x] = tile[threadIdx.x][0];
}
__global__ void racy(float* a)
{
    __shared__ float s[64];
    s[threadIdx.x] = threadIdx.x;
    a[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void beyond(float* a) { a[1024 + threadIdx.x] = 1; }
int main()
{
    float* a;
    cudaMalloc(&a, 4096);
    strided<<<1, 32>>>(a);
    column<<<1, 32>>>(a);
    racy<<<1, 64>>>(a);
    beyond<<<1, 32>>>(a);
    cudaDeviceSynchronize();
    cudaFree(a);
}
"""
NAME = "<b>bold& planted"


class Tags(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.buttons, self.scripts, self.script = [], [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "script": self.script = dict(attributes)
        if tag == "button": self.buttons.append("")

    def handle_endtag(self, tag):
        if tag == "script": self.script = None

    def handle_data(self, data):
        if self.script is not None: self.scripts.append((self.script, data))
        elif self.buttons: self.buttons[-1] += data


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a hostile program's page and record."""
    folder = tmp_path_factory.mktemp("page")
    (folder / f"{NAME}.cu").write_text(PROGRAM, encoding="utf-8")
    done = run(ROOT / "sim/simcuda", "--page", "page.html", "--json", "run.json", f"{NAME}.cu", cwd=folder)
    assert done.returncode == 1, done.stderr
    return folder


def record_of(page):
    [text] = [data for attributes, data in page.scripts if attributes.get("id") == "record"]
    return json.loads(text)[0]


def test_the_text_has_the_costs_and_findings_of_the_record(made):
    text = (made / "page.html").read_text(encoding="utf-8")
    page, record = Tags(text), json.loads((made / "run.json").read_text(encoding="utf-8"))
    shown = record_of(page)
    for run_kernel, page_kernel in zip(record["kernels"], shown["kernels"], strict=True):
        assert page_kernel["places"] == run_kernel["places"]
        for place in page_kernel["places"]:
            assert f"{place['units'] / place['requests']:.4g} | {place['ideal_units'] / place['requests']:.4g}" in text
            drawn = place["drawn"]["worst"]
            assert drawn["units"] == place["worst_request"] and len(drawn["offsets"]) == 32
    assert {finding["kind"] for finding in shown["findings"]} == {
        "race", "uninitialized-load", "out-of-bounds-store"}
    assert all(finding["reach"] for finding in shown["findings"] if finding["kind"] != "race")
    assert sum("data-finding" in attributes for _, attributes in page.tags) == len(shown["findings"])
    assert len(text) < 1_000_000


def test_no_text_of_the_program_is_markup(made):
    page = Tags((made / "page.html").read_text(encoding="utf-8"))
    allowed = {"html", "head", "meta", "title", "style", "body", "main", "header", "h1", "h2", "small", "p", "b", "ul",
               "li", "section", "div", "table", "tbody", "tr", "th", "td", "button", "script"}
    assert {tag for tag, _ in page.tags} <= allowed
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert [attributes for tag, attributes in page.tags if tag == "script"] == [
        {"type": "application/json", "id": "record"}, {}]


def test_a_record_to_compare_with_must_be_one(made, tmp_path):
    source, other = made / f"{NAME}.cu", tmp_path / "other.json"
    record = (made / "run.json").read_text()
    for text, word in (("[1]", "line 1: expected {"), ("", "it is empty"), ('{"kernels": []}', "it has no version"),
                       ('{"version": 1, "kernels": 3}', "no list of kernels"),
                       (record[:record.index('"kernels"') + 12], "it ends too early"),
                       (record.replace('"version": 1', '"version": 2', 1), "version is 2, and this program reads"),
                       (record + "x", "expected {"), ("{" * 4000, "expected the name"),
                       ('{"a": ' + "[" * 4000, "too deep"),
                       (record.replace(", ", " ", 1), "expected ,"), (None, "No such file")):
        if text is not None: other.write_text(text)
        else: other.unlink()
        done = run(ROOT / "sim/simcuda", "--page", tmp_path / "p.html", "--against", other, source)
        assert done.returncode == 2 and word in done.stderr.splitlines()[-1], done.stderr
    other.write_text(json.dumps(json.loads(record), indent=1))
    assert run(ROOT / "sim/simcuda", "--page", tmp_path / "p.html", "--against", other, source).returncode in (0, 1)
    for command in ("step01", "--device", "sim"), ("sim/simcuda", source):
        done = run(ROOT / command[0], *command[1:], "--against", made / "run.json")
        assert done.returncode == 2 and "--page" in done.stderr.splitlines()[-1], done.stderr


@pytest.mark.variety
@pytest.mark.skipif(not browser.CHROMIUM, reason=browser.NEEDED)
def test_a_click_draws_a_request(made):
    with browser.opened() as chromium:
        view, said = chromium.new_page(viewport={"width": 1280, "height": 900}), []
        view.on("console", lambda message: said.append(message.text))
        view.on("pageerror", lambda error: said.append(str(error)))
        view.on("request", lambda request: said.append(request.url) if request.resource_type != "document" else None)
        view.goto((made / "page.html").as_uri())
        for kernel, label in (("strided", "32 sectors"), ("column", "32 wavefronts")):
            section = view.locator("section", has=view.locator("h2", has_text=kernel))
            section.locator("button.access.hot").first.click()
            drawn = section.locator("aside svg").first
            assert label in drawn.get_attribute("aria-label")
            assert drawn.evaluate("svg => svg.getBBox().width") > 300
        racy = view.locator("section", has=view.locator("h2", has_text="racy"))
        assert "nothing orders them" in racy.locator("aside").inner_text()  # open from the beginning
        racy.locator("button").first.focus()
        view.keyboard.press("ArrowDown")
        assert view.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
        assert view.evaluate("window.planted") is None and said == []
        view.set_viewport_size({"width": 400, "height": 800})
        assert view.evaluate("document.documentElement.scrollWidth") <= 400
