import { expect, test } from "vitest";
import { EventParser, type ServerEvent } from "../src/data/sse";
import { generator } from "./random";

const TEXT =
  ": a comment\r\nevent: stats\r\ndata: {\"a\":1}\r\n\r\n" +
  "data: first\ndata:second\ndata:  third\n\n" +
  "event: empty\n\nid: 7\nevent: words\rdata: \u{1f30a} tide\r\revent\ndata\n\n" +
  "data: never ended";
const EVENTS: ServerEvent[] = [
  { event: "stats", data: '{"a":1}' },
  { event: "message", data: "first\nsecond\n third" },
  { event: "words", data: "\u{1f30a} tide" },
  { event: "message", data: "" },
];

function parse(pieces: string[]): ServerEvent[] {
  const parser = new EventParser();
  return pieces.flatMap((piece) => parser.push(piece));
}

test("events are parsed according to the standard", () => {
  expect(parse([TEXT])).toEqual(EVENTS);
});

test("chunks may end anywhere", () => {
  for (let cut = 0; cut <= TEXT.length; cut++)
    expect(parse([TEXT.slice(0, cut), TEXT.slice(cut)]), `cut at ${cut}`).toEqual(EVENTS);
  const random = generator(1);
  for (let run = 0; run < 200; run++) {
    const pieces: string[] = [];
    for (let at = 0; at < TEXT.length; ) {
      const end = at + 1 + Math.floor(random() * 4);
      pieces.push(TEXT.slice(at, end));
      at = end;
    }
    expect(parse(pieces)).toEqual(EVENTS);
  }
});

test("an unterminated event does not fill the memory", () => {
  const parser = new EventParser();
  const piece = "x".repeat(1_000_000);
  for (let i = 0; i < 20; i++) parser.push(piece);
  expect(JSON.stringify(parser).length).toBeLessThan(9_000_000);
  expect(parser.push("\n\ndata: after\n\n")).toEqual([{ event: "message", data: "after" }]);
});
