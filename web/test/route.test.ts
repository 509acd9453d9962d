import { expect, test } from "vitest";
import { VIEWS, parseRoute, routeTo } from "../src/ui/route";

test("every view and every word comes back from its address", () => {
  for (const view of VIEWS) expect(parseRoute(routeTo(view)).view).toBe(view);
  const words = ["tea", "a/b?c#d%20e&f", "\u202eevil", "__proto__", "..", "%", "\u{1f30a}", "<b>"];
  for (const word of words)
    expect(parseRoute(routeTo("word", word))).toEqual({ view: "word", word, asked: {} });
});

test("any other address is the first view, and none is an error", () => {
  for (const hash of ["", "#", "#/", "#/nowhere", "#/constructor", "#////", "live"])
    expect(parseRoute(hash)).toEqual({ view: "live", word: "", asked: {} });
  expect(parseRoute("#/word/100%")).toEqual({ view: "word", word: "100%", asked: {} });
});

test("what is asked beside a word comes back from its address", () => {
  const asked = { with: "caf\u00e9 & co", a: "a/b", b: "?", c: "=" };
  const address = `${routeTo("word", "tea?")}?${new URLSearchParams(asked)}`;
  expect(parseRoute(address)).toEqual({ view: "word", word: "tea?", asked });
  expect(parseRoute("#/word?a=x").asked).toEqual({ a: "x" });
  expect(parseRoute("#/word/tea?with=&d=x&__proto__=y").asked).toEqual({});
  expect(parseRoute("#/map?a=x").asked).toEqual({});
});
