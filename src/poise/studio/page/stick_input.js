// What all sticks, keys and pads ask for together, sent when it changes and every 200 ms while it is not zero.

const REPEAT_PERIOD = 200; // ms; the simulation lets go after 500 ms of silence
const RESOLUTION = 0.002; // a change too small to feel is not sent

/** Takes what each device asks for, [forward, left, turn] between -1 and 1; for each direction the strongest counts. */
export class StickInput {
  constructor(send) {
    this.send = send;
    this.devices = new Map();
    this.sent = [0, 0, 0];
    this.enabled = false;
    setInterval(() => this.sent.some((part) => part !== 0) && this.send("stick", this.sent), REPEAT_PERIOD);
    addEventListener("blur", () => this.release());
    addEventListener("pagehide", () => this.release());
    document.addEventListener("visibilitychange", () => document.hidden && this.release());
  }

  /** Whether the scene can be driven at all. */
  enable(enabled) {
    this.enabled = enabled;
    if (!enabled) this.release();
  }

  hold(device, values) {
    if (!this.enabled) return;
    this.devices.set(device, values);
    this.sendChanges();
  }

  /** Everything is let go: nobody looks any more. Who still holds something says so again. */
  release() {
    this.devices.clear();
    this.sendChanges();
    dispatchEvent(new Event("released"));
  }

  sendChanges() {
    const now = [0, 0, 0];
    for (const values of this.devices.values())
      values.forEach((value, axis) => {
        if (Math.abs(value) > Math.abs(now[axis])) now[axis] = Math.round(Math.max(-1, Math.min(1, value)) * 1000) / 1000;
      });
    const stopped = now.every((part) => part === 0) && this.sent.some((part) => part !== 0);
    const changed = now.some((part, axis) => Math.abs(part - this.sent[axis]) > RESOLUTION);
    if (!stopped && !changed) return;
    this.sent = now;
    this.send("stick", now);
  }
}
