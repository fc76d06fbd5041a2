// Small things that every part of the page needs: making elements, writing text only where it differs, numbers in words.

export const byId = (id) => document.getElementById(id);

/** An element with attributes and children; `on...` attributes are listeners, false and undefined ones are left out. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Writes only what has changed: twenty times a second, most of a page has not. */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** A list of lines, one <li> each. */
export function writeLines(list, lines, none = "") {
  const wanted = lines.length || !none ? lines : [none];
  while (list.children.length > wanted.length) list.lastChild.remove();
  while (list.children.length < wanted.length) list.append(document.createElement("li"));
  wanted.forEach((line, place) => write(list.children[place], line));
  list.classList.toggle("empty", lines.length === 0);
}

/** Fills a <select>, keeping the choice; leaves it alone while nothing has changed. */
export function fillSelect(select, options, chosen) {
  const names = options.map(String);
  const present = [...select.options].map((option) => option.value);
  if (names.join("\n") !== present.join("\n"))
    select.replaceChildren(...names.map((name) => make("option", { value: name }, name)));
  if (chosen !== undefined && select.value !== String(chosen)) select.value = String(chosen);
}

/** Three digits that matter; what is smaller than a millionth is nothing. */
export function brief(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (size < 1e-6) return "0";
  if (size < 1e-3 || size >= 1e5) return value.toExponential(1);
  return String(Number(value.toPrecision(3)));
}

const ICONS = {
  play: "M4 2.5v11l9-5.5z",
  pause: "M3.5 2.5h3v11h-3zM9.5 2.5h3v11h-3z",
  reset: "M8 3a5 5 0 1 1-4.7 3.3l1.4 .5A3.5 3.5 0 1 0 8 4.5V7L4.2 3.7 8 .5z",
  record: "M8 3a5 5 0 1 1 0 10A5 5 0 0 1 8 3z",
  stop: "M3.5 3.5h9v9h-9z",
};

/** A picture and a word inside a button; the word gives way on narrow pages and stays the button's name. */
export function dress(button, icon, words) {
  if (button.dataset.icon !== icon) {
    const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    for (const [name, value] of [["class", "icon"], ["viewBox", "0 0 16 16"], ["aria-hidden", "true"]])
      picture.setAttribute(name, value);
    path.setAttribute("d", ICONS[icon]);
    picture.append(path);
    button.replaceChildren(picture, make("span", { class: "words-only" }));
    button.dataset.icon = icon;
  }
  write(button.lastChild, words);
  if (button.getAttribute("aria-label") !== words) button.setAttribute("aria-label", words);
}

/** Arrow keys move along a list of tabs, as everywhere. */
export function steerTabs(list) {
  list.addEventListener("keydown", (event) => {
    const tabs = [...list.querySelectorAll('[role="tab"]')];
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const now = tabs.indexOf(document.activeElement);
    if (!step || now < 0) return;
    event.preventDefault();
    tabs[(now + step + tabs.length) % tabs.length].focus();
  });
}
