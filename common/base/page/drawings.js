// What an access touches, drawn: lanes, sectors and lines of a memory, the banks that a request needs, the banks of a
// tile, and partitions. The drawings know no explorable, so that a page about any kernel can use them. A request is
// {access, memory, bytes of a lane, offsets: of each of 32 lanes in bytes, -1 where it is idle}; rules.js has its cost.

// A request as the data have it (plots/explorables/__init__.py), opened.
function openRequest(request, sites) {
  const [access, memory, line, bytes, phase] = sites[request[0]];
  const listed = Array.isArray(request[1]), mask = request.length > 3 ? request[3] : 0xFFFFFFFF;
  const offsets = listed ?
      request[1] :
      Array.from({length: 32}, (_, lane) => mask >>> lane & 1 ? request[1] + lane * request[2] : -1);
  return { access, memory, line, bytes, phase, offsets };
}

// One path of rectangles, [x, y, width, height] each: a thousand of them cost no more than one element.
const boxes = list => list.map(([x, y, w, h]) => `M${x} ${y}h${w}v${h}h${-w}z`).join("");

// The elements of one memory, `high` rows of `wide` elements: what a request asks for now, what others asked for
// before, the pieces (sectors, lines or transactions) that it moves, the offset of a marked lane, and the tiles that a
// block is at home in ([x, y, width, height] each).
function memoryPicture(title, memory, { high, wide, bytes, home = [], before = [], now, pieces = [], marked = -1 }) {
  const pitch = wide * bytes, unit = Math.max(wide, high) / 100;
  const cell = offset => [Math.floor(offset % pitch / bytes), Math.floor(offset / pitch), 1, 1];
  const cells = requests => requests.flatMap(r => r.offsets).filter(offset => offset >= 0).map(cell);
  const moved = pieces.flatMap(piece => { // across the end of a row, in two parts
    const parts = [];
    for (let from = piece.address; from < piece.address + piece.bytes;) {
      const to = Math.min(piece.address + piece.bytes, (Math.floor(from / pitch) + 1) * pitch);
      parts.push([from % pitch / bytes, Math.floor(from / pitch), (to - from) / bytes, 1]);
      from = to;
    }
    return parts;
  });
  const frame = ([x, y]) => [x - unit, y - unit, 1 + 2 * unit, 1 + 2 * unit];
  const asked = now ? plural(rules.asked(now.bytes, now.offsets), "byte") + " asked for" : "not asked";
  return el(
      "figure", { class: now ? "now" : "" }, el("figcaption", {}, title),
      drawing(wide, high, `${title}: ${asked}`, { "data-memory": memory },
              shape("path", { class: "page", d: boxes([[0, 0, wide, high]]) }),
              shape("path", { class: "home", d: boxes(home) }),
              shape("path", { class: "before", d: boxes(cells(before)) }),
              shape("path", { class: "moved", d: boxes(moved), "stroke-width": 0.3 * unit }),
              shape("path", { class: "asked", d: boxes(cells(now ? [now] : [])) }),
              shape("path", { class: "marked", d: boxes(marked >= 0 ? [frame(cell(marked))] : []),
                              "stroke-width": unit })));
}

// How many words a request to shared memory needs of each bank; without one, none. It has a place before it is seen.
function bankPicture(machine, now, seen) {
  const count = rules.banks(machine), met = Array(count).fill(0);
  if (now)
    for (const [bank, words] of rules.byBank(machine, now.bytes, rules.active(now.offsets, 0, 32), now.offsets))
      met[bank] = words.size;
  const most = Math.max(...met), bars = met.map((n, bank) => [bank + 0.1, 33 - n, 0.8, n]).filter(bar => bar[3]);
  return el(
      "figure", { class: `${now ? "now" : ""} ${seen ? "" : "unseen"}` },
      el("figcaption", {}, "words that each bank is asked for"),
      drawing(count, 34, now ? `at most ${plural(most, "word")} from one bank` : "no request to the tile",
              { "data-memory": "banks", preserveAspectRatio: "none" },
              shape("path", { class: "page", d: boxes([[0, 0, count, 34]]) }),
              shape("path", { class: "asked", d: boxes(bars) })),
      el("p", { class: "axis" }, el("span", {}, "bank 0"), el("span", {}, most ? `at most ${most}` : ""),
         el("span", {}, String(count - 1))));
}

