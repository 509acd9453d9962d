// sse.ts - reads server-sent events from text that arrives in pieces.
//
// A line is "field: value"; a line that begins with a colon is a comment; an empty line ends an
// event. Lines end with LF, CR or CRLF, and a piece may end anywhere, between CR and LF too.

export interface ServerEvent {
  event: string;
  data: string;
}

const MOST_CHARACTERS = 8_000_000; // an event that never ends is dropped

export class EventParser {
  private rest = "";
  private event = "";
  private data: string[] = [];

  /** The events that the next piece of text completes. */
  push(piece: string): ServerEvent[] {
    const text = this.rest + piece;
    const lines = text.split(/\r\n|\n|\r(?=[^])/);
    this.rest = lines.pop() ?? "";
    const events: ServerEvent[] = [];
    for (const line of lines) this.read(line, events);
    if (this.rest.length > MOST_CHARACTERS) this.rest = "";
    return events;
  }

  private read(line: string, events: ServerEvent[]): void {
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
