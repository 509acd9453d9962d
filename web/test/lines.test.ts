import { expect, test } from "vitest";
import { splitBodies, dropLines } from "../src/views/send/lines";
import { generator } from "./random";

const encode = (text: string) => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

function streamOf(bytes: Uint8Array, random: () => number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(control) {
      if (at >= bytes.length) return control.close();
      const end = at + 1 + Math.floor(random() * 40);
      control.enqueue(bytes.slice(at, end));
      at = end;
    },
  });
}

test("bodies contain the whole text in order and end at line ends", async () => {
  const random = generator(4);
  for (let run = 0; run < 50; run++) {
    const lines = Array.from({ length: 60 }, () => "tide\u{1f30a} ".repeat(random() * 5));
    const text = lines.join("\n");
    let all = "";
    const size = 64;
    for await (const body of splitBodies(streamOf(encode(text), random), size)) {
      expect(body.length).toBeLessThanOrEqual(size);
      all += decode(body);
      expect(all === text || all.endsWith("\n")).toBe(true);
    }
    expect(all).toBe(text);
  }
});

test("an overlong line is split", async () => {
  const long = encode("x".repeat(1000));
  const sizes: number[] = [];
  for await (const body of splitBodies(streamOf(long, generator(1)), 300)) sizes.push(body.length);
  expect(sizes).toEqual([300, 300, 300, 100]);
});

test("accepted lines are not sent again", () => {
  const text = "a\n\nbc\nd";
  for (let n = 0; n < 6; n++)
    expect(decode(dropLines(encode(text), n))).toBe(text.split("\n").slice(n).join("\n"));
});
