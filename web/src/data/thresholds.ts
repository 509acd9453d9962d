// thresholds.ts - how much change is worth showing. Less is noise, or what every vector does while
// it is trained.

import type { WordRow } from "./types";

const TREND = 0.26; // log2: a fifth above the usual rate
const DEGREES = 3;

export const isRising = (row: WordRow): boolean => (row.trend ?? 0) > TREND;
export const isDrifting = (row: WordRow): boolean => (row.drift ?? 0) > DEGREES;
export const hasFirstSeen = (row: WordRow): boolean => row.first_seen !== null;
