// Files of the output folder: download, replay, export; and the slider of a replay.

import { byId, make, write } from "./dom.js";

const FORMATS = { report: "Report", bvh: "BVH", csv: "CSV", mp4: "MP4", html: "HTML" };
const RATE = 50; // ms between two places of a replay that is dragged through

export class Files {
  constructor(send) {
    Object.assign(this, { send, list: byId("files"), shape: "", file: "", dragged: 0, last: 0 });
    this.slider = byId("replay-time");
    const put = () => {
      this.dragged = performance.now() + 500; // until frames from before have passed
      send("replay", { file: this.file, time: Number(this.slider.value) });
    };
    this.slider.addEventListener("input", () => {
      this.dragged = performance.now() + 500;
      if (performance.now() - this.last < RATE) return;
      this.last = performance.now();
      put();
    });
    this.slider.addEventListener("change", put);
    byId("replay-end").addEventListener("click", () => send("replay", null));
  }

  hello(files) {
    const shape = JSON.stringify(files);
    if (shape === this.shape) return;
    this.shape = shape;
    const none = make("p", { class: "empty" }, "Nothing recorded yet. Press Record; what you record can be replayed and exported here.");
    const open = new Set([...this.list.querySelectorAll("details[open]")].map((menu) => menu.dataset.file));
    const rows = files.map((file) => this.row(file, open.has(file.name))); // a menu in use stays open
    this.list.replaceChildren(files.length ? make("ul", { class: "files" }, ...rows) : none);
  }

  row(file, open) {
    const recording = file.kind === "recording";
    const formats = make("details", { "data-file": file.name, ...(open && { open: "" }) }, make("summary", { "aria-label": `Export ${file.name}` }, "Export"),
      make("div", { class: "row" }, ...Object.entries(FORMATS).map(([format, title]) => make("button", {
        type: "button", "aria-label": `Export ${file.name} as ${title}`,
        onclick: () => {
          formats.open = false;
          this.send("export", { file: file.name, format });
        },
      }, title))));
    return make("li", {},
      make("div", { class: "top" }, make("span", { class: "name" }, file.name), make("span", { class: "dim number" }, size(file.bytes))),
      make("div", { class: "row" },
        make("a", { class: "button", href: `/files/${encodeURIComponent(file.name)}`, download: file.name, "aria-label": `Download ${file.name}` }, "Download"),
        recording ? make("button", { type: "button", "aria-label": `Replay ${file.name}`, onclick: () => this.send("replay", { file: file.name, time: 0 }) }, "Replay") : null,
        recording ? formats : null));
  }

  frame({ file, time, duration }) {
    this.file = file;
    byId("replay").hidden = file === "";
    if (file === "") return;
    write(byId("replay-file"), file);
    if (this.slider.max !== String(duration)) this.slider.max = duration;
    if (performance.now() > this.dragged) this.slider.value = time;
    write(byId("replay-clock"), `${Number(this.slider.value).toFixed(1)} / ${duration.toFixed(1)} s`);
  }
}

const size = (bytes) => (bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1e3))} kB` : `${(bytes / 1e6).toFixed(1)} MB`);
