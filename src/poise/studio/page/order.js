// A list whose items can be moved up and down, asked for exactly or within a box, and weighted.

import { make, write } from "./dom.js";

const DECADES = 2; // weights from a hundredth to a hundredfold, on a logarithmic slider

export function order(control, send, say, grip) {
  const list = make("ol", { class: "order", "aria-label": control.label, title: control.help });
  const element = make("div", { class: "control" }, make("div", {}, control.label), list);
  const held = grip(element);
  let items = control.items, shown = "";

  const change = (next) => {
    items = next;
    send(control.name, items);
  };
  const replace = (place, changes) => change(items.map((item, at) => (at === place ? { ...item, ...changes } : item)));
  const move = (place, by) => {
    const next = [...items];
    [next[place], next[place + by]] = [next[place + by], next[place]];
    change(next);
    draw();
    const name = next[place + by].name, way = by < 0 ? "up" : "down";
    const pressed = list.querySelector(`[data-item="${CSS.escape(name)}"] [data-way="${way}"]`);
    (pressed.disabled ? pressed.parentElement.querySelector("button:not(:disabled)") : pressed)?.focus();
  };
  const draw = () => {
    shown = JSON.stringify(items);
    list.replaceChildren(...items.map((item, place) => make("li", { "data-item": item.name },
      make("span", { class: "name" }, item.label),
      mover(item, "up", "▲", place === 0, () => move(place, -1)),
      mover(item, "down", "▼", place === items.length - 1, () => move(place, 1)),
      item.kind || typeof item.weight === "number"
        ? make("span", { class: "more" }, kind(item, (value) => replace(place, { kind: value })),
            ...weight(item, (value) => replace(place, { weight: value })))
        : null)));
  };
  draw();
  return {
    element,
    show(value) {
      if (held() || !Array.isArray(value) || JSON.stringify(value) === shown) return;
      items = value;
      draw();
    },
  };
}

function mover(item, way, sign, disabled, press) {
  return make("button", { type: "button", disabled, "data-way": way, "aria-label": `Move ${item.label} ${way}`, onclick: press }, sign);
}

function kind(item, choose) {
  if (!item.kind) return null;
  const select = make("select", { "aria-label": `How ${item.label} is asked for` },
    ...["equality", "box"].map((name) => make("option", { value: name }, name)));
  select.value = item.kind;
  select.addEventListener("change", () => choose(select.value));
  return select;
}

function weight(item, choose) {
  if (typeof item.weight !== "number") return [];
  const text = make("span", { class: "number" });
  const range = make("input", { type: "range", min: -DECADES, max: DECADES, step: 0.05, "aria-label": `Weight of ${item.label}` });
  const tell = (value) => {
    const words = `× ${Number(value.toPrecision(2))}`;
    write(text, words);
    range.setAttribute("aria-valuetext", words);
  };
  range.value = Math.log10(item.weight);
  tell(item.weight);
  range.addEventListener("input", () => tell(10 ** Number(range.value)));
  range.addEventListener("change", () => choose(Number((10 ** Number(range.value)).toPrecision(3))));
  return [range, text];
}
