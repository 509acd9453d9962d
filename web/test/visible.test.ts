import { expect, test } from "vitest";
import { short, visible, wellFormed, whole } from "../src/text/visible";

const ACTS = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

test("control characters are replaced and others unchanged", () => {
  const all = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code));
  expect(all.filter((c) => ACTS.test(visible(c)))).toEqual([]);
  const harmless = all.filter((c) => !ACTS.test(c) && !/\p{Surrogate}/u.test(c));
  expect(harmless.filter((c) => visible(c) !== c)).toEqual([]);
  expect(visible("\u{1f469}\u200d\u{1f680}")).toBe("\u{1f469}\u200d\u{1f680}");
});

test("lone surrogates can be encoded in a URL", () => {
  for (const word of ["\ud800", "a\udc00b", "\udc00\ud800", "\u{1f30a}"])
    expect(() => encodeURIComponent(wellFormed(word))).not.toThrow();
  expect(wellFormed("\u{1f30a}")).toBe("\u{1f30a}");
});

test("long words are shortened with the whole word in the title", () => {
  expect(short("tide")).toBe("tide");
  expect(whole("tide")).toBeUndefined();
  const long = "tide".repeat(1000);
  expect(Array.from(short(long))).toHaveLength(28);
  expect(short(long).endsWith("\u2026")).toBe(true);
  expect(whole("tide".repeat(10))).toBe("tide".repeat(10));
  expect(whole(long)?.length).toBeLessThanOrEqual(1000);
});

test("a changed word has the original in the title", () => {
  expect(short("a\u202eb")).toBe("a\u21c4b");
  expect(short("bell\u0007")).toBe("bell\u2407");
  expect(whole("bell\u0007")).toBe("bell\u2407");
});

test("shortening never splits a character", () => {
  for (let n = 1; n < 70; n++) expect(short("\u{1f30a}".repeat(n), 9)).not.toContain("\ufffd");
});
