// slopes.ts - what became of a list of neighbours: who stayed, who came, who went, and where
// each stood before and stands now.

import type { Near } from "../../data/types";

export interface Slope {
  word: string;
  from: number; // place before
  to: number; // place now
}

export interface Change {
  slopes: Slope[]; // those in both lists
  came: Set<string>;
  went: Set<string>;
}

export function changeBetween(before: Near[], now: Near[]): Change {
  const placeNow = new Map(now.map(({ word }, i) => [word, i]));
  const placeBefore = new Set(before.map(({ word }) => word));
  const slopes: Slope[] = [];
  const went = new Set<string>();
  before.forEach(({ word }, from) => {
    const to = placeNow.get(word);
    if (to === undefined) went.add(word);
    else slopes.push({ word, from, to });
  });
  const came = new Set(now.map(({ word }) => word).filter((word) => !placeBefore.has(word)));
  return { slopes, came, went };
}
