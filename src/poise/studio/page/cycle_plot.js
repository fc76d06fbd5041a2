// Plot of one joint angle over the gait cycle: normative band, measured and reproduced, with a line at the current time.

import { createElement, setText } from "./dom.js";
import { themeColor, prepareCanvas } from "./canvas.js";

const LEFT = 26, RIGHT = 4, TOP = 6, BOTTOM = 14; // px for the numbers of the axes
const GRID_STEP = 20; // degrees between grid lines
const LINES = { measured: ["text", 3], reproduced: ["series-0", 1.5] }; // color, and width (px): blue like the ghost, and thinner, so that both lines are visible where they agree

export class CyclePlot {
  /** curve: {title, help, measured, norm, band, variants}; curves have 101 values in degrees. */
  constructor(curve) {
    this.curve = curve;
    this.canvas = createElement("canvas", { role: "img", "aria-label": `${curve.help} over the gait cycle, measured and reproduced, with the norm` });
    this.values = Object.fromEntries(Object.keys(LINES).map((name) => [name, createElement("b", {})]));
    const legend = Object.entries(this.values).map(([name, value]) => createElement("li", {}, createElement("i", { class: name }), `${name} `, value));
    this.figure = createElement("figure", {}, createElement("figcaption", {}, createElement("h2", { title: curve.help }, curve.title), createElement("span", {}, "°")), this.canvas,
      createElement("ul", { class: "legend" }, ...legend, createElement("li", {}, createElement("i", { class: "norm" }), "norm ± 1 SD")));
    this.drawn = "";
  }

  /** variant: name of the reproduction; share: position in the cycle, 0 to 1, or null. */
  draw(variant, share) {
    const lines = { measured: this.curve.measured, reproduced: this.curve.variants[variant] ?? [] };
    for (const [name, line] of Object.entries(lines)) {
      const now = share === null ? undefined : line[Math.round(share * (line.length - 1))];
      setText(this.values[name], now === undefined ? "" : `${now.toFixed(0).replace("-", "−")}°`);
    }
    const state = [variant, share, this.canvas.clientWidth, this.canvas.clientHeight, themeColor("text")].join();
    const canvas = state !== this.drawn && prepareCanvas(this.canvas);
    if (!canvas) return;
    this.drawn = state;
    const { context, width, height } = canvas;
    const { norm, band } = this.curve;
    const all = [...lines.measured, ...lines.reproduced, ...norm.flatMap((mean, index) => [mean - band[index], mean + band[index]])];
    const low = GRID_STEP * Math.floor(Math.min(...all) / GRID_STEP), high = GRID_STEP * Math.ceil(Math.max(...all) / GRID_STEP);
    const toX = (share) => LEFT + share * (width - LEFT - RIGHT);
    const toY = (value) => height - BOTTOM - ((value - low) / (high - low)) * (height - BOTTOM - TOP);
    const path = (values) => values.forEach((value, index) => context.lineTo(toX(index / (values.length - 1)), toY(value)));

    this.drawAxes(context, { width, height, low, high, toX, toY });
    context.fillStyle = themeColor("muted");
    context.globalAlpha = 0.25;
    context.beginPath();
    path(norm.map((mean, index) => mean + band[index]));
    norm.map((mean, index) => [index / (norm.length - 1), mean - band[index]]).reverse().forEach(([share, value]) => context.lineTo(toX(share), toY(value)));
    context.fill();
    context.globalAlpha = 1;
    for (const [name, [color, width]] of Object.entries(LINES)) {
      context.strokeStyle = themeColor(color);
      context.lineWidth = width;
      context.beginPath();
      path(lines[name]);
      context.stroke();
    }
    if (share === null) return;
    context.strokeStyle = themeColor("error");
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(toX(share), TOP);
    context.lineTo(toX(share), height - BOTTOM);
    context.stroke();
  }

  drawAxes(context, { width, height, low, high, toX, toY }) {
    context.lineWidth = 1;
    context.textBaseline = "middle";
    context.fillStyle = themeColor("muted");
    context.textAlign = "right";
    for (let value = low; value <= high; value += GRID_STEP) {
      context.strokeStyle = themeColor(value === 0 ? "muted" : "line");
      context.beginPath();
      context.moveTo(LEFT, Math.round(toY(value)) + 0.5);
      context.lineTo(width - RIGHT, Math.round(toY(value)) + 0.5);
      context.stroke();
      context.fillText(String(value).replace("-", "−"), LEFT - 4, toY(value));
    }
    context.textBaseline = "bottom";
    for (const [share, text, side] of [[0, "0", "left"], [0.5, "50 %", "center"], [1, "100 %", "right"]]) {
      context.textAlign = side;
      context.fillText(text, toX(share), height);
    }
  }
}
