// slopes.ts - the difference between two lists of neighbors: which words stayed, were added or removed,
// and their ranks before and now.

import type { Near } from "../../data/types";

export interface Slope {
  word: string;
  from: number; // rank before
  to: number; // rank now
}

export interface Change {
  slopes: Slope[]; // those in both lists
  added: Set<string>;
  removed: Set<string>;
}

export function changeBetween(before: Near[], now: Near[]): Change {
  const rankNow = new Map(now.map(({ word }, i) => [word, i]));
  const wordsBefore = new Set(before.map(({ word }) => word));
  const slopes: Slope[] = [];
  const removed = new Set<string>();
  before.forEach(({ word }, from) => {
    const to = rankNow.get(word);
    if (to === undefined) removed.add(word);
    else slopes.push({ word, from, to });
  });
  const added = new Set(now.map(({ word }) => word).filter((word) => !wordsBefore.has(word)));
  return { slopes, added, removed };
}
