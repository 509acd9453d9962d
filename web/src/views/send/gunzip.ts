// gunzip.ts - decompresses gzip, including files of several members.
//
// A DecompressionStream ends with the first member and fails on further input, which discards the
// output that it has just produced. So wherever the header of another member may begin, everything
// before it is decompressed and read first. If the stream then rejects the header, the member ended
// there, and the next one gets a stream of its own.

const HEADER_BYTES = 10;
const CHUNK_BYTES = 16 << 10; // of input at a time; a byte may expand to a thousand

/** Returns where a header may begin, from `at` on; -1 if nowhere. */
function findHeader(bytes: Uint8Array, at: number): number {
  for (let i = bytes.indexOf(0x1f, at); i >= 0; i = bytes.indexOf(0x1f, i + 1)) {
    if (i + HEADER_BYTES > bytes.length) return -1;
    const [, id, method, flags = 0] = bytes.subarray(i, i + 4);
    if (id === 0x8b && method === 8 && flags < 0x20) return i;
  }
  return -1;
}

class Member {
  private readonly stream = new DecompressionStream("gzip");
  private readonly writer = this.stream.writable.getWriter();
  private readonly reader = this.stream.readable.getReader();
  private output: Uint8Array[] = [];
  private readonly ended = this.collect();

  private async collect(): Promise<unknown> {
    try {
      for (;;) {
        const { done, value } = await this.reader.read();
        if (done) return null;
        this.output.push(value);
      }
    } catch (error) {
      return error;
    }
  }

  add(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    return this.writer.write(bytes);
  }

  /** Waits until all output is collected, so that it survives if further input fails. */
  collected(): Promise<void> {
    return new Promise((resume) => setTimeout(resume));
  }

  async end(): Promise<void> {
    await this.writer.close().catch(() => undefined);
    const error = await this.ended;
    if (error) throw error;
  }

  takeOutput(): Uint8Array[] {
    const output = this.output;
    this.output = [];
    return output;
  }
}

async function* decompress(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let member = new Member();
  let started = false; // bytes of the member have been added
  let held = new Uint8Array(0); // the last bytes, in which a header may begin
  for await (const chunk of input) {
    const bytes = new Uint8Array(held.length + chunk.length);
    bytes.set(held);
    bytes.set(chunk, held.length);
    let at = 0;
    for (;;) {
      const header = findHeader(bytes, at + (started ? 0 : 1));
      const end = header < 0 ? Math.max(at, bytes.length - HEADER_BYTES + 1) : header;
      if (end > at) await member.add(bytes.slice(at, end));
      started ||= end > at;
      if (header >= 0) await member.collected();
      yield* member.takeOutput();
      at = end;
      if (header < 0) break;
      const first = bytes.slice(at, at + HEADER_BYTES);
      try {
        await member.add(first);
      } catch {
        member = new Member();
        await member.add(first);
      }
      at += HEADER_BYTES;
    }
    held = bytes.slice(at);
  }
  if (held.length) await member.add(held);
  await member.end();
  yield* member.takeOutput();
}

async function* readChunks(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (let at = 0; at < value.length; at += CHUNK_BYTES) yield value.subarray(at, at + CHUNK_BYTES);
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

export function gunzip(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const output = decompress(readChunks(stream));
  return new ReadableStream({
    async pull(control) {
      const { done, value } = await output.next();
      if (done) control.close();
      else control.enqueue(value);
    },
    async cancel() {
      await output.return(undefined);
    },
  });
}
