// slopes.ts - the difference between two lists of neighbors: which words stayed, came or went, and
// their ranks before and now.

import type { Near } from "../../data/types";

export interface Slope {
  word: string;
  from: number; // rank before
  to: number; // rank now
}

export interface Change {
  slopes: Slope[]; // those in both lists
  came: Set<string>;
  went: Set<string>;
}

export function changeBetween(before: Near[], now: Near[]): Change {
  const rankNow = new Map(now.map(({ word }, i) => [word, i]));
  const wordsBefore = new Set(before.map(({ word }) => word));
  const slopes: Slope[] = [];
  const went = new Set<string>();
  before.forEach(({ word }, from) => {
    const to = rankNow.get(word);
    if (to === undefined) went.add(word);
    else slopes.push({ word, from, to });
  });
  const came = new Set(now.map(({ word }) => word).filter((word) => !wordsBefore.has(word)));
  return { slopes, came, went };
}