// A tile of `high` rows of `row` elements on a canvas, each element coloured by its bank, in `room` pixels. spots: the
// [row, column] of each lane, framed; marked: one of them. A narrow cell has a condensed number.
function paintTile(canvas, room, { high, row, banks, spots, marked, bankOf }) {
  const WIDEST = 19, NARROWEST = 8, LOWEST = 12; // pixels of a cell
  const sharp = devicePixelRatio || 1, fitting = Math.floor(room / row * sharp) / sharp;
  const side = Math.max(NARROWEST, Math.min(WIDEST, fitting)), tall = Math.max(side, LOWEST);
  const wide = Math.floor(side * row), deep = Math.floor(tall * high);
  canvas.width = wide * sharp;
  canvas.height = deep * sharp;
  canvas.style.width = `${wide}px`;
  const context = canvas.getContext("2d"), ink = styled(canvas, "--ink");
  context.scale(sharp, sharp);
  context.textAlign = "center";
  context.textBaseline = "middle";
  const small = side < LOWEST, gap = small ? 0.5 : 1, box = ([r, c]) => [c * side, r * tall, side - gap, tall - gap];
  const colours = Array.from({ length: banks }, (_, bank) => cellColour(canvas, bank, banks));
  const read = new Set(spots.filter(Boolean).map(String));
  context.strokeStyle = ink;
  context.lineWidth = small ? 1 : 2;
  const each = act => {
    for (let r = 0; r < high; ++r)
      for (let c = 0; c < row; ++c) act(r, c);
  };
  each((r, c) => {
    context.fillStyle = colours[bankOf(r, c)];
    context.fillRect(...box([r, c]));
  });
  each((r, c) => { // frames and numbers lie on all cells
    const framed = read.has(`${[r, c]}`);
    if (framed) context.strokeRect(...box([r, c]));
    context.font = `${framed && !small ? "bold " : ""}10px Helvetica, Arial, sans-serif`;
    context.fillStyle = ink;
    context.fillText(bankOf(r, c), (c + 0.5) * side, (r + 0.55) * tall, side - 2);
  });
  if (marked) {
    context.strokeStyle = styled(canvas, "--warm");
    context.lineWidth += 1;
    context.strokeRect(...box(marked));
  }
  const list = spots.map(spot => spot ? bankOf(...spot) : "idle").join(" ");
  canvas.setAttribute("aria-label", `a tile of ${high} rows of ${row} elements; the banks of lanes 0 to 31: ${list}`);
}

// Which lanes each wavefront serves, a line each. served: of rules.wavefronts().
const wavefrontList = served => Array.from({ length: served.count }, (_, wavefront) => {
  const list = served.of.map((of, lane) => [of, lane]).filter(([of]) => of === wavefront).map(([, lane]) => lane);
  return el("p", {}, el("b", {}, `wavefront ${wavefront + 1}`), ` lane${list.length === 1 ? "" : "s"} ${ranges(list)}`);
});

// 0, 1, 2, 5 as "0–2, 5", where a line may break after the comma only.
function ranges(list) {
  const parts = [];
  for (const n of list)
    if (parts.length && parts[parts.length - 1][1] === n - 1) parts[parts.length - 1][1] = n;
    else parts.push([n, n]);
  return parts.map(([a, b]) => a === b ? a : `${a}\u2060–\u2060${b}`).join(", ");
}

// The colour of part `which` of `of` parts, as in .cell of style.css.
function cellColour(node, which, of, strong) {
  const light = strong ? "62%" : styled(node, "--cell-light"), chroma = strong ? ".17" : styled(node, "--cell-chroma");
  return `oklch(${light} ${chroma} ${360 * which / of})`;
}

// Colours of CSS as [red, green, blue, alpha] bytes.
function bytesOf(colours) {
  const canvas = el("canvas", { width: colours.length, height: 1 }), context = canvas.getContext("2d");
  colours.forEach((colour, i) => {
    context.fillStyle = colour;
    context.fillRect(i, 0, 1, 1);
  });
  const all = context.getImageData(0, 0, colours.length, 1).data;
  return colours.map((_, i) => all.slice(4 * i, 4 * i + 4));
}

// A picture of one pixel for each cell, which the page scales. `of(x, y)` is the number of a colour. One picture costs
// less than a thousand elements.
function pixels(canvas, wide, high, colours, of) {
  canvas.width = wide;
  canvas.height = high;
  const context = canvas.getContext("2d"), image = context.createImageData(wide, high);
  for (let y = 0, at = 0; y < high; ++y)
    for (let x = 0; x < wide; ++x, at += 4) image.data.set(colours[of(x, y)], at);
  context.putImageData(image, 0, 0);
}

const svgText = (x, y, text, attributes) => shape("text", { x, y, ...attributes }, text);

