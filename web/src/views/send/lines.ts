// lines.ts - splits a stream of bytes into request bodies at line ends.

const NEWLINE = 10;

/** Yields bodies of about `size` bytes. A longer line is split. */
export async function* splitBodies(
  stream: ReadableStream<Uint8Array>,
  size: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let held = new Uint8Array(0);
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      held = joined(held, value);
      while (held.length >= size) {
        const end = held.subarray(0, size).lastIndexOf(NEWLINE) + 1 || size;
        yield held.slice(0, end);
        held = held.slice(end);
      }
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
  if (held.length) yield held;
}

/** Reads the whole stream, at most `max` bytes. */
export async function readAll(
  stream: ReadableStream<Uint8Array>,
  max: number,
): Promise<Uint8Array<ArrayBuffer>> {
  let whole = new Uint8Array(0);
  for await (const body of splitBodies(stream, 1 << 20)) {
    whole = joined(whole, body);
    if (whole.length > max)
      throw new Error(`a file of this type may have at most ${max >> 20} MiB; use wordtide train for larger ones`);
  }
  return whole;
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** Returns the body without its first lines. */
export function dropLines(
  body: Uint8Array<ArrayBuffer>,
  lines: number,
): Uint8Array<ArrayBuffer> {
  let at = 0;
  for (let n = 0; n < lines; n++) {
    const end = body.indexOf(NEWLINE, at);
    if (end < 0) return body.subarray(body.length);
    at = end + 1;
  }
  return body.subarray(at);
}
