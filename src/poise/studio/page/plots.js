// The four plots below the view.

import { byId } from "./dom.js";
import { Above } from "./above.js";
import { Strip } from "./strip.js";

export class Plots {
  constructor() {
    const strip = (name, settings) => new Strip({ canvas: byId(`plot-${name}`), legend: byId(`legend-${name}`), ...settings });
    this.above = new Above(byId("plot-above"), byId("legend-above"));
    this.forces = strip("forces", { low: 0, high: 100 });
    this.torques = strip("torques", { low: -100, high: 100, scale: 100 });
    this.times = strip("times", { low: 0, high: 1, digits: 2 });
  }

  sample({ time, plots }) {
    this.above.sample(plots);
    this.forces.sample(time, plots.forces);
    this.torques.sample(time, plots.torques);
    this.times.sample(time, { solver: plots.solver, "control step": plots.control });
  }

  draw() {
    for (const plot of [this.above, this.forces, this.torques, this.times]) plot.draw();
  }
}
