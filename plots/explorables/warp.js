// Follow a warp: its requests one after the other, on idata, on the tile and on odata; two kernels side by side.

explorables.set("warp", (panel, data, machines) => {
  const WASTE = 8; // bytes moved over bytes asked for, of the request that the question is about
  // At request 5 the boxes show that the two kernels differ, and it does not answer the question, because it is a load.
  const START = 4;
  const common = { machine: "h200", type: "float", lane: 0, at: START };
  const sides = [side("a", "transposeNaive"), side("b", "transposeCoalesced")];
  const redraw = () => { sides.forEach(each => each.draw()); judge(); };
  const together = slider("at", "request of both warps", { min: 0, max: 15, value: START, say: at => at + 1 }, goBoth);

  const say = ask(panel, {
    title: "Follow a warp",
    question: "Both kernels transpose the same floats. Which request moves eight times the bytes that it asks for?",
    hint: "A request is one load or store of a warp. It asks for 32 elements (strong blue) and moves whole " +
        "sectors (faint blue).",
    controls: [
      button("back", "◀ back", () => goBoth(common.at - 1)), button("next", "next ▶", () => goBoth(common.at + 1)),
      together],
    stage: [
      el("div", { class: "sides" }, sides.map(each => each.root)),
      el("p", { class: "key" }, key("asked", "asked for now"), key("before", "asked for before"),
         key("moved", "moved with it"), key("marked", "marked lane"), key("home", "tiles of the block"))],
    more: [
      el("div", { class: "controls" },
         machineChoice(machines, common.machine, value => { common.machine = value; redraw(); }),
         choice("type", "element type",
                Object.entries(BYTES)
                    .filter(([type]) => type in data.kernels.copy.types)
                    .map(([type, bytes]) => [type, `${type}, ${plural(bytes, "byte")}`]),
                common.type, value => { common.type = value; restart(); }),
         slider("lane", "marked lane", { min: 0, max: 31, value: 0 }, value => { common.lane = value; redraw(); })),
      el("div", { class: "sides" }, sides.map(each => each.further))] });
  restart();

  function restart() {
    sides.forEach(each => each.restart());
    judge();
  }

  function longest() { return Math.max(...sides.map(each => each.last())); }

  // Both warps go to their request of this number, or stay at their last one.
  function goBoth(at) {
    common.at = Math.max(0, Math.min(longest(), at));
    sides.forEach(each => each.go(common.at));
    judge();
  }

  function judge() {
    together.limit(0, longest(), common.at);
    const now = sides.map(each => each.now());
    const found = now.find(each => each.moved >= WASTE * each.asked), tile = now.find(each => each.wavefronts > 1);
    const many = each => plural(each.pieces, each.unit);
    if (found) {
      const other = now.find(each => each !== found);
      say("right",
          `Right. ${found.kernel} ${found.access}s ${plural(found.asked, "byte")} of ${found.memory}, which lie in ` +
              `${many(found)}. All of the ${found.moved} bytes there are moved, because ` +
              `${found.down ? "its lanes go down a column, and each needs another row" : "neighbours are apart"}.` +
              (other.kernel === "transposeCoalesced" ?
                   " transposeCoalesced stores rows of odata, from request 10 on, and needs 4 sectors." : ""));
    } else if (tile)
      say("", `No request here moves too many bytes. ${tile.kernel} reads the tile in ${tile.wavefronts} wavefronts, ` +
              "which is the next problem. Banks, in step 4, asks about it.");
    else {
      const ended = sides.filter(each => each.ended());
      say("", `Request ${common.at + 1}: what is moved was asked for, or nearly. ${
          ended.map(each => `The warp of ${each.kernel()} ended with its request ${each.last() + 1}. `).join("")}Go ${
          ended.length || common.at === longest() ? "back" : "on"}, and watch the cost.`);
    }
  }

  function side(id, kernel) {
    const state = { kernel, block: 0, warp: 0, at: START };
    const pickers = el("div", { class: "controls" }), steps = el("div", { class: "controls" }), code = el("code"),
          name = el("h5"), pictures = el("div", { class: "pictures" });
    const root = el("section", { "data-side": id }, name,
                    facts(["request", "number"], ["access", "request"], ["cost", "cost"], ["bytes moved", "moved"]),
                    pictures, el("p", { class: "line" }, code));
    const further = el("section", { "data-side": id }, pickers, steps,
                       facts(["bytes asked for", "asked"], ["the marked lane", "lane"], ["so far", "sofar"]));
    const of = () => data.kernels[state.kernel].types[common.type];
    let all, rows, homes, shown, moves; // requests; rows of the tile; the block's tiles; the request's cost

    function restart() {
      const { sites, blocks, warps, row } = of();
      state.block = Math.min(state.block, blocks.length - 1);
      const mine = Object.keys(warps).filter(name => name.startsWith(`${state.block},`));
      state.warp = Math.min(state.warp, mine.length - 1);
      all = warps[`${state.block},${state.warp}`].map(request => openRequest(request, sites));
      state.at = Math.min(state.at, all.length - 1);
      const ofTile = all.filter(r => r.memory === "shared").flatMap(r => r.offsets);
      rows = row ? 1 + Math.floor(Math.max(...ofTile) / (row * BYTES[common.type])) : 0;
      homes = homesOf(mine.flatMap(name => warps[name].map(request => openRequest(request, sites))));
      name.textContent = state.kernel;
      pickers.replaceChildren(
          choice(`kernel-${id}`, "kernel", Object.keys(data.kernels).map(name => [name, name]), state.kernel,
                 value => pick({ kernel: value })),
          choice(`block-${id}`, "block", blocks.map(([x, y], i) => [i, `(${x}, ${y})`]), state.block,
                 value => pick({ block: Number(value) })),
          choice(`warp-${id}`, "warp", mine.map((_, warp) => [warp, warp]), state.warp,
                 value => pick({ warp: Number(value) })));
      moves = slider(`at-${id}`, "request",
                     { min: 0, max: all.length - 1, value: state.at, say: at => `${at + 1} of ${all.length}` },
                     at => { state.at = at; draw(); judge(); });
      steps.replaceChildren(button(`back-${id}`, "◀ back", () => { go(state.at - 1); judge(); }),
                            button(`next-${id}`, "next ▶", () => { go(state.at + 1); judge(); }), moves);
      draw();
    }

    function pick(values) {
      const focused = Object.keys(values)[0];
      Object.assign(state, values);
      restart();
      judge();
      pickers.querySelector(`[name="${focused}-${id}"]`).focus();
    }

    function go(at) {
      state.at = Math.max(0, Math.min(all.length - 1, at));
      moves.limit(0, all.length - 1, state.at);
      draw();
    }

    // The tiles of each matrix that the whole block touches.
    function homesOf(requests) {
      const bytes = BYTES[common.type], found = {};
      for (const r of requests) {
        if (r.memory === "shared") continue;
        const at = found[r.memory] = found[r.memory] || [Infinity, Infinity, -1, -1];
        for (const offset of r.offsets) {
          if (offset < 0) continue;
          const x = offset / bytes % data.side, y = Math.floor(offset / bytes / data.side);
          at[0] = Math.min(at[0], x);
          at[1] = Math.min(at[1], y);
          at[2] = Math.max(at[2], x);
          at[3] = Math.max(at[3], y);
        }
      }
      return Object.fromEntries(Object.entries(found).map(
          ([memory, [left, top, right, bottom]]) => [memory, [[left, top, right - left + 1, bottom - top + 1]]]));
    }

    function draw() {
      const { row } = of(), bytes = BYTES[common.type], machine = machines[common.machine], now = all[state.at];
      const shared = now.memory === "shared";
      const moved = shared ? [] : rules.transactions(machine, now.access, now.bytes, now.offsets);
      const served = shared ? rules.wavefronts(machine, now.access, now.bytes, now.offsets) : undefined;
      const lane = now.offsets[common.lane], asked = rules.asked(now.bytes, now.offsets);
      const sum = moved.reduce((total, piece) => total + piece.bytes, 0), unit = rules.unit(machine, now.access);
      shown = {
        kernel: state.kernel, access: now.access, memory: now.memory, asked, moved: sum, pieces: moved.length, unit,
        wavefronts: served ? served.count : 0,
        down: now.offsets[1] - now.offsets[0] >= data.side * bytes };
      const { file, lines } = data.kernels[state.kernel];
      code.textContent = `${file.replace("/", "/\u200b")}:${now.line} \n${lines[now.line]}`; // may break after the /
      root.classList.toggle("ended", ended());
      const before = all.slice(0, state.at);
      const picture = (memory, title, high, wide) => memoryPicture(title, memory, {
        high, wide, bytes, home: homes[memory], before: before.filter(r => r.memory === memory),
        ...(memory === now.memory ? { now, pieces: moved, marked: lane } : {}) });
      const tileRead = [...before, now].some(r => r.memory === "shared" && r.access === "load");
      pictures.replaceChildren(
          ...["idata", "odata"].map(name => picture(name, name, data.side, data.side)),
          ...(row ? [picture("shared", `tile, ${rows} × ${row}`, rows, row),
                     bankPicture(machine, shared ? now : undefined, tileRead)] :
                    [el("p", { class: "none" }, "This kernel has no tile.")]));
      const totals = { sector: 0, wavefront: 0 };
      for (const each of all.slice(0, state.at + 1))
        if (each.memory === "shared")
          totals.wavefront += rules.wavefronts(machine, each.access, each.bytes, each.offsets).count;
        else totals.sector += rules.transactions(machine, each.access, each.bytes, each.offsets).length;
      const place = Math.floor(lane / bytes);
      tell(root, {
        number: `${state.at + 1} of ${all.length}${ended() ? ", ended" : ""}`,
        request: `${now.access} of ${shared ? "the tile" : now.memory}`,
        cost: shared ? plural(served.count, "wavefront") : plural(moved.length, unit),
        moved: shared ? "none outside the SM" : `${sum}, ${Math.round(100 * asked / sum)} % asked for`,
      });
      tell(further, {
        asked,
        lane: lane < 0 ? "idle" :
            shared ? `tile[${Math.floor(place / row)}][${place % row}], bank ${
                         Math.floor(lane / 4) % rules.banks(machine)}, wavefront ${served.of[common.lane] + 1}` :
                     `${now.memory}[${Math.floor(place / data.side)}][${place % data.side}]`,
        sofar: `${totals.sector.toLocaleString("en")} ${
            machine.major === 1 ? "transactions" : machine.major === 2 ? "lines and sectors" : "sectors"}, ${
            plural(totals.wavefront, "wavefront")}`,
      });

    }
    // A warp that has no request of the common number has ended: what it shows is its last one, and not judged.
    function ended() { return common.at > state.at && state.at === all.length - 1; }
    const now = () => ({ ...shown, ...(ended() ? { moved: 0, wavefronts: 0 } : {}) });
    return { root, further, draw, restart, go, now, ended, kernel: () => state.kernel,
             last: () => all ? all.length - 1 : 0 };
  }
});
