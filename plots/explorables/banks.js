// Banks: the tile coloured by bank, for any width, padding, swizzle, element and machine; who meets whom, and how many
// wavefronts.

explorables.set("banks", (panel, _, machines) => {
  const state = { machine: "h200", type: "float", width: 32, pad: 0, swizzle: "c", way: "column", at: 5, lane: 0 };
  const set = name => value => { state[name] = value; draw(); };
  const along = slider("at", "row or column", { min: 0, max: 31, value: state.at }, set("at"));
  const swizzle = el('input', {
      name: 'swizzle',
      value: state.swizzle,
      size: 14,
      spellcheck: 'false',
      autocomplete: 'off',
      'aria-describedby': 'swizzle-fault',
      oninput: () => set('swizzle')(swizzle.value)
  });
  const fault = el("p", { class: "fault", id: "swizzle-fault", role: "status" });
  const tile = el('div', {class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'the tile'}),
        lanes = el('div', {class: 'lanes'});
  let drawn = {};
  const preset = (name, text, values) => button(name, text, () => {
    Object.assign(state, values);
    for (const [field, value] of Object.entries(values)) panel.querySelector(`[name="${field}"]`).value = value;
    draw();
  });

  panel.append(
      el('h4', {}, 'Banks'),
      el('p', {class: 'hint'},
         'Change the tile by hand. The warp reads a column, as steps 3 to 7 do, or fills a row. ' +
             'Every cell shows the bank of its element.'),
      el('div', {class: 'controls'}, preset('unpadded', 'step 3: tile[32][32]', {width: 32, pad: 0, swizzle: 'c'}),
         preset('padded', 'step 4: tile[32][32 + 1]', {width: 32, pad: 1, swizzle: 'c'}),
         preset('swizzled', 'swizzled: c ^ r', {width: 32, pad: 0, swizzle: 'c ^ r'}),
         preset('small', 'tile[16][16 + 1]', {width: 16, pad: 1, swizzle: 'c'})),
      el('div', {class: 'controls'}, number('width', 'tile width', {min: 8, max: 64, value: state.width}, set('width')),
         number('pad', 'padding', {min: 0, max: 32, value: state.pad}, set('pad')),
         el('label', {}, el('span', {}, 'column of element (r, c)'), swizzle),
         choice(
             'type', 'element type',
             Object.entries(BYTES).map(([type, bytes]) => [type, `${type}, ${plural(bytes, 'byte')}`]), state.type,
             set('type')),
         choice(
             'machine', 'machine', Object.entries(machines).map(([name, m]) => [name, m.label]), state.machine,
             set('machine')),
         choice('way', 'the warp', [['column', 'reads a column'], ['row', 'fills a row']], state.way, set('way')),
         along, slider('lane', 'marked lane', {min: 0, max: 31, value: 0}, set('lane'))),
      fault,
      el('div', {class: 'beside'}, tile,
         el('div', {}, facts(['cost', 'cost'], ['the marked lane', 'lane'], ['it meets', 'meets']), lanes)));
  draw();

  function draw() {
      const machine = machines[state.machine], bytes = BYTES[state.type], {width, pad} = state, row = width + pad,
            banks = rules.banks(machine);
      // Threads are numbered along rows as wide as the tile, or as a warp: a narrow tile gives a warp several rows.
      const wide = Math.min(width, 32), deep = Math.ceil(32 / wide);
      const last = Math.max(0, width - deep);
      state.at = Math.min(state.at, last);
      along.limit(0, last, state.at);
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
                          to}. Use an expression that gives each column its own place.`;
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

    // The cells are drawn again only where the tile has changed.
    const size = 22, layout = [high, row, bytes, banks].join();
    if (layout !== drawn.layout) {
      drawn = { layout, labels: [], ring: shape("path", { class: "ring" }), mark: shape("path", { class: "marked" }) };
      const cells = Array.from({ length: banks }, () => []);
      for (let r = 0; r < high; ++r)
        for (let c = 0; c < row; ++c) {
          const bank = bankOf((r * row + c) * bytes);
          cells[bank].push([c * size, r * size, size, size]);
          drawn.labels.push(shape("text", { x: (c + 0.5) * size, y: (r + 0.68) * size }, String(bank)));
        }
      tile.replaceChildren(drawing(
          row * size, high * size, `a tile of ${high} rows of ${row} elements`,
          {class: 'tile', style: `--columns:${row}`},
          cells.map((list, bank) => shape('path', {class: 'cell', style: `--bank:${bank / banks}`, d: boxes(list)})),
          drawn.labels, drawn.ring, drawn.mark));
    }
    const spots = elements.map(([r, c], lane) => offsets[lane] < 0 ? undefined : [r, place(r, c)]),
          wanted = new Set(spots.filter(Boolean).map(([r, c]) => r * row + c));
    drawn.labels.forEach((label, i) => label.classList.toggle("wanted", wanted.has(i)));
    const ring = ([r, c]) => [c * size, r * size, size, size];
    drawn.ring.setAttribute("d", boxes(spots.filter(Boolean).map(ring)));
    drawn.mark.setAttribute("d", boxes([spots[state.lane]].filter(Boolean).map(ring)));

    const mine = offsets[state.lane], bank = bankOf(mine);
    const meets = rules.conflicts(machine, access, bytes, offsets)
                      .filter(pair => pair.includes(state.lane))
                      .map(([a, b]) => a === state.lane ? b : a);
    tell(panel, {
        cost: plural(served.count, 'wavefront'),
        lane: mine < 0 ? 'idle' :
                         `lane ${state.lane}: element (${elements[state.lane].join(', ')}), bank ${bank}, wavefront ${
                             served.of[state.lane] + 1}`,
        meets: meets.length ? `lane${meets.length === 1 ? '' : 's'} ${ranges(meets)} in a bank` : 'no other lane',
    });
    lanes.replaceChildren(...Array.from({ length: served.count }, (_, wavefront) => {
      const list = served.of.map((of, lane) => [of, lane]).filter(([of]) => of === wavefront).map(([, lane]) => lane);
      return el(
          'p', {}, el('b', {}, `wavefront ${wavefront + 1}`), ` lane${list.length === 1 ? '' : 's'} ${ranges(list)}`);
    }));
  }
});

// 0, 1, 2, 5 as "0–2, 5", where a line may break after the comma only.
function ranges(list) {
  const parts = [];
  for (const n of list)
    if (parts.length && parts[parts.length - 1][1] === n - 1) parts[parts.length - 1][1] = n;
    else parts.push([n, n]);
  return parts.map(([a, b]) => a === b ? a : `${a}\u2060–\u2060${b}`).join(", ");
}

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
