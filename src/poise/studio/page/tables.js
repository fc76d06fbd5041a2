// The left side: what the scene says in words, the hierarchy as a table, which limits act and why.

import { brief, byId, make, write, writeLines } from "./dom.js";

const NOTHING = 1e-6; // slack below this is rounding

export class Tables {
  constructor() {
    this.body = byId("levels").tBodies[0];
    this.shape = "";
  }

  frame(frame) {
    writeLines(byId("words"), frame.words);
    this.levels(frame.levels);
    writeLines(byId("limits"), frame.limits, "none");
    writeLines(byId("explain"), frame.explain, "nothing gives way");
  }

  levels(levels) {
    const shape = JSON.stringify(levels.map((level) => [level.name, level.tasks.map((task) => task.name)]));
    if (shape !== this.shape) {
      this.shape = shape;
      this.body.replaceChildren(...levels.flatMap((level) => [
        row("level", level.name),
        ...level.tasks.map((task) => row("task", task.name)),
      ]));
    }
    let place = 0;
    for (const level of levels) {
      const cells = this.body.rows[place++].cells;
      measure(cells[2], level.slack, level.unit);
      write(cells[3], String(level.saturated));
      cells[2].classList.toggle("acts", Math.abs(level.slack ?? 0) > NOTHING);
      cells[3].classList.toggle("acts", level.saturated > 0);
      for (const task of level.tasks) measure(this.body.rows[place++].cells[1], task.error, task.unit);
    }
  }
}

/** Long names may break after an underscore. */
function row(kind, name) {
  const cells = [name.replaceAll("_", "_\u200b"), "", "", ""].map((text) => make("td", {}, text));
  return make("tr", { class: kind }, ...cells);
}

function measure(cell, value, unit) {
  if (cell.children.length === 0) cell.append(document.createTextNode(""), make("small", {}));
  const text = brief(value);
  if (cell.firstChild.data !== text) cell.firstChild.data = text;
  write(cell.lastChild, unit && text !== "0" && text !== "–" ? ` ${unit}` : "");
}
