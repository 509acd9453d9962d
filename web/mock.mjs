// mock.mjs - a mock of the server's HTTP API with an invented world. Needs only node.
//
//   node mock.mjs [--port 8080] [--words 1200] [--hostile] [--token TOKEN] [--full-disk]
//        [--until-eof]
//
// --words 0 is a server that has learned nothing yet: send it some text. --hostile adds words that
// try to harm the page; with --full-disk, checkpoints fail; with --until-eof the mock ends with its
// standard input, so that it does not outlive a test. The page is the one in web/dist, sent like
// the real server does. Prints its URL once it listens.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { gunzipSync } from "node:zlib";
import { HOSTILE } from "./mock/lexicon.mjs";
import { AGES, World, cosine } from "./mock/world.mjs";

const argument = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : process.argv[at + 1];
};
const TOKEN = argument("token", null);
const PAGE = new URL("./dist/", import.meta.url);
const MEGABYTE = 1 << 20;

const world = new World({ words: Number(argument("words", 1200)) });
if (process.argv.includes("--hostile"))
  for (const word of HOSTILE) Object.assign(world.add(word, world.common, 900), { count: 2e6 });

const failing = process.argv.includes("--full-disk") ? "news.tide: No space left on device" : null;

if (process.argv.includes("--until-eof"))
  process.stdin.on("end", () => process.exit()).resume();

class Problem extends Error {
  constructor(status, type, title, members = {}) {
    super(title);
    Object.assign(this, { status, members: { type, title, status, detail: title, ...members } });
  }
}

const integer = (query, name, fallback, max) => {
  const value = Number(query.get(name) ?? fallback);
  if (!Number.isInteger(value) || value < 0 || value > max)
    throw new Problem(400, "about:blank", `${name} must be an integer from 0 to ${max}`);
  return value;
};

function known(word) {
  const w = world.words.get(word) ?? world.words.get(word.toLowerCase());
  if (w) return w;
  const suggestions = [...world.words.keys()]
    .filter((other) => other[0] === word[0] && Math.abs(other.length - word.length) < 3)
    .slice(0, 5);
  const title = `'${word}' is not in the vocabulary`;
  throw new Problem(404, "/problems/unknown-word", title, { suggestions });
}

const trend_of = (w) => Math.log2((w.rate + 1) / (w.mean + 1));

const ratio_of = (w) => (w.mean > 0 ? w.rate / w.mean : null);

const row = (w, rank) => ({
  word: w.word, count: Math.round(w.count), error: w.error, seen: Math.round(w.count), rank,
  rate: w.rate, baseline: w.mean, ratio: ratio_of(w), trend: trend_of(w), drift: world.drift(w), since: w.since, first_seen: w.first_seen,
});

function stats() {
  const { totals, skipped } = world;
  const size = world.words.size;
  const part = (name, mb) => ({ name, bytes: mb * MEGABYTE });
  const parts = [part("vectors", 60), part("vocabulary", 13), part("replay", 15),
    part("history", 8), part("negatives", 1.9), part("rates", 1), part("intake", 0.8)];
  return {
    version: "0.1.0", started: world.started, now: world.now, stream_time: null,
    tokens: Math.round(totals.tokens), words_per_second: world.rate,
    sentences: Math.round(totals.sentences), bytes: Math.round(totals.bytes),
    trained: Math.round(totals.tokens * 0.4),
    loss: totals.tokens ? 1.1 + 3 / Math.log(10 + totals.tokens / 1e5) : null,
    vocabulary: { size, capacity: world.capacity, minimum_count: size ? 3 : 0,
      admitted: totals.admitted, evicted: totals.evicted, rejected: totals.rejected,
      admitted_per_second: world.entered.length, evicted_per_second: world.left.length },
    skipped,
    memory: { budget_bytes: 128 * MEGABYTE, resident_bytes: 107.5 * MEGABYTE, parts },
    queue: { bytes: 40000, capacity_bytes: 16 * MEGABYTE, refused: 0 },
    checkpoint: { path: "news.tide", time: world.now - (world.now % 60), bytes: 98 * MEGABYTE,
      pause_seconds: 0.021, failures: failing ? 6 : 0, failure: failing, running: false },
    sources: [{ name: "http", kind: "http" }, { name: "-", kind: "pipe" }],
    model: { dim: 100, vectors: "input", centred: true, subwords: 0, profile: "default",
      threads: 2, half_life: 0 },
    history: { followed: world.followed().length, ages: AGES, baseline_in: 0 },
  };
}

