// alarms.tsx - alarms of the server since the page was opened.

import { alarms, stats } from "../../data/live";
import type { Alarm } from "../../data/types";
import { ago, degrees } from "../../text/format";
import { Word } from "../../ui/word";

const SHOWN = 8;

const TEXTS: Record<Alarm["kind"], (alarm: Alarm) => string> = {
  new: () => "is new",
  gone: () => "has left the vocabulary",
  trend: () => "is rising",
  drift: ({ score }) => `turned ${degrees(score)}`,
};

export function Alarms() {
  const now = stats.value?.now ?? 0;
  const shown = alarms.value.slice(0, SHOWN);
  if (shown.length === 0) return null;
  return (
    <section class="panel alarms" aria-live="polite">
      <h2>Alerts</h2>
      <ol>
        {shown.map((alarm) => (
          <li key={`${alarm.time} ${alarm.word}`}>
            <span>
              <Word word={alarm.word} /> {TEXTS[alarm.kind]?.(alarm) ?? alarm.kind}
            </span>
            <span class="number">{ago(now - alarm.time)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
