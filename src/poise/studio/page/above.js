// Balance seen from above: centre of mass, pressure and capture point in the support polygon. Forward is up.

import { make } from "./dom.js";
import { colour, sheet } from "./canvas.js";

const LEAST = 0.36; // m across: a stance with room around it
const MARGIN = 0.05; // m around what is shown
const CALM = 150; // ms in which the window moves most of the way, so that it does not jump with every step
const TRAIL = 60; // samples: three seconds

// Drawn from the last to the first, and smaller: where all of them meet, each is still seen.
const POINTS = [
  { key: "center", name: "centre of mass", series: 0, shape: "round", size: 4 },
  { key: "pressure", name: "pressure", series: 1, shape: "", size: 5 },
  { key: "capture", name: "capture point", series: 2, shape: "turned", size: 6.5 },
];

export class Above {
  constructor(canvas, legend) {
    Object.assign(this, { canvas, trail: [], plots: null, window: null, since: 0 });
    legend.replaceChildren(...POINTS.map((point) =>
      make("li", {}, make("i", { class: `series-${point.series} ${point.shape}` }), point.name)));
  }

  sample(plots) {
    const last = this.trail.at(-1);
    if (last && Math.hypot(plots.center[0] - last[0], plots.center[1] - last[1]) > 0.3) this.trail = [];
    this.trail.push(plots.center);
    if (this.trail.length > TRAIL) this.trail.shift();
    this.plots = plots;
  }

  draw() {
    const drawn = this.plots && sheet(this.canvas);
    if (!drawn) return;
    const { pen, width, height } = drawn;
    const { support } = this.plots;
    const shown = [...support, ...POINTS.map((point) => this.plots[point.key]).filter(Boolean)];
    const view = this.follow(shown, width / height);
    const scale = Math.min(width, height) / view.size;
    const at = ([x, y]) => [width / 2 - (y - view.y) * scale, height / 2 - (x - view.x) * scale];

    pen.fillStyle = pen.strokeStyle = colour("dim");
    pen.lineWidth = 1.5;
    path(pen, support.map(at));
    pen.closePath();
    pen.globalAlpha = 0.16;
    pen.fill();
    pen.globalAlpha = 0.8;
    pen.stroke();
    pen.globalAlpha = 0.45;
    pen.strokeStyle = colour("series-0");
    path(pen, this.trail.map(at));
    pen.stroke();
    pen.globalAlpha = 1;
    for (const point of POINTS.toReversed()) if (this.plots[point.key]) mark(pen, at(this.plots[point.key]), point);
    ruler(pen, scale, height);
  }

  /** Middle and size (m) of what is shown, moving calmly. */
  follow(shown, aspect) {
    const xs = shown.map((point) => point[0]), ys = shown.map((point) => point[1]);
    const span = (values) => Math.max(...values) - Math.min(...values) + 2 * MARGIN;
    const size = Math.max(LEAST, aspect > 1 ? Math.max(span(xs), span(ys) / aspect) : Math.max(span(ys), span(xs) * aspect));
    const wanted = { x: (Math.max(...xs) + Math.min(...xs)) / 2, y: (Math.max(...ys) + Math.min(...ys)) / 2, size };
    const far = !this.window || Math.hypot(wanted.x - this.window.x, wanted.y - this.window.y) > 1;
    if (far) this.window = wanted;
    const now = performance.now(), share = 1 - Math.exp((this.since - now) / CALM);
    if (!far) for (const key of ["x", "y", "size"]) this.window[key] += share * (wanted[key] - this.window[key]);
    this.since = now;
    return this.window;
  }
}

function path(pen, points) {
  pen.beginPath();
  points.forEach(([right, down]) => pen.lineTo(right, down));
}

function mark(pen, [right, down], { series, shape, size }) {
  pen.save();
  pen.translate(right, down);
  if (shape === "turned") pen.rotate(Math.PI / 4);
  pen.fillStyle = colour(`series-${series}`);
  pen.strokeStyle = colour("panel");
  pen.lineWidth = 1.5;
  pen.beginPath();
  if (shape === "round") pen.arc(0, 0, size, 0, 2 * Math.PI);
  else pen.rect(-size, -size, 2 * size, 2 * size);
  pen.fill();
  pen.stroke();
  pen.restore();
}

/** Ten centimetres. */
function ruler(pen, scale, height) {
  pen.strokeStyle = pen.fillStyle = colour("dim");
  pen.lineWidth = 1;
  path(pen, [[4.5, height - 8], [4.5, height - 4.5], [4.5 + 0.1 * scale, height - 4.5], [4.5 + 0.1 * scale, height - 8]]);
  pen.stroke();
  pen.textAlign = "left";
  pen.textBaseline = "bottom";
  pen.fillText("10 cm", 9, height - 6);
}
