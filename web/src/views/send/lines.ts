// lines.ts - cuts a stream of bytes into bodies that end where a line ends.

const NEWLINE = 10;

/** Bodies of about `size` bytes. A line that is longer than that is cut into several. */
export async function* bodiesOf(
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

/** All of it, which may be so many bytes. */
export async function wholeOf(
  stream: ReadableStream<Uint8Array>,
  most: number,
): Promise<Uint8Array<ArrayBuffer>> {
  let whole = new Uint8Array(0);
  for await (const body of bodiesOf(stream, 1 << 20)) {
    whole = joined(whole, body);
    if (whole.length > most)
      throw new Error(`more than ${most >> 20} MB of it cannot be sent at once: use wordtide train`);
  }
  return whole;
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** What is left of a body when its first lines have been taken. */
export function withoutLines(
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
