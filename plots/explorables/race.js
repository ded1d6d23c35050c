// Race: two threads of a kernel, instruction by instruction, with a barrier or without.

// What the threads have done: `ran` tells in which order they took their instructions.
function runRace(data, barriers, ran) {
  const element = 4, columns = data.width, rowsOut = data.height;
  const threads = data.threads.map(
      ({thread, program}) => ({
          thread,
          at: 0,
          register: undefined,
          steps: program.filter(
              (step, i) => step !== 'barrier' || barriers[program.slice(0, i).filter(s => s === 'barrier').length % 2])
      }));
  const tile = new Map(), out = new Map(), wrong = [];
  // The element of idata that belongs where a store to odata goes.
  const belongs = offset => { const i = offset / element; return (i % rowsOut) * columns + Math.floor(i / rowsOut); };
  const atBarrier = thread => thread.steps[thread.at] === "barrier";
  const waits = thread => atBarrier(thread) && !threads.every(atBarrier);
  for (const who of ran) {
    const thread = threads[who];
    if (thread.at >= thread.steps.length || waits(thread)) throw new Error("this thread cannot run");
    const step = thread.steps[thread.at];
    if (step === "barrier") {
      for (const each of threads) each.at += 1;
      continue;
    }
    const [, access, memory, offset] = step;
    if (memory === "idata") thread.register = offset / element;
    else if (memory === "shared" && access === "store") tile.set(offset, thread.register);
    else if (memory === "shared") {
      thread.register = tile.get(offset);
      const goes = thread.steps.slice(thread.at).find(s => s[2] === "odata");
      if (thread.register !== belongs(goes[3]))
          wrong.push({who, at: thread.at, offset, found: thread.register, expected: belongs(goes[3])});
    } else out.set(offset, thread.register);
    thread.at += 1;
  }
  return {
      threads,
      tile,
      out,
      wrong,
      may: threads.map(thread => thread.at < thread.steps.length && !waits(thread)),
      waiting: threads.map(waits)
  };
}

// An order in which a wrong value is read: undefined if no order does.
function wrongOrder(data, barriers) {
  const seen = new Set();
  const search = ran => {
    const now = runRace(data, barriers, ran), name = now.threads.map(t => t.at).join() + [...now.tile].sort().join();
    if (now.wrong.length) return ran;
    if (seen.has(name)) return undefined;
    seen.add(name);
    for (const who of [0, 1]) {
      const found = now.may[who] ? search([...ran, who]) : undefined;
      if (found) return found;
    }
    return undefined;
  };
  return search([]);
}

explorables.set("race", (panel, data) => {
  const state = { barriers: [true, false], ran: [] };
  const names = data.threads.map(({ thread }) => `thread (${thread.join(", ")})`);
  const place = (memory, offset) => {
    const i = offset / 4, wide = { idata: data.width, odata: data.height, shared: data.row }[memory];
    return `${memory === "shared" ? "tile" : memory}[${Math.floor(i / wide)}][${i % wide}]`;
  };
  const value = number => number === undefined ? "what lay there before" : place("idata", number * 4);
  const boards = names.map(() => el('ol', {class: 'program'})), cells = el('div', {class: 'cells'}),
        verdict = el('p', {class: 'verdict', role: 'status'});
  const run = names.map((name, who) => button(`run-${who}`, `run ${name}`, () => { state.ran.push(who); draw(); }));
  const back = button("back", "◀ back", () => { state.ran.pop(); draw(); });
  const again = button("again", "start again", () => { state.ran = []; draw(); });
  const show = button('show', 'show a wrong order', () => {
      const found = wrongOrder(data, state.barriers);
      if (found) state.ran = found;
      draw();
  });
  const barrier = (i, text) =>
      el('label', {class: 'check'}, el('input', {
             type: 'checkbox',
             name: `barrier-${i}`,
             checked: state.barriers[i],
             onchange: event => {
                 state.barriers[i] = event.target.checked;
                 state.ran = [];
                 draw();
             }
         }),
         el('span', {}, text));

  panel.append(
      el('h4', {}, 'Race'),
      el('p', {class: 'hint'},
         `Two threads of ${data.kernel}, whose blocks loop over the tiles. You are the scheduler. ` +
             'Run either thread, one instruction at a time, until a wrong value is read. ' +
             'The kernel was published without its second barrier.'),
      el('div', {class: 'controls'}, barrier(0, 'barrier between filling the tile and reading it'),
         barrier(1, 'barrier between reading the tile and filling it again')),
      el('div', {class: 'controls'}, run, back, again, show), verdict, cells,
      el('div', {class: 'programs'}, boards.map((board, who) => el('section', {}, el('h5', {}, names[who]), board))));
  draw();

  function draw() {
      const wrong = wrongOrder(data, state.barriers), now = runRace(data, state.barriers, state.ran),
            bad = now.wrong[now.wrong.length - 1];
      now.threads.forEach((thread, who) => {
          run[who].disabled = !now.may[who];
          back.disabled = again.disabled = !state.ran.length;
          boards[who].replaceChildren(...thread.steps.map((step, i) => {
              const kind = i < thread.at ? "done" : i === thread.at ? "next" : "";
              if (step === 'barrier')
                  return el(
                      'li', {class: `${kind} barrier`}, '__syncthreads()',
                      i === thread.at && now.waiting[who] ? ' – waits' : '');
              const [line, access, memory, offset] = step, at = place(memory, offset);
              const text = access === "load" ? `r = ${at}` : `${at} = r`;
              return el(
                  'li', {
                      class: `${kind} ${now.wrong.some(w => w.who === who && w.at === i) ? 'wrong' : ''}`,
                      title: `line ${line}: ${data.lines[line]}`
                  },
                  el('code', {}, text));
          }));
      });
      const offsets =
          [...new Set(data.threads.flatMap(t => t.program.filter(s => s[2] === 'shared').map(s => s[3])))].sort(
              (a, b) => a - b);
      cells.replaceChildren(
          ...offsets.map(
              offset =>
                  el('div', {class: 'box'}, el('b', {}, place('shared', offset)),
                     el('span', {}, value(now.tile.get(offset))))),
          ...now.threads.map(
              (thread, who) => el(
                  'div', {class: 'box'}, el('b', {}, `r of ${names[who]}`), el('span', {}, value(thread.register)))));
      verdict.className = `verdict ${bad ? "wrong" : ""}`;
      verdict.textContent = bad ? `Wrong: ${names[bad.who]} reads ${value(bad.found)} from ${
                                      place('shared', bad.offset)}, but it has to write ${value(bad.expected)}.` :
          now.threads.every(t => t.at === t.steps.length) ?
                                  'Both threads are done, and every value was right. Another order may be wrong.' :
          wrong ? 'No wrong value so far.' :
                  'No order of these two threads reads a wrong value.';
      show.disabled = !wrong;
  }
});
