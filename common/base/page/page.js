// The page of a run: a click on an access draws one of its requests, and one on a finding draws what went wrong. The
// record is the JSON of the run (docs/OUTPUT.md). A record to compare with says what each access cost before.

const main = document.querySelector("main");
const machine = { major: Number(main.dataset.major), minor: Number(main.dataset.minor) };
const parsed = id => { const node = document.getElementById(id); return node ? JSON.parse(node.textContent) : []; };
const kernelsOf = runs => runs.flatMap(run => run.kernels)
                              .filter(kernel => kernel.places || kernel.accesses)
                              .map(kernel => ({ name: kernel.kernel, places: kernel.places || kernel.accesses }));
const runs = parsed("record"), kernels = kernelsOf(runs), findings = runs.flatMap(run => run.findings);
const before = kernelsOf(parsed("against"));
const short = n => String(Number(n.toPrecision(4)));
const cost = place => place.units / place.requests, ideal = place => place.ideal_units / place.requests;
const title = place => `${place.access} of ${place.memory} memory`;
const sentence = words => `${words[0].toUpperCase()}${words.slice(1)}.`;
const where = list => list ? `(${list.join(", ")})` : "?";

main.classList.add("script");
for (const work of main.querySelectorAll(".work")) work.append(el("aside", { "aria-live": "polite" }));

// The offsets of a drawn request as rules.js takes them: from where the array begins on the GPU.
const addresses = drawn => drawn.offsets.map(offset => offset === null ? -1 : drawn.begin + offset);

// The picture of a request, and of the same lanes side by side. Pictures of global memory have a row for each line of
// 128 bytes, those of shared memory a column for each bank.
function pictures(place, drawn) {
  const bytes = place.element_bytes, at = addresses(drawn), lanes = at.filter(address => address >= 0).length;
  let next = 0;
  const packed = at.map(address => address < 0 ? -1 : bytes * next++);
  const one = `${place.access} of ${plural(lanes, "lane")} × ${bytes} bytes`;
  if (place.memory === "shared")
    return [bankColumns(machine, place.access, bytes, at, one),
            el("p", { class: "key" }, "The same lanes, if their words lay side by side:"),
            bankColumns(machine, place.access, bytes, packed, one)];
  if (place.memory === "constant") return [wordRow(at, one)];
  if (place.access === "atomic") return [turnColumns(at, one)];
  return [lineRows(machine, place.access, bytes, at, one),
          el("p", { class: "key" }, "The same lanes, if their elements lay side by side:"),
          lineRows(machine, place.access, bytes, packed, one)];
}

const keys = {
  shared: [["asked", "a word that a lane needs"], ["more", "another word of the same bank: one wavefront more"],
           ["empty", "a bank that has nothing to do"]],
  atomic: [["asked", "a lane that changes an element"], ["more", "another lane, which waits for its turn"]],
  constant: [["asked", "a word: one after another"]],
  global: [["asked", "bytes that lanes need"], ["moved", "moved with them"], ["empty", "not moved"]]
};

function show(button) {
  const place = kernels[button.dataset.kernel].places[button.dataset.place];
  const aside = button.closest(".work").querySelector("aside");
  choose(button);
  const old = former(button);
  const heading = [
    el("h3", {}, `Line ${place.line}, ${title(place)}`), el("p", {}, el("code", {}, place.source)),
    el("p", {}, `${plural(place.requests, "request")}; ${short(cost(place))} ${place.unit} each, ideal ${
                    short(ideal(place))}${old ? `; before: ${short(cost(old))}` : ""}.`)];
  if (!place.drawn) return aside.replaceChildren(...heading, el("p", {}, sentence(place.diagnosis)));
  const stage = el("div", { class: "stage" });
  const draw = which => {
    const drawn = place.drawn[which];
    for (const each of choices.children) each.setAttribute("aria-pressed", String(each.name === which));
    stage.replaceChildren(
        el("p", {}, "a request of ", el("b", { class: "units" }, plural(drawn.units, place.unit.replace(/s$/, ""))),
           `, as ${drawn.requests.toLocaleString("en")} of ${place.requests.toLocaleString("en")}: block ${
               where(drawn.block)}, warp ${drawn.warp}${drawn.memory ? `, ${drawn.memory}` : ""}`),
        ...pictures(place, drawn));
  };
  const choices = el("p", { class: "choose" }, ["first", "worst", "typical"].map(
      name => el("button", { type: "button", name, onclick: () => draw(name) }, name)));
  const turns = place.access === "atomic" && place.memory !== "shared";
  const kind = turns ? "atomic" : place.memory in keys ? place.memory : "global";
  aside.replaceChildren(
      ...heading, choices, stage, el("p", { class: "why" }, sentence(place.diagnosis)),
      el("p", { class: "key" }, keys[kind].map(([name, text]) => [key(name, text), " "])));
  draw("worst");
}

