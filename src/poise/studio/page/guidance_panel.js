// Panels of a guided scene: choice of the guided point, on-screen sticks for six axes, table of the last segments.

import { byId, createElement, setText, setLines } from "./dom.js";
import { screenStick } from "./screen_stick.js";

const FORWARD = 0, LEFT = 1, UP = 2, ROLL = 3, PITCH = 4, YAW = 5; // indices of the axes
const ECHO_TIME = 500; // ms after which no more frames from before the user's last change arrive

export class GuidancePanel {
  constructor(operatorInput, send) {
    Object.assign(this, { operatorInput, send, guidance: null, signature: "", segmentRows: "", lift: byId("guidance-lift"), liftedUntil: 0 });
    const connect = (name, axes) => screenStick(byId(`guidance-${name}`), (right, up) => operatorInput.setStick(name, axes(right, up)));
    this.showKnob = {
      move: connect("move", (right, up) => ({ [FORWARD]: up, [LEFT]: -right })),
      up: connect("up", (right, up) => ({ [UP]: up })),
      lean: connect("lean", (right) => ({ [ROLL]: right })),
      turn: connect("turn", (right, up) => ({ [PITCH]: up, [YAW]: -right })),
    };
    operatorInput.gamepadChanged = () => this.showLegend();
    this.lift.addEventListener("input", () => {
      this.liftedUntil = performance.now() + ECHO_TIME;
      send("control", ["lift", Number(this.lift.value)]);
    });
  }

  /** guidance: modes, keys and legends of a guided scene (Scene.guidance_info); empty for other scenes. */
  hello(guidance) {
    this.guidance = guidance?.modes ? guidance : null;
    for (const name of ["guidance-sticks", "guidance-bar", "guidance-panel", "segments-panel"]) byId(name).hidden = !this.guidance;
    this.operatorInput.enable(this.guidance);
    if (!this.guidance) return this.frame(null);
    const signature = JSON.stringify(guidance);
    if (signature === this.signature) return;
    this.signature = signature;
    byId("modes").replaceChildren(...guidance.modes.map(({ name, hint }) => createElement("button", {
      type: "button", title: hint, "aria-pressed": "false", "data-mode": name,
      onclick: () => this.send("control", ["mode", name]),
    }, name)));
    this.showLegend();
  }

  frame(status) {
    const notes = byId("guidance-notes");
    notes.hidden = !status?.notes.length;
    if (!this.guidance || !status) return;
    for (const button of byId("modes").children) button.setAttribute("aria-pressed", button.dataset.mode === status.mode);
    setText(byId("mode-hint"), this.guidance.modes.find((mode) => mode.name === status.mode)?.hint ?? "");
    setLines(notes, status.notes);
    const axes = status.axes;
    this.showKnob.move(-axes[LEFT], axes[FORWARD]);
    this.showKnob.up(0, axes[UP]);
    this.showKnob.lean(axes[ROLL], 0);
    this.showKnob.turn(-axes[YAW], axes[PITCH]);
    if (performance.now() > this.liftedUntil) this.lift.value = status.lift;
    byId("legend-target").hidden = !status.has_target;
    this.showSegments(status.segments);
  }

  /** Show the name of the active device and its legend. */
  showLegend() {
    if (!this.guidance) return;
    const gamepad = this.operatorInput.held.gamepad;
    setText(byId("guidance-device"), !gamepad ? "Keyboard" : `${gamepad.standard ? "Gamepad" : "Flight stick"}: ${gamepad.name}`);
    const rows = this.guidance[!gamepad ? "keyboard" : gamepad.standard ? "gamepad" : "flight_stick"];
    const list = byId("guidance-legend");
    if (list.dataset.shown === String(rows)) return;
    list.dataset.shown = String(rows);
    list.replaceChildren(...rows.flatMap(([use, does]) => [createElement("dt", {}, use), createElement("dd", {}, does)]));
  }

  showSegments(rows) {
    const segmentRows = JSON.stringify(rows);
    if (segmentRows === this.segmentRows) return;
    this.segmentRows = segmentRows;
    byId("segments-empty").hidden = rows.length > 0;
    byId("segments").replaceChildren(...rows.flatMap((row) => [
      createElement("tr", { class: "level" }, createElement("td", {}, row.mode), createElement("td", {}, `${row.time.toFixed(1)} s`),
        createElement("td", {}, `${row.seconds.toFixed(2)} s`), createElement("td", { class: row.outcome.replaceAll(" ", "-") }, row.outcome)),
      ...row.notes.map((note) => createElement("tr", { class: "task" }, createElement("td", { colspan: 4 }, note))),
    ]));
  }
}
