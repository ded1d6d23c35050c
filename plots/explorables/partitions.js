// Partitions over time: the traffic of each memory partition as the blocks run, for an order of the blocks, a side n
// and a machine.

// Block i's tile [row, column], of so many tiles down and across.
const ORDERS = {
  "along rows": (i, down, across) => [Math.floor(i / across), i % across],
  "along diagonals": (i, down, across) => [i % across, (i % across + Math.floor(i / across)) % across],
  "down columns": (i, down) => [i % down, Math.floor(i / down)],
};

// Bytes per partition: {idata, odata: of each window of blocks that run together, an array; resident; cells: of each
// block, its tile}.
function partitionTraffic(machine, kernel, n) {
  const { tile, threads, shared, order, transposes } = kernel, across = Math.ceil(n / tile), blocks = across * across;
  const resident = rules.residentBlocks(machine, threads, shared), partition = rules.partitions(machine);
  const page = 2 ** 21, behind = Math.ceil(n * n * 4 / page) * page; // odata, behind idata
  const windows = Math.ceil(blocks / resident),
        made = () => Array.from({ length: windows }, () => new Float64Array(machine.partitions));
  const traffic = { idata: made(), odata: made(), resident, across, cells: [] };
  const add = (to, begin, row, column) => { // a tile's rows, in pieces of 128 bytes, which no partition boundary cuts
    const end = Math.min(n, column + tile);
    for (let r = row; r < Math.min(n, row + tile); ++r)
      for (let c = column; c < end; c += 32) to[partition(begin + (r * n + c) * 4)] += 128;
  };
  for (let i = 0; i < blocks; ++i) {
    const [down, right] = ORDERS[order](i, across, across), window = Math.floor(i / resident);
    traffic.cells.push([down, right]);
    add(traffic.idata[window], 0, down * tile, right * tile);
    if (transposes) add(traffic.odata[window], behind, right * tile, down * tile);
    else add(traffic.odata[window], behind, down * tile, right * tile);
  }
  traffic.first = (memory, r, c) => partition((memory === "odata" ? behind : 0) + (r * n + c) * tile * 4);
  return traffic;
}

// The busiest partition's traffic over the mean, over all windows, as the simulator counts it.
function busiest(windows) {
  let most = 0, mean = 0;
  for (const moved of windows) {
    most += Math.max(...moved);
    mean += average(moved);
  }
  return most / mean;
}

