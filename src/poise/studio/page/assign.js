// "Move to assign": which axis of an unknown device walks, steps aside and turns.

import { byId, write } from "./dom.js";

const MEANT = 0.5, BACK = 0.25; // deflection that counts as moved, and as let go
const HOLD = 300; // ms that an axis must be held: a stick that is let go swings over
const STEPS = [
  "Push the stick that should walk forward: fully forward, and hold it.",
  "Push the stick that should step aside: fully left, and hold it.",
  "Move the stick that should turn: fully to the left, and hold it.",
];

export class Assigning {
  constructor() {
    this.dialog = byId("assigning");
    byId("assigning-cancel").addEventListener("click", () => this.dialog.close());
    byId("assigning-skip").addEventListener("click", () => this.next(null));
  }

  /** Asks for three axes; done hears a list of three {axis, sign, rest}, with null for one that was skipped. */
  open(pad, done, rest = [...pad.axes]) {
    Object.assign(this, { id: pad.id, done, rest, axes: [], since: 0, held: -1, letGo: false });
    write(byId("assigning-name"), pad.id);
    if (!this.dialog.open) this.dialog.showModal();
    this.tell();
  }

  /** Looks at the device; true while the dialog is open, and the device drives nothing. */
  poll(pad) {
    if (!this.dialog.open) return false;
    if (pad.id !== this.id) return true;
    const moved = pad.axes.map((value, axis) => value - this.rest[axis]);
    const axis = moved.reduce((best, value, place) => (Math.abs(value) > Math.abs(moved[best]) ? place : best), 0);
    const size = Math.abs(moved[axis]);
    const now = performance.now();
    if (this.letGo) {
      if (size < BACK) {
        this.letGo = false;
        this.proceed();
      }
    } else if (size < MEANT || this.axes.some((known) => known?.axis === axis)) this.held = -1;
    else if (axis !== this.held) Object.assign(this, { held: axis, since: now });
    else if (now - this.since > HOLD) this.next({ axis, sign: Math.sign(moved[axis]), rest: this.rest[axis] });
    return true;
  }

  next(axis) {
    this.axes.push(axis);
    this.held = -1;
    this.letGo = axis !== null;
    this.proceed();
  }

  /** Also the last axis must be let go first: what is held now was not meant to drive. */
  proceed() {
    if (this.letGo || this.axes.length < STEPS.length) return this.tell();
    this.dialog.close();
    if (this.axes.some(Boolean)) this.done(this.axes);
  }

  tell() {
    byId("assigning-progress").value = this.axes.length;
    write(byId("assigning-step"), this.letGo ? "Good. Let it go." : STEPS[this.axes.length]);
  }
}
