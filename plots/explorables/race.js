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
      thread.register = tile.has(offset) ? tile.get(offset) : null; // what lay there before
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

explorables.set("race", raceOf);

function raceOf(panel, cases, _, chosen = 0) {
  const data = cases[chosen];
  const PAUSE = 450; // ms between two instructions that are played
  const met = data.threads[0].program.filter(step => step === "barrier").length;
  const state = { barriers: [0, 1].map(i => i !== data.missing), ran: [] };
  const names = data.threads.map(({ thread }) => `thread (${thread.join(", ")})`);
  const place = (memory, offset) => {
    const i = offset / 4, wide = { idata: data.width, odata: data.height, shared: data.row }[memory];
    return `${memory === "shared" ? "tile" : memory}[${Math.floor(i / wide)}][${i % wide}]`;
  };
  const value = number => number === undefined ? "nothing yet" :
      number === null                          ? "what lay there before" :
                                                 place("idata", number * 4);
  const written = ([, access, memory, offset]) =>
      access === "load" ? `r = ${place(memory, offset)}` : `${place(memory, offset)} = r`;
  const boards = names.map(() => el("ol", { class: "program" })), cells = el("div", { class: "cells" });
  let timer, now;
  // A button that cannot act stays where it is, keeps the focus, and says why.
  const act = (name, label, refusal, does) => {
    const made = button(name, label, () => {
      stop();
      const why = refusal();
      if (why) return say("", why);
      does();
      draw();
    });
    made.may = () => made.setAttribute("aria-disabled", Boolean(refusal()));
    return made;
  };
  const cannot = who => now.may[who] ? "" :
      now.waiting[who] ? `${sentence(names[who])} waits at the barrier until the other thread is there. Run it.` :
                         `${sentence(names[who])} has done all of its work. Start again, or run the other.`;
  const buttons = [
    ...names.map((name, who) => act(`run-${who}`, `run ${name}`, () => cannot(who), () => state.ran.push(who))),
    act("again", "start again", () => "", () => { state.ran = []; })];
  const further = [
    act("back", "◀ back", () => state.ran.length ? "" : "No instruction has run yet.", () => { state.ran.pop(); }),
    act("show", "▶ show a wrong order",
        () => wrongOrder(data, state.barriers) ? "" : "With every barrier, no order reads a wrong value.", play)];
  const barrier = (i, text) => checkbox(`barrier-${i}`, text, state.barriers[i], there => {
    stop();
    state.barriers[i] = there;
    state.ran = [];
    draw();
  });

  const say = ask(panel, {
    title: "Race",
    question: "Two threads fill a tile and read it. In which order does one of them read a wrong value?",
    hint: "You are the scheduler. Each press runs one instruction of a thread. " +
        `${met > 1 ? `Barrier ${data.missing + 1}` : "The barrier"} of ${data.kernel} is missing.`,
    controls: buttons,
    stage: [
      cells,
      el("div", { class: "programs" }, boards.map((board, who) => el("section", {}, el("h5", {}, names[who]), board)))],
    more: [
      el("div", { class: "controls" },
         choice("kernel", "kernel", cases.map(({ kernel }, i) => [i, kernel]), chosen, another)),
      met > 1 ? el("p", { class: "hint" }, "This kernel was published without its second barrier.") : undefined,
      el("div", { class: "controls" }, barrier(0, "barrier 1, between filling the tile and reading it"),
         met > 1 ? barrier(1, "barrier 2, between reading the tile and filling it again") : undefined),
      el("div", { class: "controls" }, further)] });
  draw();

  function another(index) {
    stop();
    panel.replaceChildren();
    raceOf(panel, cases, _, Number(index));
    panel.querySelector(".more").open = true;
    panel.querySelector('[name="kernel"]').focus();
  }

  function sentence(text) { return text[0].toUpperCase() + text.slice(1); }

  function stop() {
    clearTimeout(timer);
    timer = undefined;
  }

  // Runs a wrong order from its beginning, one instruction after the other. Without motion, all at once.
  function play() {
    const found = wrongOrder(data, state.barriers), still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    state.ran = still ? found : [];
    const next = () => {
      timer = undefined;
      if (state.ran.length === found.length) return;
      state.ran = found.slice(0, state.ran.length + 1);
      draw();
      timer = setTimeout(next, PAUSE);
    };
    if (!still) timer = setTimeout(next, PAUSE);
  }

  function draw() {
    now = runRace(data, state.barriers, state.ran);
    [...buttons, ...further].forEach(each => each.may());
    now.threads.forEach((thread, who) => {
      // Every instruction and barrier of the program, with those that are taken out.
      let taken = 0, met = 0;
      boards[who].replaceChildren(...data.threads[who].program.map(step => {
        const number = step === "barrier" ? met++ % 2 : undefined;
        if (number !== undefined && !state.barriers[number])
          return el("li", { class: "barrier missing" }, `barrier ${number + 1} is missing here`);
        const i = taken++, kind = i < thread.at ? "done" : i === thread.at ? "next" : "";
        if (number !== undefined)
          return el("li", { class: `${kind} barrier` }, `__syncthreads(), barrier ${number + 1}`,
                    i === thread.at && now.waiting[who] ? ", waits" : "");
        return el("li", {
          class: `${kind} ${now.wrong.some(w => w.who === who && w.at === i) ? "wrong" : ""}`,
          title: `line ${step[0]}: ${data.lines[step[0]]}` }, el("code", {}, written(step)));
      }));
    });
    const offsets =
        [...new Set(data.threads.flatMap(t => t.program.filter(s => s[2] === "shared").map(s => s[3])))].sort(
            (a, b) => a - b);
    cells.replaceChildren(
        ...offsets.map(offset => el("div", { class: "box" }, el("b", {}, place("shared", offset)),
                                    el("span", {}, value(now.tile.has(offset) ? now.tile.get(offset) : null)))),
        ...now.threads.map((thread, who) => el("div", { class: "box" }, el("b", {}, `r of ${names[who]}`),
                                               el("span", {}, value(thread.register)))));
    tellWhatHappened();
  }

  function tellWhatHappened() {
    const bad = now.wrong[now.wrong.length - 1], wrong = wrongOrder(data, state.barriers);
    if (bad)
      return say("right", `Found. ${sentence(names[bad.who])} reads ${value(bad.found)} from ${
          place("shared", bad.offset)}, but it has to write ${value(bad.expected)}. The other thread has ${
          state.barriers[0]
              ? "filled the tile again before this read. Barrier 2, behind “more”, forbids that."
              : "not filled it yet. Barrier 1, behind “more”, forbids that."}`);
    if (now.threads.every(t => t.at === t.steps.length))
      return say(wrong ? "wrong" : "right", wrong ?
          "Both threads are done, and every value was right this time. Start again, and let one thread run ahead." :
          "Both threads are done, and every value was right. With every barrier no order reads a wrong value.");
    const last = state.ran[state.ran.length - 1];
    if (last === undefined)
      return say("", wrong ? "Nothing has run yet. Run a thread." :
                             "Nothing has run yet. With every barrier, no order of these threads reads a wrong value.");
    const done = now.threads[last].steps[now.threads[last].at - 1];
    say("", `${done === "barrier" ? "Both threads have passed the barrier." :
                                    `${sentence(names[last])} did ${written(done)}.`} ${
        now.waiting[last] ? "It waits at the barrier now. " : ""}No wrong value so far.`);
  }
}
