// What the studio has to say: over the page for a while, and for good in the list of events.

import { make } from "./dom.js";

const SHORT = 8000; // ms that a piece of news stays; errors stay until they are dismissed
const MOST = 4; // messages at a time
const KEPT = 100; // lines of the list

export class Messages {
  constructor(over, list) {
    Object.assign(this, { over, known: new Set(), events: "" });
    this.said = make("ul", { class: "events" });
    this.happened = make("ul", { class: "events" });
    this.none = make("p", { class: "empty" }, "Nothing has happened yet.");
    list.append(this.none, this.happened, this.said);
  }

  /** A message of the server; one that comes again after a broken connection is not shown again, an old one only listed. */
  take({ number, kind, text, old }) {
    const name = `${number} ${text}`;
    if (number && this.known.has(name)) return;
    this.known.add(name);
    if (old) this.list(kind, text);
    else this.show(kind, text);
  }

  show(kind, text) {
    const dismiss = make("button", { type: "button", "aria-label": `Dismiss: ${text}`, onclick: () => box.remove() }, "×");
    const box = make("div", { class: `message ${kind}` }, make("span", {}, text), dismiss);
    this.over.append(box);
    while (this.over.children.length > MOST) this.over.firstChild.remove();
    if (kind !== "error") setTimeout(() => box.remove(), SHORT);
    this.list(kind, text);
    return box;
  }

  list(kind, text) {
    this.said.prepend(make("li", { class: kind }, `${new Date().toLocaleTimeString()}: ${text}`));
    while (this.said.children.length > KEPT) this.said.lastChild.remove();
    this.none.hidden = true;
  }

  /** Events of the simulation, as every frame brings them; the newest first. */
  frame(events) {
    const joined = events.join("\n");
    if (joined === this.events) return;
    this.events = joined;
    this.happened.replaceChildren(...[...events].reverse().map((event) => make("li", {}, event)));
    this.none.hidden = this.happened.children.length + this.said.children.length > 0;
  }
}
