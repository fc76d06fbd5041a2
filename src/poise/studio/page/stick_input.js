// Combined command of sticks, keys and gamepads, sent when it changes, and every 200 ms while it is not zero.

const REPEAT_PERIOD = 200; // ms; the simulation releases the stick after 500 ms without a message
const RESOLUTION = 0.002; // smaller changes are not sent

/** Combines the commands of devices, [forward, left, turn] between -1 and 1; on each axis the largest magnitude is used. */
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

  /** Set whether the scene can be driven with a stick. */
  enable(enabled) {
    this.enabled = enabled;
    if (!enabled) this.release();
  }

  hold(device, values) {
    if (!this.enabled) return;
    this.devices.set(device, values);
    this.sendChanges();
  }

  /** Release all devices, as the page lost the focus; a device that is still held reports again. */
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
