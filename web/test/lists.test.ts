import { expect, test } from "vitest";
import { availableAges, pickAges } from "../src/data/ages";
import { sparkPath } from "../src/ui/spark";
import { changeBetween } from "../src/views/word/slopes";

const near = (words: string) => words.split(" ").map((word) => ({ word, score: 0.5 }));

test("changes between lists of neighbors are found", () => {
  const change = changeBetween(near("rain hail gale"), near("gale kernel rain"));
  expect([...change.added]).toEqual(["kernel"]);
  expect([...change.removed]).toEqual(["hail"]);
  expect(change.slopes).toEqual([
    { word: "rain", from: 0, to: 2 },
    { word: "gale", from: 2, to: 0 },
  ]);
});

test("only ages within the history of the word are available", () => {
  const point = (age: number) => ({ age, time: 0, count: 1, rate: 1, turned: 0 });
  expect(availableAges([240, 60, 120], [point(130), point(5)])).toEqual([60, 120]);
  expect(availableAges([60, 120], [])).toEqual([]);
});

test("many ages are thinned out evenly including both ends", () => {
  const all = Array.from({ length: 20 }, (_, i) => 60 * 2 ** i);
  const some = pickAges(all, 6);
  expect(some).toHaveLength(6);
  expect([some[0], some[5]]).toEqual([all[0], all[19]]);
  expect(pickAges([60], 6)).toEqual([60]);
});

test("a sparkline is broken where a value is missing", () => {
  expect(sparkPath([0, 1, null, 1], 0, 1)).toBe("M0.0 32.0L40.0 2.0M120.0 2.0");
  expect(sparkPath([], 0, 1)).toBe("");
});
