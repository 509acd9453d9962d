// panels.tsx - the charts of the live view. Each has a headline with the newest value, or the one
// under the pointer.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Column, ring, chartSpan } from "../../data/live";
import type { Stats } from "../../data/types";
import { ago, amount, brief, bytes, count, decimals } from "../../text/format";
import { Chart, type Column as Values } from "../../ui/chart";

interface Props {
  stats: Stats;
  times: Values;
}

function Headline(props: { title: string; value: string; unit: string; note?: ComponentChildren }) {
  return (
    <header class="headline">
      <h2>{props.title}</h2>
      <p class="value">
        <span class="number">{props.value}</span> <span class="unit">{props.unit}</span>
      </p>
      {props.note && <p class="note">{props.note}</p>}
    </header>
  );
}

/** The row of a chart under the pointer, and how long ago that was. */
function useHover(times: Values) {
  const index = useSignal<number | null>(null);
  const at = index.value;
  const time = at === null ? null : (times[at] ?? null);
  const newest = times.at(-1) ?? null;
  const back = time !== null && newest !== null ? newest - time : 0;
  return {
    at: time === null ? times.length - 1 : (at ?? 0),
    note: time === null || back < 1.5 ? "" : ago(back),
    onHover: (next: number | null) => {
      index.value = next;
    },
  };
}

export function TidePanel({ stats, times }: Props) {
  const rates = ring.column(Column.rate);
  const { at, note, onHover } = useHover(times);
  const facts = [
    `${brief(stats.sentences)} lines`,
    bytes(stats.bytes),
    `${brief(stats.trained)} trained`,
  ];
  return (
    <section class="tide">
      <Headline
        title="Words per second"
        value={amount(rates[at] ?? null)}
        unit=""
        note={note || facts.join(" \u00b7 ")}
      />
      <Chart
        label={`Words per second over the last minutes, now ${amount(stats.words_per_second)}`}
        height={230}
        times={times}
        columns={[rates]}
        lines={[{ color: "--tide", fill: true }]}
        format={brief}
        span={chartSpan(times)}
        zero
        onHover={onHover}
      />
    </section>
  );
}

export function LossPanel({ times }: Props) {
  const losses = ring.column(Column.loss);
  const { at, note, onHover } = useHover(times);
  return (
    <section class="panel">
      <Headline
        title="Loss"
        value={decimals(losses[at] ?? null, 3)}
        unit=""
        note={note || "per pair, lower is better"}
      />
      <Chart
        label="Loss over the last minutes"
        height={130}
        times={times}
        columns={[losses]}
        lines={[{ color: "--ink-2" }]}
        format={(value) => decimals(value, 2)}
        span={chartSpan(times)}
        onHover={onHover}
      />
    </section>
  );
}

export function VocabularyPanel({ stats, times }: Props) {
  const entering = ring.column(Column.entered);
  const leaving = ring.column(Column.left).map((n) => (n === null ? null : -n));
  const { at, note, onHover } = useHover(times);
  const { size, capacity } = stats.vocabulary;
  const flow = `${amount(entering[at] ?? null)} in, ${amount(-(leaving[at] ?? 0))} out per second`;
  return (
    <section class="panel">
      <Headline
        title="Vocabulary"
        value={count(size)}
        unit={`of ${brief(capacity)}`}
        note={note ? `${flow}, ${note}` : flow}
      />
      <Chart
        label={`Words entering and leaving; now ${flow}`}
        height={130}
        times={times}
        columns={[entering, leaving]}
        lines={[
          { color: "--rise", fill: true },
          { color: "--ebb", fill: true },
        ]}
        format={(value) => brief(Math.abs(value))}
        span={chartSpan(times)}
        zero
        onHover={onHover}
      />
    </section>
  );
}
