// chart.tsx - a line chart over time (uPlot), in the colors of the theme. It is recreated when
// the theme changes; otherwise only its data is updated.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useEffect, useRef } from "preact/hooks";
import { colorOf, scheme } from "./theme";

export type Column = (number | null)[];

export interface Line {
  color: string; // a variable of the style sheet
  fill?: boolean;
}

interface Props {
  label: string; // for screen readers
  height: number;
  times: Column;
  columns: Column[];
  lines: Line[];
  format: (value: number) => string;
  span?: number | undefined; // seconds that the axis covers, up to the newest time
  zero?: boolean; // the value axis begins at zero
  onHover?: (index: number | null) => void;
}

const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "short" });
const exactClock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const EXACT_SECONDS = 180; // shorter charts show seconds too

function formatTimes(plot: uPlot, splits: number[]): string[] {
  const { min = 0, max = 0 } = plot.scales["x"] ?? {};
  const format = (max ?? 0) - (min ?? 0) < EXACT_SECONDS ? exactClock : clock;
  return splits.map((time) => format.format(time * 1000));
}

function valueRange(zero: boolean): uPlot.Range.Function {
  return (_, low, high) => {
    if (low === null || high === null || !Number.isFinite(low)) return [0, 1];
    const margin = Math.max((high - low) * 0.12, Math.abs(high) * 0.02) || 1;
    return [zero ? Math.min(0, low < 0 ? low - margin : 0) : low - margin, high + margin];
  };
}

function gradientFill(color: string): uPlot.Series.Fill {
  return (plot) => {
    const { top, height } = plot.bbox;
    const shade = plot.ctx.createLinearGradient(0, top, 0, top + height);
    const [r, g, b] = color.match(/[\d.]+/g) ?? [];
    const faint = (share: number) => `rgba(${r}, ${g}, ${b}, ${share})`;
    shade.addColorStop(0, faint(0.34));
    shade.addColorStop(1, faint(0.02));
    return shade;
  };
}

function chartOptions(props: Props, width: number, hover: (i: number | null) => void): uPlot.Options {
  const ink = colorOf("--ink-3");
  const grid = { stroke: colorOf("--line"), width: 1 };
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
      y: { range: valueRange(props.zero ?? false) },
    },
    axes: [
      {
        stroke: ink,
        font,
        grid: { show: false },
        ticks: { show: false },
        size: 24,
        space: 90,
        values: formatTimes,
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
        const stroke = colorOf(line.color);
        return {
          stroke,
          width: 1.75,
          points: { show: false },
          ...(line.fill ? { fill: gradientFill(stroke) } : {}),
        };
      }),
    ],
    hooks: { setCursor: [(plot) => hover(plot.cursor.idx ?? null)] },
  };
}

export function Chart(props: Props) {
  const container = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const data = () =>
    [latest.current.times, ...latest.current.columns] as unknown as uPlot.AlignedData;

  useEffect(() => {
    const element = container.current;
    if (!element) return;
    const hover = (index: number | null) => latest.current.onHover?.(index);
    const created = new uPlot(chartOptions(latest.current, element.clientWidth, hover), data(), element);
    plot.current = created;
    const observer = new ResizeObserver(() =>
      created.setSize({ width: element.clientWidth, height: latest.current.height }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      created.destroy();
      plot.current = null;
    };
  }, [scheme.value, props.height, props.lines.length, props.span]);

  useEffect(() => plot.current?.setData(data()), [props.times, props.columns]);

  const style = { height: `${props.height}px` };
  return <div ref={container} class="chart" style={style} role="img" aria-label={props.label} />;
}