// A finding: two threads and their lines, or the array and where the access fell.
function tellFinding(button) {
  const finding = findings[button.dataset.finding], aside = button.closest(".work").querySelector("aside");
  choose(button);
  const threads = [finding, ...finding.related].filter(place => place.thread);
  const parts = [el("h3", {}, `${finding.kind}, line ${finding.line}`)];
  if (finding.reach) parts.push(reachPicture(finding));
  else if (threads.length > 1) parts.push(threadsPicture(finding, threads));
  aside.replaceChildren(...parts, el("p", { class: "why" }, sentence(finding.text)));
}

function threadsPicture(finding, threads) {
  const [a, b] = threads, name = place => `thread ${where(place.thread)} of block ${where(place.block)}`;
  const source = place => (sourceOf(place) || "").slice(0, 56);
  const box = (y, place) => [shape("rect", { class: "empty", x: 1, y, width: 418, height: 42 }),
                             svgText(10, y + 17, name(place)),
                             svgText(10, y + 34, `line ${place.line}: ${source(place)}`)];
  return drawing(420, 146, `${name(a)} and ${name(b)}`, { class: "threads" }, box(2, a), box(100, b),
                 shape("path", { class: "link", d: "M210 46V98" }),
                 svgText(220, 68, finding.memory ? `both at ${finding.memory}` : "they meet here"),
                 svgText(220, 86, `nothing orders them${finding.in_shared_memory ? ": no barrier" : ""}`));
}

// A line of the source, as the page shows it.
function sourceOf(place) {
  const row = [...main.querySelectorAll("td.n")].find(cell => cell.textContent === String(place.line));
  return row && row.nextElementSibling.textContent.trim();
}

function reachPicture(finding) {
  const [offset, bytes, size] = finding.reach, wide = 300, left = 60;
  const inside = offset >= 0 && offset + bytes <= size;
  const x = inside ? left + wide * offset / size : offset < 0 ? left - 30 : left + wide + 24;
  const array = shape("rect", { class: "moved", x: left, y: 30, width: wide, height: 20 });
  return drawing(420, 84, finding.text, { class: "threads" }, array,
                 svgText(left, 24, `${finding.memory}: ${plural(size, "byte")}`),
                 shape("rect", { class: "more", x, y: 28, width: 6, height: 24 }),
                 svgText(Math.min(x, 300), 66, `${plural(bytes, "byte")} at ${offset.toLocaleString("en")}`));
}

function choose(button) {
  for (const other of button.closest(".work").querySelectorAll(".source [aria-pressed]"))
    other.removeAttribute("aria-pressed");
  button.setAttribute("aria-pressed", "true");
}

// The same access of the record to compare with: of the same kernel, or of the only one, with the same source.
function former(button) {
  const kernel = kernels[button.dataset.kernel], place = kernel.places[button.dataset.place];
  const same = before.find(other => other.name === kernel.name) || (before.length === 1 ? before[0] : undefined);
  const fits = other => other.access === place.access && other.memory === place.memory;
  return same && (same.places.find(other => fits(other) && other.source === place.source) ||
                  same.places.find(other => fits(other) && other.line === place.line) ||
                  (same.places.filter(fits).length === 1 ? same.places.find(fits) : undefined));
}

const buttons = [...main.querySelectorAll("button.access, button.finding")];
buttons.forEach((button, i) => {
  const act = button.matches(".access") ? show : tellFinding;
  button.addEventListener("click", () => act(button));
  button.addEventListener("keydown", event => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !buttons[i + step]) return;
    event.preventDefault();
    buttons[i + step].focus();
    buttons[i + step].click();
  });
  const old = button.matches(".access") ? former(button) : undefined;
  if (old && short(cost(old)) !== short(cost(kernels[button.dataset.kernel].places[button.dataset.place])))
    button.prepend(el("span", { class: "was" }, `was ${short(cost(old))}, `));
});
for (const work of main.querySelectorAll(".work")) { // what is worst is open, and the window stays where it is
  const first = ["button.finding", "[data-worst]", "button.access"].map(kind => work.querySelector(kind)).find(Boolean);
  if (first) first.click();
}
