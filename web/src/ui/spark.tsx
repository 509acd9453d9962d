// spark.tsx - a sparkline: a line without axes for a row of a list.

import type { Maybe } from "../data/types";

const WIDTH = 120;
const HEIGHT = 34;

/** Joined points as a path; where a value is missing the line is broken. */
export function sparkPath(values: Maybe[], low: number, high: number): string {
  const step = values.length > 1 ? WIDTH / (values.length - 1) : 0;
  const scale = (HEIGHT - 4) / (high - low || 1);
  let pen = "M";
  let path = "";
  values.forEach((value, i) => {
    if (value === null) {
      pen = "M";
      return;
    }
    path += `${pen}${(i * step).toFixed(1)} ${(HEIGHT - 2 - (value - low) * scale).toFixed(1)}`;
    pen = "L";
  });
  return path;
}

interface Props {
  values: Maybe[];
  label: string;
  tone: "rise" | "ebb" | "turn";
  usual?: Maybe;
}

export function Spark({ values, label, tone, usual = null }: Props) {
  const known = values.filter((value) => value !== null);
  const high = Math.max(...known, usual ?? 0, 0);
  const path = sparkPath(values, 0, high);
  if (known.length < 2) return <span class="spark note">no history</span>;
  return (
    <svg
      class={`spark tone-${tone}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {usual !== null && <path class="spark-usual" d={sparkPath([usual, usual], 0, high)} />}
      <path class="spark-fill" d={`${path}L${WIDTH} ${HEIGHT}L0 ${HEIGHT}Z`} />
      <path class="spark-line" d={path} />
    </svg>
  );
}
