import { beforeEach, expect, test } from "vitest";
import * as live from "../src/data/live";
import type { Stats } from "../src/data/types";

let clock = 1000;

function stats(change: Partial<Stats> = {}): Stats {
  return {
    version: "1", started: 1, now: clock, stream_time: null, tokens: 0, words_per_second: 0,
    sentences: 0, bytes: 0, trained: 0, loss: null,
    vocabulary: { size: 0, capacity: 9, minimum_count: 0, admitted: 0, evicted: 0, rejected: 0,
      admitted_per_second: 0, evicted_per_second: 0 },
    skipped: {}, memory: { budget_bytes: null, resident_bytes: 1, parts: [] },
    queue: { bytes: 0, capacity_bytes: 1, refused: 0 }, checkpoint: null, sources: [],
    model: {}, history: { followed: 0, ages: [] }, ...change,
  };
}

beforeEach(() => {
  live.stats.value = null;
  live.ring.clear();
  live.link.value = "open";
  clock = 1000;
});

test("the state is learning while words arrive, and waiting otherwise", () => {
  live.applyStats(stats({ tokens: 5 }));
  expect(live.state.value).toBe("waiting");
  clock++;
  live.applyStats(stats({ tokens: 6 }));
  expect(live.state.value).toBe("learning");
  clock += 4;
  live.applyStats(stats({ tokens: 6 }));
  expect(live.state.value).toBe("learning");
  clock += 4;
  live.applyStats(stats({ tokens: 6 }));
  expect(live.state.value).toBe("waiting");
  live.link.value = "lost";
  expect(live.state.value).toBe("lost");
});

test("a restart of the server resets the data", () => {
  live.applyStats(stats({ tokens: 5 }));
  live.applyChurn({ entered: [{ word: "tea", count: 1 }], left: [] });
  clock++;
  live.applyStats(stats({ tokens: 9 }));
  expect(live.ring.length).toBe(2);
  clock++;
  live.applyStats(stats({ tokens: 1, started: 2 }));
  expect(live.ring.length).toBe(1);
  expect(live.entered.value).toEqual([]);
});

test("tickers list the newest first with unique ids in fixed memory", () => {
  for (let i = 0; i < 100; i++)
    live.applyChurn({ entered: [{ word: "same", count: i }, { word: "same", count: -i }], left: [] });
  const shown = live.entered.value;
  expect(shown).toHaveLength(40);
  expect(shown[0]).toMatchObject({ word: "same", count: -99 });
  expect(new Set(shown.map(({ id }) => id)).size).toBe(40);
});

test("the span of charts grows from one to ten minutes", () => {
  expect(live.chartSpan([])).toBe(60);
  expect(live.chartSpan([0, 61])).toBe(120);
  expect(live.chartSpan([0, 6000])).toBe(600);
});

test("a failed checkpoint is reported until one succeeds", () => {
  const saved = { path: "m", time: null, bytes: 0, pause_seconds: null, failures: 1, running: false };
  live.applyStats(stats({ tokens: 5, checkpoint: { ...saved, failure: "No space left on device" } }));
  expect(live.state.value).toBe("unsaved");
  expect(live.failure.value).toBe("No space left on device");
  clock++;
  live.applyStats(stats({ tokens: 6, checkpoint: { ...saved, failure: null } }));
  expect(live.state.value).toBe("learning");
});
