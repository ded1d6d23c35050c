// Follow a warp: its requests one after the other, on idata, on the tile and on odata; two kernels side by side.

// A request as the data have it (plots/explorables/__init__.py), opened.
function openRequest(request, sites) {
  const [access, memory, line, bytes, phase] = sites[request[0]];
  const listed = Array.isArray(request[1]), mask = request.length > 3 ? request[3] : 0xFFFFFFFF;
  const offsets = listed ?
      request[1] :
      Array.from({length: 32}, (_, lane) => mask >>> lane & 1 ? request[1] + lane * request[2] : -1);
  return { access, memory, line, bytes, phase, offsets };
}

explorables.set("warp", (panel, data, machines) => {
  const common = { machine: "h200", type: "float", lane: 0 };
  const sides = [side("a", "transposeNaive"), side("b", "transposeCoalesced")];
  const redraw = () => sides.forEach(each => each.draw());

  panel.append(
      el('h4', {}, 'Follow a warp'),
      el('p', {class: 'hint'},
         'Choose a kernel on each side and step through the requests of one warp. ' +
             'The arrow keys move the slider of the requests.'),
      el('div', {class: 'controls'},
         choice(
             'machine', 'machine', Object.entries(machines).map(([name, m]) => [name, m.label]), common.machine,
             value => {
                 common.machine = value;
                 redraw();
             }),
         choice(
             'type', 'element type',
             Object.entries(BYTES)
                 .filter(([type]) => type in data.kernels.copy.types)
                 .map(([type, bytes]) => [type, `${type}, ${plural(bytes, 'byte')}`]),
             common.type,
             value => {
                 common.type = value;
                 sides.forEach(each => each.restart());
             }),
         slider(
             'lane', 'marked lane', {min: 0, max: 31, value: 0},
             value => {
                 common.lane = value;
                 redraw();
             })),
      el('div', {class: 'sides'}, sides.map(each => each.root)),
      el('p', {class: 'key'}, key('asked', 'asked for now'), key('before', 'asked for before'),
         key('moved', 'moved with it'), key('marked', 'marked lane'), key('home', 'tiles of the block')));
  sides.forEach(each => each.restart());

  function side(id, kernel) {
    const state = { kernel, block: 0, warp: 0, at: firstStore(data.kernels[kernel].types[common.type]) };
    const pickers = el('div', {class: 'controls'}), steps = el('div', {class: 'controls'}), code = el('code'),
          pictures = el('div', {class: 'pictures'});
    const root =
        el('section', {'data-side': id}, pickers, steps, el('p', {class: 'line', tabindex: 0}, code),
           facts(
               ['request', 'request'], ['cost', 'cost'], ['bytes asked for', 'asked'], ['bytes moved', 'moved'],
               ['the marked lane', 'lane'], ['so far', 'sofar']),
           pictures);
    const of = () => data.kernels[state.kernel].types[common.type];
    const requests = () => of().warps[`${state.block},${state.warp}`];
    let moves;

    function restart() {
      const { blocks, warps } = of();
      const inBlock =
          Object.keys(warps).filter(name => name.startsWith(`${Math.min(state.block, blocks.length - 1)},`)).length;
      Object.assign(state, {block: Math.min(state.block, blocks.length - 1), warp: Math.min(state.warp, inBlock - 1)});
      state.at = Math.min(state.at, requests().length - 1);
      pickers.replaceChildren(
          choice(`kernel-${id}`, 'kernel', Object.keys(data.kernels).map(name => [name, name]), state.kernel, value => {
              state.kernel = value;
              restart();
          }), choice(`block-${id}`, 'block', blocks.map(([x, y], i) => [i, `(${x}, ${y})`]), state.block, value => {
              state.block = Number(value);
              restart();
          }), choice(`warp-${id}`, 'warp', [...Array(inBlock).keys()].map(warp => [warp, warp]), state.warp, value => {
              state.warp = Number(value);
              restart();
          }));
      const last = requests().length - 1;
      moves = slider(
          `at-${id}`, 'request', {min: 0, max: last, value: state.at, say: at => `${at + 1} of ${last + 1}`}, at => {
              state.at = at;
              draw();
          });
      steps.replaceChildren(
          button(`back-${id}`, '◀ back', () => go(state.at - 1)),
          button(`next-${id}`, 'next ▶', () => go(state.at + 1)), moves);
      draw();
    }

    function go(at) {
      state.at = Math.max(0, Math.min(requests().length - 1, at));
      moves.limit(0, requests().length - 1, state.at);
      draw();
    }

    function draw() {
      const { sites, row, blocks } = of(), bytes = BYTES[common.type], machine = machines[common.machine];
      const all = requests().map(request => openRequest(request, sites)), now = all[state.at];
      const shared = now.memory === "shared";
      const moved = shared ? [] : rules.transactions(machine, now.access, now.bytes, now.offsets);
      const served = shared ? rules.wavefronts(machine, now.access, now.bytes, now.offsets) : undefined;
      const lane = now.offsets[common.lane];
      code.textContent =
          `${data.kernels[state.kernel].file}:${now.line}   ${data.kernels[state.kernel].lines[now.line]}`;
      const matrix = name =>
          picture(name, data.side, data.side, data.side * bytes, name === now.memory ? moved : [], name);
      const rows = row ?
          1 + Math.floor(Math.max(...all.filter(r => r.memory === 'shared').flatMap(r => r.offsets)) / (row * bytes)) :
          0;
      pictures.replaceChildren(
          matrix('idata'), matrix('odata'),
          ...(row ? [picture('shared', rows, row, row * bytes, [], `tile, ${rows} × ${row}`), bankStrip()] :
                    [el('p', {class: 'none'}, 'This kernel has no tile.')]));
      const totals = { sector: 0, wavefront: 0 };
      for (const each of all.slice(0, state.at + 1))
          if (each.memory === 'shared')
              totals.wavefront += rules.wavefronts(machine, each.access, each.bytes, each.offsets).count;
          else totals.sector += rules.transactions(machine, each.access, each.bytes, each.offsets).length;
      const sum = moved.reduce((total, piece) => total + piece.bytes, 0);
      tell(root, {
          request: `${now.access} of ${shared ? 'the tile' : now.memory}, ${
              now.phase ? `after ${plural(now.phase, 'barrier')}` : 'before any barrier'}`,
          asked: rules.asked(now.bytes, now.offsets),
          cost: shared ? plural(served.count, 'wavefront') : plural(moved.length, rules.unit(machine, now.access)),
          moved: shared ? '–' :
                          `${sum}, ${Math.round(100 * rules.asked(now.bytes, now.offsets) / sum)} % of them asked for`,
          lane: lane < 0 ?
              'idle' :
              shared ?
              `tile[${Math.floor(lane / row / bytes)}][${Math.floor(lane / bytes) % row}], bank ${
                  Math.floor(lane / 4) % rules.banks(machine)}, wavefront ${served.of[common.lane] + 1}` :
              `${now.memory}[${Math.floor(lane / data.side / bytes)}][${Math.floor(lane / bytes) % data.side}]`,
          sofar: `${totals.sector.toLocaleString('en')} ${
              machine.major === 1     ? 'transactions' :
                  machine.major === 2 ? 'lines and sectors' :
                                        'sectors'}, ${plural(totals.wavefront, 'wavefront')}`,
      });

      // The elements of one memory: what the warp asks for now and asked for before, and the pieces that move.
      function picture(memory, high, wide, pitch, pieces, title) {
        const cell = offset => [Math.floor(offset % pitch / bytes), Math.floor(offset / pitch), 1, 1];
        const asked = (list, lanes = list.flatMap(r => r.offsets)) => lanes.filter(offset => offset >= 0).map(cell);
        const before = all.slice(0, state.at).filter(r => r.memory === memory),
              current = memory === now.memory ? [now] : [];
        const moving = pieces.flatMap(piece => { // across the end of a row, in two parts
          const parts = [];
          for (let from = piece.address; from < piece.address + piece.bytes;) {
            const to = Math.min(piece.address + piece.bytes, (Math.floor(from / pitch) + 1) * pitch);
            parts.push([from % pitch / bytes, Math.floor(from / pitch), (to - from) / bytes, 1]);
            from = to;
          }
          return parts;
        });
        const block = memory === "shared" ? [] : home(memory);
        const mark = current.length && lane >= 0 ? [cell(lane)] : [];
        const unit = Math.max(wide, high) / 100;
        return el(
            'figure', {class: current.length ? 'now' : ''}, el('figcaption', {}, title),
            drawing(
                wide, high,
                `${title}: ${
                    current.length ? plural(rules.asked(now.bytes, now.offsets), 'byte') + ' asked for' : 'not asked'}`,
                {'data-memory': memory}, shape('path', {class: 'page', d: boxes([[0, 0, wide, high]])}),
                shape('path', {class: 'home', d: boxes(block)}),
                shape('path', {class: 'before', d: boxes(asked(before))}),
                shape('path', {class: 'moved', d: boxes(moving), 'stroke-width': 0.3 * unit}),
                shape('path', {class: 'asked', d: boxes(asked(current))}), shape('path', {
                    class: 'marked',
                    d: boxes(mark.map(([x, y]) => [x - unit, y - unit, 1 + 2 * unit, 1 + 2 * unit])),
                    'stroke-width': unit
                })));
      }

      // The tiles that the whole block touches.
      function home(memory) {
        let left = Infinity, right = -1, top = Infinity, bottom = -1;
        for (const [name, list] of Object.entries(of().warps)) {
          if (!name.startsWith(`${state.block},`)) continue;
          for (const r of list.map(request => openRequest(request, sites)).filter(r => r.memory === memory))
            for (const offset of r.offsets.filter(o => o >= 0)) {
              const x = offset / bytes % data.side, y = Math.floor(offset / bytes / data.side);
              left = Math.min(left, x);
              right = Math.max(right, x);
              top = Math.min(top, y);
              bottom = Math.max(bottom, y);
            }
        }
        return right < 0 ? [] : [[left, top, right - left + 1, bottom - top + 1]];
      }

      // How many words each bank is asked for.
      function bankStrip() {
        const count = rules.banks(machine), met = Array(count).fill(0);
        if (served)
            for (const [bank, words] of rules.byBank(
                     machine, now.bytes, now.offsets.map((_, i) => i).filter(i => now.offsets[i] >= 0), now.offsets))
                met[bank] = words.size;
        const most = Math.max(...met);
        return el(
            'figure', {class: shared ? 'now' : ''}, el('figcaption', {}, 'words that each bank is asked for'),
            drawing(
                count, 34, shared ? `at most ${plural(most, 'word')} from one bank` : 'no request to the tile',
                {'data-memory': 'banks', preserveAspectRatio: 'none'},
                shape('path', {class: 'page', d: boxes([[0, 0, count, 34]])}),
                shape(
                    'path',
                    {class: 'asked', d: boxes(met.map((n, bank) => [bank + 0.1, 33 - n, 0.8, n]).filter(b => b[3]))})),
            el('p', {class: 'axis'}, el('span', {}, 'bank 0'), el('span', {}, most ? `at most ${most}` : ''),
               el('span', {}, String(count - 1))));
      }
    }
    return { root, draw, restart };
  }

  function firstStore({ sites, warps }) {
    return warps["0,0"].findIndex(([site]) => sites[site][1] === "odata");
  }
});
