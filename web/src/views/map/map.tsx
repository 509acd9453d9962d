// map.tsx - the map: words on a plane that changes as little as possible and is updated live.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { withQuery, wordPath } from "../../data/api";
import { useFetch } from "../../data/use_fetch";
import type { MapFrame, Neighbors } from "../../data/types";
import { ago, count, degrees, times } from "../../text/format";
import { NothingLearned, ErrorText, nothingLearned } from "../../ui/notice";
import { wordRoute } from "../../ui/route";
import { Segments } from "../../ui/segments";
import { scheme } from "../../ui/theme";
import { Word, WordList, WordText } from "../../ui/word";
import { WordField } from "../../ui/word_field";
import { Atlas } from "./atlas";
import { TINTS, type Tint } from "./colors";
import type { Dot } from "./scene";

const WORDS = 4000;
const REFRESH_SECONDS = 3;
const HELP =
  "Map of words. Arrows move, plus and minus zoom, brackets select the next word, Enter opens it.";

function describeDot(dot: Dot): string {
  const seen = dot.age === null ? "" : `, first seen ${ago(dot.age)}`;
  const drift = dot.drift === null ? "" : `, turned ${degrees(dot.drift)}`;
  const trend = dot.ratio === null ? "" : `, ${times(dot.ratio)} its usual rate`;
  return `seen ${count(dot.seen)} times${trend}${drift}${seen}`;
}

interface CardProps {
  dot: Dot;
  onNear: (words: string[]) => void;
  onClose: () => void;
}

function Card({ dot, onNear, onClose }: CardProps) {
  const path = wordPath(dot.word, "neighbors", { topn: 8 });
  const { data } = useFetch<Neighbors>(path, REFRESH_SECONDS);
  const words = data?.neighbors.map((near) => near.word) ?? [];
  useEffect(() => onNear(words), [data]);
  return (
    <aside class="card" aria-label="The chosen word">
      <button type="button" class="icon-button" aria-label="Close" onClick={onClose}>
        ×
      </button>
      <h2>
        <Word word={dot.word} />
      </h2>
      <p class="note">{describeDot(dot)}</p>
      <WordList words={words} />
    </aside>
  );
}

function Legend({ tint }: { tint: Tint }) {
  const meaning = TINTS.find(({ value }) => value === tint);
  return (
    <p class={`ramp ramp-${tint}`}>
      <span>{meaning?.low}</span>
      <i aria-hidden="true" />
      <span>{meaning?.high}</span>
    </p>
  );
}

export function MapView() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const atlas = useRef<Atlas | null>(null);
  const tint = useSignal<Tint>("age");
  const hovered = useSignal<Dot | null>(null);
  const chosen = useSignal<Dot | null>(null);
  const notFound = useSignal("");
  const path = withQuery("/v1/map", { limit: WORDS });
  const { data, problem } = useFetch<MapFrame>(path, REFRESH_SECONDS);

  useEffect(() => {
    if (!canvas.current) return;
    const created = new Atlas(canvas.current, {
      hovered: (dot) => {
        hovered.value = dot;
      },
      chosen: (dot) => {
        chosen.value = dot;
      },
      opened: (word) => {
        location.hash = wordRoute(word);
      },
    });
    atlas.current = created;
    return () => created.close();
  }, []);
  useEffect(() => atlas.current?.restyle(tint.value), [tint.value, scheme.value]);
  useEffect(() => {
    if (data) atlas.current?.setFrame(data);
  }, [data]);

  const shown = chosen.value ?? hovered.value;
  return (
    <div class="map">
      <canvas
        ref={canvas}
        tabIndex={0}
        role="application"
        aria-label={HELP}
      />
      <div class="map-tools">
        <WordField
          label="Find on the map"
          placeholder="Find"
          value=""
          onPick={(word) => {
            notFound.value = atlas.current?.find(word) ? "" : word;
          }}
        />
        <Segments
          label="color"
          name="tint"
          options={TINTS}
          value={tint.value}
          onChange={(value) => {
            tint.value = value;
          }}
        />
        <Legend tint={tint.value} />
        {notFound.value && (
          <p class="note" role="alert">
            <WordText word={notFound.value} /> is not on the map
          </p>
        )}
      </div>
      <div class="map-zoom">
        <button type="button" aria-label="Zoom in" onClick={() => atlas.current?.zoom(1.6)}>
          +
        </button>
        <button type="button" aria-label="Zoom out" onClick={() => atlas.current?.zoom(1 / 1.6)}>
          −
        </button>
        <button type="button" aria-label="Show all" onClick={() => atlas.current?.showAll()}>
          ○
        </button>
      </div>
      <p class="map-line" aria-live="polite">
        {shown && `${shown.label}: ${describeDot(shown)}`}
        {!shown && data && `${count(data.words.length)} words`}
      </p>
      {chosen.value && (
        <Card
          key={chosen.value.word}
          dot={chosen.value}
          onNear={(words) => atlas.current?.connect(words)}
          onClose={() => atlas.current?.choose(null)}
        />
      )}
      {problem && !data && <ErrorText problem={problem} />}
      {nothingLearned() && <NothingLearned />}
    </div>
  );
}
