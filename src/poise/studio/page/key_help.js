// Dialog with all keys of the scene, opened with the question mark or the button in the toolbar.

import { byId, createElement } from "./dom.js";

const WALK_ROWS = [
  ["W S, ↑ ↓", "walk forward, back"],
  ["A D", "walk left, right"],
  ["Q E, ← →", "turn left, right"],
];
const FIELD_ROW = ["Enter, Esc", "leave a number field; then keys drive the robot again"];
const PAGE_ROWS = [
  ["Ctrl Z", "undo the last change of a control"],
  ["Tab, then ← →", "move a slider, a choice or a tab"],
  ["?", "this help"],
];
const VIEW_ROWS = [
  ["drag", "turn the view; with two fingers or the right button: shift it"],
  ["wheel, pinch", "zoom"],
];

export class KeyHelp {
  constructor() {
    this.dialog = byId("key-help");
    this.hello({});
    byId("show-keys").addEventListener("click", () => this.open());
    byId("key-help-close").addEventListener("click", () => this.dialog.close());
  }

  /** stick_driven, guidance: of the scene; see Toolbar.hello. */
  hello({ stick_driven: stickDriven, guidance }) {
    const own = guidance?.keyboard ?? (stickDriven ? WALK_ROWS : []);
    const sections = [["Robot", own], ["Page", own.length ? [FIELD_ROW, ...PAGE_ROWS] : PAGE_ROWS], ["3D view", VIEW_ROWS]].filter(([, rows]) => rows.length);
    byId("key-help-rows").replaceChildren(...sections.flatMap(([title, rows]) => [
      createElement("h3", {}, title),
      createElement("dl", {}, ...rows.flatMap(([keys, does]) => [createElement("dt", {}, keys), createElement("dd", {}, does)])),
    ]));
  }

  open() {
    if (!this.dialog.open) this.dialog.showModal();
  }
}
