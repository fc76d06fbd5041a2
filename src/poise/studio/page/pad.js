// Gamepads and flight sticks. A pad with the standard layout works at once; any other is shown once which axis does what.

import { write } from "./dom.js";

const POLL = 20; // ms: as quick as a hand, and a timer runs on where pictures are drawn four times a second
const DEAD = 0.12; // of a stick that is let go but does not quite come back
const MOST = 64; // axes and buttons that are told of
const MEANT = 0.5; // deflection that cannot be an accident

/** Standard layout: left stick walks, right stick turns. Browsers count right and down as positive. */
const STANDARD = [
  { axis: 1, sign: -1, rest: 0 },
  { axis: 0, sign: -1, rest: 0 },
  { axis: 2, sign: -1, rest: 0 },
];

/** Without the dead zone, still from -1 to 1: (|x| - d) / (1 - d). */
export function lively(value) {
  const size = Math.min(1, Math.abs(value));
  return size <= DEAD ? 0 : (Math.sign(value) * (size - DEAD)) / (1 - DEAD);
}

const storeName = (id) => `poise.pad.${id}`;

export function assignment(pad) {
  if (pad.mapping === "standard") return STANDARD;
  try {
    const stored = JSON.parse(localStorage.getItem(storeName(pad.id)));
    return Array.isArray(stored) && stored.length === 3 ? stored : null;
  } catch {
    return null; // nothing stored, or no storage: ask again
  }
}

export function remember(id, axes) {
  try {
    localStorage.setItem(storeName(id), JSON.stringify(axes));
  } catch {
    // without storage it holds until the page is left
  }
}

export class Pads {
  /** hands: who takes a pad as it is; where: {text, button}; dialog: an Assigning, shown for a pad that is not known. */
  constructor(drive, hands, where, dialog) {
    Object.assign(this, { drive, hands, where, dialog });
    this.rests = new Map(); // how unknown pads rested when they were first seen, by id
    this.offered = new Set();
    where.button.addEventListener("click", () => this.pad && dialog.open(this.pad, (axes) => this.learn(axes)));
    setInterval(() => this.poll(), POLL);
  }

  learn(axes) {
    this.learned = { id: this.pad.id, axes };
    remember(this.pad.id, axes);
  }

  poll() {
    const pads = [...(navigator.getGamepads?.() ?? [])].filter((pad) => pad?.connected && pad.axes.length > 1);
    const pad = (this.pad = pads.find((pad) => assignment(pad)) ?? pads[0]);
    if (this.hands.enabled) return this.hands.hold({ pad: pad && document.hasFocus() ? raw(pad) : null });
    const axes = pad && (this.learned?.id === pad.id ? this.learned.axes : assignment(pad));
    this.say(pad, axes);
    if (!pad) return this.drive.devices.has("pad") && this.drive.hold("pad", [0, 0, 0]);
    if (this.dialog.poll(pad)) return this.drive.hold("pad", [0, 0, 0]);
    if (axes && document.hasFocus()) this.drive.hold("pad", axes.map((one) => deflection(pad, one)));
    else if (!axes) this.offer(pad);
  }

  /** An unknown pad that is moved wants to be used: the dialog opens by itself, once. */
  offer(pad) {
    const rest = this.rests.get(pad.id) ?? [...pad.axes];
    this.rests.set(pad.id, rest);
    if (!this.drive.enabled || this.offered.has(pad.id)) return;
    if (!pad.axes.some((value, axis) => Math.abs(value - rest[axis]) > MEANT)) return;
    this.offered.add(pad.id);
    this.dialog.open(pad, (axes) => this.learn(axes), rest);
  }

  say(pad, axes) {
    this.where.button.hidden = !pad || pad.mapping === "standard";
    const name = pad && shortName(pad);
    write(this.where.text, !pad ? "" : axes ? `gamepad: ${name}` : `${name}: its axes are not known`);
  }
}

/** All of a pad, in hundredths: a stick that trembles says nothing new. */
function raw(pad) {
  const fine = (value) => Math.round(Math.max(-1, Math.min(1, value)) * 100) / 100;
  const buttons = [...pad.buttons].slice(0, MOST).map((button) => fine(button.value ?? Number(button.pressed)));
  return { name: shortName(pad), standard: pad.mapping === "standard", axes: [...pad.axes].slice(0, MOST).map(fine), buttons };
}

const shortName = (pad) => pad.id.replace(/\s*\(.*/, "").slice(0, 40);

function deflection(pad, one) {
  return one ? lively(one.sign * ((pad.axes[one.axis] ?? one.rest) - one.rest)) : 0;
}
