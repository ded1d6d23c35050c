// The simulator's arithmetic (sim/core/sinks/rules.cpp, common/base/machine.h), which a test compares with it. A
// request is the access, the bytes of a lane, and of each of 32 lanes a byte offset, -1 where it is idle.

const rules = {
  lanesServedTogether(machine, bytes) { return machine.major === 1 ? 16 :
                                            bytes <= 4             ? 32 :
                                            bytes === 8            ? 16 :
                                                                     8; },

  banks: machine => machine.major === 1 ? 16 : 32,

  words(offset, bytes) {
    const list = [];
    for (let at = 0; at < Math.max(bytes, 4); at += 4) list.push(Math.floor((offset + at) / 4));
    return list;
  },

  // The lanes that take part, of `count` from the first on.
  active: (offsets, first, count) =>
      offsets.map((_, lane) => lane).slice(first, first + count).filter(lane => offsets[lane] >= 0),

  // Whether the parts of the warp from this lane on may share a wavefront, if the banks allow it. They may if every
  // lane loads the same element as lane l ^ 1, or every lane as lane l ^ 2. Idle lanes agree with all, but in the
  // first half of loads of 16 bytes: there everything agrees if lane 31 is idle, and otherwise idle lanes agree with
  // idle ones only.
  mayShare(machine, access, bytes, offsets, first) {
    const together = this.lanesServedTogether(machine, bytes);
    if (machine.major < 5 || access !== "load" || together === 32 || first % (2 * together)) return false;
    if (!this.active(offsets, first, together).length || !this.active(offsets, first + together, together).length)
      return false;
    const strict = bytes === 16 && first === 0;
    if (strict && offsets[31] < 0) return true;
    const lanes = this.active(offsets, first, 2 * together);
    return [1, 2].some(
        apart => lanes.every(lane => offsets[lane ^ apart] < 0 ? !strict : offsets[lane ^ apart] === offsets[lane]));
  },

  // Wavefronts of a request to shared memory: {count, of: the wavefront that serves each lane, from 0, -1 for an idle
  // one}.
  wavefronts(machine, access, bytes, offsets) {
    const together = this.lanesServedTogether(machine, bytes), of = offsets.map(() => -1),
          all = this.active(offsets, 0, 32);
    if (machine.major >= 5 && access === "load" && bytes === 16 &&
        all.every(lane => offsets[lane] === offsets[all[0]])) {
      all.forEach((lane, i) => {
        of[lane] = Math.floor(i / 16);
      });  // a wavefront delivers one element to 16 lanes
      return {count: Math.ceil(all.length / 16), of};
    }
    let count = 0;
    for (let first = 0; first < 32; first += together) {
      const lanes = this.active(offsets, first, together);
      if (!lanes.length) continue;
      if (this.mayShare(machine, access, bytes, offsets, first)) {
        const both = this.active(offsets, first, 2 * together);
        if (this.mostWords(machine, bytes, both, offsets) === 1) {
          for (const lane of both) of[lane] = count;
          count += 1;
          first += together;
          continue;
        }
      }
      count += machine.major === 1 ? this.passes(bytes, lanes, offsets, of, count) :
                                     this.ranks(machine, bytes, lanes, offsets, of, count);
    }
    return {count, of};
  },

  // Words by bank: a word serves every lane that wants it.
  byBank(machine, bytes, lanes, offsets) {
    const found = new Map();
    for (const lane of lanes)
      for (let word of this.words(offsets[lane], bytes)) {
        if (machine.major === 3) word = Math.floor(word / 64) * 32 + word % 32;  // banks 8 bytes wide
        const bank = word % this.banks(machine);
        if (!found.has(bank)) found.set(bank, new Map());
        const there = found.get(bank);
        if (!there.has(word)) there.set(word, []);
        there.get(word).push(lane);
      }
    return found;
  },

  mostWords(machine, bytes, lanes, offsets) {
    return Math.max(0, ...[...this.byBank(machine, bytes, lanes, offsets).values()].map(words => words.size));
  },

  ranks(machine, bytes, lanes, offsets, of, begin) {
    let most = 0;
    for (const words of this.byBank(machine, bytes, lanes, offsets).values()) {
      let rank = 0;
      for (const wanting of words.values()) {
        for (const lane of wanting) of[lane] = Math.max(of[lane], begin + rank);
        rank += 1;
      }
      most = Math.max(most, rank);
    }
    return most;
  },

  // 1.x: each pass serves everyone who wants one word, the first left, and one access to each of the other banks.
  passes(bytes, lanes, offsets, of, begin) {
    let left = lanes.flatMap(lane => this.words(offsets[lane], bytes).map(word => ({lane, word}))), passes = 0;
    for (; left.length; passes += 1) {
      const broadcast = left[0].word, busy = new Set([broadcast % 16]), later = [];
      for (const want of left) {
        if (want.word !== broadcast && busy.has(want.word % 16)) {
          later.push(want);
          continue;
        }
        busy.add(want.word % 16);
        of[want.lane] = begin + passes;
      }
      left = later;
    }
    return passes;
  },

  // The pairs of lanes that meet in a bank: but for that, one wavefront could serve both.
  conflicts(machine, access, bytes, offsets) {
    const together = this.lanesServedTogether(machine, bytes), banks = this.banks(machine),
          row = machine.major === 3 ? 64 : banks;
    const word = lane => Math.floor(offsets[lane] / 4),
          active = offsets.map((_, lane) => lane).filter(lane => offsets[lane] >= 0);
    const pairs = (size, meet) => active.flatMap(
        a => active.filter(b => b > a && Math.floor(b / size) === Math.floor(a / size) && meet(a, b)).map(b => [a, b]));
    const differ = (a, b) =>
        word(a) % banks === word(b) % banks && Math.floor(word(a) / row) !== Math.floor(word(b) / row);
    const inside = pairs(together, differ);
    if (inside.length) return inside;
    if (machine.major === 1) {  // only one word at a time goes to several lanes, first the lowest lane's
      const lowest = lane => active.find(other => Math.floor(other / 16) === Math.floor(lane / 16));
      return pairs(together, (a, b) => word(a) === word(b) && (bytes > 4 || word(a) !== word(lowest(a))));
    }
    const share = lane => {
      const first = Math.floor(lane / together / 2) * together * 2;
      return this.mayShare(machine, access, bytes, offsets, first) &&
          this.asked(bytes, offsets.slice(first, first + 2 * together)) <= 128;
    };
    return pairs(
        2 * together, (a, b) => differ(a, b) && share(a));  // two parts of the warp that banks could serve at once
  },

  // What a request to global memory moves: [{address, bytes}].
  transactions(machine, access, bytes, offsets) {
    const lanes = (first, count) =>
        offsets.map((_, lane) => lane).slice(first, first + count).filter(lane => offsets[lane] >= 0);
    if (machine.major === 1)
      return [0, 16].flatMap(
          first => machine.minor <= 1 ? this.halfInOrder(bytes, lanes(first, 16), first, offsets) :
                                        this.halfBySegment(bytes, lanes(first, 16), offsets));
    const pieces = (which, size) => [...new Set(which.map(lane => Math.floor(offsets[lane] / size)))]
                                        .sort((a, b) => a - b)
                                        .map(piece => ({address: piece * size, bytes: size}));
    if (machine.major === 2 && access === "load") {
      const together = bytes <= 4 ? 32 : bytes === 8 ? 16 : 8, list = [];
      for (let first = 0; first < 32; first += together) list.push(...pieces(lanes(first, together), 128));
      return list;
    }
    return pieces(lanes(0, 32), 32);
  },

  halfInOrder(bytes, lanes, first, offsets) {
    if (!lanes.length) return [];
    const base = offsets[lanes[0]] - (lanes[0] - first) * bytes;
    if (bytes < 4 || base % (16 * bytes) !== 0 || lanes.some(lane => offsets[lane] !== base + (lane - first) * bytes))
      return lanes.map(lane => ({address: Math.floor(offsets[lane] / 32) * 32, bytes: 32}));
    const size = Math.min(16 * bytes, 128), list = [];
    for (let at = 0; at < 16 * bytes; at += size) list.push({address: base + at, bytes: size});
    return list;
  },

  halfBySegment(bytes, lanes, offsets) {
    const whole = bytes === 1 ? 32 : bytes === 2 ? 64 : 128, list = [];
    while (lanes.length) {
      let size = whole, address = Math.floor(offsets[lanes[0]] / whole) * whole;
      const inside = lanes.filter(lane => Math.floor(offsets[lane] / whole) * whole === address);
      lanes = lanes.filter(lane => !inside.includes(lane));
      const low = Math.min(...inside.map(lane => offsets[lane])),
            high = Math.max(...inside.map(lane => offsets[lane] + bytes - 1));
      while (size > 32 && Math.floor(low / (size / 2)) === Math.floor(high / (size / 2))) {
        size /= 2;
        address = Math.floor(low / size) * size;
      }
      list.push({address, bytes: size});
    }
    return list;
  },

  unit: (machine, access) => machine.major === 1 ? "transaction" :
      machine.major === 2 && access === "load"   ? "line" :
                                                   "sector",

  asked: (bytes, offsets) => new Set(offsets.filter(offset => offset >= 0)).size * bytes,

  // A function from addresses below 2^32 to partitions. A hash is linear: that of an address is that of its bytes,
  // combined.
  partitions(machine) {
    if (!machine.hash.length) return address => Math.floor(address / machine.granularity) % machine.partitions;
    const tables = [0, 1, 2, 3].map(
        byte => Uint8Array.from(
            {length: 256},
            (_, value) => machine.hash.reduce(
                (sum, bits, b) =>
                    sum | (bits.filter(bit => bit >> 3 === byte && value >> (bit & 7) & 1).length & 1) << b,
                0)));
    return address => (tables[0][address & 255] ^ tables[1][address >>> 8 & 255] ^ tables[2][address >>> 16 & 255] ^
                       tables[3][address >>> 24]) %
        machine.partitions;
  },

  // Blocks that run at the same time, as far as the limits of an SM go.
  residentBlocks(machine, threads, shared) {
    const whole = (number, unit) => Math.ceil(number / unit) * unit;
    const byThreads = Math.floor(machine.threads_per_sm / whole(threads, 32));
    const byShared = shared ?
        Math.floor(machine.shared_per_sm / whole(shared + machine.reserved_shared_per_block, machine.shared_unit)) :
        Infinity;
    return machine.sms * Math.max(Math.min(machine.blocks_per_sm, byThreads, byShared), 1);
  },
};
