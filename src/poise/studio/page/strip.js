// Numbers over the last seconds, as lines.

import { make, write } from "./dom.js";
import { colour, sheet } from "./canvas.js";

const LEFT = 30, BOTTOM = 4, TOP = 6; // px for the numbers of the axis
const SERIES = 8; // colours

/**
 * settings: {canvas, legend, low, high, digits, scale, seconds, widths}: the range always shown, digits of the legend, factor
 * on the values, how long they are remembered, widths of the first lines (px). With an `edge`, the range goes a little
 * further than that to both sides, whatever the values are, and the edges are marked.
 */
export class Strip {
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
    this.name();
    const drawn = sheet(this.canvas);
    if (!drawn || this.times.length === 0) return;
    const { pen, width, height } = drawn;
    const { low, high, levels } = this.range();
    const end = this.times.at(-1);
    const across = (time) => LEFT + ((time - end + this.seconds) / this.seconds) * (width - LEFT - 2);
    const up = (value) => height - BOTTOM - ((value - low) / (high - low)) * (height - BOTTOM - TOP);
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    pen.lineWidth = 1;
    for (const value of levels) {
      const edge = this.edge && Math.abs(value) === this.edge;
      pen.strokeStyle = colour(edge ? "dim" : "line");
      pen.setLineDash(edge ? [4, 3] : []);
      pen.fillStyle = colour("dim");
      pen.beginPath();
      pen.moveTo(LEFT, Math.round(up(value)) + 0.5);
      pen.lineTo(width, Math.round(up(value)) + 0.5);
      pen.stroke();
      pen.fillText(String(Number(value.toPrecision(3))), LEFT - 5, up(value));
    }
    let place = 0;
    pen.setLineDash([]);
    for (const line of this.lines.values()) {
      pen.lineWidth = this.widths[place] ?? 1.5;
      pen.strokeStyle = colour(`series-${place++ % SERIES}`);
      pen.beginPath();
      line.forEach((value, at) => Number.isFinite(value) && pen.lineTo(across(this.times[at]), up(value)));
      pen.stroke();
    }
  }

  /** What is shown, and at which levels there are lines across. */
  range() {
    const { edge } = this;
    if (edge) return { low: -1.1 * edge, high: 1.1 * edge, levels: [-edge, 0, edge] };
    const all = [...this.lines.values()].flat().filter(Number.isFinite);
    const { low, high, step } = round(Math.min(this.low, ...all), Math.max(this.high, ...all));
    return { low, high, levels: Array.from({ length: Math.round((high - low) / step) + 1 }, (_, n) => low + n * step) };
  }

  name() {
    const names = [...this.lines.keys()];
    const joined = names.join("\n");
    if (joined !== this.named) {
      this.named = joined;
      const short = shortened(names);
      this.legend.replaceChildren(...names.map((name, place) =>
        make("li", { title: name }, make("i", { class: `series-${place % SERIES}` }), `${short[place]} `, make("b", {}))));
    }
    names.forEach((name, place) => {
      const value = this.lines.get(name).at(-1);
      write(this.legend.children[place].lastChild, Number.isFinite(value) ? value.toFixed(this.digits).replace(/^-(0\.?0*)$/, "$1") : "–");
    });
  }
}

/** Range and step with round numbers: 1, 2 or 5 times a power of ten, three or four lines. */
function round(low, high) {
  const rough = (high - low) / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((size) => size >= rough * 0.999);
  return { low: Math.floor(low / step + 1e-6) * step, high: Math.ceil(high / step - 1e-6) * step, step };
}

/** Names without the words that all of them begin or end with: left_knee_joint, left_hip_joint: knee, hip. */
export function shortened(names) {
  let parts = names.map((name) => name.split("_"));
  const drop = (first) => {
    while (parts.length > 1 && parts.every((words) => words.length > 1 && words.at(first) === parts[0].at(first)))
      parts = parts.map((words) => (first ? words.slice(0, -1) : words.slice(1)));
  };
  drop(-1);
  drop(0);
  return parts.map((words) => words.join(" "));
}