explorables.set("partitions", (panel, data, machines) => {
  const CAMPS = 2; // times the mean, in the busiest partition
  const START = { kernel: "transposeNoBankConflicts", machine: "gtx280", n: 2048 };
  const kernels = data.kernels, state = { ...START, window: 0 }, found = new Set();
  let traffic, timer, colours;
  const known = Object.entries(machines).filter(([, m]) => !m.assumed || m.label === data.machine);
  const set = name => value => { state[name] = value; compute(); };
  const moments = slider(
      "window", "moment", { min: 0, max: 1, value: 0, say: w => traffic ? `${w + 1} of ${traffic.idata.length}` : "" },
      w => { state.window = w; show(); });
  const play = button("play", "▶ play", () => {
    if (timer) return stop();
    play.textContent = "❚❚ stop";
    timer = setInterval(() => (state.window + 1 < traffic.idata.length ? go(state.window + 1) : stop()), 150);
  });
  const heat = {}, maps = {}, bars = el("div", { class: "pictures" });
  const heats = el("div", { class: "pictures heat" }, ["odata", "idata"].map(memory => {
    const caption = el("figcaption"), canvas = el("canvas", { "data-heat": memory, role: "img" });
    const moment = el("span", { class: "moment" }), left = el("span", {}, "first blocks"), middle = el("span");
    heat[memory] = { caption, canvas, moment, middle };
    return el("figure", {}, caption, el("div", { class: "over" }, canvas, moment),
              el("p", { class: "axis" }, left, middle, el("span", {}, "last blocks")));
  }));
  const mapsOf = el("div", { class: "pictures" }, ["idata", "odata"].map(memory => {
    maps[memory] = el("canvas", { "data-map": memory, role: "img" });
    return el("figure", {},
              el("figcaption", {}, `tiles of ${memory}, coloured by partition; strong: in use at this moment`),
              maps[memory]);
  }));
  const say = ask(panel, {
    title: "Partitions over time",
    question: "On a GTX 280, one of 8 partitions takes most stores of step 4. What gives the others work? " +
        "There are three ways.",
    hint: "Each row of the picture is a partition, and time runs to the right. The stronger its blue, the " +
        "more bytes a cell carries.",
    controls: [
      slider("n", "matrix", { min: 256, max: 4096, step: 32, value: state.n, say: n => `${n} × ${n}` }, set("n")),
      choice("kernel", "kernel and order of its blocks",
             Object.entries(kernels).map(([name, k]) => [name, `${name}, ${k.order}`]), state.kernel, set("kernel")),
      choice("machine", "card", known.map(([name, m]) => [name, m.label + (m.assumed ? ", map assumed" : "")]),
             state.machine, set("machine"))],
    stage: heats,
    more: [
      el("p", { class: "hint" }, "Blocks start in the order of the kernel, as many at a time as the card holds. A " +
         "moment is one such window of blocks."),
      el("div", { class: "controls" }, button("back", "◀ back", () => go(state.window - 1)),
         button("next", "next ▶", () => go(state.window + 1)), play, moments),
      el("div", { class: "moments" }, bars, mapsOf),
      facts(["busiest / mean, loads of idata", "loads"], ["busiest / mean, stores to odata", "stores"],
            ["blocks at a time", "resident"], ["busy at this moment", "now"])] });
  const more = panel.querySelector("details");
  more.addEventListener("toggle", show);
  onScheme(() => { colours = undefined; paint(); });
  compute();

  function stop() {
    clearInterval(timer);
    timer = undefined;
    play.textContent = "▶ play";
  }

  function go(window) {
    state.window = Math.max(0, Math.min(traffic.idata.length - 1, window));
    moments.limit(0, traffic.idata.length - 1, state.window);
    show();
  }

  function compute() {
    stop();
    traffic = partitionTraffic(machines[state.machine], kernels[state.kernel], state.n);
    tell(panel, {
      loads: busiest(traffic.idata).toFixed(3), stores: busiest(traffic.odata).toFixed(3),
      resident: traffic.resident });
    judge();
    paint();
  }

  // Nine shades from the panel's paper to its blue: a cell with the mean has the third.
  function paint() {
    const machine = machines[state.machine];
    if (!colours) {
      const [paper, blue] = bytesOf([styled(panel, "--paper"), styled(panel, "--blue")]);
      const shade = i => paper.map((byte, channel) => byte + (blue[channel] - byte) * (i ? 0.02 + 0.1225 * i : 0));
      colours = { heat: Array.from({ length: 9 }, (_, i) => shade(i)) };
    }
    for (const memory of ["odata", "idata"]) {
      const windows = traffic[memory], of = heat[memory];
      const means = windows.map(average);
      pixels(of.canvas, windows.length, machine.partitions, colours.heat,
             (w, p) => Math.min(8, Math.round(2 * windows[w][p] / means[w])));
      of.canvas.setAttribute("aria-label",
                             `traffic of ${machine.partitions} partitions at ${windows.length} moments`);
      of.caption.textContent = `${memory === "idata" ? "loads of idata" : "stores to odata"}: the busiest partition ` +
          `has ${busiest(windows).toFixed(2)} times the mean`;
      of.middle.textContent = `${machine.partitions} partitions, top to bottom`;
    }
    go(Math.min(state.window, traffic.idata.length - 1));
  }

  function judge() {
    const machine = machines[state.machine], { order, transposes } = kernels[state.kernel];
    const stores = busiest(traffic.odata), loads = busiest(traffic.idata), worst = Math.max(loads, stores);
    const round = machine.granularity * machine.partitions, rounds = 4 * state.n / round;
    const whole = Number.isInteger(rounds);
    if (!transposes) return say("", "A copy stores along rows, so its blocks spread. But it does not transpose.");
    if (worst >= CAMPS)
      return say("wrong", `The busiest partition takes ${worst.toFixed(1)} times the mean of the ${
          stores >= loads ? "stores" : "loads"}. A row of ${state.n} floats is ${rounds.toFixed(whole ? 0 : 2)} ` +
          `rounds of the ${machine.partitions} partitions, so ${
              whole ? "every row begins in the same one" : "rows begin in few of them"}. The tiles of blocks that ` +
          "run together lie below each other.");
    const way = machine.hash.length ? "card" : order !== kernels[START.kernel].order ? "order" : "n";
    found.add(way);
    const why = {
      card: `The ${machine.label} chooses a partition by a mix of many address bits, so rows that lie below each ` +
          "other begin in different partitions.",
      order: `Blocks that run together now take tiles ${order}. ${
          order === "along diagonals" ? "Those lie in different rows and columns, so they use all partitions." :
                                        "Their stores are along rows of odata."}`,
      n: `A row of ${state.n} floats is ${rounds.toFixed(whole ? 0 : 2)} rounds of the ${machine.partitions} ` +
          "partitions, so rows that lie below each other begin in different partitions." };
    say("right", `Right. ${why[way]} ${
        found.size === 3 ? "You have found all three ways." : `You have found ${found.size} of 3 ways.`}`);
  }

  // The moment; what lies behind "more" is drawn when it is open.
  function show() {
    const machine = machines[state.machine], kernel = kernels[state.kernel], w = state.window;
    for (const memory of ["idata", "odata"]) {
      const all = traffic[memory].length;
      heat[memory].moment.hidden = !more.open; // its controls are there
      heat[memory].moment.style.left = `${100 * w / all}%`;
      heat[memory].moment.style.width = `${100 / all}%`;
    }
    const busy = memory => traffic[memory][w].filter(Boolean).length;
    tell(panel, {
      now: `${busy("idata")} of ${machine.partitions} partitions for loads, ${busy("odata")} for stores` });
    if (!more.open) return;
    const tiles = traffic.across, parts = machine.partitions;
    if (!colours.cells || colours.cells.length !== 2 * parts)
      colours.cells = bytesOf([false, true].flatMap(
          strong => Array.from({ length: parts }, (_, p) => cellColour(panel, p, parts, strong))));
    const running = traffic.cells.slice(w * traffic.resident, (w + 1) * traffic.resident);
    for (const memory of ["idata", "odata"]) {
      const inUse = new Set(running.map(([r, c]) => memory === "odata" && kernel.transposes ? c * tiles + r
                                                                                            : r * tiles + c));
      pixels(maps[memory], tiles, tiles, colours.cells,
             (x, y) => traffic.first(memory, y, x) + (inUse.has(y * tiles + x) ? parts : 0));
      maps[memory].setAttribute("aria-label", `the tiles of ${memory} by partition, and ${inUse.size} in use`);
    }
    bars.replaceChildren(...["idata", "odata"].map(memory => {
      const moved = traffic[memory][w], mean = average(moved), most = Math.max(...moved, 2 * mean);
      return el(
          "figure", {},
          el("figcaption", {},
             `${memory === "idata" ? "loaded from" : "stored to"} each partition at this moment; the line is the mean`),
          drawing(
              parts, 10,
              `${memory}: the busiest partition has ${(Math.max(...moved) / mean).toFixed(2)} times the mean`,
              { preserveAspectRatio: "none", "data-bars": memory },
              shape("path", { class: "page", d: boxes([[0, 0, parts, 10]]) }),
              [...moved].map((bytes, p) => shape("path", {
                class: "cell", style: `--bank:${p / parts}`,
                d: boxes([[p + 0.08, 10 - 10 * bytes / most, 0.84, 10 * bytes / most]]) })),
              shape("path", { class: "mean", d: `M0 ${10 - 10 * mean / most}h${parts}` })),
          el("p", { class: "axis" }, el("span", {}, "partition 0"), el("span", {}, String(parts - 1))));
    }));
  }
});
