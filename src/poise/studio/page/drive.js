// What all sticks, keys and pads ask for together, sent when it changes and every 200 ms while it is not zero.

const AGAIN = 200; // ms; the simulation lets go after 500 ms of silence
const FINE = 0.002; // a change too small to feel is not sent

/** Takes what each device asks for, [forward, left, turn] between -1 and 1; for each direction the strongest counts. */
export class Drive {
  constructor(send) {
    this.send = send;
    this.devices = new Map();
    this.sent = [0, 0, 0];
    this.enabled = false;
    setInterval(() => this.sent.some((part) => part !== 0) && this.send("stick", this.sent), AGAIN);
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
    this.tell();
  }

  /** Everything is let go: nobody looks any more. Who still holds something says so again. */
  release() {
    this.devices.clear();
    this.tell();
    dispatchEvent(new Event("released"));
  }

  tell() {
    const now = [0, 0, 0];
    for (const values of this.devices.values())
      values.forEach((value, place) => {
        if (Math.abs(value) > Math.abs(now[place])) now[place] = Math.round(Math.max(-1, Math.min(1, value)) * 1000) / 1000;
      });
    const stopped = now.every((part) => part === 0) && this.sent.some((part) => part !== 0);
    const changed = now.some((part, place) => Math.abs(part - this.sent[place]) > FINE);
    if (!stopped && !changed) return;
    this.sent = now;
    this.send("stick", now);
  }
}
