// compare.tsx - neighbors then and now, side by side. Lines connect those in both lists, which shows
// at a glance which ones moved, appeared and disappeared.

import { useSignal } from "@preact/signals";
import { wordPath } from "../../data/api";
import { useFetch } from "../../data/use_fetch";
import { ages } from "../../data/live";
import { availableAges, pickAges } from "../../data/ages";
import type { Near, Neighbors, Point } from "../../data/types";
import { roughly, score } from "../../text/format";
import { Segments } from "../../ui/segments";
import { Word } from "../../ui/word";
import { type Change, changeBetween } from "./slopes";

const SHOWN = 12;
const ROW = 32; // the height of a row, in pixels; also in word.css
const CHOICES = 6;
const REFRESH_SECONDS = 3;

const barWidth = (cosine: number) => `${Math.max(0, cosine) * 100}%`;

function Column(props: { title: string; near: Near[]; marked: Set<string>; mark: string }) {
  return (
    <section class="near">
      <h3>{props.title}</h3>
      <ol>
        {props.near.map(({ word, score: cosine }) => (
          <li key={word} class={props.marked.has(word) ? props.mark : undefined}>
            <i class="near-bar" style={{ width: barWidth(cosine) }} aria-hidden="true" />
            <Word word={word} />
            <span class="number">{score(cosine)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Slopes({ change }: { change: Change }) {
  const y = (index: number) => index * ROW + ROW / 2;
  const box = `0 0 60 ${SHOWN * ROW}`;
  return (
    <svg class="slopes" viewBox={box} preserveAspectRatio="none" aria-hidden="true">
      {change.slopes.map(({ word, from, to }) => (
        <path key={word} d={`M0 ${y(from)}C30 ${y(from)} 30 ${y(to)} 60 ${y(to)}`} />
      ))}
    </svg>
  );
}

export function Compare({ word, points }: { word: string; points: Point[] }) {
  const choices = pickAges(availableAges(ages.value, points), CHOICES);
  const chosen = useSignal<number | null>(null);
  const age = chosen.value ?? choices[Math.floor(choices.length / 2)] ?? 0;
  const near = (query: { age: number }) => wordPath(word, "neighbors", { topn: SHOWN, ...query });
  const now = useFetch<Neighbors>(near({ age: 0 }), REFRESH_SECONDS).data?.neighbors ?? [];
  const past = useFetch<Neighbors>(age ? near({ age }) : null, 5 * REFRESH_SECONDS);
  const then = past.data?.neighbors ?? [];
  const change = changeBetween(then, now);
  return (
    <section class="compare">
      <header>
        <h2>Neighbors</h2>
        {choices.length > 0 && (
          <Segments
            label="compared with"
            name="age"
            options={choices.map((value) => ({ value, text: roughly(value) }))}
            value={age}
            onChange={(value) => {
              chosen.value = value;
            }}
          />
        )}
      </header>
      <div class="near-columns">
        {then.length > 0 ? (
          <>
            <Column title={`${roughly(age)} ago`} near={then} marked={change.removed} mark="removed" />
            <Slopes change={change} />
          </>
        ) : (
          <p class="note no-past">
            {past.problem?.message ?? (age ? "" : "This word has no history yet.")}
          </p>
        )}
        <Column
          title="Now"
          near={now}
          marked={then.length ? change.added : new Set()}
          mark="added"
        />
      </div>
    </section>
  );
}
