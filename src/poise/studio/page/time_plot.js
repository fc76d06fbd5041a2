// Line plot of values over the last seconds.

import { createElement, setText } from "./dom.js";
import { themeColor, prepareCanvas } from "./canvas.js";

const LEFT = 30, BOTTOM = 4, TOP = 6; // px, margins with the numbers of the axis
const SERIES_COLORS = 8; // colors
const MAX_GAP = 1; // s between two samples; a longer one is a jump, as in a replay

/**
 * settings: {canvas, legend, low, high, digits, scale, seconds, widths}: range that is always visible (low, high), digits in
 * the legend, factor on the values, time span (s), widths of the first lines (px). With an `edge`, the range is fixed to
 * slightly more than -edge to edge, and both edges are marked. A `limit` is always visible, and marked.
 */
export class TimePlot {
  constructor(settings) {
    Object.assign(this, { scale: 1, digits: 0, seconds: 8, widths: [], edge: 0, limit: 0, ...settings }); // 8 s: two or three walking cycles
    this.clear();
  }

  clear() {
    this.times = [];
    this.lines = new Map(); // name -> values, one per entry of times
  }

  /** Add a sample: {name: value}. The plot is cleared if the names change or the time jumps. */
  sample(time, values) {
    const names = Object.keys(values);
    const last = this.times.at(-1);
    const jumped = last !== undefined && (time < last || time > last + MAX_GAP);
    if (last !== undefined && (jumped || names.join("\n") !== [...this.lines.keys()].join("\n"))) this.clear();
    if (time === this.times.at(-1)) return;
    this.times.push(time);
    for (const name of names) {
      if (!this.lines.has(name)) this.lines.set(name, []);
      this.lines.get(name).push(values[name] === null ? NaN : values[name] * this.scale);
    }
    while (this.times[0] < time - this.seconds) {
      this.times.shift();
      for (const line of this.lines.values()) line.shift();
    }
  }

  draw() {
    this.showLegend();
    const canvas = prepareCanvas(this.canvas);
    if (!canvas || this.times.length === 0) return; // prepareCanvas has emptied it
    const { context, width, height } = canvas;
    const { low, high, levels } = this.range();
    const end = this.times.at(-1);
    const toX = (time) => LEFT + ((time - end + this.seconds) / this.seconds) * (width - LEFT - 2);
    const toY = (value) => height - BOTTOM - ((value - low) / (high - low)) * (height - BOTTOM - TOP);
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.lineWidth = 1;
    for (const value of levels) {
      const edge = this.edge && Math.abs(value) === this.edge;
      context.strokeStyle = themeColor(edge ? "muted" : "line");
      context.setLineDash(edge ? [4, 3] : []);
      context.fillStyle = themeColor("muted");
      context.beginPath();
      context.moveTo(LEFT, Math.round(toY(value)) + 0.5);
      context.lineTo(width, Math.round(toY(value)) + 0.5);
      context.stroke();
      context.fillText(String(Number(value.toPrecision(3))), LEFT - 5, toY(value));
    }
    if (this.limit) {
      context.strokeStyle = themeColor("warning");
      context.setLineDash([4, 3]);
      context.beginPath();
      context.moveTo(LEFT, Math.round(toY(this.limit)) + 0.5);
      context.lineTo(width, Math.round(toY(this.limit)) + 0.5);
      context.stroke();
    }
    let index = 0;
    context.setLineDash([]);
    for (const line of this.lines.values()) {
      context.lineWidth = this.widths[index] ?? 1.5;
      context.strokeStyle = themeColor(`series-${index++ % SERIES_COLORS}`);
      context.beginPath();
      line.forEach((value, sample) => Number.isFinite(value) && context.lineTo(toX(this.times[sample]), toY(value)));
      context.stroke();
    }
  }

  /** Range of the axis, and values of the grid lines. */
  range() {
    const { edge } = this;
    if (edge) return { low: -1.1 * edge, high: 1.1 * edge, levels: [-edge, 0, edge] };
    const all = [...this.lines.values()].flat().filter(Number.isFinite);
    const { low, high, step } = roundRange(Math.min(this.low, ...all), Math.max(this.high, this.limit, ...all));
    return { low, high, levels: Array.from({ length: Math.round((high - low) / step) + 1 }, (_, n) => low + n * step) };
  }

  showLegend() {
    const names = [...this.lines.keys()];
    const joined = names.join("\n");
    if (joined !== this.legendNames) {
      this.legendNames = joined;
      const labels = shortNames(names);
      this.legend.replaceChildren(...names.map((name, index) =>
        createElement("li", { title: name }, createElement("i", { class: `series-${index % SERIES_COLORS}` }), `${labels[index]} `, createElement("b", {}))));
    }
    names.forEach((name, index) => {
      const value = this.lines.get(name).at(-1);
      setText(this.legend.children[index].lastChild, Number.isFinite(value) ? value.toFixed(this.digits).replace(/^-(0\.?0*)$/, "$1") : "–");
    });
  }
}

/** Range and step in round numbers: 1, 2 or 5 times a power of ten, with three or four grid lines. */
function roundRange(low, high) {
  const rough = (high - low) / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((size) => size >= rough * 0.999);
  return { low: Math.floor(low / step + 1e-6) * step, high: Math.ceil(high / step - 1e-6) * step, step };
}

/** Names without their common leading and trailing words: left_knee_joint, left_hip_joint become knee, hip. */
export function shortNames(names) {
  let parts = names.map((name) => name.split("_"));
  const drop = (first) => {
    while (parts.length > 1 && parts.every((words) => words.length > 1 && words.at(first) === parts[0].at(first)))
      parts = parts.map((words) => (first ? words.slice(0, -1) : words.slice(1)));
  };
  drop(-1);
  drop(0);
  return parts.map((words) => words.join(" "));
}
