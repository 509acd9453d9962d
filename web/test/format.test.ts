import { expect, test } from "vitest";
import * as format from "../src/text/format";

test("unknown values are a dash", () => {
  const all = [format.count, format.brief, format.amount, format.bytes, format.duration];
  for (const show of [...all, format.ago, format.times, format.degrees, format.score])
    for (const nothing of [null, undefined, NaN, Infinity]) expect(show(nothing)).toBe("\u2013");
});

test.each([
  [format.count, 56671282, "56,671,282"],
  [format.count, -3, "\u22123"],
  [format.brief, 70000, "70k"],
  [format.brief, 0.0000001, "1e\u22127"],
  [format.brief, 0, "0"],
  [format.brief, 56671282, "56.7M"],
  [format.amount, 55637.4, "55,637"],
  [format.amount, 12.345, "12.3"],
  [format.amount, 4.2, "4.2"],
  [format.amount, 0.0314, "0.031"],
  [format.amount, 0, "0"],
  [format.bytes, 0, "0 B"],
  [format.bytes, 1023.6, "1.0 KiB"],
  [format.bytes, 107.5 * 2 ** 20, "108 MiB"],
  [format.duration, 0, "0 s"],
  [format.duration, 59.6, "1 min"],
  [format.duration, 3 * 86400 + 4 * 3600 + 59, "3 d 4 h"],
  [format.duration, 86400 + 59, "1 d"],
  [format.roughly, 3661, "1 h"],
  [format.ago, 0.4, "just now"],
  [format.ago, 61, "1 min ago"],
  [format.times, 2, "2\u00d7"],
  [format.times, 0.5, "0.5\u00d7"],
  [format.degrees, 51.4, "51\u00b0"],
  [format.degrees, 3.14, "3.1\u00b0"],
  [format.score, -0.5, "\u22120.50"],
])("%o of %d is %s", (show, value, text) => {
  expect(show(value)).toBe(text);
});

test("a count is shown with its error if it has one", () => {
  expect(format.bounded(65, 64)).toBe("65 \u00b1 64");
  expect(format.bounded(65, 0)).toBe("65");
});
