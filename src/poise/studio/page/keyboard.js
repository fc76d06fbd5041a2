// Keyboard input: W A S D and arrows walk, Q E turn; in a guided scene, the keys that the scene declares. Shortcuts of the
// page: Ctrl+Z and ?. Events are captured before viser's client, which would move its camera.

const KEY_DIRECTIONS = {
  KeyW: [1, 0, 0], KeyS: [-1, 0, 0], KeyA: [0, 1, 0], KeyD: [0, -1, 0], KeyQ: [0, 0, 1], KeyE: [0, 0, -1],
  ArrowUp: [1, 0, 0], ArrowDown: [-1, 0, 0], ArrowLeft: [0, 0, 1], ArrowRight: [0, 0, -1],
};
// Only fields for text and numbers, and dialogs, hold the keyboard. Arrow keys move sliders, choices, tabs and panels that were
// reached with the Tab key; one that was clicked or dragged leaves them to the robot.
const NOT_TEXT = ["range", "checkbox", "radio", "file", "button", "submit", "reset", "color", "image"];
const TEXT_FIELDS = `input${NOT_TEXT.map((type) => `:not([type="${type}"])`).join("")}, textarea, dialog[open], [contenteditable]`;
const ARROW_TARGETS = '[role="tab"], .panel, select, input[type="range"]';

export class Keyboard {
  /** shortcuts: {undo(), help()}, functions for Ctrl+Z and for the question mark. */
  constructor(stickInput, operatorInput, shortcuts) {
    Object.assign(this, { stickInput, operatorInput, shortcuts, byPointer: false, focusedByPointer: false });
    this.held = new Set();
    addEventListener("released", () => this.held.clear());
    this.listen(window);
  }

  /** Listen to the keys of a window: that of the page, and that of the frame of the 3D view. */
  listen(target) {
    const on = (kind, listener) => target.addEventListener(kind, listener, { capture: true });
    on("keydown", (event) => this.handleKey(event));
    on("keyup", (event) => this.handleKey(event));
    on("pointerdown", (event) => (this.byPointer = this.focusedByPointer = true));
    on("focusin", () => (this.focusedByPointer = this.byPointer));
  }

  handleKey(event) {
    if (event.type === "keydown" && this.handleShortcut(event)) return;
    const isGuidance = this.operatorInput.keyCodes.has(event.code);
    if (!isGuidance && (!this.stickInput.enabled || !(event.code in KEY_DIRECTIONS))) return;
    const isHeld = this.held.has(event.code);
    if (event.type === "keydown" && (event.ctrlKey || event.altKey || event.metaKey || this.usesKey(event))) return;
    if (event.type === "keyup" && !isHeld) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.type === "keydown") this.held.add(event.code);
    else this.held.delete(event.code);
    if (isGuidance) return this.operatorInput.hold({ keys: [...this.held] });
    const sum = [0, 0, 0];
    for (const code of this.held) KEY_DIRECTIONS[code].forEach((part, axis) => (sum[axis] += part));
    this.stickInput.hold("keys", sum);
  }

  /** Handle keys of the page itself; return whether the event was one of them. */
  handleShortcut(event) {
    if (event.key === "Tab") this.byPointer = false;
    const field = event.target?.closest?.(TEXT_FIELDS);
    if (field) {
      const leaves = event.key === "Escape" || (event.key === "Enter" && field.tagName === "INPUT");
      if (leaves && !field.matches("dialog")) field.blur(); // stores the value, and returns the keys to the robot
      return false;
    }
    const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "z";
    if (!isUndo && (event.key !== "?" || event.ctrlKey || event.metaKey)) return false;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (isUndo) this.shortcuts.undo();
    else this.shortcuts.help();
    return true;
  }

  usesKey(event) {
    const target = event.target;
    if (!target?.closest) return false;
    if (target.closest(TEXT_FIELDS)) return true;
    return event.code.startsWith("Arrow") && !this.focusedByPointer && target.matches(ARROW_TARGETS);
  }
}
