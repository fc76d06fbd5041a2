// Keys that drive: W A S D walk, Q E turn, and the arrows; or, in a guided scene, whichever keys that scene names. They
// are taken before viser's client moves its camera by them.

const KEYS = {
  KeyW: [1, 0, 0], KeyS: [-1, 0, 0], KeyA: [0, 1, 0], KeyD: [0, -1, 0], KeyQ: [0, 0, 1], KeyE: [0, 0, -1],
  ArrowUp: [1, 0, 0], ArrowDown: [-1, 0, 0], ArrowLeft: [0, 0, 1], ArrowRight: [0, 0, -1],
};
// Where a key already means something else; arrows also move along tabs and through panels.
const WRITING = "input, select, textarea, dialog, [contenteditable]";
const MOVING = '[role="tab"], .panel';

export class Keys {
  constructor(drive, hands) {
    Object.assign(this, { drive, hands });
    this.held = new Set();
    addEventListener("released", () => this.held.clear());
    this.listen(window);
  }

  /** Hears the keys of a window: of the page itself, and of the frame in it. */
  listen(target) {
    for (const kind of ["keydown", "keyup"])
      target.addEventListener(kind, (event) => this.hear(event), { capture: true });
  }

  hear(event) {
    const guides = this.hands.codes.has(event.code);
    if (!guides && (!this.drive.enabled || !(event.code in KEYS))) return;
    const known = this.held.has(event.code);
    if (event.type === "keydown" && (event.ctrlKey || event.altKey || event.metaKey || busy(event))) return;
    if (event.type === "keyup" && !known) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.type === "keydown") this.held.add(event.code);
    else this.held.delete(event.code);
    if (guides) return this.hands.hold({ keys: [...this.held] });
    const sum = [0, 0, 0];
    for (const code of this.held) KEYS[code].forEach((part, place) => (sum[place] += part));
    this.drive.hold("keys", sum);
  }
}

function busy(event) {
  const target = event.target;
  if (!target?.closest) return false;
  return Boolean(target.closest(WRITING)) || (event.code.startsWith("Arrow") && target.matches(MOVING));
}
