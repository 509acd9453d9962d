import { expect, test } from "vitest";
import { agesWithin, someAges } from "../src/data/past";
import { sparkPath } from "../src/ui/spark";
import { changeBetween } from "../src/views/word/slopes";

const near = (words: string) => words.split(" ").map((word) => ({ word, score: 0.5 }));

test("neighbours came, went or stayed", () => {
  const change = changeBetween(near("rain hail gale"), near("gale kernel rain"));
  expect([...change.came]).toEqual(["kernel"]);
  expect([...change.went]).toEqual(["hail"]);
  expect(change.slopes).toEqual([
    { word: "rain", from: 0, to: 2 },
    { word: "gale", from: 2, to: 0 },
  ]);
});

test("only ages that the word has a past for can be chosen", () => {
  const point = (age: number) => ({ age, time: 0, count: 1, rate: 1, turned: 0 });
  expect(agesWithin([240, 60, 120], [point(130), point(5)])).toEqual([60, 120]);
  expect(agesWithin([60, 120], [])).toEqual([]);
});

test("of many ages some are offered, the first and the last among them", () => {
  const all = Array.from({ length: 20 }, (_, i) => 60 * 2 ** i);
  const some = someAges(all, 6);
  expect(some).toHaveLength(6);
  expect([some[0], some[5]]).toEqual([all[0], all[19]]);
  expect(someAges([60], 6)).toEqual([60]);
});

test("a line is broken where a value is missing", () => {
  expect(sparkPath([0, 1, null, 1], 0, 1)).toBe("M0.0 32.0L40.0 2.0M120.0 2.0");
  expect(sparkPath([], 0, 1)).toBe("");
});
