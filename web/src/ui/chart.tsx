// Lines over time. uPlot draws them; what they say is beside them as text, of now or of where somebody points.
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { shown } from "../state/theme";
import { useSignal } from "../state/signal";
import { roundUp } from "../text/numbers";
import { clock, duration } from "../text/times";
import type { Tone } from "./badge";

export interface Line {
  label: string;
  tone: Tone;
  values: (number | null)[]; // null: nobody knows
  area?: boolean;
}

interface ChartProps {
  title: string;
  times: number[]; // in seconds
  step: number; // seconds from one to the next
  span: number; // seconds that it reaches back
  lines: Line[];
  format: (value: number) => string;
  least?: number; // the axis reaches at least so far
  threshold?: number | null;
}

const height = 168;
const leastSpan = 300; // seconds; a server that has just started has not seen more
const youngPoints = 5;

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// A line of one point cannot be seen, nor can that of one here and one there.
function isYoung(plot: uPlot, series: number): boolean {
  return (plot.data[series] ?? []).filter((value) => value != null).length <= youngPoints;
}

function lineOf(line: Line): uPlot.Series {
  const stroke = colour(`--${line.tone}`);
  return {
    label: line.label,
    stroke,
    width: 1.75,
    points: { show: isYoung, size: 5, fill: stroke },
    ...(line.area ? { fill: `${stroke}22` } : {}),
  };
}

function axis(format?: (value: number) => string): uPlot.Axis {
  return {
    stroke: colour("--text-3"),
    font: "11px system-ui, sans-serif",
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
    gap: 6,
    ...(format
      ? { size: 52, splits: fewSplits, values: (_: uPlot, ticks: number[]) => ticks.map(format) }
      : {
          size: 26,
          space: 70,
          values: (_: uPlot, ticks: number[]) => ticks.map((tick) => clock(tick * 1000).slice(0, 5)),
        }),
  };
}

// 0, the middle and the top: what a small chart has room for.
function fewSplits(plot: uPlot): number[] {
  const top = plot.scales.y?.max ?? 1;
  return [0, top / 2, top];
}

function drawThreshold(plot: uPlot, threshold: number): void {
  const y = plot.valToPos(threshold, "y", true);
  const { left, top, width } = plot.bbox;
  if (y < top) return;
  plot.ctx.save();
  plot.ctx.strokeStyle = colour("--red");
  plot.ctx.setLineDash([4, 4]);
  plot.ctx.beginPath();
  plot.ctx.moveTo(left, y);
  plot.ctx.lineTo(left + width, y);
  plot.ctx.stroke();
  plot.ctx.restore();
}

function optionsOf(props: ChartProps, width: number, point: (index: number | null) => void): uPlot.Options {
  const { lines, format, least = 1, threshold, span } = props;
  return {
    width,
    height,
    padding: [10, 16, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, sync: { key: "overview" }, points: { size: 6 } },
    scales: {
      x: {
        range: (plot) => {
          const first = plot.data[0][0] ?? 0;
          const last = plot.data[0].at(-1) ?? Date.now() / 1000;
          const shown = Math.min(span, Math.max(leastSpan, last - first));
          return [last - shown, last + shown / 100];
        },
      },
      y: { range: (_, __, top) => [0, roundUp(Math.max(top, least))] },
    },
    axes: [axis(), axis(format)],
    series: [{}, ...lines.map(lineOf)],
    hooks: {
      setCursor: [
        (plot) =>
          point(plot.cursor.left === undefined || plot.cursor.left < 0 ? null : (plot.cursor.idx ?? null)),
      ],
      draw: threshold ? [(plot) => drawThreshold(plot, threshold)] : [],
    },
  };
}

function shownValue(value: number | null | undefined, format: (value: number) => string): string {
  return value == null ? "–" : format(value);
}

export function Chart(props: ChartProps) {
  const { title, times, step, lines, format, span, threshold } = props;
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const [pointed, setPointed] = useState<number | null>(null);
  const theme = useSignal(shown);
  const data = [times, ...lines.map((line) => line.values)] as uPlot.AlignedData;
  const latest = useRef(data);
  latest.current = data;

  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const made = new uPlot(optionsOf(props, element.clientWidth, setPointed), latest.current, element);
    plot.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [theme, span, threshold]);
  useEffect(() => plot.current?.setData(data), [times, ...lines.map((line) => line.values)]);

  const index = pointed ?? times.length - 1;
  const values = lines.map((line) => ({ ...line, text: shownValue(line.values[index], format) }));
  const summary = values.map(({ label, text }) => `${label} ${text}`).join(", ");
  return (
    <section class="card chart">
      <header class="card-head">
        <h2>{title}</h2>
        <span class="chart-when">{pointed === null ? "now" : clock((times[pointed] ?? 0) * 1000)}</span>
      </header>
      <ul class="legend">
        {values.map(({ label, tone, text }) => (
          <li key={label}>
            <span class={`swatch tone-${tone}`} />
            {label} <strong>{text}</strong>
          </li>
        ))}
      </ul>
      <div class="plot" ref={place} role="img" aria-label={`${title}, now: ${summary}`}>
        {times.length === 0 && (
          <p class="plot-empty">The first point comes within {duration(step * 1000)}.</p>
        )}
      </div>
    </section>
  );
}
