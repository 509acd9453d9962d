// beginnings.tsx - words to begin with, when none is chosen.

import { withQuery } from "../../data/api";
import { useFetched } from "../../data/fetched";
import { isDated, isDrifting, isRising } from "../../data/notable";
import type { WordList, WordRow } from "../../data/types";
import { Word } from "../../ui/word";

interface Kind {
  sort: string;
  title: string;
  fits: (row: WordRow) => boolean;
}

const KINDS: Kind[] = [
  { sort: "trend", title: "On the rise", fits: isRising },
  { sort: "drift", title: "On the move", fits: isDrifting },
  { sort: "new", title: "New", fits: isDated },
  { sort: "count", title: "Most frequent", fits: () => true },
];

function Some({ sort, title, fits }: Kind) {
  const path = withQuery("/v1/words", { sort, limit: 12 });
  const { data } = useFetched<WordList<WordRow>>(path);
  const rows = data?.words.filter(fits) ?? [];
  return (
    <section class="some">
      <h2>{title}</h2>
      <ul>
        {data && rows.length === 0 && <li class="note">none</li>}
        {rows.map(({ word }) => (
          <li key={word}>
            <Word word={word} />
          </li>
        ))}
      </ul>
    </section>
  );
}

export function Beginnings() {
  return (
    <div class="beginnings">
      {KINDS.map((kind) => (
        <Some key={kind.sort} {...kind} />
      ))}
    </div>
  );
}
