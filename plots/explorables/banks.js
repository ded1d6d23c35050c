// Banks: the tile coloured by bank, for any width, padding, swizzle, element and machine; who meets whom, and how many
// wavefronts.

explorables.set("banks", (panel, _, machines) => {
  const state = { machine: "h200", type: "float", width: 32, pad: 0, swizzle: "c", way: "column", at: 0, lane: 0 };
  const set = name => value => { state[name] = value; draw(); };
  const along = slider("at", "column that is read", { min: 0, max: 31, value: 0 }, set("at"));
  const padding = slider("pad", "padding, unused words per row", { min: 0, max: 8, value: 0 }, set("pad"));
  const swizzle = el("input", {
    name: "swizzle", value: state.swizzle, size: 14, spellcheck: "false", autocomplete: "off",
    "aria-describedby": "swizzle-fault", oninput: () => set("swizzle")(swizzle.value) });
  const fault = el("p", { class: "fault", id: "swizzle-fault", role: "status" });
  const tile = el("canvas", { class: "tile", role: "img" }), frame = el("div", { class: "tile-frame" }, tile);
  const lanes = el("div", { class: "lanes" });
  let shown; // width of the frame
  const preset = (name, text, values) => button(name, text, () => {
    Object.assign(state, values);
    panel.querySelector('[name="width"]').value = values.width;
    swizzle.value = values.swizzle;
    padding.limit(0, 8, values.pad);
    draw();
  });

  const say = ask(panel, {
    title: "Banks",
    question: "A warp reads a column of the tile in 32 wavefronts. Which padding makes it 1?",
    hint: "A cell shows the bank of its word. In a wavefront, each bank delivers one word. The framed cells are " +
        "read, one by each lane. “more” chooses the lane in orange.",
    controls: [padding, along],
    stage: frame,
    more: [
      el("div", { class: "controls" }, preset("unpadded", "step 3: tile[32][32]", { width: 32, pad: 0, swizzle: "c" }),
         preset("padded", "step 4: tile[32][32 + 1]", { width: 32, pad: 1, swizzle: "c" }),
         preset("swizzled", "swizzled: c ^ r", { width: 32, pad: 0, swizzle: "c ^ r" }),
         preset("small", "tile[16][16 + 1]", { width: 16, pad: 1, swizzle: "c" })),
      el("div", { class: "controls" },
         number("width", "tile width", { min: 8, max: 64, value: state.width }, set("width")),
         el("label", {}, el("span", {}, "column of element (r, c)"), swizzle),
         choice("type", "element type",
                Object.entries(BYTES).map(([type, bytes]) => [type, `${type}, ${plural(bytes, "byte")}`]), state.type,
                set("type")),
         machineChoice(machines, state.machine, set("machine")),
         choice("way", "the warp", [["column", "reads a column"], ["row", "fills a row"]], state.way, set("way")),
         slider("lane", "marked lane", { min: 0, max: 31, value: 0 }, set("lane"))),
      fault, facts(["cost", "cost"], ["the marked lane", "lane"], ["it meets", "meets"]), lanes] });
  onWidth(frame, () => { if (frame.clientWidth !== shown) draw(); });
  onScheme(draw);
  draw();

  function draw() {
    const machine = machines[state.machine], bytes = BYTES[state.type], { width, pad } = state, row = width + pad,
          banks = rules.banks(machine);
    // Threads are numbered along rows as wide as the tile, or as a warp: a narrow tile gives a warp several rows.
    const wide = Math.min(width, 32), deep = Math.ceil(32 / wide);
    const last = Math.max(0, width - deep);
    state.at = Math.min(state.at, last);
    along.limit(0, last, state.at);
    along.querySelector("span").firstChild.textContent =
        state.way === "column" ? "column that is read" : "row that is filled";
    const high =
        state.way === "row" && width >= 32 ? Math.max(32, state.at + 1) : Math.max(Math.min(width, 32), deep);
    let place;
    try {
      place = expression(state.swizzle);
      for (let r = 0; r < high; ++r) {
        const taken = new Map();
        for (let c = 0; c < width; ++c) {
          const to = place(r, c);
          if (!(to >= 0 && to < row))
            throw `Row ${r}, column ${c}: ${to} is outside the row. Keep it between 0 and ${row - 1}.`;
          if (taken.has(to))
            throw `Row ${r}: columns ${taken.get(to)} and ${c} both land in ${
                to}. Use an expression that gives each column another place.`;
          taken.set(to, c);
        }
      }
      fault.textContent = "";
    } catch (problem) {
      if (typeof problem !== "string") throw problem;
      fault.textContent = problem;
      return;
    }
    const elements = Array.from({ length: 32 }, (_, lane) => {
      const x = lane % wide, y = Math.floor(lane / wide);
      return state.way === "column" ? [x, state.at + y] : [state.at + y, x];
    });
    const offset = (r, c) => (r * row + place(r, c)) * bytes;
    const offsets = elements.map(([r, c]) => c < width ? offset(r, c) : -1);
    const access = state.way === "column" ? "load" : "store";
    const served = rules.wavefronts(machine, access, bytes, offsets);
    const bankOf = at => Math.floor(at / 4) % banks;
    const spots = elements.map(([r, c], lane) => offsets[lane] < 0 ? undefined : [r, place(r, c)]);
    shown = frame.clientWidth;
    paintTile(tile, shown, { high, row, banks, spots, marked: spots[state.lane],
                             bankOf: (r, c) => bankOf((r * row + c) * bytes) });

    const mine = offsets[state.lane], bank = bankOf(mine);
    const meets = rules.conflicts(machine, access, bytes, offsets)
                      .filter(pair => pair.includes(state.lane))
                      .map(([a, b]) => a === state.lane ? b : a);
    tell(panel, {
      cost: plural(served.count, "wavefront"),
      lane: mine < 0 ? "idle" : `lane ${state.lane}: element (${elements[state.lane].join(", ")}), bank ${
                                    bank}, wavefront ${served.of[state.lane] + 1}`,
      meets: meets.length ? `lane${meets.length === 1 ? "" : "s"} ${ranges(meets)} in a bank` : "no other lane",
    });
    lanes.replaceChildren(...wavefrontList(served));
    judge(machine, bytes, access, offsets, served.count, row * bytes / 4);
  }

  function judge(machine, bytes, access, offsets, count, words) {
    const side_by_side = Array.from({ length: 32 }, (_, lane) => lane * bytes);
    const fewest = rules.wavefronts(machine, access, bytes, side_by_side).count;
    const banks = rules.banks(machine), cost = plural(count, "wavefront");
    const plain = state.way === "column" && state.swizzle === "c" && bytes === 4 && state.width >= 32 && banks === 32;
    const common = (a, b) => b ? common(b, a % b) : a, factor = common(words, banks);
    if (count > fewest && plain)
      say("wrong", `${cost}. A row is ${words} words. ${
          factor === 32 ? `All 32 lanes need bank ${Math.floor(offsets[0] / 4) % 32}` :
                          `${words} and 32 have the factor ${factor} in common, so ${factor} lanes meet in a bank`}, ` +
          "and a bank delivers one word at a time.");
    else if (count > fewest)
      say("wrong", `${cost}, and ${fewest} would do. Lanes that need different words of one bank wait for each other.`);
    else if (plain)
      say("right", `Right, ${cost}. A row is ${words} words, and ${words} mod 32 is ${words % 32}. ${
          words % 32 === 1 ? "Each lane's word is one bank further than the last, so 32 lanes use 32 banks." :
              `That has no factor in common with 32, so the lanes use all 32 banks.${
                  state.pad > 1 ? " A padding of 1 does the same with fewer unused words." : ""}`}`);
    else
      say("right",
          `Right, ${cost}, the fewest possible. No two lanes of a wavefront need different words of one bank.`);
  }

});

