// Plots below the view: four in every scene, and three more for robots that balance by force cells.

import { byId, setText } from "./dom.js";
import { BalancePlot } from "./balance_plot.js";
import { TimePlot } from "./time_plot.js";

const MAX_LATE_SHARE = 0.01; // of late control steps, above which they are marked; poise run warns above the same share

export class Plots {
  constructor() {
    const timePlot = (name, settings) => new TimePlot({ canvas: byId(`plot-${name}`), legend: byId(`legend-${name}`), ...settings });
    this.balance = new BalancePlot(byId("plot-balance"), byId("legend-balance"));
    this.forces = timePlot("forces", { low: 0, high: 100 });
    this.torques = timePlot("torques", { low: -100, high: 100, scale: 100 });
    this.times = timePlot("times", { low: 0, high: 1, digits: 2 });
    const soleSettings = { seconds: 10, digits: 1, widths: [3, 1.2] }; // different widths: both lines are visible where they coincide
    const zmp = { ...soleSettings, scale: 1000 }; // from m to mm
    this.soles = {
      force: timePlot("sole-force", { ...soleSettings, low: 0, high: 10 }),
      x: timePlot("sole-x", zmp),
      y: timePlot("sole-y", zmp),
    };
  }

  sample({ time, plots, timing }) {
    this.balance.sample(plots);
    this.forces.sample(time, plots.forces);
    this.torques.sample(time, plots.torques);
    this.times.sample(time, { solver: plots.solver_ms, "control step": plots.control_ms });
    this.times.limit = timing.period_ms;
    this.timing = timing;
    this.sampleSoles(time, plots.sole_pressure);
  }

  /** Plot force and ZMP under each sole; the plots are hidden if there are no force cells. */
  sampleSoles(time, soles) {
    byId("plots").classList.toggle("with-sole-plots", Boolean(soles));
    for (const figure of document.querySelectorAll("#plots .sole-plot")) figure.hidden = !soles;
    byId("figure-forces").hidden = Boolean(soles); // these are the same forces, from another sensor
    if (!soles) return Object.values(this.soles).forEach((plot) => plot.clear());
    this.soles.x.edge = 1000 * soles.half_size[0];
    this.soles.y.edge = 1000 * soles.half_size[1];
    for (const [name, plot] of Object.entries(this.soles)) plot.sample(time, soles[name]);
  }

  /** Compare the time of control steps with the period. */
  showTiming() {
    if (!this.timing) return;
    const { late, steps, worst_ms: worst, period_ms: period } = this.timing;
    setText(byId("timing-period"), period ? `ms, period ${period} ms` : "ms");
    const text = byId("timing-late");
    setText(text, steps ? `${late} of ${steps} steps longer than the period, longest ${worst} ms` : "");
    text.classList.toggle("highlighted", late > MAX_LATE_SHARE * steps);
  }

  /** Empty all plots. */
  clear() {
    this.balance.clear();
    for (const plot of [this.forces, this.torques, this.times, ...Object.values(this.soles)]) plot.clear();
    this.timing = { late: 0, steps: 0, worst_ms: 0, period_ms: 0 };
    this.draw();
  }

  draw() {
    this.showTiming();
    for (const plot of [this.balance, this.forces, this.torques, this.times, ...Object.values(this.soles)]) plot.draw();
  }
}
