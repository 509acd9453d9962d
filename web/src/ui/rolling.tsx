// rolling.tsx - a number that is updated every second and animated in between: it runs from one
// value to the next in the time until the following update.

import { useEffect, useRef } from "preact/hooks";
import { count } from "../text/format";

const UPDATE_MS = 1000;
const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

export function Rolling({ value }: { value: number }) {
  const element = useRef<HTMLSpanElement>(null);
  const shown = useRef(value);

  useEffect(() => {
    const from = shown.current;
    const begin = performance.now();
    let frame = 0;
    const draw = (now: number) => {
      const jump = reducedMotion.matches || value < from;
      const share = jump ? 1 : Math.min(1, Math.max(0, (now - begin) / UPDATE_MS));
      shown.current = from + (value - from) * share;
      if (element.current) element.current.textContent = count(shown.current);
      if (share < 1) frame = requestAnimationFrame(draw);
    };
    draw(begin);
    return () => cancelAnimationFrame(frame);
  }, [value]);

  return <span ref={element} class="number" />;
}