// A request to shared memory: a column for each bank, and in it a box for each word that the lanes need there. Boxes
// above the first cost a wavefront each.
function bankColumns(machine, access, bytes, offsets, label) {
  const banks = rules.banks(machine), cell = 13, tall = 8;
  const served = rules.wavefronts(machine, access, bytes, offsets), first = [], more = [];
  let most = 1;
  for (const [bank, words] of rules.byBank(machine, bytes, rules.active(offsets, 0, 32), offsets)) {
    most = Math.max(most, words.size);
    [...words.keys()].forEach((_, i) => (i ? more : first).push([bank * cell + 1, 12 + i * tall, cell - 2, tall - 1]));
  }
  const empty = Array.from({ length: banks }, (_, bank) => [bank * cell, 11, cell - 0.5, most * tall + 1]);
  const wide = banks * cell, under = 24 + most * tall;
  return drawing(wide, under + 4, `${label}: ${plural(served.count, "wavefront")}`, { class: "banks" },
                 svgText(0, 8, "bank 0"), svgText(wide, 8, `bank ${banks - 1}`, { "text-anchor": "end" }),
                 shape("path", { class: "empty", d: boxes(empty) }), shape("path", { class: "asked", d: boxes(first) }),
                 shape("path", { class: "more", d: boxes(more) }),
                 svgText(0, under, plural(served.count, "wavefront")));
}

// A request to global or local memory: a row for each line of 128 bytes that it touches, in it the sectors that move,
// and in these the bytes that lanes need.
function lineRows(machine, access, bytes, offsets, label) {
  const pieces = rules.transactions(machine, access, bytes, offsets), unit = rules.unit(machine, access), line = 128;
  const scale = 2.6, left = 70, tall = 9, numbers = [...new Set(pieces.flatMap(
      piece => Array.from({ length: Math.ceil(piece.bytes / line) }, (_, i) => Math.floor(piece.address / line) + i)))];
  numbers.sort((a, b) => a - b);
  const row = address => 2 + numbers.indexOf(Math.floor(address / line)) * (tall + 2);
  const box = (address, size) => {
    const parts = []; // an element may lie across the end of a line
    for (let from = address; from < address + size;) {
      const to = Math.min(address + size, (Math.floor(from / line) + 1) * line);
      if (numbers.includes(Math.floor(from / line)))
        parts.push([left + from % line * scale, row(from), (to - from) * scale - 0.6, tall]);
      from = to;
    }
    return parts;
  };
  const sectors = numbers.flatMap(n => [0, 32, 64, 96].map(at => box(n * line + at, 32)[0]));
  const asked = offsets.filter(offset => offset >= 0).flatMap(offset => box(offset, bytes));
  const under = 14 + numbers.length * (tall + 2);
  return drawing(left + line * scale + 2, under + 4, `${label}: ${plural(pieces.length, unit)}`, { class: "lines" },
                 numbers.map(n => svgText(left - 4, row(n * line) + 8, `line ${n - numbers[0]}`,
                                          { "text-anchor": "end" })),
                 shape("path", { class: "empty", d: boxes(sectors) }),
                 shape("path", { class: "moved", d: boxes(pieces.flatMap(piece => box(piece.address, piece.bytes))) }),
                 shape("path", { class: "asked", d: boxes(asked) }), svgText(0, under, plural(pieces.length, unit)));
}

// A request to constant memory: a box for each word that lanes need, with the number of these lanes.
function wordRow(offsets, label) {
  const words = new Map();
  for (const offset of offsets)
    if (offset >= 0) words.set(Math.floor(offset / 4), (words.get(Math.floor(offset / 4)) || 0) + 1);
  const list = [...words.entries()].sort((a, b) => a[0] - b[0]);
  return drawing(420, 44, `${label}: ${plural(list.length, "word")}`, { class: "words" },
                 shape("path", { class: "asked", d: boxes(list.map((_, i) => [i * 13, 2, 11, 11])) }),
                 list.map(([, lanes], i) => svgText(i * 13 + 1, 24, lanes)),
                 svgText(0, 38, plural(list.length, "word")));
}

// An atomic operation on global memory: a column for each element, and in it a box for each lane that changes it. Lanes
// that change one element take turns.
function turnColumns(offsets, label) {
  const lanes = new Map(), cell = 13, tall = 8;
  for (const offset of offsets)
    if (offset >= 0) lanes.set(offset, (lanes.get(offset) || 0) + 1);
  const counts = [...lanes.entries()].sort((a, b) => a[0] - b[0]).map(([, count]) => count);
  const most = Math.max(...counts), first = counts.map((_, i) => [i * cell + 1, 2, cell - 2, tall - 1]);
  const more = counts.flatMap((count, i) => Array.from(
      { length: count - 1 }, (_, turn) => [i * cell + 1, 2 + (turn + 1) * tall, cell - 2, tall - 1]));
  const text = `${plural(counts.length, "element")}, at most ${plural(most, "lane")} on one`;
  return drawing(420, 20 + most * tall, `${label}: ${text}`, { class: "turns" },
                 shape("path", { class: "asked", d: boxes(first) }), shape("path", { class: "more", d: boxes(more) }),
                 svgText(0, 14 + most * tall, text));
}
