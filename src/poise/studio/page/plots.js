// The plots below the view: four of every scene, and three more of robots that balance by their force cells.

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
    const under = { seconds: 10, digits: 1, widths: [3, 1.2] }; // both feet are seen where they feel the same
    const zmp = { ...under, scale: 1000 }; // from m to mm
    this.soles = {
      force: strip("sole-force", { ...under, low: 0, high: 10 }),
      x: strip("sole-x", zmp),
      y: strip("sole-y", zmp),
    };
  }

  sample({ time, plots }) {
    this.above.sample(plots);
    this.forces.sample(time, plots.forces);
    this.torques.sample(time, plots.torques);
    this.times.sample(time, { solver: plots.solver, "control step": plots.control });
    this.under(time, plots.soles);
  }

  /** Under each sole: how strongly it is pressed and where. Without force cells there is nothing, and no place for it. */
  under(time, soles) {
    byId("plots").classList.toggle("with-soles", Boolean(soles));
    for (const figure of document.querySelectorAll("#plots .sole")) figure.hidden = !soles;
    byId("figure-forces").hidden = Boolean(soles); // the same forces, by another sensor
    if (!soles) return Object.values(this.soles).forEach((strip) => strip.clear());
    this.soles.x.edge = 1000 * soles.edges[0];
    this.soles.y.edge = 1000 * soles.edges[1];
    for (const [name, strip] of Object.entries(this.soles)) strip.sample(time, soles[name]);
  }

  draw() {
    for (const plot of [this.above, this.forces, this.torques, this.times, ...Object.values(this.soles)]) plot.draw();
  }
}
