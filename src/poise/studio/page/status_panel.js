// Left panel: status lines of the scene, table of the hierarchy, active limits and the explanation of the solver.

import { formatNumber, byId, createElement, setText, setLines } from "./dom.js";

export class StatusPanel {
  constructor() {
    this.body = byId("levels").tBodies[0];
    this.signature = "";
  }

  frame(frame) {
    setLines(byId("status-lines"), frame.status_lines);
    this.showLevels(frame.levels);
    setLines(byId("limits"), frame.limits, "none");
    setLines(byId("explanation"), frame.explanation, "nothing gives way");
  }

  showLevels(levels) {
    const signature = JSON.stringify(levels.map((level) => [level.name, level.tasks.map((task) => task.name)]));
    if (signature !== this.signature) {
      this.signature = signature;
      this.body.replaceChildren(...levels.flatMap((level) => [
        row("level", level.name),
        ...level.tasks.map((task) => row("task", task.name)),
      ]));
    }
    let index = 0;
    for (const level of levels) {
      const cells = this.body.rows[index++].cells;
      setQuantity(cells[2], level.slack, level.unit);
      setText(cells[3], String(level.saturated));
      cells[2].classList.toggle("highlighted", level.slack > 0);
      cells[3].classList.toggle("highlighted", level.saturated > 0);
      for (const task of level.tasks) setQuantity(this.body.rows[index++].cells[1], task.error, task.unit);
    }
  }
}

/** Create a table row; a long name may wrap after an underscore. */
function row(kind, name) {
  const cells = [name.replaceAll("_", "_\u200b"), "", "", ""].map((text) => createElement("td", {}, text));
  return createElement("tr", { class: kind }, ...cells);
}

function setQuantity(cell, value, unit) {
  if (cell.children.length === 0) cell.append(document.createTextNode(""), createElement("small", {}));
  const text = formatNumber(value);
  if (cell.firstChild.data !== text) cell.firstChild.data = text;
  setText(cell.lastChild, unit && text !== "0" && text !== "–" ? ` ${unit}` : "");
}
