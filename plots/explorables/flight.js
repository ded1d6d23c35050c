// Bytes in flight: how many an SM needs to fill the memory's pipe, and where the kernels are.

// The queue of the simulator's model: each KiB of loads waits for the latency, then for its turn at the memory, which
// reads and writes it at `roof`, the flat part of the curve.
function effectiveBandwidth(bytesPerSM, sms, latency, roof) {
  const piece = 1024, serve = 2 * piece * sms / roof, pieces = bytesPerSM / piece;  // bytes per ns are GB/s
  let queue = 0, less = 0, rate = 0;
  for (let n = 1; n < pieces + 1; ++n) {
    const here = serve * (1 + queue);
    [less, rate] = [rate, n / (latency + here)];
    queue = rate * here;
  }
  const part = pieces - Math.ceil(pieces) + 1;  // of the last piece
  return 2 * piece * sms * (less + part * (rate - less));
}

explorables.set("flight", (panel, data, machines) => {
  const measured = data.machine, card = machines[measured];
  // later: the marks of the steps that a reader has yet to come to
  const state = { machine: measured, latency: card.latency, loads: 1, bytes: 4, threads: card.threads_per_sm,
                  later: false };
  const roofOf = name => name === measured ? data.stream : machines[name].peak;
  const set = name => value => { state[name] = value; draw(); };
  const loads = slider("loads", "loads in flight per thread", { min: 1, max: 16, value: 1 }, set("loads"));
  const threads = slider("threads", "threads on an SM",
                         { min: 32, max: card.threads_per_sm, step: 32, value: state.threads }, set("threads"));
  const latency = slider("latency", "latency", { min: 100, max: 1200, step: 1, value: Math.round(state.latency),
                                                 say: ns => `${ns} ns` }, set("latency"));
  const chart = el("div", { class: "pictures one" }), marked = el("p", { class: "hint marks" }),
        about = el("p", { class: "hint about" });
  let drawn;  // for this width
  onWidth(chart, () => { if (chart.clientWidth !== drawn) draw(); });

  const say = ask(panel, {
    title: "Bytes in flight",
    question: "2048 threads of an SM have one load of 4 bytes in flight each. How many loads reach " +
        "the flat part of the line?",
    hint: "A load is in flight until its bytes arrive. The hollow circle is your choice, and the line is a " +
        "model. It is flat where more bytes in flight gain nothing.",
    controls: [
      loads,
      choice("bytes", "bytes of a load", [1, 2, 4, 8, 16].map(bytes => [bytes, bytes]), state.bytes,
             value => set("bytes")(Number(value))),
      threads],
    stage: [chart, marked],
    more: [
      el("div", { class: "controls" }, machineChoice(machines, state.machine, value => {
        const chosen = machines[value];
        state.machine = value;
        state.threads = Math.min(state.threads, chosen.threads_per_sm);
        threads.limit(32, chosen.threads_per_sm, state.threads);
        if (chosen.latency) {
          state.latency = chosen.latency;
          latency.limit(100, 1200, Math.round(chosen.latency));
        }
        draw();
      }, "card"), latency, checkbox("later", "marks of steps 2 to 7, too", false, set("later"))),
      facts(["in flight on an SM", "inflight"], ["the flat part", "roof"], ["the flat part needs", "needed"],
            ["effective bandwidth, model", "gbs"]),
      about] });
  draw();

  // Right with the fewest loads of these bytes that reach the flat part.
  function judge(mine, needed, here, roof) {
    const label = machines[state.machine].label, bytes = rounded(mine), enough = rounded(needed);
    const fewest = Math.ceil(needed / state.threads / state.bytes);
    if (mine < needed)
      say("wrong",
          `${bytes} bytes in flight are ${Math.round(100 * mine / needed)} % of the ${enough} that an ` +
              `SM of the ${label} needs. The model gives ${rounded(here)} GB/s, ${
                  Math.round(100 * here / roof)} % of the flat part.`);
    else
      say("right",
          `Right. An SM needs ${enough} bytes in flight, because latency × bandwidth / SMs is ${
              Math.round(state.latency)} ns × ${rounded(roof)} GB/s / ${
              machines[state.machine].sms}. It has ${bytes}. ${
              state.loads > fewest ? `${plural(fewest, "load")} per thread would do, and more gain nothing here.` :
                                     "More loads gain nothing here."}`);
  }

  function draw() {
    const machine = machines[state.machine], roof = roofOf(state.machine),
          mine = state.threads * state.loads * state.bytes;
    const needed = roof * state.latency / machine.sms,
          here = effectiveBandwidth(mine, machine.sms, state.latency, roof);
    const points = state.machine === measured ? data.points.filter(p => state.later || p.step === 1) : [];
    drawn = chart.clientWidth;
    const wide = Math.max(320, drawn), high = 360, left = 50, right = 30, top = 26, bottom = 46, low = 9,
          most = 19;  // 2^9 to 2^19 bytes
    const x = bytes => left + (wide - left - right) * (Math.log2(Math.max(bytes, 2 ** low)) - low) / (most - low);
    const ceiling = Math.max(roof, ...points.map(p => p.gbs)) * 1.06,
          y = gbs => high - bottom - (high - top - bottom) * gbs / ceiling;
    const flat = state.machine !== measured ? "the peak of the DRAM" :
        wide < 600                          ? "flat" :
                                              "a copy by a micro-benchmark";
    const tick = 10 ** Math.floor(Math.log10(ceiling / 2)), grid = [];
    const every = ceiling / tick > 5 ? 2 * tick : tick;
    for (let gbs = 0; gbs <= ceiling; gbs += every)
      grid.push(shape("path", { class: "grid", d: `M${left} ${y(gbs)}H${wide - right}` }),
                shape("text", { x: left - 6, y: y(gbs) + 4, "text-anchor": "end" }, gbs.toLocaleString("en")));
    for (let power = low; power <= most; power += wide < 600 ? 4 : 2)
      grid.push(shape("text", { x: x(2 ** power), y: high - bottom + 17, "text-anchor": "middle" },
                      power < 10 ? `${2 ** power} B` : `${2 ** (power - 10)} KiB`));
    const curve = Array.from({ length: 201 }, (_, i) => 2 ** (low + (most - low) * i / 200)).map((bytes, i) =>
      `${i ? "L" : "M"}${x(bytes).toFixed(1)} ${
          y(effectiveBandwidth(bytes, machine.sms, state.latency, roof)).toFixed(1)}`).join("");
    // Names of kernels that have the same in flight stand apart, joined to their marks.
    const columns = new Map();
    for (const point of points) columns.set(point.bytes, [...columns.get(point.bytes) || [], point]);
    let last = -Infinity;  // label on the right
    const marks = [...columns].sort(([a], [b]) => b - a).flatMap(([bytes, column]) => {
      const side = bytes < needed ? -1 : 1;
      if (side < 0) last = -Infinity;
      const spots = column.sort((a, b) => b.gbs - a.gbs).map(point => {
        last = Math.max(y(point.gbs), last + 16);
        if (Math.abs(last - y(roof)) < 13)  // next to the flat line, and not on it
          last = y(roof) + (point.gbs > roof && last === y(point.gbs) ? -13 : 13);
        return [point, last];
      });
      return spots.map(([point, at]) => shape("g", {
        class: "point", tabindex: 0, role: "img",
        "data-say": `${point.kernel}, step ${point.step}: ${point.gbs.toLocaleString("en")} GB/s measured, ${
            point.threads} threads × ${plural(point.loads, "load")} in flight on an SM` },
        shape("path", { class: "leader",
                        d: `M${x(bytes)} ${y(point.gbs)}L${x(bytes) + 12 * side} ${at}h${4 * side}` }),
        shape("path", { class: "mark", d: `M${x(bytes) - 5} ${y(point.gbs)}l5 -5l5 5l-5 5z` }),
        shape("text", { x: x(bytes) + 19 * side, y: at + 4, "text-anchor": side < 0 ? "end" : "start" },
              `${point.step} ${point.kernel.replace("transpose", "")}`)));
    });
    chart.replaceChildren(el("figure", {}, drawing(
      wide, high, `effective bandwidth over the bytes that an SM has in flight, ${machine.label}`, { class: "chart" },
      grid, shape("path", { class: "roof", d: `M${left} ${y(roof)}H${wide - right}` }),
      shape("text", { x: left + 6, y: y(roof) - 6 }, `${flat}: ${rounded(roof)} GB/s`),
      shape("path", { class: "curve", d: curve }),
      shape("path", { class: "needed", d: `M${x(needed)} ${y(0)}V${y(roof)}` }), marks,
      shape("circle", { class: "mine", cx: x(mine), cy: y(here), r: 9 }),
      shape("text", { x: (left + wide - right) / 2, y: high - 6, "text-anchor": "middle" },
            "bytes that the loads of an SM have in flight"),
      shape("text", { x: 4, y: 12 }, "GB/s"))));
    tell(panel, {
      inflight: `${state.threads} × ${state.loads} × ${state.bytes} = ${rounded(mine)} bytes`,
      roof: `${rounded(roof)} GB/s`,
      needed: `${Math.round(state.latency)} ns × ${Math.round(roof)} GB/s / ${machine.sms} SMs = ${
          rounded(needed)} bytes`,
      gbs: `${rounded(here)} GB/s, ${Math.round(100 * here / roof)} % of the flat part`,
    });
    marked.textContent = points.length ?
        `Marks: ${data.card}, measured ${data.date}, ${data.side} × ${data.side} float. The most bytes that ` +
            "their loads can have in flight are counted." :
        "";
    about.textContent =
        (state.machine === measured ? "Flat part: measured with a micro-benchmark that copies. It is no upper limit. " :
                                      "Flat part: the peak of the card's DRAM. ") +
        (machine.latency ? `Latency: ${machine.latency_source}.` :
                           "No latency of this card is published here, so choose one.");
    judge(mine, needed, here, roof);
  }
});
