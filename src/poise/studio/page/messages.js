// Messages of the studio: shown over the page for some time, and kept in the list of events.

import { createElement } from "./dom.js";

const INFO_DURATION = 8000; // ms for which an information stays; errors stay until they are dismissed
const MAX_SHOWN = 4; // messages over the page
const MAX_LISTED = 100; // lines in the list

export class Messages {
  constructor(overlay, list) {
    Object.assign(this, { overlay, received: new Set(), events: "" });
    this.messageList = createElement("ul", { class: "events" });
    this.eventList = createElement("ul", { class: "events" });
    this.emptyNote = createElement("p", { class: "empty" }, "No events yet.");
    list.append(this.emptyNote, this.eventList, this.messageList);
  }

  /** Receive a message of the server. After a reconnection, known messages are ignored; old ones are only listed. */
  receive({ number, kind, text, already_shown: alreadyShown }) {
    const key = `${number} ${text}`;
    if (number && this.received.has(key)) return;
    this.received.add(key);
    if (alreadyShown) this.addToList(kind, text);
    else this.show(kind, text);
  }

  show(kind, text) {
    const dismiss = createElement("button", { type: "button", "aria-label": `Dismiss: ${text}`, onclick: () => box.remove() }, "×");
    const box = createElement("div", { class: `message ${kind}` }, createElement("span", {}, text), dismiss);
    this.overlay.append(box);
    while (this.overlay.children.length > MAX_SHOWN) this.overlay.firstChild.remove();
    if (kind !== "error") setTimeout(() => box.remove(), INFO_DURATION);
    this.addToList(kind, text);
    return box;
  }

  addToList(kind, text) {
    this.messageList.prepend(createElement("li", { class: kind }, `${new Date().toLocaleTimeString()}: ${text}`));
    while (this.messageList.children.length > MAX_LISTED) this.messageList.lastChild.remove();
    this.emptyNote.hidden = true;
  }

  /** Show the events of the simulation, which every frame contains, newest first. */
  frame(events) {
    const joined = events.join("\n");
    if (joined === this.events) return;
    this.events = joined;
    this.eventList.replaceChildren(...[...events].reverse().map((event) => createElement("li", {}, event)));
    this.emptyNote.hidden = this.eventList.children.length + this.messageList.children.length > 0;
  }
}
