// Gamepads and flight sticks. A device with the standard layout works at once; for others the user assigns the axes once.

import { setText } from "./dom.js";

const POLL_PERIOD = 20; // ms; a timer, since it also runs while the screen is redrawn only four times a second
const DEAD_ZONE = 0.12; // deflection of a released stick that does not return fully to its center
const MAX_INPUTS = 64; // largest number of axes and buttons that are sent
const DELIBERATE = 0.5; // deflection that is certainly intended

/** Standard layout: left stick walks, right stick turns. In browsers right and down are positive. */
const STANDARD = [
  { axis: 1, sign: -1, rest: 0 },
  { axis: 0, sign: -1, rest: 0 },
  { axis: 2, sign: -1, rest: 0 },
];

/** Remove the dead zone d and scale the rest to -1 to 1: (|x| - d) / (1 - d). */
export function applyDeadZone(value) {
  const magnitude = Math.min(1, Math.abs(value));
  return magnitude <= DEAD_ZONE ? 0 : (Math.sign(value) * (magnitude - DEAD_ZONE)) / (1 - DEAD_ZONE);
}

const storageKey = (id) => `poise.pad.${id}`;

export function axisAssignment(pad) {
  if (pad.mapping === "standard") return STANDARD;
  try {
    const stored = JSON.parse(localStorage.getItem(storageKey(pad.id)));
    return Array.isArray(stored) && stored.length === 3 ? stored : null;
  } catch {
    return null; // nothing stored, or storage not available: the user is asked
  }
}

export function storeAssignment(id, axes) {
  try {
    localStorage.setItem(storageKey(id), JSON.stringify(axes));
  } catch {
    // without storage the assignment is valid until the page is closed
  }
}

export class Gamepads {
  /** operatorInput: receives raw gamepad states; display: {text, button}; dialog: AxisDialog for an unknown device. */
  constructor(stickInput, operatorInput, display, dialog) {
    Object.assign(this, { stickInput, operatorInput, display, dialog });
    this.restAxes = new Map(); // axes of unknown devices when they were first seen, by id
    this.offered = new Set();
    display.button.addEventListener("click", () => this.pad && dialog.open(this.pad, (axes) => this.assign(axes)));
    setInterval(() => this.poll(), POLL_PERIOD);
  }

  assign(axes) {
    this.assigned = { id: this.pad.id, axes };
    storeAssignment(this.pad.id, axes);
  }

  poll() {
    const pads = [...(navigator.getGamepads?.() ?? [])].filter((pad) => pad?.connected && pad.axes.length > 1);
    const pad = (this.pad = pads.find((pad) => axisAssignment(pad)) ?? pads[0]);
    if (this.operatorInput.enabled) return this.operatorInput.hold({ gamepad: pad && document.hasFocus() ? readGamepad(pad) : null });
    const axes = pad && (this.assigned?.id === pad.id ? this.assigned.axes : axisAssignment(pad));
    this.showName(pad, axes);
    if (!pad) return this.stickInput.devices.has("gamepad") && this.stickInput.hold("gamepad", [0, 0, 0]);
    if (this.dialog.poll(pad)) return this.stickInput.hold("gamepad", [0, 0, 0]);
    if (axes && document.hasFocus()) this.stickInput.hold("gamepad", axes.map((assigned) => deflection(pad, assigned)));
    else if (!axes) this.offerDialog(pad);
  }

  /** Open the dialog, once, when an unknown device is moved. */
  offerDialog(pad) {
    const rest = this.restAxes.get(pad.id) ?? [...pad.axes];
    this.restAxes.set(pad.id, rest);
    if (!this.stickInput.enabled || this.offered.has(pad.id)) return;
    if (!pad.axes.some((value, axis) => Math.abs(value - rest[axis]) > DELIBERATE)) return;
    this.offered.add(pad.id);
    this.dialog.open(pad, (axes) => this.assign(axes), rest);
  }

  showName(pad, axes) {
    this.display.button.hidden = !pad || pad.mapping === "standard";
    const name = pad && shortName(pad);
    setText(this.display.text, !pad ? "" : axes ? `gamepad: ${name}` : `${name}: its axes are not known`);
  }
}

/** State of a gamepad rounded to 0.01, so that tremor sends no messages. */
function readGamepad(pad) {
  const round = (value) => Math.round(Math.max(-1, Math.min(1, value)) * 100) / 100;
  const buttons = [...pad.buttons].slice(0, MAX_INPUTS).map((button) => round(button.value ?? Number(button.pressed)));
  return { name: shortName(pad), standard: pad.mapping === "standard", axes: [...pad.axes].slice(0, MAX_INPUTS).map(round), buttons };
}

const shortName = (pad) => pad.id.replace(/\s*\(.*/, "").slice(0, 40);

function deflection(pad, assigned) {
  return assigned ? applyDeadZone(assigned.sign * ((pad.axes[assigned.axis] ?? assigned.rest) - assigned.rest)) : 0;
}
