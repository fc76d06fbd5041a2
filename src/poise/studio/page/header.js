// The bar: scene, robot, play, slow motion, recording, and how the simulation is doing.

import { byId, dress, fillSelect, make, steerTabs, write } from "./dom.js";

const PACES = { 1: "1×", 0.5: "½×", 0.25: "¼×", 0.1: "⅒×" };
const LATE = 0.9; // of real time: below this the simulation does not keep up
const ECHO = 500; // ms until frames from before a choice have passed

export class Header {
  constructor(send) {
    Object.assign(this, { send, playing: true, recording: false, open: false, chosen: 0 });
    const pace = byId("pace");
    pace.append(...Object.entries(PACES).sort().reverse().map(([value, text]) => make("option", { value }, text)));
    pace.addEventListener("change", () => {
      this.chosen = performance.now() + ECHO;
      send("pace", Number(pace.value));
    });
    byId("robot").addEventListener("change", (event) => send("robot", event.target.value));
    byId("limb").addEventListener("change", (event) => send("limb", (this.limb = event.target.value)));
    byId("play").addEventListener("click", () => send("play", !this.playing));
    byId("reset").addEventListener("click", () => send("reset"));
    byId("record").addEventListener("click", () => send("record", !this.recording));
    dress(byId("play"), "pause", "Pause");
    dress(byId("reset"), "reset", "Reset");
    dress(byId("record"), "record", "Record");
    steerTabs(byId("scenes"));
  }

  hello(hello) {
    const list = byId("scenes");
    const shape = JSON.stringify(hello.scenes);
    if (shape !== this.shape) {
      this.shape = shape;
      list.replaceChildren(...hello.scenes.map((scene) => make("button", {
        type: "button", role: "tab", id: `scene-${scene.name}`, title: scene.hint, "aria-controls": "controls",
        onclick: () => this.send("scene", scene.name),
      }, scene.title)));
    }
    for (const tab of list.children) {
      const here = tab.id === `scene-${hello.scene}`;
      tab.setAttribute("aria-selected", here);
      tab.tabIndex = here ? 0 : -1;
    }
    const scene = hello.scenes.find((one) => one.name === hello.scene);
    write(byId("hint"), scene?.hint ?? "");
    document.title = `${scene?.title ?? "Studio"} · Poise studio`;
    fillSelect(byId("robot"), hello.robots, hello.robot);
    fillSelect(byId("limb"), hello.limbs);
    if (hello.limbs.includes(this.limb)) this.send("limb", this.limb); // another robot has just begun with its first limb
  }

  frame(frame) {
    this.playing = frame.playing;
    this.recording = frame.recording.on;
    dress(byId("play"), frame.playing ? "pause" : "play", frame.playing ? "Pause" : "Play");
    const seconds = frame.recording.on ? `Stop ${frame.recording.seconds.toFixed(1)} s` : "Record";
    dress(byId("record"), frame.recording.on ? "stop" : "record", seconds);
    byId("record").setAttribute("aria-pressed", frame.recording.on);
    if (performance.now() > this.chosen && document.activeElement !== byId("pace")) byId("pace").value = String(frame.pace);
    write(byId("factor"), frame.factor === null ? "–" : `${frame.factor.toFixed(2)}×`);
    write(byId("phase"), frame.deadman ? `${frame.phase} (let go: the sticks were silent)` : frame.phase);
    this.banner(frame);
    this.status(frame);
  }

  banner({ fell, fallback }) {
    const banner = byId("banner");
    banner.dataset.kind = fell ? "fell" : "fallback";
    write(banner, fell ? `Fell: ${fell}` : fallback ? `Holding still: ${fallback}` : "");
    banner.hidden = !fell && !fallback;
  }

  link(open) {
    this.open = open;
    this.status(null);
  }

  status(frame) {
    const [state, words] =
      !this.open ? ["lost", "not connected"]
      : !frame ? ["paused", "connected"]
      : frame.replay.file ? ["replay", "replay"]
      : frame.fell ? ["fell", "fell"]
      : !frame.playing ? ["paused", "paused"]
      : frame.fallback ? ["hold", "holding"]
      : frame.factor < LATE * frame.pace ? ["late", "slower than real time"]
      : ["live", "live"];
    const status = byId("status");
    status.dataset.state = state;
    write(status.lastChild, words);
  }
}
