// What a person at this page holds, as it is: keys, a pad, sticks on the screen. What it means is known elsewhere. Sent
// when it changes, and every 200 ms while anything is held.

const REPEAT_PERIOD = 200; // ms; the simulation lets go after 500 ms of silence
const STICK_DEAD_ZONE = 0.12, TRIGGER_DEAD_ZONE = 0.05; // of a stick that is let go but does not quite come back, and of a trigger
const STICK_AXES = 5; // axes of a device that is no standard pad; those after them are levers, which stay where they are
const AXES = 6; // forward, left, up, roll, pitch, yaw

const NOTHING_HELD = { keys: [], gamepad: null };

export class OperatorInput {
  gamepadChanged = () => {}; // who wants to know that another pad is there, or none any more

  constructor(send) {
    Object.assign(this, { send, enabled: false, keyCodes: new Set(), held: { ...NOTHING_HELD }, sticks: new Map() });
    this.sent = this.message();
    setInterval(() => this.enabled && !isIdle(this.sent) && this.send("operator_input", this.sent), REPEAT_PERIOD);
    for (const kind of ["blur", "pagehide"]) addEventListener(kind, () => this.release());
    document.addEventListener("visibilitychange", () => document.hidden && this.release());
  }

  /** guidance: what the scene says of itself, with the keys that count; null: it is not guided. */
  enable(guidance) {
    if (this.enabled && !guidance) this.release();
    this.enabled = Boolean(guidance);
    this.keyCodes = new Set(guidance?.keys ?? []);
  }

  /** Keys or the pad, whichever is named, are held so. */
  hold(changes) {
    if (!this.enabled) return;
    const before = this.held.gamepad?.name;
    Object.assign(this.held, changes);
    if (this.held.gamepad?.name !== before) this.gamepadChanged();
    this.sendChanges();
  }

  /** A stick on the screen asks for some of the six axes: {axis: value}. */
  setStick(name, axes) {
    if (!this.enabled) return;
    this.sticks.set(name, axes);
    this.sendChanges();
  }

  release() {
    Object.assign(this.held, NOTHING_HELD);
    this.sticks.clear();
    if (this.enabled) this.sendChanges();
    dispatchEvent(new Event("released"));
  }

  message() {
    const axes = Array(AXES).fill(0);
    for (const stick of this.sticks.values())
      for (const [axis, value] of Object.entries(stick)) axes[axis] = Math.round(value * 100) / 100;
    const { keys, gamepad } = this.held;
    return { keys: [...keys].sort(), gamepad: gamepad && { standard: gamepad.standard, axes: gamepad.axes, buttons: gamepad.buttons }, axes };
  }

  /** What rests and rested before is not worth a word, unless a pad came or went. */
  sendChanges() {
    const now = this.message(), before = this.sent;
    if (JSON.stringify(now) === JSON.stringify(before)) return;
    if (isIdle(now) && isIdle(before) && (now.gamepad === null) === (before.gamepad === null)) return;
    this.sent = now;
    this.send("operator_input", now);
  }
}

function isIdle({ keys, gamepad, axes }) {
  if (keys.length || axes.some((value) => value !== 0)) return false;
  if (!gamepad) return true;
  const sticks = gamepad.standard ? gamepad.axes : gamepad.axes.slice(0, STICK_AXES);
  return sticks.every((value) => Math.abs(value) <= STICK_DEAD_ZONE) && gamepad.buttons.every((value) => value <= TRIGGER_DEAD_ZONE);
}
