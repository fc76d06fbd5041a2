// Controls of a scene, drawn from their declarations. Each kind is a function that returns {element, show(value)}, and where
// it applies showRange(range) and setOptions(options). `show` displays the value of the simulation, except while the user
// moves the control.

import { createElement } from "./dom.js";
import { taskOrder } from "./task_order.js";
import { upload } from "./upload.js";

const ECHO_TIME = 500; // ms after which no more frames from before the user's last change arrive
const SEND_PERIOD = 50; // ms between two values of a slider being dragged

let controlCount = 0; // for ids

/** Control that the user is pressing, if any. */
let pressed = null;
const heldUntil = new WeakMap(); // element -> time until which it counts as held, ms
const markHeld = (element) => heldUntil.set(element, performance.now() + ECHO_TIME);
for (const kind of ["pointerup", "pointercancel"])
  addEventListener(kind, () => {
    if (pressed) markHeld(pressed);
    pressed = null;
  });
function trackHeld(element) {
  element.addEventListener("pointerdown", () => (pressed = element));
  for (const kind of ["input", "change"]) element.addEventListener(kind, () => markHeld(element));
  return () => pressed === element || performance.now() < (heldUntil.get(element) ?? 0);
}

/** Limit sending to one value every SEND_PERIOD ms; the last value is always sent. */
function throttle(send) {
  let timer = null, pending;
  return (value) => {
    pending = { value };
    if (timer !== null) return;
    const next = () => {
      timer = pending ? setTimeout(next, SEND_PERIOD) : null;
      if (pending) send(pending.value);
      pending = null;
    };
    next();
  };
}

function slider(control, send) {
  const id = `control-${++controlCount}`;
  const digits = Math.min(4, Math.max(0, Math.ceil(-Math.log10(control.step) - 1e-9)));
  const description = { title: control.help, "aria-description": control.help };
  const range = createElement("input", { type: "range", id, min: control.low, max: control.high, step: control.step, ...description });
  const marks = createElement("div", { class: "range-marks", hidden: true });
  const unit = control.unit ? `, ${control.unit}` : "";
  const field = createElement("input", { type: "number", step: "any", min: control.low, max: control.high, "aria-label": `${control.label} as a number${unit}` });
  const element = createElement("div", { class: "control" },
    createElement("div", { class: "title-row" }, createElement("label", { for: id, title: control.help }, control.label),
      createElement("span", { class: "value" }, field, createElement("span", { class: "unit" }, control.unit))),
    range, marks);
  const isHeld = trackHeld(element);
  const showValue = (value) => {
    if (document.activeElement !== field) field.value = Number(value).toFixed(digits);
    range.value = value;
    range.setAttribute("aria-valuetext", `${Number(value).toFixed(digits)} ${control.unit}`);
  };
  const sendValue = throttle((value) => send(control.name, value));
  range.addEventListener("input", () => {
    showValue(Number(range.value));
    sendValue(Number(range.value));
  });
  field.addEventListener("change", () => {
    const value = Math.min(control.high, Math.max(control.low, Number(field.value)));
    field.value = value.toFixed(digits);
    range.value = value;
    sendValue(value);
  });
  showValue(control.value);
  /** Mark the range [low, high, simulated] in which the motion is expected to succeed; undefined: not known. */
  const showRange = (feasible) => {
    const shown = JSON.stringify(feasible ?? null);
    if (marks.dataset.range === shown) return;
    marks.dataset.range = shown;
    marks.hidden = !feasible;
    if (!feasible) return range.setAttribute("aria-description", control.help);
    const [low, high] = feasible.slice(0, 2).map((value) => Number(value).toFixed(digits));
    const simulated = feasible[2];
    marks.classList.toggle("estimated", !simulated);
    const share = (value) => `${(100 * (value - control.low)) / (control.high - control.low)}%`;
    marks.style.setProperty("--low", share(feasible[0]));
    marks.style.setProperty("--high", share(feasible[1]));
    const rangeText = feasible[0] === feasible[1] ? "Does not keep balance" : `Keeps balance from ${low} to ${high} ${control.unit}`;
    marks.title = `${rangeText.trim()} (${simulated ? "simulated" : "first estimate, not simulated yet"})`;
    range.setAttribute("aria-description", `${control.help}. ${marks.title}`);
  };
  return { element, show: (value) => !isHeld() && showValue(value), showRange };
}

