// kinds.ts - the content type of a file, by its name.

export interface Kind {
  type: string; // Content-Type
  records: boolean; // the text is in a field or column
  whole: boolean; // cannot be split between lines
}

const TEXT: Kind = { type: "text/plain", records: false, whole: false };

const KINDS: [RegExp, Kind][] = [
  [/\.(jsonl|ndjson)$/i, { type: "application/x-ndjson", records: true, whole: false }],
  [/\.json$/i, { type: "application/json", records: true, whole: true }],
  [/\.csv$/i, { type: "text/csv", records: true, whole: true }],
  [/\.tsv$/i, { type: "text/tab-separated-values", records: true, whole: true }],
];

/** A compressed file has the name of its content with .gz appended. */
export function kindOfFile(name: string): Kind {
  const plain = name.replace(/\.gz$/i, "");
  return KINDS.find(([ending]) => ending.test(plain))?.[1] ?? TEXT;
}
