import { expect, test } from "vitest";
import { gunzip } from "../src/views/send/gunzip";
import { generator } from "./random";

function streamOf(bytes: Uint8Array, random: () => number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(control) {
      if (at >= bytes.length) return control.close();
      const end = at + 1 + Math.floor(random() * 4000);
      control.enqueue(bytes.slice(at, end));
      at = end;
    },
  });
}

async function gzip(plain: string): Promise<Uint8Array<ArrayBuffer>> {
  const packed = new Blob([plain]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

async function text(stream: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(stream).text();
}

test("gzip of any number of members is decompressed for any chunking", async () => {
  const random = generator(8);
  for (let run = 0; run < 20; run++) {
    const parts = Array.from({ length: Math.floor(random() * 5) + 1 }, () =>
      Array.from({ length: Math.floor(random() * 3000) }, () => `${random()}\n`).join(""),
    );
    const packed = new Blob(await Promise.all(parts.map(gzip)));
    const bytes = new Uint8Array(await packed.arrayBuffer());
    expect(await text(gunzip(streamOf(bytes, random)))).toBe(parts.join(""));
  }
});

test("corrupt or truncated input is an error", async () => {
  const packed = await gzip("tea and milk\n".repeat(1000));
  for (const bytes of [packed.subarray(0, packed.length - 4), new Uint8Array([1, 2, 3])])
    await expect(text(gunzip(streamOf(bytes, () => 1)))).rejects.toThrow();
});