// A C expression of integers in r and c, as a function of them. Throws what is wrong with it, as text.
function expression(text) {
  const tokens = text.match(/<<|>>|0[xX][0-9a-fA-F]+|\d+|\S/g) || [];
  let at = 0;
  const operators = [["|"], ["^"], ["&"], ["<<", ">>"], ["+", "-"], ["*", "/", "%"]];
  const apply = {
      '|': (a, b) => a | b,
      '^': (a, b) => a ^ b,
      '&': (a, b) => a & b,
      '<<': (a, b) => a << b,
      '>>': (a, b) => a >> b,
      '+': (a, b) => a + b,
      '-': (a, b) => a - b,
      '*': (a, b) => Math.imul(a, b),
      '/': (a, b) => Math.trunc(a / b),
      '%': (a, b) => a % b
  };
  function binary(level) {
    if (level === operators.length) return unary();
    let left = binary(level + 1);
    while (operators[level].includes(tokens[at])) {
      const operator = tokens[at++], a = left, b = binary(level + 1);
      left = (r, c) => {
        const divisor = b(r, c);
        if ((operator === "/" || operator === "%") && divisor === 0) throw `Row ${r}, column ${c}: a division by 0.`;
        return apply[operator](a(r, c), divisor) | 0;
      };
    }
    return left;
  }
  function unary() {
    const token = tokens[at++];
    if (token === "~") { const of = unary(); return (r, c) => ~of(r, c); }
    if (token === "-") { const of = unary(); return (r, c) => -of(r, c) | 0; }
    if (token === "(") {
      const inside = binary(0);
      if (tokens[at++] !== ")") throw "A bracket is not closed.";
      return inside;
    }
    if (token === "r") return r => r;
    if (token === "c") return (r, c) => c;
    if (token !== undefined && /^\d/.test(token)) { const value = Number(token); return () => value; }
    throw `${
        token === undefined ?
            'The expression ends too early' :
            `“${token}” is not expected there`}. Use r, c, numbers and the operators of C: c ^ (r & 7).`;
  }
  const whole = binary(0);
  if (at < tokens.length)
      throw `“${tokens[at]}” is not expected there. Use r, c, numbers and the operators of C: c ^ (r & 7).`;
  return whole;
}
