// Keyboard input: W A S D and arrows walk, Q E turn; in a guided scene, the keys that the scene declares. Events are
// captured before viser's client, which would move its camera.

const KEY_DIRECTIONS = {
  KeyW: [1, 0, 0], KeyS: [-1, 0, 0], KeyA: [0, 1, 0], KeyD: [0, -1, 0], KeyQ: [0, 0, 1], KeyE: [0, 0, -1],
  ArrowUp: [1, 0, 0], ArrowDown: [-1, 0, 0], ArrowLeft: [0, 0, 1], ArrowRight: [0, 0, -1],
};
// Elements that use keys themselves; arrow keys also move along tabs and scroll panels.
const TEXT_FIELDS = "input, select, textarea, dialog, [contenteditable]";
const ARROW_TARGETS = '[role="tab"], .panel';

export class Keyboard {
  constructor(stickInput, operatorInput) {
    Object.assign(this, { stickInput, operatorInput });
    this.held = new Set();
    addEventListener("released", () => this.held.clear());
    this.listen(window);
  }

  /** Listen to the keys of a window: that of the page, and that of the frame of the 3D view. */
  listen(target) {
    for (const kind of ["keydown", "keyup"])
      target.addEventListener(kind, (event) => this.handleKey(event), { capture: true });
  }

  handleKey(event) {
    const isGuidance = this.operatorInput.keyCodes.has(event.code);
    if (!isGuidance && (!this.stickInput.enabled || !(event.code in KEY_DIRECTIONS))) return;
    const isHeld = this.held.has(event.code);
    if (event.type === "keydown" && (event.ctrlKey || event.altKey || event.metaKey || usesKey(event))) return;
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
}

function usesKey(event) {
  const target = event.target;
  if (!target?.closest) return false;
  return Boolean(target.closest(TEXT_FIELDS)) || (event.code.startsWith("Arrow") && target.matches(ARROW_TARGETS));
}
