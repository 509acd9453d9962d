import { expect, test, vi } from "vitest";
import { request, wordPath } from "../src/data/api";
import { token, tokenRequired } from "../src/data/token";
import { wellFormed } from "../src/text/visible";

test("a word survives encoding in a path", () => {
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

test("a 401 asks for a token unless another one was entered meanwhile", async () => {
  for (const late of [false, true]) {
    let refuse = () => {};
    vi.stubGlobal("fetch", () => new Promise((resolve) => {
      refuse = () => resolve(new Response("{}", { status: 401 }));
    }));
    token.value = "wrong";
    tokenRequired.value = false;
    const asked = request("/v1/stats");
    if (late) token.value = "right";
    refuse();
    await expect(asked).rejects.toMatchObject({ status: 401 });
    expect(tokenRequired.value).toBe(!late);
  }
  vi.unstubAllGlobals();
});