function words(query) {
  const prefix = query.get("prefix") ?? "";
  const limit = integer(query, "limit", 50, 1000);
  const offset = integer(query, "offset", 0, 1e9);
  const sort = query.get("sort") ?? "count";
  if (sort === "gone")
    return { total: world.gone.length, words: world.gone.slice(offset, offset + limit) };
  const rows = world.ranked().map((w, i) => row(w, i + 1)).filter((r) => r.word.startsWith(prefix));
  if (sort === "new") rows.sort((a, b) => (b.first_seen ?? 0) - (a.first_seen ?? 0));
  if (sort === "trend") rows.sort((a, b) => b.trend - a.trend);
  if (sort === "drift") rows.sort((a, b) => (b.drift ?? -1) - (a.drift ?? -1));
  return { total: rows.length, words: rows.slice(offset, offset + limit) };
}

function word(w, text) {
  const terms = w.word === text ? {} : { terms: [{ text, tokens: [w.word], unknown: [] }] };
  const rank = world.ranked().indexOf(w) + 1;
  const norm = Math.hypot(...world.vector(w));
  return { ...row(w, rank), norm, followed: w.past.length > 0, ...terms };
}

function neighbors(w, query) {
  const topn = integer(query, "topn", 10, 1000);
  const age = integer(query, "age", 0, 1e9);
  const all = [...world.words.values()];
  if (age === 0)
    return { word: w.word, age, neighbors: world.nearest(world.vector(w), all, topn, [w.word]) };
  const then = (x) => x.past.findLast?.((p) => p.time <= world.now - age) ??
    x.past.filter((p) => p.time <= world.now - age).pop();
  if (!then(w)) throw new Problem(404, "/problems/no-past", `no snapshot is ${age} s old`);
  const others = all.filter(then);
  const turn = (x) => then(x).turn;
  return { word: w.word, age,
    neighbors: world.nearest(world.vector(w, turn(w)), others, topn, [w.word], turn) };
}

function history(w) {
  const step = Math.max(1, Math.floor(w.past.length / 60));
  const points = w.past.filter((_, i) => i % step === 0).map((p) => ({
    age: world.now - p.time, time: p.time, count: Math.round(p.count), rate: p.rate,
    turned: world.turned(w, p),
  }));
  return { word: w.word, points };
}

function analogy(names, topn) {
  const [a, b, c] = names.map((name) => world.vector(known(name)));
  const wanted = c.map((x, i) => x + b[i] - a[i]);
  return { answers: world.nearest(wanted, [...world.words.values()], topn, names) };
}

function map(query) {
  const some = world.ranked().slice(0, integer(query, "limit", 2000, 10000));
  const places = some.map((w) => world.place(w));
  return {
    frame: Math.floor(world.now), words: some.map((w) => w.word),
    x: places.map((p) => p.x), y: places.map((p) => p.y),
    count: some.map((w) => Math.round(w.count)), seen: some.map((w) => Math.round(w.count)),
    ratio: some.map(ratio_of),
    age: some.map((w) => (w.first_seen === null ? null : world.now - w.first_seen)),
    drift: some.map((w) => world.drift(w)), trend: some.map(trend_of),
  };
}

function watch(w, method) {
  if (method === "DELETE") world.watched.delete(w.word);
  else world.watched.add(w.word);
  world.snapshot();
  return null;
}

function ingest(body) {
  if (body.includes("please be busy")) {
    world.skipped.omitted++;
    throw new Problem(429, "/problems/busy", "the queue is full", { taken: 0 });
  }
  return { taken: world.learn(body), bytes: Buffer.byteLength(body), skipped: 0 };
}

function checkpoint() {
  return { path: "news.tide", bytes: 98 * MEGABYTE, pause_seconds: 0.02, seconds: 0.4 };
}