function text(control, send) {
  const id = `control-${++controlCount}`;
  const field = createElement("input", { type: "text", id, maxlength: 40, title: control.help, "aria-description": control.help });
  field.value = control.value;
  field.addEventListener("change", () => send(control.name, field.value));
  const element = createElement("div", { class: "control" }, createElement("div", { class: "title-row" }, createElement("label", { for: id }, control.label), field));
  return { element, show: (value) => document.activeElement !== field && field.value !== value && (field.value = value) };
}

function dropdown(control, send) {
  const id = `control-${++controlCount}`;
  const select = createElement("select", { id, title: control.help, "aria-description": control.help });
  const setOptions = ({ options, option_labels: labels = [] }) => {
    const signature = JSON.stringify([options, labels]);
    if (signature === select.dataset.options) return;
    select.dataset.options = signature;
    const selected = select.value;
    select.replaceChildren(...options.map((option, index) => createElement("option", { value: option }, labels[index] ?? option)));
    if (options.includes(selected)) select.value = selected;
  };
  setOptions(control);
  select.value = control.value;
  select.addEventListener("change", () => send(control.name, select.value));
  const isHeld = trackHeld(select);
  const element = createElement("div", { class: "control" }, createElement("div", { class: "title-row" }, createElement("label", { for: id }, control.label), select));
  const isOpen = () => document.activeElement === select && isHeld();
  return { element, show: (value) => !isOpen() && select.value !== value && (select.value = value), setOptions };
}

function toggle(control, send) {
  const id = `control-${++controlCount}`;
  const box = createElement("input", { type: "checkbox", role: "switch", id, title: control.help, "aria-description": control.help });
  box.checked = control.value;
  box.addEventListener("change", () => send(control.name, box.checked));
  const isHeld = trackHeld(box);
  const element = createElement("div", { class: "control" }, createElement("div", { class: "title-row" }, createElement("label", { for: id }, control.label), box));
  return { element, show: (value) => !isHeld() && (box.checked = value) };
}

function button(control, send) {
  const element = createElement("button", { type: "button", title: control.help, onclick: () => send(control.name, true) }, control.label);
  return { element: createElement("div", { class: "control" }, element), show() {} };
}

function save(control) {
  const link = createElement("a", { class: "button", href: `/save/${encodeURIComponent(control.name)}`, download: true, title: control.help }, control.label);
  return { element: createElement("div", { class: "control" }, link), show() {} };
}

/** Gray out a control that has no effect at present. */
function setEnabled(element, enabled = true) {
  element.inert = !enabled;
  element.classList.toggle("disabled", !enabled);
}

const KINDS = { slider, text, dropdown, switch: toggle, button, save, upload, task_order: taskOrder };

export class Controls {
  /** send(name, value): called when the user changes a control; postMessage(kind, text): shows a message. */
  constructor(panel, send, postMessage) {
    Object.assign(this, { panel, send, postMessage, drawn: new Map(), signature: "" });
  }

  /** Redraw the controls only if their declarations changed, so that a control in use does not disappear. */
  hello(controls) {
    const signature = JSON.stringify(controls.map(({ value, items, options, option_labels, enabled, ...rest }) => rest));
    if (signature === this.signature) {
      for (const control of controls) {
        const drawn = this.drawn.get(control.name);
        drawn?.setOptions?.(control);
        drawn?.show(control.items ?? control.value);
        if (drawn) setEnabled(drawn.element, control.enabled);
      }
      return;
    }
    this.signature = signature;
    this.drawn.clear();
    const groups = new Map();
    for (const control of controls) {
      const drawn = KINDS[control.kind]?.(control, this.send, this.postMessage, trackHeld);
      if (!drawn) continue;
      this.drawn.set(control.name, drawn);
      setEnabled(drawn.element, control.enabled);
      const title = control.group || "Scene";
      if (!groups.has(title)) groups.set(title, createElement("details", { class: "control-group", open: true }, createElement("summary", {}, title)));
      groups.get(title).append(drawn.element);
    }
    this.panel.replaceChildren(...groups.values());
  }

  frame({ values, feasible_ranges: ranges }) {
    for (const [name, value] of Object.entries(values ?? {})) if (value !== null) this.drawn.get(name)?.show(value);
    for (const [name, drawn] of this.drawn) drawn.showRange?.(ranges?.[name]);
  }
}
