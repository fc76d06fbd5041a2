// One joint angle over the gait cycle: as usual, as measured and as reproduced, with a line at the present moment.

import { make, write } from "./dom.js";
import { colour, sheet } from "./canvas.js";

const LEFT = 26, RIGHT = 4, TOP = 6, BOTTOM = 14; // px for the numbers of the axes
const LEVEL = 20; // degrees from line to line
const LINES = { measured: ["text", 3], reproduced: ["series-0", 1.5] }; // the ghost is blue, too; both are seen where they agree

export class Cycle {
  /** curve: {title, help, measured, norm, band, variants}, each of 101 values in degrees. */
  constructor(curve) {
    this.curve = curve;
    this.canvas = make("canvas", { role: "img", "aria-label": `${curve.help} over the gait cycle, measured and reproduced, with the norm` });
    this.values = Object.fromEntries(Object.keys(LINES).map((name) => [name, make("b", {})]));
    const legend = Object.entries(this.values).map(([name, value]) => make("li", {}, make("i", { class: name }), `${name} `, value));
    this.figure = make("figure", {}, make("figcaption", {}, make("h2", { title: curve.help }, curve.title), make("span", {}, "°")), this.canvas,
      make("ul", { class: "legend" }, ...legend, make("li", {}, make("i", { class: "norm" }), "norm ± 1 SD")));
    this.drawn = "";
  }

  /** variant: which reproduction; share: of the cycle, 0 to 1, or null. */
  draw(variant, share) {
    const lines = { measured: this.curve.measured, reproduced: this.curve.variants[variant] ?? [] };
    for (const [name, line] of Object.entries(lines)) {
      const now = share === null ? undefined : line[Math.round(share * (line.length - 1))];
      write(this.values[name], now === undefined ? "" : `${now.toFixed(0).replace("-", "−")}°`);
    }
    const state = [variant, share, this.canvas.clientWidth, this.canvas.clientHeight, colour("text")].join();
    const drawn = state !== this.drawn && sheet(this.canvas);
    if (!drawn) return;
    this.drawn = state;
    const { pen, width, height } = drawn;
    const { norm, band } = this.curve;
    const every = [...lines.measured, ...lines.reproduced, ...norm.flatMap((mean, at) => [mean - band[at], mean + band[at]])];
    const low = LEVEL * Math.floor(Math.min(...every) / LEVEL), high = LEVEL * Math.ceil(Math.max(...every) / LEVEL);
    const across = (part) => LEFT + part * (width - LEFT - RIGHT);
    const up = (value) => height - BOTTOM - ((value - low) / (high - low)) * (height - BOTTOM - TOP);
    const path = (values) => values.forEach((value, at) => pen.lineTo(across(at / (values.length - 1)), up(value)));

    this.axes(pen, { width, height, low, high, across, up });
    pen.fillStyle = colour("dim");
    pen.globalAlpha = 0.25;
    pen.beginPath();
    path(norm.map((mean, at) => mean + band[at]));
    norm.map((mean, at) => [at / (norm.length - 1), mean - band[at]]).reverse().forEach(([part, value]) => pen.lineTo(across(part), up(value)));
    pen.fill();
    pen.globalAlpha = 1;
    for (const [name, [tone, wide]] of Object.entries(LINES)) {
      pen.strokeStyle = colour(tone);
      pen.lineWidth = wide;
      pen.beginPath();
      path(lines[name]);
      pen.stroke();
    }
    if (share === null) return;
    pen.strokeStyle = colour("bad");
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(across(share), TOP);
    pen.lineTo(across(share), height - BOTTOM);
    pen.stroke();
  }

  axes(pen, { width, height, low, high, across, up }) {
    pen.lineWidth = 1;
    pen.textBaseline = "middle";
    pen.fillStyle = colour("dim");
    pen.textAlign = "right";
    for (let value = low; value <= high; value += LEVEL) {
      pen.strokeStyle = colour(value === 0 ? "dim" : "line");
      pen.beginPath();
      pen.moveTo(LEFT, Math.round(up(value)) + 0.5);
      pen.lineTo(width - RIGHT, Math.round(up(value)) + 0.5);
      pen.stroke();
      pen.fillText(String(value).replace("-", "−"), LEFT - 4, up(value));
    }
    pen.textBaseline = "bottom";
    for (const [part, text, side] of [[0, "0", "left"], [0.5, "50 %", "center"], [1, "100 %", "right"]]) {
      pen.textAlign = side;
      pen.fillText(text, across(part), height);
    }
  }
}
