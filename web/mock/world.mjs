// world.mjs - a small simulated world of words, for tests and for developing the page.
//
// Subjects have a position on a plane and a direction in space. A word is a mixture of two subjects
// plus an offset of its own, which give its position and its vector. Time advances in steps: words
// are counted by their rates, some burst and fade, some move from one subject to another, new ones
// appear and the rarest leave. Snapshots of the followed words provide neighbors and histories of
// the past.

import { COMMON, MOVERS, SUBJECTS, coin } from "./lexicon.mjs";

const DIMENSIONS = 12;
const STEP_SECONDS = 5; // between snapshots
const SNAPSHOTS = 400;
const FOLLOWED = 300;
const PLAIN = new Set(`${COMMON} ${Object.values(SUBJECTS).join(" ")}`.split(" "));
export const AGES = [60, 120, 240, 480, 960];

/** A small seeded random number generator. */
export function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export const cosine = (a, b) => {
  let ab = 0, aa = 0, bb = 0;
  for (let i = 0; i < a.length; i++) {
    ab += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return ab / Math.sqrt(aa * bb || 1);
};

const degrees = (c) => (Math.acos(Math.min(1, Math.max(-1, c))) * 180) / Math.PI;

export class World {
  constructor({ words = 1200, seed = 1, past = 1200, now = Date.now() / 1000 } = {}) {
    this.random = generator(seed);
    this.capacity = Math.max(words, 100);
    this.words = new Map();
    this.gone = [];
    this.entered = [];
    this.left = [];
    this.alarms = [];
    this.watched = new Set();
    this.totals = { tokens: 0, sentences: 0, bytes: 0, admitted: 0, evicted: 0, rejected: 0 };
    this.skipped = { invalid: 0, cut: 0, omitted: 0, malformed_records: 0, missing_records: 0,
      long_records: 0, bytes: 0 };
    this.rate = 0;
    this.frame = 0;
    this.quiet = words === 0;
    this.now = this.started = now - past;
    this.invent_subjects();
    this.invent_words(words);
    for (let t = 0; t < past; t++) this.step(1);
  }

  normal() {
    return this.random() + this.random() + this.random() + this.random() - 2;
  }

  invent_subjects() {
    const golden = Math.PI * (3 - Math.sqrt(5));
    this.subjects = Object.keys(SUBJECTS).map((name, i, all) => {
      const radius = 0.82 * Math.sqrt((i + 0.5) / all.length);
      return {
        name,
        x: radius * Math.cos(i * golden),
        y: radius * Math.sin(i * golden),
        code: Array.from({ length: DIMENSIONS }, () => this.normal()),
      };
    });
    this.common = { name: "common", x: 0, y: 0, code: Array(DIMENSIONS).fill(0.5) };
  }

  subject(name) {
    return this.subjects.find((s) => s.name === name) ?? this.common;
  }

  invent_words(limit) {
    const listed = COMMON.split(" ").map((word) => [word, this.common]);
    for (const s of this.subjects)
      for (const word of SUBJECTS[s.name].split(" ")) listed.push([word, s]);
    while (listed.length < limit) {
      const at = Math.floor(this.random() * this.subjects.length);
      listed.push([coin(this.random), this.subjects[at]]);
    }
    listed.slice(0, limit).forEach(([word, home], i) => {
      const common = home === this.common;
      const place = common ? i + 1 : 20 + i * (0.6 + 0.8 * this.random());
      const age = common ? null : this.random() ** 3 * 90000;
      this.add(word, home, 5200 / place ** 1.02, age === null ? null : this.now - age);
    });
    for (const [word, from, to] of MOVERS)
      if (this.words.has(word))
        Object.assign(this.words.get(word), { home: this.subject(from), next: this.subject(to) });
  }

  add(word, home, base, first_seen = this.now) {
    const spread = home === this.common ? 0.25 : 0.085;
    const plain = PLAIN.has(word); // the words of a subject stand closer together
    this.words.set(word, {
      word, home, next: home, turn: 0, base, burst: 1, count: 0, error: 0, first_seen,
      mean: base, rate: base, since: this.now, past: [],
      dx: this.normal() * spread * 1.6, dy: this.normal() * spread * 1.6,
      own: Array.from({ length: DIMENSIONS }, () => this.normal() * (plain ? 0.45 : 1.1)),
    });
    this.totals.admitted++;
    return this.words.get(word);
  }

  vector(w, turn = w.turn) {
    return w.own.map((own, i) => own + (1 - turn) * w.home.code[i] + turn * w.next.code[i]);
  }

  place(w) {
    const wobble = 0.004 * Math.sin(this.now / 7 + w.dx * 100);
    return {
      x: (1 - w.turn) * w.home.x + w.turn * w.next.x + w.dx + wobble,
      y: (1 - w.turn) * w.home.y + w.turn * w.next.y + w.dy - wobble,
    };
  }

  /** Advances the time. */
  step(seconds) {
    this.now += seconds;
    if (!this.quiet) {
      const swell = 1 + 0.25 * Math.sin(this.now / 70) + 0.06 * this.normal();
      let counted = 0;
      for (const w of this.words.values()) counted += this.say(w, seconds, swell);
      this.rate = counted / seconds;
      this.count(counted);
      this.surprise(seconds);
    }
    if (this.now - (this.last_snapshot ?? 0) >= STEP_SECONDS) this.snapshot();
  }

  say(w, seconds, swell) {
    w.burst = 1 + (w.burst - 1) * Math.exp(-seconds / 150);
    const rate = w.base * w.burst * swell * (1 + 0.1 * this.normal());
    w.rate += (rate - w.rate) * Math.min(1, seconds / 4);
    w.mean += (rate - w.mean) * Math.min(1, seconds / 300);
    if (w.next !== w.home) w.turn = Math.min(0.85, w.turn + seconds / 1800);
    w.count += rate * seconds;
    return rate * seconds;
  }

  count(tokens) {
    this.totals.tokens += tokens;
    this.totals.sentences += tokens / 14;
    this.totals.bytes += tokens * 5.6;
    if (this.random() < 0.1) this.skipped.invalid++;
    if (this.random() < 0.05) this.skipped.cut++;
    if (this.random() < 0.2) this.skipped.malformed_records += 2;
  }

  surprise(seconds) {
    const list = [...this.words.values()];
    if (this.random() < seconds / 40) {
      const w = list[Math.floor(this.random() ** 2 * list.length)];
      w.burst = 4 + 8 * this.random();
      this.alarms.push({ time: this.now, kind: "trend", word: w.word, score: Math.log2(w.burst),
        threshold: 2 });
    }
    if (this.random() < seconds / 3) {
      const home = this.subjects[Math.floor(this.random() * this.subjects.length)];
      const w = this.add(coin(this.random), home, 0.4 + this.random() * 3);
      w.error = this.words.size > this.capacity ? this.evict(w) : 0;
      w.count = w.error + 1;
      this.entered.push({ word: w.word, count: w.count, error: w.error });
    }
  }

  /** Evicts the rarest word other than the new one, which inherits its count. */
  evict(newcomer) {
    let least = null;
    for (const w of this.words.values())
      if (w !== newcomer && !(least?.count <= w.count)) least = w;
    this.words.delete(least.word);
    this.totals.evicted++;
    const leaver = { word: least.word, count: Math.round(least.count), left: this.now };
    this.left.push(leaver);
    this.gone = [leaver, ...this.gone].slice(0, 200);
    return leaver.count;
  }

  snapshot() {
    this.last_snapshot = this.now;
    for (const w of this.followed()) {
      w.past.push({ time: this.now, count: w.count, rate: w.rate, turn: w.turn });
      if (w.past.length > SNAPSHOTS) w.past.shift();
    }
  }

  /** All words by decreasing count. */
  ranked() {
    return [...this.words.values()].sort((a, b) => b.count - a.count);
  }

  followed() {
    return this.ranked().filter((w, i) => i < FOLLOWED || this.watched.has(w.word));
  }

  /** How far a word has turned since the snapshot, in degrees. */
  turned(w, past) {
    return degrees(cosine(this.vector(w), this.vector(w, past.turn)));
  }

  drift(w) {
    return w.past.length ? this.turned(w, w.past[0]) : null;
  }

  nearest(vector, words, count, except, turn_of = (w) => w.turn) {
    return words
      .filter((w) => !except.includes(w.word))
      .map((w) => ({ word: w.word, score: cosine(vector, this.vector(w, turn_of(w))) }))
      .sort((a, b) => b.score - a.score)
      .slice(0, count);
  }

  /** Learns a text: admits and counts its words. Returns the number of lines. */
  learn(text) {
    const lines = text.split("\n").filter((line) => line.trim());
    for (const line of lines)
      for (const word of line.toLowerCase().split(/\s+/u).filter(Boolean)) {
        const home = this.subjects[word.length % this.subjects.length];
        let w = this.words.get(word);
        if (!w) {
          w = this.add(word, home, 0.1);
          this.entered.push({ word, count: 1, error: 0 });
        }
        w.count++;
        this.totals.tokens++;
      }
    this.totals.sentences += lines.length;
    this.totals.bytes += text.length;
    return lines.length;
  }
}
