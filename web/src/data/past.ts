// past.ts - which ages can be asked for. The server keeps vectors at some ages; a word has a past
// only from when it began to be followed.

import type { Point } from "./types";

const SLACK = 1.1; // the server answers with the nearest age that it has

/** Those ages of the ladder that the word has a past for, youngest first. */
export function agesWithin(ladder: number[], points: Point[]): number[] {
  const oldest = Math.max(0, ...points.map((point) => point.age));
  return ladder.filter((age) => age <= oldest * SLACK).sort((a, b) => a - b);
}

/** At most so many of the ages, evenly, the youngest and the oldest among them. */
export function someAges(all: number[], most: number): number[] {
  if (all.length <= most) return all;
  const step = (all.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, i) => all[Math.round(i * step)] ?? 0);
}
