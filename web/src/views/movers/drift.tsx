// drift.tsx - words whose meaning drifts: by how much, and their neighbors then and now.

import { withQuery, wordPath } from "../../data/api";
import { useFetch } from "../../data/use_fetch";
import { ages } from "../../data/live";
import { isDrifting } from "../../data/thresholds";
import { availableAges } from "../../data/ages";
import type { History, Neighbors, WordList as List, WordRow } from "../../data/types";
import { degrees, roughly } from "../../text/format";
import { NothingLearned, ErrorText, nothingLearned } from "../../ui/notice";
import { Spark } from "../../ui/spark";
import { Word, WordList } from "../../ui/word";
import { changeBetween } from "../word/slopes";
import { Alarms } from "./alarms";
import { NoBaseline } from "./baseline";

const SHOWN = 12;
const NEAR = 6;
const REFRESH_SECONDS = 5;

/** Two lines, one for then and one for now. */
function Angle({ angle }: { angle: number }) {
  const turn = (Math.min(180, angle) * Math.PI) / 180;
  const [x, y] = [6 + 26 * Math.cos(turn), 34 - 26 * Math.sin(turn)];
  const [ax, ay] = [6 + 15 * Math.cos(turn), 34 - 15 * Math.sin(turn)];
  return (
    <svg class="angle" viewBox="-24 4 64 34" aria-hidden="true">
      <path class="angle-then" d="M6 34H32" />
      <path class="angle-arc" d={`M21 34A15 15 0 0 0 ${ax.toFixed(1)} ${ay.toFixed(1)}`} />
      <path class="angle-now" d={`M6 34L${x.toFixed(1)} ${y.toFixed(1)}`} />
    </svg>
  );
}

function Drifter({ row }: { row: WordRow }) {
  const history = useFetch<History>(wordPath(row.word, "history"), 3 * REFRESH_SECONDS);
  const near = wordPath(row.word, "neighbors", { topn: NEAR });
  const now = useFetch<Neighbors>(near, 3 * REFRESH_SECONDS).data?.neighbors ?? [];
  const age = availableAges(ages.value, history.data?.points ?? []).at(-1);
  const old = wordPath(row.word, "neighbors", { topn: NEAR, age: age ?? 0 });
  const past = useFetch<Neighbors>(age ? old : null, 6 * REFRESH_SECONDS).data;
  const change = changeBetween(past?.neighbors ?? [], now);
  return (
    <li class="mover drifter">
      <div class="mover-name">
        <Word word={row.word} />
      </div>
      <div class="mover-turn">
        <Angle angle={row.drift ?? 0} />
        <p class="mover-score number">{degrees(row.drift)}</p>
      </div>
      <Spark
        values={history.data?.points.map((point) => point.turned) ?? []}
        tone="turn"
        label={`Turned ${degrees(row.drift)} in total`}
      />
      <div class="mover-why">
        {past && (
          <p>
            <span class="note">{roughly(past.age)} ago</span>
            <WordList words={past.neighbors.map(({ word }) => word)} />
          </p>
        )}
        <p>
          <span class="note">now</span>
          <WordList
            words={now.map(({ word }) => word)}
            {...(past ? { fresh: change.added } : {})}
          />
        </p>
      </div>
    </li>
  );
}

export function DriftView() {
  const path = withQuery("/v1/words", { sort: "drift", limit: SHOWN });
  const { data, problem } = useFetch<List<WordRow>>(path, REFRESH_SECONDS);
  const rows = data?.words.filter(isDrifting) ?? [];
  if (nothingLearned()) return <NothingLearned />;
  return (
    <div class="movers movers-wide">
      <section>
        <h2>Drifting words</h2>
        <p class="lead">
          Words whose vectors have turned most since the oldest snapshot, after removing the
          rotation that all words share; with their neighbors then and now.
        </p>
        {problem && <ErrorText problem={problem} />}
        <NoBaseline />
        {data && rows.length === 0 && <p class="note calm">No word has drifted so far.</p>}
        <ol class="mover-list">
          {rows.length > 0 && (
            <li class="mover drifter mover-heads" aria-hidden="true">
              <span>word</span>
              <span>turned</span>
              <span>distance from today</span>
              <span>neighbors</span>
            </li>
          )}
          {rows.map((row) => (
            <Drifter key={row.word} row={row} />
          ))}
        </ol>
      </section>
      <Alarms />
    </div>
  );
}
