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
        made = () => Array.from({length: windows}, () => new Float64Array(machine.partitions));
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
    mean += moved.reduce((a, b) => a + b, 0) / moved.length;
  }
  return most / mean;
}

explorables.set("partitions", (panel, data, machines) => {
  const kernels = data.kernels, state = { kernel: "transposeNoBankConflicts", machine: "gtx280", n: 2048, window: 0 };
  let traffic, timer;
  const known = Object.entries(machines).filter(([, m]) => !m.assumed || m.label === data.machine);
  const moments = slider(
      'window', 'moment', {min: 0, max: 1, value: 0, say: w => traffic ? `${w + 1} of ${traffic.idata.length}` : ''},
      w => {
          state.window = w;
          show();
      });
  const side = slider('n', 'n', {min: 256, max: 4096, step: 32, value: state.n, say: n => `${n} × ${n}`}, n => {
      state.n = n;
      compute();
  });
  const play = button("play", "▶ play", () => {
    if (timer) return stop();
    play.textContent = "❚❚ stop";
    timer = setInterval(() => (state.window + 1 < traffic.idata.length ? go(state.window + 1) : stop()), 150);
  });
  const heat = el('div', {class: 'pictures heat'}), bars = el('div', {class: 'pictures'}),
        maps = el('div', {class: 'pictures'});
  const nudge = by => () => {
      state.n = Math.max(256, Math.min(4096, state.n + by));
      side.limit(256, 4096, state.n);
      compute();
  };

  panel.append(
      el('h4', {}, 'Partitions over time'),
      el('p', {class: 'hint'},
         'Blocks start in the order of the kernel, as many at a time as the machine holds. ' +
             'Change n by 32 and see camping come and go.'),
      el('div', {class: 'controls'},
         choice(
             'kernel', 'kernel and order of its blocks',
             Object.entries(kernels).map(([name, k]) => [name, `${name}, ${k.order}`]), state.kernel,
             value => {
                 state.kernel = value;
                 compute();
             }),
         choice(
             'machine', 'machine', known.map(([name, m]) => [name, m.label + (m.assumed ? ', map assumed' : '')]),
             state.machine,
             value => {
                 state.machine = value;
                 compute();
             }),
         button('less', 'n − 32', nudge(-32)), side, button('more', 'n + 32', nudge(32))),
      heat,
      el('div', {class: 'controls'}, button('back', '◀ back', () => go(state.window - 1)),
         button('next', 'next ▶', () => go(state.window + 1)), play, moments),
      el('div', {class: 'moments'}, bars, maps),
      facts(
          ['busiest / mean, loads of idata', 'loads'], ['busiest / mean, stores to odata', 'stores'],
          ['blocks at a time', 'resident'], ['busy at this moment', 'now']));
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
    const machine = machines[state.machine];
    traffic = partitionTraffic(machine, kernels[state.kernel], state.n);
    heat.replaceChildren(...["idata", "odata"].map(memory => {
      const windows = traffic[memory], levels = Array.from({ length: 9 }, () => []);
      windows.forEach((moved, w) => {
        const mean = moved.reduce((a, b) => a + b, 0) / moved.length;
        moved.forEach((bytes, p) => levels[Math.min(8, Math.round(2 * bytes / mean))].push([w, p, 1, 1]));
      });
      return el(
          'figure', {},
          el('figcaption', {}, memory === 'idata' ? 'loads of idata' : 'stores to odata',
             `: busiest / mean ${busiest(windows).toFixed(2)}`),
          drawing(
              windows.length, machine.partitions,
              `traffic of ${machine.partitions} partitions at ${windows.length} moments`,
              {preserveAspectRatio: 'none', 'data-heat': memory},
              levels.map((list, level) => shape('path', {class: `level${level}`, d: boxes(list)})),
              shape('path', {class: 'moment'})),
          el('p', {class: 'axis'}, el('span', {}, 'first blocks'),
             el('span', {}, `${machine.partitions} partitions, top to bottom`), el('span', {}, 'last blocks')));
    }));
    const tiles = traffic.across;
    maps.replaceChildren(...["idata", "odata"].map(memory => {
      const of = Array.from({ length: machine.partitions }, () => []);
      for (let r = 0; r < tiles; ++r)
          for (let c = 0; c < tiles; ++c) of[traffic.first(memory, r, c)].push([c, r, 1, 1]);
      return el(
          'figure', {}, el('figcaption', {}, `tiles of ${memory}, coloured by partition`),
          drawing(
              tiles, tiles, `the tiles of ${memory} and those in use`, {'data-map': memory},
              of.map(
                  (list, p) =>
                      shape('path', {class: 'cell', style: `--bank:${p / machine.partitions}`, d: boxes(list)})),
              shape('path', {class: 'running', 'stroke-width': Math.max(0.12, tiles / 300)})));
    }));
    go(Math.min(state.window, traffic.idata.length - 1));
    tell(panel, {
        loads: busiest(traffic.idata).toFixed(3),
        stores: busiest(traffic.odata).toFixed(3),
        resident: traffic.resident
    });
  }

  function show() {
    const machine = machines[state.machine], kernel = kernels[state.kernel], w = state.window;
    heat.querySelectorAll(".moment").forEach(path => path.setAttribute("d", boxes([[w, 0, 1, machine.partitions]])));
    const running = traffic.cells.slice(w * traffic.resident, (w + 1) * traffic.resident);
    for (const memory of ["idata", "odata"])
        maps.querySelector(`[data-map="${memory}"] .running`)
            .setAttribute(
                'd',
                boxes(running.map(([r, c]) => memory === 'odata' && kernel.transposes ? [r, c, 1, 1] : [c, r, 1, 1])));
    const busy = {};
    bars.replaceChildren(...['idata', 'odata'].map(memory => {
        const moved = traffic[memory][w], mean = moved.reduce((a, b) => a + b, 0) / moved.length,
              most = Math.max(...moved, 2 * mean);
        busy[memory] = moved.filter(Boolean).length;
        return el(
            'figure', {},
            el('figcaption', {},
               `${
                   memory === 'idata' ? 'loaded from' :
                                        'stored to'} each partition at this moment; the line is the mean`),
            drawing(
                machine.partitions, 10,
                `${memory}: the busiest partition has ${(Math.max(...moved) / mean).toFixed(2)} times the mean`,
                {preserveAspectRatio: 'none', 'data-bars': memory},
                shape('path', {class: 'page', d: boxes([[0, 0, machine.partitions, 10]])}),
                [...moved].map((bytes, p) => shape('path', {
                                   class: 'cell',
                                   style: `--bank:${p / machine.partitions}`,
                                   d: boxes([[p + 0.08, 10 - 10 * bytes / most, 0.84, 10 * bytes / most]])
                               })),
                shape('path', {class: 'mean', d: `M0 ${10 - 10 * mean / most}h${machine.partitions}`})),
            el('p', {class: 'axis'}, el('span', {}, 'partition 0'), el('span', {}, String(machine.partitions - 1))));
    }));
    tell(panel, { now: `${busy.idata} of ${machine.partitions} partitions for loads, ${busy.odata} for stores` });
  }
});
