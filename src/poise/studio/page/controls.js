// The controls of a scene, drawn from what the scene says of them. Each kind is a function that returns
// {element, show(value)}; `show` follows the simulation, but never what the user has in hand.

import { make } from "./dom.js";
import { order } from "./order.js";
import { upload } from "./upload.js";

const ECHO = 500; // ms until frames that were made before the user's last move have passed
const RATE = 50; // ms between two values of a slider that is dragged

let drawn = 0; // for ids

/** Knows whether the user has a control in hand. */
let pressed = null;
const touched = new WeakMap(); // element -> until when it counts as held, ms
const touch = (element) => touched.set(element, performance.now() + ECHO);
for (const kind of ["pointerup", "pointercancel"])
  addEventListener(kind, () => {
    if (pressed) touch(pressed);
    pressed = null;
  });
function grip(element) {
  element.addEventListener("pointerdown", () => (pressed = element));
  for (const kind of ["input", "change"]) element.addEventListener(kind, () => touch(element));
  return () => pressed === element || performance.now() < (touched.get(element) ?? 0);
}

/** Sends at most one value every RATE ms, and always the last one. */
function sparingly(send) {
  let timer = null, waiting;
  return (value) => {
    waiting = { value };
    if (timer !== null) return;
    const next = () => {
      timer = waiting ? setTimeout(next, RATE) : null;
      if (waiting) send(waiting.value);
      waiting = null;
    };
    next();
  };
}

function slider(control, send) {
  const id = `control-${++drawn}`;
  const digits = Math.min(4, Math.max(0, Math.ceil(-Math.log10(control.step) - 1e-9)));
  const described = { title: control.help, "aria-description": control.help };
  const range = make("input", { type: "range", id, min: control.low, max: control.high, step: control.step, ...described });
  const unit = control.unit ? `, ${control.unit}` : "";
  const field = make("input", { type: "number", step: "any", min: control.low, max: control.high, "aria-label": `${control.label} as a number${unit}` });
  const element = make("div", { class: "control" },
    make("div", { class: "top" }, make("label", { for: id, title: control.help }, control.label),
      make("span", { class: "value" }, field, make("span", { class: "unit" }, control.unit))),
    range);
  const held = grip(element);
  const put = (value) => {
    if (document.activeElement !== field) field.value = Number(value).toFixed(digits);
    range.value = value;
    range.setAttribute("aria-valuetext", `${Number(value).toFixed(digits)} ${control.unit}`);
  };
  const tell = sparingly((value) => send(control.name, value));
  range.addEventListener("input", () => {
    put(Number(range.value));
    tell(Number(range.value));
  });
  field.addEventListener("change", () => {
    const value = Math.min(control.high, Math.max(control.low, Number(field.value)));
    field.value = value.toFixed(digits);
    range.value = value;
    tell(value);
  });
  put(control.value);
  return { element, show: (value) => !held() && put(value) };
}

function choice(control, send) {
  const id = `control-${++drawn}`;
  const select = make("select", { id, title: control.help, "aria-description": control.help },
    ...control.options.map((option) => make("option", { value: option }, option)));
  select.value = control.value;
  select.addEventListener("change", () => send(control.name, select.value));
  const held = grip(select);
  const element = make("div", { class: "control" }, make("div", { class: "top" }, make("label", { for: id }, control.label), select));
  return { element, show: (value) => !held() && document.activeElement !== select && (select.value = value) };
}

function toggle(control, send) {
  const id = `control-${++drawn}`;
  const box = make("input", { type: "checkbox", role: "switch", id, title: control.help, "aria-description": control.help });
  box.checked = control.value;
  box.addEventListener("change", () => send(control.name, box.checked));
  const held = grip(box);
  const element = make("div", { class: "control" }, make("div", { class: "top" }, make("label", { for: id }, control.label), box));
  return { element, show: (value) => !held() && (box.checked = value) };
}

function button(control, send) {
  const press = make("button", { type: "button", title: control.help, onclick: () => send(control.name, true) }, control.label);
  return { element: make("div", { class: "control" }, press), show() {} };
}

function save(control) {
  const link = make("a", { class: "button", href: `/save/${encodeURIComponent(control.name)}`, download: true, title: control.help }, control.label);
  return { element: make("div", { class: "control" }, link), show() {} };
}

const KINDS = { slider, choice, switch: toggle, button, save, upload, order };

export class Controls {
  /** send(name, value) for a control that was moved; say(kind, text) for a message. */
  constructor(panel, send, say) {
    Object.assign(this, { panel, send, say, known: new Map(), shape: "" });
  }

  /** Draws the controls anew only if they are others: what a user has in hand must not vanish under it. */
  hello(controls) {
    const shape = JSON.stringify(controls.map(({ value, items, ...rest }) => rest));
    if (shape === this.shape) {
      for (const control of controls) this.known.get(control.name)?.show(control.items ?? control.value);
      return;
    }
    this.shape = shape;
    this.known.clear();
    const sets = new Map();
    for (const control of controls) {
      const made = KINDS[control.kind]?.(control, this.send, this.say, grip);
      if (!made) continue;
      this.known.set(control.name, made);
      const title = control.group || "Scene";
      if (!sets.has(title)) sets.set(title, make("details", { class: "set", open: true }, make("summary", {}, title)));
      sets.get(title).append(made.element);
    }
    this.panel.replaceChildren(...sets.values());
  }

  frame(values) {
    for (const [name, value] of Object.entries(values ?? {})) if (value !== null) this.known.get(name)?.show(value);
  }
}
