// A guided scene: which point is guided, six axes on the screen, what became of the last commands.

import { byId, make, write, writeLines } from "./dom.js";
import { stick } from "./sticks.js";

const FORWARD = 0, LEFT = 1, UP = 2, ROLL = 3, PITCH = 4, YAW = 5; // places of the axes
const ECHO = 500; // ms until frames that were made before the user's last move have passed

export class Guide {
  constructor(hands, send) {
    Object.assign(this, { hands, send, guided: null, modes: "", rows: "", lifted: 0 });
    const put = (name, hold) => stick(byId(`guide-${name}`), (right, up) => hands.push(name, hold(right, up)));
    this.show = {
      move: put("move", (right, up) => ({ [FORWARD]: up, [LEFT]: -right })),
      up: put("up", (right, up) => ({ [UP]: up })),
      lean: put("lean", (right) => ({ [ROLL]: right })),
      turn: put("turn", (right, up) => ({ [PITCH]: up, [YAW]: -right })),
    };
    hands.plugged = () => this.help();
    this.lift = byId("guide-lift");
    this.lift.addEventListener("input", () => {
      this.lifted = performance.now() + ECHO;
      send("control", ["lift", Number(this.lift.value)]);
    });
  }

  /** guided: what the scene says of itself; empty for all others. */
  hello(guided) {
    this.guided = guided?.modes ? guided : null;
    for (const name of ["guide", "guide-bar", "guide-panel", "segments-panel"]) byId(name).hidden = !this.guided;
    this.hands.enable(this.guided);
    if (!this.guided) return this.frame(null);
    const shape = JSON.stringify(guided);
    if (shape === this.modes) return;
    this.modes = shape;
    byId("modes").replaceChildren(...guided.modes.map(({ name, hint }) => make("button", {
      type: "button", title: hint, "aria-pressed": "false", "data-mode": name,
      onclick: () => this.send("control", ["mode", name]),
    }, name)));
    this.help();
  }

  frame(guide) {
    const notes = byId("guide-notes");
    notes.hidden = !guide?.notes.length;
    if (!this.guided || !guide) return;
    for (const button of byId("modes").children) button.setAttribute("aria-pressed", button.dataset.mode === guide.mode);
    write(byId("mode-hint"), this.guided.modes.find((mode) => mode.name === guide.mode)?.hint ?? "");
    writeLines(notes, guide.notes);
    const axes = guide.axes;
    this.show.move(-axes[LEFT], axes[FORWARD]);
    this.show.up(0, axes[UP]);
    this.show.lean(axes[ROLL], 0);
    this.show.turn(-axes[YAW], axes[PITCH]);
    if (performance.now() > this.lifted) this.lift.value = guide.lift;
    byId("key-place").hidden = !guide.place;
    this.segments(guide.segments);
  }

  /** Which device is heard, and what its parts do. */
  help() {
    if (!this.guided) return;
    const pad = this.hands.held.pad;
    write(byId("guide-device"), !pad ? "Keyboard" : `${pad.standard ? "Gamepad" : "Flight stick"}: ${pad.name}`);
    const rows = this.guided[!pad ? "keyboard" : pad.standard ? "gamepad" : "flight_stick"];
    const list = byId("guide-help");
    if (list.dataset.shown === String(rows)) return;
    list.dataset.shown = String(rows);
    list.replaceChildren(...rows.flatMap(([use, does]) => [make("dt", {}, use), make("dd", {}, does)]));
  }

  segments(rows) {
    const shape = JSON.stringify(rows);
    if (shape === this.rows) return;
    this.rows = shape;
    byId("segments-none").hidden = rows.length > 0;
    byId("segments").replaceChildren(...rows.flatMap((row) => [
      make("tr", { class: "level" }, make("td", {}, row.mode), make("td", {}, `${row.time.toFixed(1)} s`),
        make("td", {}, `${row.seconds.toFixed(2)} s`), make("td", { class: row.outcome }, row.outcome)),
      ...row.notes.map((note) => make("tr", { class: "task" }, make("td", { colspan: 4 }, note))),
    ]));
  }
}
