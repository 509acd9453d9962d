import { expect, test } from "vitest";
import { snippetsFor } from "../src/views/send/snippets";

test("snippets contain the address of the page and never the token", () => {
  for (const token of [false, true])
    for (const address of ["http://127.0.0.1:8080/#/send", "https://tide.example.org/"]) {
      const url = new URL(address);
      const port = url.port || "443";
      for (const { name, text } of snippetsFor(url, token)) {
        expect(text, name).toContain(url.hostname);
        expect(text.includes(url.origin) || text.includes(port), name).toBe(true);
        expect(/authorization|bearer/i.test(text), name).toBe(token);
      }
    }
});
