// Numbers over the last seconds, as lines.

import { createElement, setText } from "./dom.js";
import { themeColor, prepareCanvas } from "./canvas.js";

const LEFT = 30, BOTTOM = 4, TOP = 6; // px for the numbers of the axis
const SERIES_COLORS = 8; // colours

/**
 * settings: {canvas, legend, low, high, digits, scale, seconds, widths}: the range always shown, digits of the legend, factor
 * on the values, how long they are remembered, widths of the first lines (px). With an `edge`, the range goes a little
 * further than that to both sides, whatever the values are, and the edges are marked.
 */
export class TimePlot {
  constructor(settings) {
    Object.assign(this, { scale: 1, digits: 0, seconds: 8, widths: [], edge: 0, ...settings }); // 8 s: two or three walking cycles
    this.clear();
  }

  clear() {
    this.times = [];
    this.lines = new Map(); // name -> values, as long as times
  }

  /** One more sample: {name: value}. Other names than before, or a clock that goes back, begin a new strip. */
  sample(time, values) {
    const names = Object.keys(values);
    const last = this.times.at(-1);
    if (last !== undefined && (time < last || names.join("\n") !== [...this.lines.keys()].join("\n"))) this.clear();
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
    if (!canvas || this.times.length === 0) return;
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

  /** What is shown, and at which levels there are lines across. */
  range() {
    const { edge } = this;
    if (edge) return { low: -1.1 * edge, high: 1.1 * edge, levels: [-edge, 0, edge] };
    const all = [...this.lines.values()].flat().filter(Number.isFinite);
    const { low, high, step } = roundRange(Math.min(this.low, ...all), Math.max(this.high, ...all));
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

/** Range and step with round numbers: 1, 2 or 5 times a power of ten, three or four lines. */
function roundRange(low, high) {
  const rough = (high - low) / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((size) => size >= rough * 0.999);
  return { low: Math.floor(low / step + 1e-6) * step, high: Math.ceil(high / step - 1e-6) * step, step };
}

/** Names without the words that all of them begin or end with: left_knee_joint, left_hip_joint: knee, hip. */
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