function answer(method, path, query, body) {
  const [, , name, part, what] = path.split("/").map(decodeURIComponent);
  const rest = query.get("word") ?? part;
  if (path === "/health") return { status: "ok" };
  if (path === "/ready") return { status: "ready" };
  if (method === "POST" && path === "/v1/ingest") return ingest(body);
  if (method === "POST" && path === "/v1/checkpoint") return checkpoint();
  if (path === "/v1/stats") return stats();
  if (path === "/v1/map") return map(query);
  if (path === "/v1/analogy")
    return analogy(["a", "b", "c"].map((k) => query.get(k) ?? ""), integer(query, "topn", 10, 1000));
  if (path === "/v1/similarity") {
    const [a, b] = ["a", "b"].map((k) => known(query.get(k) ?? ""));
    return { a: a.word, b: b.word, similarity: cosine(world.vector(a), world.vector(b)) };
  }
  if (name === "words" && rest === undefined) return words(query);
  if (name === "words" && what === undefined) return word(known(rest), rest);
  if (name === "words" && what === "neighbors") return neighbors(known(rest), query);
  if (name === "words" && what === "history") return history(known(rest));
  if (name === "words" && what === "watch") return watch(known(rest), method);
  throw new Problem(404, "about:blank", "not found");
}

function send(response, status, value, type = "application/json; charset=utf-8") {
  if (status === 429) response.setHeader("Retry-After", "1");
  response.writeHead(value === null ? 204 : status, { "Content-Type": type });
  response.end(value === null ? undefined : JSON.stringify(value));
}

function send_page(response) {
  const sources = readFileSync(new URL("csp.txt", PAGE), "utf8").trim();
  response.writeHead(200, {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": `default-src 'none'; ${sources}; connect-src 'self'; ` +
      "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
  });
  response.end(gunzipSync(readFileSync(new URL("index.html.gz", PAGE))));
}

const ENDINGS = { word2vec: ".vec", "word2vec-binary": ".bin", glove: ".txt", safetensors: ".safetensors",
  pgvector: ".tsv" };

function send_export(response, query) {
  const ending = ENDINGS[query.get("format") ?? "word2vec"];
  if (!ending) throw new Problem(400, "about:blank", `unknown format; use one of: ${Object.keys(ENDINGS).join(", ")}`);
  const rows = world.ranked().map((w) => `${w.word} ${world.vector(w).join(" ")}\n`);
  response.writeHead(200, {
    "Content-Type": "application/octet-stream",
    "Content-Disposition": `attachment; filename="wordtide${ending}"`,
  });
  response.end(`${rows.length} ${rows[0]?.split(" ").length - 1 || 0}\n${rows.join("")}`);
}

const subscribers = new Set();

function subscribe(response) {
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
  subscribers.add(response);
  response.on("close", () => subscribers.delete(response));
  publish([response], "stats", stats());
}

function publish(responses, event, data) {
  for (const response of responses)
    response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

setInterval(() => {
  world.step(1);
  publish(subscribers, "stats", stats());
  publish(subscribers, "words", { entered: world.entered.slice(-20), left: world.left.slice(-20) });
  for (const alarm of world.alarms.slice(-5)) publish(subscribers, "alarm", alarm);
  world.entered = [];
  world.left = [];
  world.alarms = [];
}, 1000);

async function text_of(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

const server = createServer(async (request, response) => {
  const url = new URL(request.url, "http://mock");
  const body = await text_of(request);
  try {
    if (url.pathname === "/") return send_page(response);
    if (TOKEN && request.headers.authorization !== `Bearer ${TOKEN}`)
      throw new Problem(401, "about:blank", "authentication required");
    if (url.pathname === "/v1/events") return subscribe(response);
    if (url.pathname === "/v1/export") return send_export(response, url.searchParams);
    send(response, 200, answer(request.method, url.pathname, url.searchParams, body));
  } catch (error) {
    if (!(error instanceof Problem)) console.error(error);
    const members = error.members ?? { type: "about:blank", title: "Internal server error", status: 500 };
    send(response, members.status, members, "application/problem+json");
  }
});

server.listen(Number(argument("port", 8080)), "127.0.0.1", () =>
  console.log(`http://127.0.0.1:${server.address().port}/`));
