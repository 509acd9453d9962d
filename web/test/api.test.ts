import { expect, test } from "vitest";
import { wordPath } from "../src/data/api";
import { wellFormed } from "../src/text/visible";

test("every word has an address that stays what it is on its way", () => {
  for (const word of [".", "..", "...", "-", "a/b", "%2e", "?", "#", "é", "\ud800", ""])
    for (const about of ["", "neighbors"]) {
      const url = new URL(wordPath(word, about, { topn: 3 }), "http://localhost");
      const [, version, words, name, rest] = url.pathname.split("/");
      expect([version, words, rest ?? ""]).toEqual(["v1", "words", about]);
      const meant = url.searchParams.get("word") ?? decodeURIComponent(name ?? "");
      expect(meant).toBe(wellFormed(word));
      expect(url.searchParams.get("topn")).toBe("3");
    }
});
