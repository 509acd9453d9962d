import { expect, test } from "vitest";
import { kindOfFile } from "../src/views/send/kinds";

test("the file name determines the content type", () => {
  const types = Object.fromEntries(
    ["a.txt", "chat", "a.JSONL", "a.ndjson.gz", "a.json", "a.json.gz", "a.csv", "a.tsv.gz", "csv"].map(
      (name) => [name, kindOfFile(name).type],
    ),
  );
  expect(types).toEqual({
    "a.txt": "text/plain",
    chat: "text/plain",
    "a.JSONL": "application/x-ndjson",
    "a.ndjson.gz": "application/x-ndjson",
    "a.json": "application/json",
    "a.json.gz": "application/json",
    "a.csv": "text/csv",
    "a.tsv.gz": "text/tab-separated-values",
    csv: "text/plain",
  });
  expect(kindOfFile("a.csv").whole && kindOfFile("a.json").whole && !kindOfFile("a.jsonl").whole).toBe(true);
});
