// baseline.tsx - tells why nothing is compared yet.

import { stats } from "../../data/live";
import { duration } from "../../text/format";

export function NoBaseline() {
  const left = stats.value?.history?.baseline_in ?? 0;
  if (left <= 0) return null;
  return (
    <p class="note calm">
      Collecting a baseline: changes are reported in {duration(Math.max(1, Math.round(left)))}.
    </p>
  );
}
