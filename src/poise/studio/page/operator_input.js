// Raw input of the user in a guided scene: keys, gamepad and on-screen sticks. The server interprets it
// (poise.studio.operator_input). It is sent when it changes, and every 200 ms while anything is held.

const REPEAT_PERIOD = 200; // ms; the simulation releases all inputs after 500 ms without a message
const STICK_DEAD_ZONE = 0.12, TRIGGER_DEAD_ZONE = 0.05; // values of released sticks and triggers that are not exactly zero
const STICK_AXES = 5; // stick axes of a non-standard device; axes after these are levers, which stay where they are left
const AXES = 6; // forward, left, up, roll, pitch, yaw

const NOTHING_HELD = { keys: [], gamepad: null };

export class OperatorInput {
  gamepadChanged = () => {}; // callback: a gamepad was connected, changed or disconnected

  constructor(send) {
    Object.assign(this, { send, enabled: false, keyCodes: new Set(), held: { ...NOTHING_HELD }, sticks: new Map() });
    this.sent = this.message();
    setInterval(() => this.enabled && !isIdle(this.sent) && this.send("operator_input", this.sent), REPEAT_PERIOD);
    for (const kind of ["blur", "pagehide"]) addEventListener(kind, () => this.release());
    document.addEventListener("visibilitychange", () => document.hidden && this.release());
  }

  /** guidance: Scene.guidance_info of a guided scene, with the keys in use; null: the scene is not guided. */
  enable(guidance) {
    if (this.enabled && !guidance) this.release();
    this.enabled = Boolean(guidance);
    this.keyCodes = new Set(guidance?.keys ?? []);
  }

  /** Update held inputs: {keys} or {gamepad}. */
  hold(changes) {
    if (!this.enabled) return;
    const before = this.held.gamepad?.name;
    Object.assign(this.held, changes);
    if (this.held.gamepad?.name !== before) this.gamepadChanged();
    this.sendChanges();
  }

  /** Set the axes of an on-screen stick: {axis: value}, some of the six axes. */
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

  /** Send the state if it changed; idle after idle is not sent, unless a gamepad was connected or disconnected. */
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
