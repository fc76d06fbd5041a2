// Control for the order of tasks: items can be moved up and down, set to equality or box, and weighted.

import { createElement, setText } from "./dom.js";

const DECADES = 2; // weights from 0.01 to 100, on a logarithmic slider

export function taskOrder(control, send, postMessage, trackHeld) {
  const list = createElement("ol", { class: "task-order", "aria-label": control.label, title: control.help });
  const element = createElement("div", { class: "control" }, createElement("div", {}, control.label), list);
  const isHeld = trackHeld(element);
  let items = control.items, drawn = "";

  const change = (next) => {
    items = next;
    send(control.name, items);
  };
  const replace = (index, changes) => change(items.map((item, other) => (other === index ? { ...item, ...changes } : item)));
  const move = (index, step) => {
    const next = [...items];
    [next[index], next[index + step]] = [next[index + step], next[index]];
    change(next);
    draw();
    const name = next[index + step].name, direction = step < 0 ? "up" : "down";
    const button = list.querySelector(`[data-item="${CSS.escape(name)}"] [data-direction="${direction}"]`);
    (button.disabled ? button.parentElement.querySelector("button:not(:disabled)") : button)?.focus();
  };
  const draw = () => {
    drawn = JSON.stringify(items);
    list.replaceChildren(...items.map((item, index) => createElement("li", { "data-item": item.name },
      createElement("span", { class: "name" }, item.label),
      moveButton(item, "up", "▲", index === 0, () => move(index, -1)),
      moveButton(item, "down", "▼", index === items.length - 1, () => move(index, 1)),
      item.constraint_type || typeof item.weight === "number"
        ? createElement("span", { class: "task-options" }, constraintSelect(item, (value) => replace(index, { constraint_type: value })),
            ...weightSlider(item, (value) => replace(index, { weight: value })))
        : null)));
  };
  draw();
  return {
    element,
    show(value) {
      if (isHeld() || !Array.isArray(value) || JSON.stringify(value) === drawn) return;
      items = value;
      draw();
    },
  };
}

function moveButton(item, direction, symbol, disabled, onclick) {
  return createElement("button", { type: "button", disabled, "data-direction": direction, "aria-label": `Move ${item.label} ${direction}`, onclick }, symbol);
}

function constraintSelect(item, onChange) {
  if (!item.constraint_type) return null;
  const select = createElement("select", { "aria-label": `Constraint type of ${item.label}`, title: "equality: reach the target; box: stay within the half width around it" },
    ...["equality", "box"].map((name) => createElement("option", { value: name }, name)));
  select.value = item.constraint_type;
  select.addEventListener("change", () => onChange(select.value));
  return select;
}

function weightSlider(item, onChange) {
  if (typeof item.weight !== "number") return [];
  const text = createElement("span", { class: "number" });
  const range = createElement("input", { type: "range", min: -DECADES, max: DECADES, step: 0.05, "aria-label": `Weight of ${item.label}`, title: "weight of the task, if priorities are weighted" });
  const showWeight = (value) => {
    const label = `× ${Number(value.toPrecision(2))}`;
    setText(text, label);
    range.setAttribute("aria-valuetext", label);
  };
  range.value = Math.log10(item.weight);
  showWeight(item.weight);
  range.addEventListener("input", () => showWeight(10 ** Number(range.value)));
  range.addEventListener("change", () => onChange(Number((10 ** Number(range.value)).toPrecision(3))));
  return [range, text];
}
