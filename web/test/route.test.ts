import { expect, test } from "vitest";
import { VIEWS, parseRoute, routeTo } from "../src/ui/route";

test("views and words survive a round trip through the URL", () => {
  for (const view of VIEWS) expect(parseRoute(routeTo(view)).view).toBe(view);
  const words = ["tea", "a/b?c#d%20e&f", "\u202eevil", "__proto__", "..", "%", "\u{1f30a}", "<b>"];
  for (const word of words)
    expect(parseRoute(routeTo("word", word))).toEqual({ view: "word", word, query: {} });
});

test("any other URL shows the first view", () => {
  for (const hash of ["", "#", "#/", "#/nowhere", "#/constructor", "#////", "live"])
    expect(parseRoute(hash)).toEqual({ view: "live", word: "", query: {} });
  expect(parseRoute("#/word/100%")).toEqual({ view: "word", word: "100%", query: {} });
});

test("query words survive a round trip through the URL", () => {
  const query = { with: "caf\u00e9 & co", a: "a/b", b: "?", c: "=" };
  const address = `${routeTo("word", "tea?")}?${new URLSearchParams(query)}`;
  expect(parseRoute(address)).toEqual({ view: "word", word: "tea?", query });
  expect(parseRoute("#/word?a=x").query).toEqual({ a: "x" });
  expect(parseRoute("#/word/tea?with=&d=x&__proto__=y").query).toEqual({});
  expect(parseRoute("#/map?a=x").query).toEqual({});
});
