// A person's walk: angles over the gait cycle, ranges of motion, and how far a fit has come.

import { byId, make, write, writeLines } from "./dom.js";
import { Cycle } from "./cycle.js";

const FAR = 5; // degrees: ranges of motion that differ by more are marked
const DEGREES = { signDisplay: "exceptZero", minimumFractionDigits: 1, maximumFractionDigits: 1 };

export class Gait {
  constructor() {
    Object.assign(this, { gait: null, shape: "", plots: [], rows: [], variant: "" });
  }

  /** gait: curves, rows and words, with a title once there is a trial; nothing in all other scenes. */
  hello(gait) {
    this.gait = gait ?? null;
    const drawn = Boolean(gait?.curves?.length);
    byId("gait-panel").hidden = !gait;
    byId("gait-plots").hidden = !drawn;
    byId("plots").hidden = drawn;
    for (const panel of document.querySelectorAll(".of-tasks")) panel.hidden = Boolean(gait);
    if (!gait) return this.busy(null);
    const shape = JSON.stringify(gait);
    if (shape === this.shape) return;
    this.shape = shape;
    this.variant = "";
    this.plots = (gait.curves ?? []).map((curve) => new Cycle(curve));
    byId("gait-plots").replaceChildren(...this.plots.map((plot) => plot.figure));
    const rows = gait.rows ?? [];
    this.rows = rows.map((row) => make("tr", { class: "task" },
      make("td", {}, row.title), make("td", {}, row.measured.toFixed(1)), make("td", {}), make("td", {})));
    byId("gait-rows").replaceChildren(...rows.flatMap((row, place) => [
      ...(row.side === rows[place - 1]?.side ? [] : [make("tr", { class: "level" }, make("td", { colspan: 4 }, row.side))]),
      this.rows[place],
    ]));
    byId("gait-none").hidden = rows.length > 0;
    write(byId("gait-none"), gait.title ? "There is no whole gait cycle in this trial." : "They are here when a trial has been fitted.");
    writeLines(byId("gait-notes"), gait.notes ?? [], "nothing yet");
    if (!rows.length) writeLines(byId("gait-words"), []);
  }

  frame(frame) {
    if (!this.gait) return;
    this.busy(frame.gait);
    this.choose(frame.values?.variant);
    for (const plot of this.plots) plot.draw(this.variant, frame.share ?? null);
  }

  busy(now) {
    const line = byId("gait-busy");
    line.hidden = !now?.busy;
    if (line.hidden) return;
    write(line.firstElementChild, `It ${now.busy} …`);
    line.lastElementChild.value = now.done;
  }

  /** The reproduction that is shown: pages know all of them. */
  choose(variant) {
    const rows = this.gait.rows ?? [];
    if (!rows.length || variant === this.variant || !(variant in rows[0].variants)) return;
    this.variant = variant;
    rows.forEach((row, place) => {
      const [, , reproduced, difference] = this.rows[place].cells;
      const [range, away] = row.variants[variant];
      write(reproduced, range.toFixed(1));
      write(difference, away.toLocaleString("en", DEGREES).replace("-", "−"));
      difference.classList.toggle("acts", Math.abs(away) > FAR);
    });
    writeLines(byId("gait-words"), this.gait.words[variant] ?? []);
  }
}
