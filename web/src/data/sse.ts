// sse.ts - parses server-sent events from text that arrives in chunks.
//
// A line is "field: value"; a line that begins with a colon is a comment; an empty line ends an
// event. Lines end with LF, CR or CRLF, and a chunk may end anywhere, even between CR and LF.

export interface ServerEvent {
  event: string;
  data: string;
}

const MAX_CHARACTERS = 8_000_000; // an unterminated event beyond this is dropped

export class EventParser {
  private pending = "";
  private event = "";
  private data: string[] = [];

  /** Returns the events that the next chunk completes. */
  push(chunk: string): ServerEvent[] {
    const text = this.pending + chunk;
    const lines = text.split(/\r\n|\n|\r(?=[^])/);
    this.pending = lines.pop() ?? "";
    const events: ServerEvent[] = [];
    for (const line of lines) this.parseLine(line, events);
    if (this.pending.length > MAX_CHARACTERS) this.pending = "";
    return events;
  }

  private parseLine(line: string, events: ServerEvent[]): void {
    if (line === "") {
      if (this.data.length)
        events.push({ event: this.event || "message", data: this.data.join("\n") });
      this.event = "";
      this.data = [];
      return;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.event = value;
    if (field === "data") this.data.push(value);
  }
}
