// Dialog that assigns the axes of an unknown device to walking forward, walking sideways and turning.

import { byId, setText } from "./dom.js";

const DELIBERATE = 0.5, RELEASED = 0.25; // deflection that counts as moved, and as released
const HOLD_TIME = 300; // ms that an axis must be held, since a released stick overshoots
const STEPS = [
  "Push the stick that should walk forward: fully forward, and hold it.",
  "Push the stick that should walk sideways: fully left, and hold it.",
  "Move the stick that should turn: fully to the left, and hold it.",
];

export class AxisDialog {
  constructor() {
    this.dialog = byId("axis-dialog");
    byId("axis-dialog-cancel").addEventListener("click", () => this.dialog.close());
    byId("axis-dialog-skip").addEventListener("click", () => this.assignAxis(null));
  }

  /** Ask for three axes; onDone is called with a list of three {axis, sign, rest}, null for an axis that was skipped. */
  open(pad, onDone, rest = [...pad.axes]) {
    Object.assign(this, { id: pad.id, onDone, rest, axes: [], since: 0, held: -1, waitForRelease: false });
    setText(byId("axis-dialog-device"), pad.id);
    if (!this.dialog.open) this.dialog.showModal();
    this.showStep();
  }

  /** Read the device; return whether the dialog is open, during which the device does not drive the robot. */
  poll(pad) {
    if (!this.dialog.open) return false;
    if (pad.id !== this.id) return true;
    const deflections = pad.axes.map((value, axis) => value - this.rest[axis]);
    const axis = deflections.reduce((best, value, index) => (Math.abs(value) > Math.abs(deflections[best]) ? index : best), 0);
    const magnitude = Math.abs(deflections[axis]);
    const now = performance.now();
    if (this.waitForRelease) {
      if (magnitude < RELEASED) {
        this.waitForRelease = false;
        this.proceed();
      }
    } else if (magnitude < DELIBERATE || this.axes.some((assigned) => assigned?.axis === axis)) this.held = -1;
    else if (axis !== this.held) Object.assign(this, { held: axis, since: now });
    else if (now - this.since > HOLD_TIME) this.assignAxis({ axis, sign: Math.sign(deflections[axis]), rest: this.rest[axis] });
    return true;
  }

  assignAxis(axis) {
    this.axes.push(axis);
    this.held = -1;
    this.waitForRelease = axis !== null;
    this.proceed();
  }

  /** Go to the next step, or close the dialog, after the axis is released: it must not drive the robot at once. */
  proceed() {
    if (this.waitForRelease || this.axes.length < STEPS.length) return this.showStep();
    this.dialog.close();
    if (this.axes.some(Boolean)) this.onDone(this.axes);
  }

  showStep() {
    byId("axis-dialog-progress").value = this.axes.length;
    setText(byId("axis-dialog-step"), this.waitForRelease ? "Good. Let it go." : STEPS[this.axes.length]);
  }
}
