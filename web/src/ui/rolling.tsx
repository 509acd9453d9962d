// rolling.tsx - a number that grows once a second and is seen to grow all the time: from one
// value it runs to the next in just the time until the one after it.

import { useEffect, useRef } from "preact/hooks";
import { count } from "../text/format";

const MILLISECONDS = 1000;
const still = matchMedia("(prefers-reduced-motion: reduce)");

export function Rolling({ value }: { value: number }) {
  const place = useRef<HTMLSpanElement>(null);
  const shown = useRef(value);

  useEffect(() => {
    const from = shown.current;
    const begin = performance.now();
    let frame = 0;
    const draw = (now: number) => {
      const jump = still.matches || value < from;
      const share = jump ? 1 : Math.min(1, Math.max(0, (now - begin) / MILLISECONDS));
      shown.current = from + (value - from) * share;
      if (place.current) place.current.textContent = count(shown.current);
      if (share < 1) frame = requestAnimationFrame(draw);
    };
    draw(begin);
    return () => cancelAnimationFrame(frame);
  }, [value]);

  return <span ref={place} class="number" />;
}
