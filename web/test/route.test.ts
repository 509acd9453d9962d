import { expect, test } from "vitest";
import { VIEWS, parseRoute, routeTo } from "../src/ui/route";

test("every view and every word comes back from its address", () => {
  for (const view of VIEWS) expect(parseRoute(routeTo(view)).view).toBe(view);
  const words = ["tea", "a/b?c#d%20e&f", "\u202eevil", "__proto__", "..", "%", "\u{1f30a}", "<b>"];
  for (const word of words)
    expect(parseRoute(routeTo("word", word))).toEqual({ view: "word", word });
});

test("any other address is the first view, and none is an error", () => {
  for (const hash of ["", "#", "#/", "#/nowhere", "#/constructor", "#////", "live"])
    expect(parseRoute(hash)).toEqual({ view: "live", word: "" });
  expect(parseRoute("#/word/100%")).toEqual({ view: "word", word: "100%" });
});
