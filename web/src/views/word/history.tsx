// history.tsx - the frequency of a word over time, and the distance to its current vector.

import type { Point } from "../../data/types";
import { brief, degrees } from "../../text/format";
import { Chart } from "../../ui/chart";

export function HistoryOfWord({ points }: { points: Point[] }) {
  if (points.length < 2)
    return <p class="note">This word has no history yet. Watch it to record one.</p>;
  const times = points.map((point) => point.time);
  return (
    <div class="history">
      <section>
        <h2>Frequency</h2>
        <p class="note">occurrences per second</p>
        <Chart
          label="Frequency of the word over time"
          height={120}
          times={times}
          columns={[points.map((point) => point.rate)]}
          lines={[{ color: "--tide", fill: true }]}
          format={brief}
          zero
        />
      </section>
      <section>
        <h2>Distance from today’s meaning</h2>
        <p class="note">degrees between the vector then and now</p>
        <Chart
          label="Angle to the current vector over time"
          height={120}
          times={times}
          columns={[points.map((point) => point.turned)]}
          lines={[{ color: "--sand", fill: true }]}
          format={degrees}
          zero
        />
      </section>
    </div>
  );
}
