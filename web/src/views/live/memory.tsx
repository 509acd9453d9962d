// memory.tsx - the memory budget by part, and the resident memory of the process.

import type { Memory } from "../../data/types";
import { bytes } from "../../text/format";

/** The largest parts have a color each; all others share the last one. */
const shadeClass = (index: number) => `shade-${Math.min(index, 6)}`;

export function MemoryPanel({ memory }: { memory: Memory }) {
  const { budget_bytes: budget, resident_bytes: resident, parts } = memory;
  const budgeted = parts.reduce((sum, part) => sum + part.bytes, 0);
  const full = Math.max(budget ?? 0, budgeted, resident) || 1;
  const share = (n: number) => `${(100 * n) / full}%`;
  const sorted = parts.filter((part) => part.bytes > 0).sort((a, b) => b.bytes - a.bytes);
  return (
    <section class="panel memory">
      <header class="headline">
        <h2>Memory</h2>
        <p class="value">
          <span class="number">{bytes(resident)}</span>{" "}
          <span class="unit">{budget ? `of ${bytes(budget)}` : ""}</span>
        </p>
        <p class="note">fixed at the start, by part</p>
      </header>
      <div class="bar" aria-hidden="true">
        {sorted.map((part, i) => (
          <i key={part.name} class={shadeClass(i)} style={{ width: share(part.bytes) }} />
        ))}
        <b style={{ left: share(resident) }} />
      </div>
      <dl class="legend">
        {sorted.map((part, i) => (
          <div key={part.name}>
            <dt>
              <i class={shadeClass(i)} aria-hidden="true" />
              {part.name}
            </dt>
            <dd>{bytes(part.bytes)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
