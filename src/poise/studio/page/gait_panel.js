// Panel of a measured walk: joint angles over the gait cycle, and ranges of motion.

import { byId, createElement, setText, setLines } from "./dom.js";
import { CyclePlot } from "./cycle_plot.js";

const MARKED_DIFFERENCE = 5; // degrees: ranges of motion that differ by more are marked
const DEGREE_FORMAT = { signDisplay: "exceptZero", minimumFractionDigits: 1, maximumFractionDigits: 1 };

export class GaitPanel {
  constructor() {
    Object.assign(this, { result: null, signature: "", plots: [], rowElements: [], variant: "" });
  }

  /** result: curves, rows and summary, with an empty title before there is a trial; null in other scenes. */
  hello(result) {
    this.result = result ?? null;
    const hasCurves = Boolean(result?.curves?.length);
    byId("gait-panel").hidden = !result;
    byId("gait-plots").hidden = !hasCurves;
    byId("plots").hidden = hasCurves;
    for (const panel of document.querySelectorAll(".hierarchy-panel")) panel.hidden = Boolean(result);
    if (!result) return;
    const signature = JSON.stringify(result);
    if (signature === this.signature) return;
    this.signature = signature;
    this.variant = "";
    this.plots = (result.curves ?? []).map((curve) => new CyclePlot(curve));
    byId("gait-plots").replaceChildren(...this.plots.map((plot) => plot.figure));
    const rows = result.rows ?? [];
    this.rowElements = rows.map((row) => createElement("tr", { class: "task" },
      createElement("td", {}, row.title), createElement("td", {}, row.measured.toFixed(1)), createElement("td", {}), createElement("td", {})));
    byId("gait-ranges").replaceChildren(...rows.flatMap((row, index) => [
      ...(row.side === rows[index - 1]?.side ? [] : [createElement("tr", { class: "level" }, createElement("td", { colspan: 4 }, row.side))]),
      this.rowElements[index],
    ]));
    byId("gait-empty").hidden = rows.length > 0;
    setText(byId("gait-empty"), result.title ? "This trial contains no complete gait cycle." : "Shown when a trial has been fitted.");
    setLines(byId("gait-notes"), result.notes ?? [], "none");
    this.showVerdict(result);
    if (!rows.length) setLines(byId("gait-summary"), []);
  }

  /** Show the verdict of the fit with the checks that did not pass: red if it is unusable. */
  showVerdict(result) {
    const shown = byId("gait-verdict");
    shown.hidden = !result.title || !result.verdict;
    shown.className = `gait-verdict ${result.verdict ?? ""}`;
    setLines(shown, [`fit: ${result.verdict}`, ...(result.checks ?? []).map((check) => check.message)]);
  }

  frame(frame) {
    if (!this.result) return;
    this.showVariant(frame.values?.variant);
    for (const plot of this.plots) plot.draw(this.variant, frame.cycle_share ?? null);
  }

  /** Select the reproduction to show; the page has the data of all variants. */
  showVariant(variant) {
    const rows = this.result.rows ?? [];
    if (!rows.length || variant === this.variant || !(variant in rows[0].variants)) return;
    this.variant = variant;
    rows.forEach((row, index) => {
      const [, , reproduced, difference] = this.rowElements[index].cells;
      const [range, excess] = row.variants[variant];
      setText(reproduced, range.toFixed(1));
      setText(difference, excess.toLocaleString("en", DEGREE_FORMAT).replace("-", "−"));
      difference.classList.toggle("highlighted", Math.abs(excess) > MARKED_DIFFERENCE);
    });
    setLines(byId("gait-summary"), this.result.summary[variant] ?? []);
  }
}
