// gunzip.ts - unpacks gzip, also of several members one after the other.
//
// A DecompressionStream ends with the first member and fails when it is given more, which throws
// away what it has just unpacked. So wherever the header of another member may begin, all that
// comes before it is unpacked and taken first. If the stream then refuses the header, it had
// ended there, and the next member gets a stream of its own.

const HEADER = 10; // bytes
const PIECE = 16 << 10; // bytes at a time, each of which may become a thousand

/** Where a header may begin, from `at` on; -1 if nowhere. */
function headerIn(bytes: Uint8Array, at: number): number {
  for (let i = bytes.indexOf(0x1f, at); i >= 0; i = bytes.indexOf(0x1f, i + 1)) {
    if (i + HEADER > bytes.length) return -1;
    const [, id, method, flags = 0] = bytes.subarray(i, i + 4);
    if (id === 0x8b && method === 8 && flags < 0x20) return i;
  }
  return -1;
}

class Member {
  private readonly stream = new DecompressionStream("gzip");
  private readonly writer = this.stream.writable.getWriter();
  private readonly reader = this.stream.readable.getReader();
  private made: Uint8Array[] = [];
  private readonly ended = this.collect();

  private async collect(): Promise<unknown> {
    try {
      for (;;) {
        const { done, value } = await this.reader.read();
        if (done) return null;
        this.made.push(value);
      }
    } catch (error) {
      return error;
    }
  }

  add(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    return this.writer.write(bytes);
  }

  /** Waits until all that was unpacked is collected, so that it stays if more bytes fail. */
  collected(): Promise<void> {
    return new Promise((resume) => setTimeout(resume));
  }

  async end(): Promise<void> {
    await this.writer.close().catch(() => undefined);
    const error = await this.ended;
    if (error) throw error;
  }

  take(): Uint8Array[] {
    const made = this.made;
    this.made = [];
    return made;
  }
}

async function* unpacked(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let member = new Member();
  let begun = false; // bytes of the member were added
  let held = new Uint8Array(0); // the last bytes, in which a header may begin
  for await (const piece of packed) {
    const bytes = new Uint8Array(held.length + piece.length);
    bytes.set(held);
    bytes.set(piece, held.length);
    let at = 0;
    for (;;) {
      const header = headerIn(bytes, at + (begun ? 0 : 1));
      const end = header < 0 ? Math.max(at, bytes.length - HEADER + 1) : header;
      if (end > at) await member.add(bytes.slice(at, end));
      begun ||= end > at;
      if (header >= 0) await member.collected();
      yield* member.take();
      at = end;
      if (header < 0) break;
      const first = bytes.slice(at, at + HEADER);
      try {
        await member.add(first);
      } catch {
        member = new Member();
        await member.add(first);
      }
      at += HEADER;
    }
    held = bytes.slice(at);
  }
  if (held.length) await member.add(held);
  await member.end();
  yield* member.take();
}

async function* piecesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (let at = 0; at < value.length; at += PIECE) yield value.subarray(at, at + PIECE);
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

export function gunzip(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const made = unpacked(piecesOf(stream));
  return new ReadableStream({
    async pull(control) {
      const { done, value } = await made.next();
      if (done) control.close();
      else control.enqueue(value);
    },
    async cancel() {
      await made.return(undefined);
    },
  });
}
