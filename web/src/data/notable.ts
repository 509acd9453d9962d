// notable.ts - how much is worth showing. Less is the usual swell, or what every vector does
// while it is learned.

import type { WordRow } from "./types";

const TREND = 0.26; // log2: a fifth above the usual
const DEGREES = 3;

export const isRising = (row: WordRow): boolean => (row.trend ?? 0) > TREND;
export const isDrifting = (row: WordRow): boolean => (row.drift ?? 0) > DEGREES;
export const isDated = (row: WordRow): boolean => row.first_seen !== null;
