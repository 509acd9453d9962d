// trends.tsx - words that are more frequent than usual, new words, and words that left.

import { withQuery, wordPath } from "../../data/api";
import { useFetch } from "../../data/use_fetch";
import { stats } from "../../data/live";
import { hasFirstSeen, isRising } from "../../data/thresholds";
import type { GoneRow, History, Neighbors, WordList as List, WordRow } from "../../data/types";
import { ago, amount, count, times } from "../../text/format";
import { NothingLearned, ErrorText, nothingLearned } from "../../ui/notice";
import { Spark } from "../../ui/spark";
import { Word, WordList, WordText } from "../../ui/word";
import { Alarms } from "./alarms";
import { NoBaseline } from "./baseline";

const SHOWN = 12;
const REFRESH_SECONDS = 5;

function RisingWord({ row }: { row: WordRow }) {
  const history = useFetch<History>(wordPath(row.word, "history"), 3 * REFRESH_SECONDS);
  const path = wordPath(row.word, "neighbors", { topn: 5 });
  const near = useFetch<Neighbors>(path, 6 * REFRESH_SECONDS);
  const rates = history.data?.points.map((point) => point.rate) ?? [];
  return (
    <li class="mover">
      <div class="mover-name">
        <Word word={row.word} />
        <p class="note">
          {amount(row.rate)} per second, usually {amount(row.baseline)}
        </p>
      </div>
      <p class="mover-score number">{times(row.ratio)}</p>
      <Spark
        values={[...rates, row.rate]}
        usual={row.baseline}
        tone="rise"
        label={`${amount(row.rate)} per second, usually ${amount(row.baseline)}`}
      />
      <div class="mover-why">
        <WordList words={near.data?.neighbors.map(({ word }) => word) ?? []} />
      </div>
    </li>
  );
}

function NewWords() {
  const path = withQuery("/v1/words", { sort: "new", limit: SHOWN });
  const { data } = useFetch<List<WordRow>>(path, REFRESH_SECONDS);
  const now = stats.value?.now ?? 0;
  const rows = data?.words.filter(hasFirstSeen) ?? [];
  return (
    <section class="panel ticker ticker-entered">
      <h2>New words</h2>
      {data && rows.length === 0 && <p class="note">none yet</p>}
      <ol>
        {rows.map((row) => (
          <li key={row.word} title={`seen ${count(row.seen)} times`}>
            <Word word={row.word} />
            <span class="number">{ago(now - (row.first_seen ?? now))}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function EvictedWords() {
  const path = withQuery("/v1/words", { sort: "gone", limit: SHOWN });
  const { data } = useFetch<List<GoneRow>>(path, REFRESH_SECONDS);
  const now = stats.value?.now ?? 0;
  return (
    <section class="panel ticker ticker-left">
      <h2>Evicted words</h2>
      {data?.words.length === 0 && <p class="note">none yet</p>}
      <ol>
        {data?.words.map((row) => (
          <li key={`${row.word} ${row.left}`} title={`counted ${count(row.count)} times`}>
            <WordText word={row.word} />
            <span class="number">{ago(now - row.left)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

export function TrendsView() {
  const path = withQuery("/v1/words", { sort: "trend", limit: SHOWN });
  const { data, problem } = useFetch<List<WordRow>>(path, REFRESH_SECONDS);
  const rows = data?.words.filter(isRising) ?? [];
  if (nothingLearned()) return <NothingLearned />;
  return (
    <div class="movers">
      <section>
        <h2>Rising words</h2>
        <p class="lead">Words that are more frequent now than their long-term mean.</p>
        {problem && <ErrorText problem={problem} />}
        <NoBaseline />
        {data && rows.length === 0 && <p class="note calm">No word stands out.</p>}
        <ol class="mover-list">
          {rows.length > 0 && (
            <li class="mover mover-heads" aria-hidden="true">
              <span>word</span>
              <span>× usual</span>
              <span>frequency</span>
              <span>neighbors</span>
            </li>
          )}
          {rows.map((row) => (
            <RisingWord key={row.word} row={row} />
          ))}
        </ol>
      </section>
      <div class="movers-side">
        <Alarms />
        <NewWords />
        <EvictedWords />
      </div>
    </div>
  );
}
