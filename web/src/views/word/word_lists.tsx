// word_lists.tsx - lists of words to start from while none is chosen.

import { withQuery } from "../../data/api";
import { useFetch } from "../../data/use_fetch";
import { hasFirstSeen, isDrifting, isRising } from "../../data/thresholds";
import type { WordList, WordRow } from "../../data/types";
import { Word } from "../../ui/word";

interface Kind {
  sort: string;
  title: string;
  matches: (row: WordRow) => boolean;
}

const KINDS: Kind[] = [
  { sort: "trend", title: "Rising", matches: isRising },
  { sort: "drift", title: "Drifting", matches: isDrifting },
  { sort: "new", title: "New", matches: hasFirstSeen },
  { sort: "count", title: "Most frequent", matches: () => true },
];

function WordSection({ sort, title, matches }: Kind) {
  const path = withQuery("/v1/words", { sort, limit: 12 });
  const { data } = useFetch<WordList<WordRow>>(path);
  const rows = data?.words.filter(matches) ?? [];
  return (
    <section class="word-section">
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

export function WordLists() {
  return (
    <div class="word-lists">
      {KINDS.map((kind) => (
        <WordSection key={kind.sort} {...kind} />
      ))}
    </div>
  );
}
