// word.tsx - the view of one word, and queries about several.

import { Problem, wordPath } from "../../data/api";
import { useFetch } from "../../data/use_fetch";
import type { History, WordFacts } from "../../data/types";
import { NothingLearned, ErrorText, nothingLearned } from "../../ui/notice";
import { route, routeTo, wordRoute } from "../../ui/route";
import { WordList } from "../../ui/word";
import { WordField } from "../../ui/word_field";
import { Analogy } from "./analogy";
import { WordLists } from "./word_lists";
import { Compare } from "./compare";
import { FactsOfWord } from "./facts";
import { HistoryOfWord } from "./history";
import { Pair } from "./pair";

const REFRESH_SECONDS = 3;

function Unknown({ word, problem }: { word: string; problem: Problem }) {
  if (problem.type !== "/problems/unknown-word") return <ErrorText problem={problem} />;
  return (
    <div class="notice">
      <p class="notice-title">
        “<bdi>{word.slice(0, 60)}</bdi>” is not in the vocabulary
      </p>
      {problem.suggestions.length > 0 && (
        <p>
          Did you mean <WordList words={problem.suggestions.slice(0, 8)} />
        </p>
      )}
      <p>
        <a href={routeTo("word")}>Browse the vocabulary</a>
      </p>
    </div>
  );
}

function AboutWord({ word }: { word: string }) {
  const { data, problem } = useFetch<WordFacts>(wordPath(word), REFRESH_SECONDS);
  const history = useFetch<History>(wordPath(word, "history"), 2 * REFRESH_SECONDS);
  const points = history.data?.points ?? [];
  if (!data) return problem && <Unknown word={word} problem={problem} />;
  return (
    <article class="about-word">
      <FactsOfWord facts={data} />
      <div class="word-columns">
        <Compare word={word} points={points} />
        <div class="word-side">
          {history.data && <HistoryOfWord points={points} />}
          <Pair word={data.word} />
        </div>
      </div>
    </article>
  );
}

export function WordView() {
  const { word } = route.value;
  return (
    <div class="word-view">
      <WordField
        class="search"
        label="Look up a word"
        placeholder="Look up a word"
        value=""
        onPick={(next) => {
          location.hash = wordRoute(next);
        }}
      />
      {nothingLearned() && <NothingLearned />}
      {word ? <AboutWord key={word} word={word} /> : !nothingLearned() && <WordLists />}
      {!nothingLearned() && <Analogy />}
    </div>
  );
}
