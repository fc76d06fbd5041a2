// DOM helpers: creating elements, updating text only when it changes, formatting numbers.

export const byId = (id) => document.getElementById(id);

/** Create an element with attributes and children; `on...` are listeners, false and undefined attributes are omitted. */
export function createElement(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Set the text of an element only if it changed: at 20 Hz, most of the page stays the same. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Show lines in a list, one <li> each, or the text `empty` if there are none. */
export function setLines(list, lines, empty = "") {
  const shown = lines.length || !empty ? lines : [empty];
  while (list.children.length > shown.length) list.lastChild.remove();
  while (list.children.length < shown.length) list.append(document.createElement("li"));
  shown.forEach((line, index) => setText(list.children[index], line));
  list.classList.toggle("empty", lines.length === 0);
}

/** Set the options and the choice of a <select>; do nothing if they are unchanged. */
export function fillSelect(select, options, selected) {
  const names = options.map(String);
  const present = [...select.options].map((option) => option.value);
  if (names.join("\n") !== present.join("\n"))
    select.replaceChildren(...names.map((name) => createElement("option", { value: name }, name)));
  if (selected !== undefined && select.value !== String(selected)) select.value = String(selected);
}

/** Format a number with three significant digits; values below 1e-6 are shown as 0. */
export function formatNumber(value) {
  if (value === null || value === undefined) return "–";
  const magnitude = Math.abs(value);
  if (magnitude < 1e-6) return "0";
  if (magnitude < 1e-3 || magnitude >= 1e5) return value.toExponential(1);
  return String(Number(value.toPrecision(3)));
}

const ICONS = {
  play: "M4 2.5v11l9-5.5z",
  pause: "M3.5 2.5h3v11h-3zM9.5 2.5h3v11h-3z",
  reset: "M8 3a5 5 0 1 1-4.7 3.3l1.4 .5A3.5 3.5 0 1 0 8 4.5V7L4.2 3.7 8 .5z",
  undo: "M6.5 2v3H10a4 4 0 0 1 0 8H5v-1.6h5a2.4 2.4 0 0 0 0-4.8H6.5v3L2 5.8z",
  record: "M8 3a5 5 0 1 1 0 10A5 5 0 0 1 8 3z",
  stop: "M3.5 3.5h9v9h-9z",
};

/** Show an icon and a label in a button; narrow pages hide the label, which remains the accessible name. */
export function setIcon(button, icon, label) {
  if (button.dataset.icon !== icon) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    for (const [name, value] of [["class", "icon"], ["viewBox", "0 0 16 16"], ["aria-hidden", "true"]])
      svg.setAttribute(name, value);
    path.setAttribute("d", ICONS[icon]);
    svg.append(path);
    button.replaceChildren(svg, createElement("span", { class: "button-label" }));
    button.dataset.icon = icon;
  }
  setText(button.lastChild, label);
  if (button.getAttribute("aria-label") !== label) button.setAttribute("aria-label", label);
}

/** Let arrow keys move the focus along a list of tabs. */
export function addArrowKeys(list) {
  list.addEventListener("keydown", (event) => {
    const tabs = [...list.querySelectorAll('[role="tab"]')];
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const index = tabs.indexOf(document.activeElement);
    if (!step || index < 0) return;
    event.preventDefault();
    tabs[(index + step + tabs.length) % tabs.length].focus();
  });
}
