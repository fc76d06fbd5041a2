// Left panel: status lines of the scene, table of the hierarchy, active limits and the explanation of the solver.

import { formatNumber, byId, createElement, setText, setLines } from "./dom.js";

/** Levels that every hierarchy has above those of its tasks. */
const LEVEL_TITLES = {
  physics: "Equations of motion, limits of torques and contact forces",
  always: "Constraints above all levels, such as ranges of joints and collisions",
};

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

  /** Empty the panel while a scene is being loaded: what it shows belongs to the scene before. */
  clear() {
    for (const name of ["status-lines", "limits", "explanation"]) setLines(byId(name), []);
    this.showLevels([]);
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

/** Create a table row. */
function row(kind, name) {
  const cells = [name.replaceAll("_", " "), "", "", ""].map((text) => createElement("td", {}, text));
  return createElement("tr", { class: kind, title: kind === "level" && LEVEL_TITLES[name] }, ...cells);
}

function setQuantity(cell, value, unit) {
  if (cell.children.length === 0) cell.append(document.createTextNode(""), createElement("small", {}));
  const text = formatNumber(value);
  if (cell.firstChild.data !== text) cell.firstChild.data = text;
  const isZero = text === "0" || text === "–";
  const isMixed = unit?.includes(","); // rows of several units: as long as a line, so only in the tooltip
  setText(cell.lastChild, unit && !isZero && !isMixed ? ` ${unit}` : "");
  cell.title = isMixed && !isZero ? `over rows in ${unit}` : "";
}
