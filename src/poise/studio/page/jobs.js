// Fits and exports in progress: what each is doing, its share and time so far, and a button that cancels it.

import { byId, createElement, setText } from "./dom.js";

export class Jobs {
  constructor(send) {
    Object.assign(this, { send, list: byId("jobs"), rows: new Map() });
  }

  /** jobs: [{name, activity, progress, seconds}]; progress is null while it is unknown. */
  frame(jobs) {
    this.list.hidden = jobs.length === 0;
    const names = new Set(jobs.map((job) => job.name));
    for (const [name, row] of this.rows) if (!names.has(name)) this.remove(name, row);
    for (const job of jobs) this.show(job);
  }

  remove(name, row) {
    row.element.remove();
    this.rows.delete(name);
  }

  show({ name, activity, progress, seconds }) {
    const row = this.rows.get(name) ?? this.add(name);
    setText(row.text, `${activity} …`);
    setText(row.seconds, `${Math.round(seconds)} s`);
    row.bar.setAttribute("aria-label", activity);
    if (progress === null) row.bar.removeAttribute("value");
    else row.bar.value = progress;
  }

  add(name) {
    const row = {
      text: createElement("span", { class: "activity" }),
      bar: createElement("progress", { max: 1 }),
      seconds: createElement("span", { class: "number" }),
    };
    const cancel = createElement("button", { type: "button", "aria-label": `Cancel ${name}`, onclick: () => this.send("cancel_job", name) }, "Cancel");
    row.element = createElement("li", {}, row.text, row.bar, row.seconds, cancel);
    this.rows.set(name, row);
    this.list.append(row.element);
    return row;
  }
}
