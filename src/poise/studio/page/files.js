// List of files in the output folder with download, replay and export, and the time slider of a replay.

import { byId, createElement, setIcon, setText } from "./dom.js";

const FORMATS = { report: "Report", bvh: "BVH", csv: "CSV", mp4: "MP4", html: "HTML" };
const REPLAY_SPEEDS = { 4: "4×", 2: "2×", 1: "1×", 0.5: "½×", 0.25: "¼×", 0.1: "⅒×" };
const SEND_PERIOD = 50; // ms between two positions while the slider is dragged

export class Files {
  constructor(send) {
    Object.assign(this, { send, list: byId("files"), signature: "", file: "", playing: false, draggedUntil: 0, chosenUntil: 0, lastSent: 0 });
    this.slider = byId("replay-time");
    const seek = () => {
      this.draggedUntil = performance.now() + 500; // until no more frames from before the change arrive
      send("replay", { file: this.file, time: Number(this.slider.value) });
    };
    this.slider.addEventListener("input", () => {
      this.draggedUntil = performance.now() + 500;
      if (performance.now() - this.lastSent < SEND_PERIOD) return;
      this.lastSent = performance.now();
      seek();
    });
    this.slider.addEventListener("change", seek);
    byId("replay-end").addEventListener("click", () => send("replay", null));
    byId("replay-play").addEventListener("click", () => send("play", !this.playing));
    byId("replay-loop").addEventListener("click", () => send("loop", byId("replay-loop").getAttribute("aria-pressed") !== "true"));
    this.speed = byId("replay-speed");
    const speeds = Object.entries(REPLAY_SPEEDS).sort(([a], [b]) => Number(b) - Number(a));
    this.speed.append(...speeds.map(([value, text]) => createElement("option", { value }, text)));
    this.speed.addEventListener("change", () => {
      this.chosenUntil = performance.now() + 500;
      send("replay_speed", Number(this.speed.value));
    });
  }

  hello(files) {
    const signature = JSON.stringify(files);
    if (signature === this.signature) return;
    this.signature = signature;
    const emptyNote = createElement("p", { class: "empty" }, "No recordings yet. Press Record to make one; it can be replayed and exported here.");
    const open = new Set([...this.list.querySelectorAll("details[open]")].map((menu) => menu.dataset.file));
    const rows = files.map((file) => this.row(file, open.has(file.name))); // an open menu stays open
    this.list.replaceChildren(files.length ? createElement("ul", { class: "files" }, ...rows) : emptyNote);
  }

  row(file, open) {
    const recording = file.kind === "recording";
    const formats = createElement("details", { "data-file": file.name, ...(open && { open: "" }) }, createElement("summary", { "aria-label": `Export ${file.name}` }, "Export"),
      createElement("div", { class: "row" }, ...Object.entries(FORMATS).map(([format, title]) => createElement("button", {
        type: "button", "aria-label": `Export ${file.name} as ${title}`,
        onclick: () => {
          formats.open = false;
          this.send("export", { file: file.name, format });
        },
      }, title))));
    return createElement("li", {},
      createElement("div", { class: "title-row" }, createElement("span", { class: "name" }, file.name), createElement("span", { class: "muted number" }, formatSize(file.bytes))),
      createElement("div", { class: "row" },
        createElement("a", { class: "button", href: `/files/${encodeURIComponent(file.name)}`, download: file.name, "aria-label": `Download ${file.name}` }, "Download"),
        recording ? createElement("button", { type: "button", "aria-label": `Replay ${file.name}`, onclick: () => this.send("replay", { file: file.name, time: 0 }) }, "Replay") : null,
        recording ? formats : null));
  }

  /** Hide the replay and its effects on other parts of the page. */
  hideReplay() {
    byId("replay").hidden = true;
    byId("time-scale").hidden = byId("record").disabled = document.querySelector(".control-panel").inert = false;
  }

  /** Show the replay, if there is one: {file, time, duration, loop, uses_controls}. */
  frame({ replay: { file, time, duration, loop, uses_controls: usesControls }, playing, time_scale: timeScale }) {
    Object.assign(this, { file, playing });
    if (file === "") return this.hideReplay();
    byId("replay").hidden = false;
    byId("time-scale").hidden = true; // the replay has its own
    byId("record").disabled = true;
    document.querySelector(".control-panel").inert = !usesControls; // they belong to the live robot
    setText(byId("replay-file"), file);
    setIcon(byId("replay-play"), playing ? "pause" : "play", playing ? "Pause replay" : "Play replay");
    byId("replay-loop").setAttribute("aria-pressed", Boolean(loop));
    if (performance.now() > this.chosenUntil && document.activeElement !== this.speed) this.speed.value = String(timeScale);
    if (this.slider.max !== String(duration)) this.slider.max = duration;
    if (performance.now() > this.draggedUntil) this.slider.value = time;
    setText(byId("replay-clock"), `${Number(this.slider.value).toFixed(1)} / ${duration.toFixed(1)} s`);
  }
}

const formatSize = (bytes) => (bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1e3))} kB` : `${(bytes / 1e6).toFixed(1)} MB`);
