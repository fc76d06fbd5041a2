// Gamepads and flight sticks. A pad with the standard layout works at once; any other is shown once which axis does what.

import { setText } from "./dom.js";

const POLL_PERIOD = 20; // ms: as quick as a hand, and a timer runs on where pictures are drawn four times a second
const DEAD_ZONE = 0.12; // of a stick that is let go but does not quite come back
const MAX_INPUTS = 64; // axes and buttons that are told of
const DELIBERATE = 0.5; // deflection that cannot be an accident

/** Standard layout: left stick walks, right stick turns. Browsers count right and down as positive. */
const STANDARD = [
  { axis: 1, sign: -1, rest: 0 },
  { axis: 0, sign: -1, rest: 0 },
  { axis: 2, sign: -1, rest: 0 },
];

/** Without the dead zone, still from -1 to 1: (|x| - d) / (1 - d). */
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
    return null; // nothing stored, or no storage: ask again
  }
}

export function storeAssignment(id, axes) {
  try {
    localStorage.setItem(storageKey(id), JSON.stringify(axes));
  } catch {
    // without storage it holds until the page is left
  }
}

export class Gamepads {
  /** operatorInput: who takes a pad as it is; display: {text, button}; dialog: an AxisDialog, shown for a pad that is not known. */
  constructor(stickInput, operatorInput, display, dialog) {
    Object.assign(this, { stickInput, operatorInput, display, dialog });
    this.restAxes = new Map(); // how unknown pads rested when they were first seen, by id
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

  /** An unknown pad that is moved wants to be used: the dialog opens by itself, once. */
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

/** All of a pad, in hundredths: a stick that trembles says nothing new. */
function readGamepad(pad) {
  const round = (value) => Math.round(Math.max(-1, Math.min(1, value)) * 100) / 100;
  const buttons = [...pad.buttons].slice(0, MAX_INPUTS).map((button) => round(button.value ?? Number(button.pressed)));
  return { name: shortName(pad), standard: pad.mapping === "standard", axes: [...pad.axes].slice(0, MAX_INPUTS).map(round), buttons };
}

const shortName = (pad) => pad.id.replace(/\s*\(.*/, "").slice(0, 40);

function deflection(pad, assigned) {
  return assigned ? applyDeadZone(assigned.sign * ((pad.axes[assigned.axis] ?? assigned.rest) - assigned.rest)) : 0;
}
