// types.ts - the responses of the server. Unknown numbers are null.

export type Maybe = number | null;

export interface Stats {
  version: string;
  started: number;
  now: number;
  stream_time: Maybe;
  tokens: number;
  words_per_second: number;
  sentences: number;
  bytes: number;
  trained: number;
  loss: Maybe;
  vocabulary: Vocabulary;
  skipped: Record<string, number>;
  memory: Memory;
  queue: { bytes: number; capacity_bytes: number; refused: number };
  checkpoint: Checkpoint | null;
  sources: { name: string; kind: string }[];
  model: Record<string, string | number | boolean | null>;
  /** `baseline_in`: seconds until there is a baseline. */
  history: { followed: number; ages: number[]; baseline_in?: number };
}

export interface Vocabulary {
  size: number;
  capacity: number;
  minimum_count: number;
  admitted: number;
  evicted: number;
  rejected: number;
  admitted_per_second: number;
  evicted_per_second: number;
}

export interface Memory {
  budget_bytes: Maybe;
  resident_bytes: number;
  parts: { name: string; bytes: number }[];
}

export interface Checkpoint {
  path: string;
  time: Maybe;
  bytes: number;
  pause_seconds: Maybe;
  failures: number;
  /** The error of the last one; null if it succeeded. */
  failure: string | null;
  running: boolean;
}

export interface Counted {
  word: string;
  count: number;
  error?: number;
}

export interface Churn {
  entered: Counted[];
  left: Counted[];
}

export interface Alarm {
  time: number;
  kind: "new" | "gone" | "trend" | "drift";
  word: string;
  score: Maybe;
  threshold: Maybe;
}

export interface WordRow {
  word: string;
  count: number;
  error: number;
  /** Occurrences since it entered; unlike the count it never decreases. */
  seen: number;
  rank: number;
  rate: Maybe;
  baseline: Maybe;
  ratio: Maybe;
  trend: Maybe;
  drift: Maybe;
  since: Maybe;
  first_seen: Maybe;
}

export interface GoneRow {
  word: string;
  count: number;
  left: number;
}

export interface WordList<Row> {
  total: number;
  words: Row[];
}

/** How a text was tokenized that is not a word of the model itself. */
export interface Term {
  text: string;
  tokens: string[];
  unknown: string[];
  /** Those of the tokens that the vocabulary lacks; their vectors are made of their n-grams. */
  composed?: string[];
}

export interface WordFacts {
  word: string;
  terms?: Term[];
  count: number;
  error: number;
  rank: number;
  norm: Maybe;
  seen: Maybe;
  rate: Maybe;
  baseline: Maybe;
  ratio: Maybe;
  trend: Maybe;
  drift: Maybe;
  first_seen: Maybe;
  followed: boolean;
}

export interface Near {
  word: string;
  score: number;
}

export interface Neighbors {
  word: string;
  age: number;
  neighbors: Near[];
}

export interface Point {
  age: number;
  time: number;
  count: Maybe;
  rate: Maybe;
  turned: Maybe;
}

export interface History {
  word: string;
  points: Point[];
}

export interface MapFrame {
  frame: number;
  words: string[];
  x: number[];
  y: number[];
  count: number[];
  seen: number[];
  age: Maybe[];
  drift: Maybe[];
  trend: Maybe[];
  ratio: Maybe[];
}

export interface Taken {
  taken: number;
  bytes: number;
  skipped: number;
}
