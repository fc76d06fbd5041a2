// What a person at this page holds, as it is: keys, a pad, sticks on the screen. What it means is known elsewhere. Sent
// when it changes, and every 200 ms while anything is held.

const AGAIN = 200; // ms; the simulation lets go after 500 ms of silence
const RESTING = 0.12, TOUCHED = 0.05; // of a stick that is let go but does not quite come back, and of a trigger
const STICKS = 5; // axes of a device that is no standard pad; those after them are levers, which stay where they are
const AXES = 6; // forward, left, up, roll, pitch, yaw

const NOTHING = { keys: [], pad: null };

export class Hands {
  plugged = () => {}; // who wants to know that another pad is there, or none any more

  constructor(send) {
    Object.assign(this, { send, enabled: false, codes: new Set(), held: { ...NOTHING }, sticks: new Map() });
    this.sent = this.told();
    setInterval(() => this.enabled && !rests(this.sent) && this.send("hands", this.sent), AGAIN);
    for (const kind of ["blur", "pagehide"]) addEventListener(kind, () => this.release());
    document.addEventListener("visibilitychange", () => document.hidden && this.release());
  }

  /** guided: what the scene says of itself, with the keys that count; null: it is not guided. */
  enable(guided) {
    if (this.enabled && !guided) this.release();
    this.enabled = Boolean(guided);
    this.codes = new Set(guided?.keys ?? []);
  }

  /** Keys or the pad, whichever is named, are held so. */
  hold(part) {
    if (!this.enabled) return;
    const before = this.held.pad?.name;
    Object.assign(this.held, part);
    if (this.held.pad?.name !== before) this.plugged();
    this.tell();
  }

  /** A stick on the screen asks for some of the six axes: {place: value}. */
  push(name, axes) {
    if (!this.enabled) return;
    this.sticks.set(name, axes);
    this.tell();
  }

  release() {
    Object.assign(this.held, NOTHING);
    this.sticks.clear();
    if (this.enabled) this.tell();
    dispatchEvent(new Event("released"));
  }

  told() {
    const axes = Array(AXES).fill(0);
    for (const stick of this.sticks.values())
      for (const [place, value] of Object.entries(stick)) axes[place] = Math.round(value * 100) / 100;
    const { keys, pad } = this.held;
    return { keys: [...keys].sort(), pad: pad && { standard: pad.standard, axes: pad.axes, buttons: pad.buttons }, axes };
  }

  /** What rests and rested before is not worth a word, unless a pad came or went. */
  tell() {
    const now = this.told(), before = this.sent;
    if (JSON.stringify(now) === JSON.stringify(before)) return;
    if (rests(now) && rests(before) && (now.pad === null) === (before.pad === null)) return;
    this.sent = now;
    this.send("hands", now);
  }
}

function rests({ keys, pad, axes }) {
  if (keys.length || axes.some((value) => value !== 0)) return false;
  if (!pad) return true;
  const sticks = pad.standard ? pad.axes : pad.axes.slice(0, STICKS);
  return sticks.every((value) => Math.abs(value) <= RESTING) && pad.buttons.every((value) => value <= TOUCHED);
}
