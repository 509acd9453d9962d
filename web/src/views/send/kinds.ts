// kinds.ts - what a file is sent as, which its name tells.

export interface Kind {
  type: string; // as Content-Type
  records: boolean; // a field of them has the text
  whole: boolean; // cannot be cut at the end of any line
}

const TEXT: Kind = { type: "text/plain", records: false, whole: false };

const KINDS: [RegExp, Kind][] = [
  [/\.(jsonl|ndjson)$/i, { type: "application/x-ndjson", records: true, whole: false }],
  [/\.json$/i, { type: "application/json", records: true, whole: true }],
  [/\.csv$/i, { type: "text/csv", records: true, whole: true }],
  [/\.tsv$/i, { type: "text/tab-separated-values", records: true, whole: true }],
];

/** What is packed has the name of what is in it, and .gz behind. */
export function kindOf(name: string): Kind {
  const plain = name.replace(/\.gz$/i, "");
  return KINDS.find(([ending]) => ending.test(plain))?.[1] ?? TEXT;
}
