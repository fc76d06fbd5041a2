// Plot of the balance from above: center of mass, center of pressure and capture point in the support polygon, forward up.

import { createElement } from "./dom.js";
import { themeColor, prepareCanvas } from "./canvas.js";

const MIN_SIZE = 0.36; // m, smallest width of the window: a stance with space around it
const MARGIN = 0.05; // m around the content
const SMOOTHING_TIME = 150; // ms, time constant of the window, so that it does not jump with every step
const TRAIL_LENGTH = 60; // samples: three seconds

// Drawn from last to first with decreasing size, so that all remain visible when they coincide.
const POINTS = [
  { key: "center_of_mass", name: "center of mass", series: 0, shape: "circle", size: 4 },
  { key: "center_of_pressure", name: "center of pressure", series: 1, shape: "square", size: 5 },
  { key: "capture_point", name: "capture point", series: 2, shape: "diamond", size: 6.5 },
];

export class BalancePlot {
  constructor(canvas, legend) {
    Object.assign(this, { canvas, trail: [], plots: null, window: null, lastTime: 0 });
    legend.replaceChildren(...POINTS.map((point) =>
      createElement("li", {}, createElement("i", { class: `series-${point.series} ${point.shape}` }), point.name)));
  }

  clear() {
    Object.assign(this, { trail: [], plots: null, window: null });
    prepareCanvas(this.canvas);
  }

  sample(plots) {
    const last = this.trail.at(-1);
    if (last && Math.hypot(plots.center_of_mass[0] - last[0], plots.center_of_mass[1] - last[1]) > 0.3) this.trail = [];
    this.trail.push(plots.center_of_mass);
    if (this.trail.length > TRAIL_LENGTH) this.trail.shift();
    this.plots = plots;
  }

  draw() {
    const canvas = this.plots && prepareCanvas(this.canvas);
    if (!canvas) return;
    const { context, width, height } = canvas;
    const { support } = this.plots;
    const shown = [...support, ...POINTS.map((point) => this.plots[point.key]).filter(Boolean)];
    const view = this.follow(shown, width / height);
    const scale = Math.min(width, height) / view.size;
    const toCanvas = ([x, y]) => [width / 2 - (y - view.y) * scale, height / 2 - (x - view.x) * scale];

    context.fillStyle = context.strokeStyle = themeColor("muted");
    context.lineWidth = 1.5;
    tracePath(context, support.map(toCanvas));
    context.closePath();
    context.globalAlpha = 0.16;
    context.fill();
    context.globalAlpha = 0.8;
    context.stroke();
    context.globalAlpha = 0.45;
    context.strokeStyle = themeColor("series-0");
    tracePath(context, this.trail.map(toCanvas));
    context.stroke();
    context.globalAlpha = 1;
    for (const point of POINTS.toReversed()) if (this.plots[point.key]) drawPoint(context, toCanvas(this.plots[point.key]), point);
    drawRuler(context, scale, height);
  }

  /** Center and size (m) of the window, smoothed. */
  follow(shown, aspect) {
    const xs = shown.map((point) => point[0]), ys = shown.map((point) => point[1]);
    const span = (values) => Math.max(...values) - Math.min(...values) + 2 * MARGIN;
    const size = Math.max(MIN_SIZE, aspect > 1 ? Math.max(span(xs), span(ys) / aspect) : Math.max(span(ys), span(xs) * aspect));
    const target = { x: (Math.max(...xs) + Math.min(...xs)) / 2, y: (Math.max(...ys) + Math.min(...ys)) / 2, size };
    const jumped = !this.window || Math.hypot(target.x - this.window.x, target.y - this.window.y) > 1;
    if (jumped) this.window = target;
    const now = performance.now(), share = 1 - Math.exp((this.lastTime - now) / SMOOTHING_TIME);
    if (!jumped) for (const key of ["x", "y", "size"]) this.window[key] += share * (target[key] - this.window[key]);
    this.lastTime = now;
    return this.window;
  }
}

function tracePath(context, points) {
  context.beginPath();
  points.forEach(([right, down]) => context.lineTo(right, down));
}

function drawPoint(context, [right, down], { series, shape, size }) {
  context.save();
  context.translate(right, down);
  if (shape === "diamond") context.rotate(Math.PI / 4);
  context.fillStyle = themeColor(`series-${series}`);
  context.strokeStyle = themeColor("panel");
  context.lineWidth = 1.5;
  context.beginPath();
  if (shape === "circle") context.arc(0, 0, size, 0, 2 * Math.PI);
  else context.rect(-size, -size, 2 * size, 2 * size);
  context.fill();
  context.stroke();
  context.restore();
}

/** Draw a scale of ten centimeters. */
function drawRuler(context, scale, height) {
  context.strokeStyle = context.fillStyle = themeColor("muted");
  context.lineWidth = 1;
  tracePath(context, [[4.5, height - 8], [4.5, height - 4.5], [4.5 + 0.1 * scale, height - 4.5], [4.5 + 0.1 * scale, height - 8]]);
  context.stroke();
  context.textAlign = "left";
  context.textBaseline = "bottom";
  context.fillText("10 cm", 9, height - 6);
}
