// Brings the page to life: explorables in the place of their still figures, tables that sort, points that say what they
// are.

const made = JSON.parse(document.getElementById("explorables").textContent);

for (const [name, build] of explorables) {
  const place = document.querySelector(`[data-explorable="${name}"]`);
  if (!place || !made[name]) continue;
  const panel = el("section", { class: "play" });
  place.append(panel); // before it is built, because it has no style and no width outside the page
  place.classList.add("live");
  build(panel, made[name], made.machines);
}

// A link into an answer that is folded away opens it.
function unfold() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", unfold);
unfold();

// A table with columns of numbers sorts by each of its columns, on a click or by the keyboard.
const figureIn = text => {
    const found = text.replace(/,/g, '').match(/-?\d+(\.\d+)?/);
    return found ? Number(found[0]) : undefined;
};

for (const table of document.querySelectorAll(".table table")) {
  const headings = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  if (body.rows.length < 3 || !headings.some(heading => heading.style.textAlign === "right")) continue;
  headings.forEach((heading, column) => {
    const name = heading.textContent;
    if (!name) return;
    heading.replaceChildren(el("button", { type: "button", title: `sort by ${name}`, onclick: () => {
      const descending = heading.getAttribute("aria-sort") !== "descending";
      const numeric = heading.style.textAlign === 'right' ||
          [...body.rows].every(row => /^\d+$|^$/.test(row.cells[column].textContent));
      const worth = row => numeric ? figureIn(row.cells[column].textContent) : row.cells[column].textContent;
      headings.forEach(other => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const order = (a, b) => numeric ? a - b : a.localeCompare(b);
      // What has no figure stays last.
      body.append(...[...body.rows]
                      .map(row => [worth(row), row])
                      .sort(
                          ([a], [b]) => a === undefined ? (b === undefined ? 0 : 1) :
                              b === undefined           ? -1 :
                                                          (descending ? order(b, a) : order(a, b)))
                      .map(([, row]) => row));
    } }, ...heading.childNodes));
  });
}

// Points of figures and of charts: what each one is, beside the pointer or under the focus.
const bubble = el("div", { class: "bubble", role: "status", hidden: true });
document.body.append(bubble);
for (const group of document.querySelectorAll("figure.still g[data-say]")) group.setAttribute("tabindex", 0);

function saying(event) {
  const point = event.target.closest && event.target.closest("[data-say]");
  bubble.hidden = !point;
  if (!point) return;
  bubble.textContent = point.dataset.say;
  const box = point.getBoundingClientRect(), width = bubble.offsetWidth;
  bubble.style.left = `${
      Math.max(4, Math.min(document.documentElement.clientWidth - width - 4, box.left + box.width / 2 - width / 2)) +
      scrollX}px`;
  bubble.style.top = `${box.top + scrollY - bubble.offsetHeight - 6}px`;
}
for (const type of ["pointerover", "focusin"]) document.addEventListener(type, saying);
document.addEventListener("focusout", () => { bubble.hidden = true; });
document.addEventListener("keydown", event => { if (event.key === "Escape") bubble.hidden = true; });

// For the console, and for the tests.
window.chapter = { made, rules, openRequest, partitionTraffic, busiest, effectiveBandwidth, runRace, wrongOrder };
