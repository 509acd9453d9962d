// history.tsx - how often a word came, and how far it stood from where it stands now.

import type { Point } from "../../data/types";
import { brief, degrees } from "../../text/format";
import { Chart } from "../../ui/chart";

export function HistoryOfWord({ points }: { points: Point[] }) {
  if (points.length < 2)
    return <p class="note">No past is kept of this word yet. Watch it, and it will have one.</p>;
  const times = points.map((point) => point.time);
  return (
    <div class="history">
      <section>
        <h2>How often</h2>
        <p class="note">times a second</p>
        <Chart
          label="How often the word came, over time"
          height={120}
          times={times}
          columns={[points.map((point) => point.rate)]}
          lines={[{ colour: "--tide", fill: true }]}
          format={brief}
          zero
        />
      </section>
      <section>
        <h2>How far from today’s meaning</h2>
        <p class="note">degrees between the vector then and now</p>
        <Chart
          label="How far the word has turned, over time"
          height={120}
          times={times}
          columns={[points.map((point) => point.turned)]}
          lines={[{ colour: "--sand", fill: true }]}
          format={degrees}
          zero
        />
      </section>
    </div>
  );
}
