// chart.tsx - a line chart over time (uPlot), in the colours of the theme. It is made anew when
// the theme changes and is given new data otherwise.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useEffect, useRef } from "preact/hooks";
import { colourOf, scheme } from "./theme";

export type Column = (number | null)[];

export interface Line {
  colour: string; // a variable of the style sheet
  fill?: boolean;
}

interface Props {
  label: string; // what the chart shows, for those who do not see it
  height: number;
  times: Column;
  columns: Column[];
  lines: Line[];
  format: (value: number) => string;
  span?: number | undefined; // seconds that the axis shows, up to the newest time
  zero?: boolean; // the axis of values begins at zero
  onHover?: (index: number | null) => void;
}

const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "short" });
const exactClock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const EXACT_SECONDS = 180; // a chart of less than this tells the seconds, too

function timesOf(plot: uPlot, splits: number[]): string[] {
  const { min = 0, max = 0 } = plot.scales["x"] ?? {};
  const format = (max ?? 0) - (min ?? 0) < EXACT_SECONDS ? exactClock : clock;
  return splits.map((time) => format.format(time * 1000));
}

function rangeOf(zero: boolean): uPlot.Range.Function {
  return (_, low, high) => {
    if (low === null || high === null || !Number.isFinite(low)) return [0, 1];
    const margin = Math.max((high - low) * 0.12, Math.abs(high) * 0.02) || 1;
    return [zero ? Math.min(0, low < 0 ? low - margin : 0) : low - margin, high + margin];
  };
}

function fillOf(colour: string): uPlot.Series.Fill {
  return (plot) => {
    const { top, height } = plot.bbox;
    const shade = plot.ctx.createLinearGradient(0, top, 0, top + height);
    const [r, g, b] = colour.match(/[\d.]+/g) ?? [];
    const faint = (share: number) => `rgba(${r}, ${g}, ${b}, ${share})`;
    shade.addColorStop(0, faint(0.34));
    shade.addColorStop(1, faint(0.02));
    return shade;
  };
}

function optionsOf(props: Props, width: number, hover: (i: number | null) => void): uPlot.Options {
  const ink = colourOf("--ink-3");
  const grid = { stroke: colourOf("--line"), width: 1 };
  const font = `11px ${getComputedStyle(document.body).fontFamily}`;
  return {
    width,
    height: props.height,
    legend: { show: false },
    padding: [6, 0, 0, 0],
    cursor: { y: false, points: { size: 7 }, drag: { x: false, y: false } },
    scales: {
      x: {
        time: true,
        range: (_, low, high) => [props.span ? high - props.span : low, Math.max(high, low + 1)],
      },
      y: { range: rangeOf(props.zero ?? false) },
    },
    axes: [
      {
        stroke: ink,
        font,
        grid: { show: false },
        ticks: { show: false },
        size: 24,
        space: 90,
        values: timesOf,
      },
      {
        stroke: ink,
        font,
        grid,
        ticks: { show: false },
        size: 46,
        space: 34,
        values: (_, splits) => splits.map((v) => props.format(v)),
      },
    ],
    series: [
      {},
      ...props.lines.map((line): uPlot.Series => {
        const stroke = colourOf(line.colour);
        return {
          stroke,
          width: 1.75,
          points: { show: false },
          ...(line.fill ? { fill: fillOf(stroke) } : {}),
        };
      }),
    ],
    hooks: { setCursor: [(plot) => hover(plot.cursor.idx ?? null)] },
  };
}

export function Chart(props: Props) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const data = () =>
    [latest.current.times, ...latest.current.columns] as unknown as uPlot.AlignedData;

  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const hover = (index: number | null) => latest.current.onHover?.(index);
    const made = new uPlot(optionsOf(latest.current, element.clientWidth, hover), data(), element);
    plot.current = made;
    const observer = new ResizeObserver(() =>
      made.setSize({ width: element.clientWidth, height: latest.current.height }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [scheme.value, props.height, props.lines.length, props.span]);

  useEffect(() => plot.current?.setData(data()), [props.times, props.columns]);

  const style = { height: `${props.height}px` };
  return <div ref={place} class="chart" style={style} role="img" aria-label={props.label} />;
}
