// ages.ts - which ages can be queried. The server has snapshots at some ages, and a word has a
// history only since it has been followed.

import type { Point } from "./types";

const SLACK = 1.1; // the server uses the nearest snapshot

/** Those ages of the snapshots that the history of a word reaches, youngest first. */
export function availableAges(snapshots: number[], points: Point[]): number[] {
  const oldest = Math.max(0, ...points.map((point) => point.age));
  return snapshots.filter((age) => age <= oldest * SLACK).sort((a, b) => a - b);
}

/** At max `max` of the ages, evenly spaced, including the youngest and the oldest. */
export function pickAges(all: number[], max: number): number[] {
  if (all.length <= max) return all;
  const step = (all.length - 1) / (max - 1);
  return Array.from({ length: max }, (_, i) => all[Math.round(i * step)] ?? 0);
}
