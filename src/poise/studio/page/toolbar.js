// Toolbar: scene, robot, play, slow motion, recording, and state of the simulation.

import { byId, setIcon, fillSelect, createElement, addArrowKeys, setText } from "./dom.js";

const TIME_SCALES = { 1: "1×", 0.5: "½×", 0.25: "¼×", 0.1: "⅒×" };
const MIN_REAL_TIME_SHARE = 0.9; // share of the requested speed below which the state is "slower than real time"
const ECHO_TIME = 500; // ms after which no more frames from before a choice arrive

export class Toolbar {
  constructor(send) {
    Object.assign(this, { send, playing: true, recording: false, connected: false, chosenUntil: 0 });
    const timeScale = byId("time-scale");
    timeScale.append(...Object.entries(TIME_SCALES).sort().reverse().map(([value, text]) => createElement("option", { value }, text)));
    timeScale.addEventListener("change", () => {
      this.chosenUntil = performance.now() + ECHO_TIME;
      send("time_scale", Number(timeScale.value));
    });
    byId("robot").addEventListener("change", (event) => send("robot", event.target.value));
    byId("limb").addEventListener("change", (event) => send("limb", (this.limb = event.target.value)));
    byId("play").addEventListener("click", () => send("play", !this.playing));
    byId("reset").addEventListener("click", () => send("reset"));
    byId("record").addEventListener("click", () => send("record", !this.recording));
    byId("undo").addEventListener("click", () => send("undo"));
    setIcon(byId("undo"), "undo", "Undo");
    setIcon(byId("play"), "pause", "Pause");
    setIcon(byId("reset"), "reset", "Reset");
    setIcon(byId("record"), "record", "Record");
    addArrowKeys(byId("scenes"));
  }

  hello(hello) {
    const list = byId("scenes");
    const signature = JSON.stringify(hello.scenes);
    if (signature !== this.signature) {
      this.signature = signature;
      list.replaceChildren(...hello.scenes.map((scene) => createElement("button", {
        type: "button", role: "tab", id: `scene-${scene.name}`, title: scene.hint, "aria-controls": "controls",
        onclick: () => this.send("scene", scene.name),
      }, scene.title)));
    }
    for (const tab of list.children) {
      const selected = tab.id === `scene-${hello.scene}`;
      tab.setAttribute("aria-selected", selected);
      tab.tabIndex = selected ? 0 : -1;
    }
    const scene = hello.scenes.find((known) => known.name === hello.scene);
    setText(byId("hint"), scene?.hint ?? "");
    document.title = `${scene?.title ?? "Studio"} · Poise studio`;
    fillSelect(byId("robot"), hello.robots, hello.robot);
    fillSelect(byId("limb"), hello.limbs);
    if (hello.limbs.includes(this.limb)) this.send("limb", this.limb); // a new simulation may show another limb
  }

  frame(frame) {
    this.playing = frame.playing;
    this.recording = frame.recording.active;
    setIcon(byId("play"), frame.playing ? "pause" : "play", frame.playing ? "Pause" : "Play");
    const recordLabel = frame.recording.active ? `Stop ${frame.recording.seconds.toFixed(1)} s` : "Record";
    setIcon(byId("record"), frame.recording.active ? "stop" : "record", recordLabel);
    byId("record").setAttribute("aria-pressed", frame.recording.active);
    if (performance.now() > this.chosenUntil && document.activeElement !== byId("time-scale")) byId("time-scale").value = String(frame.time_scale);
    setText(byId("real-time-factor"), frame.real_time_factor === null ? "–" : `${frame.real_time_factor.toFixed(2)}×`);
    setText(byId("phase"), frame.input_timed_out ? `${frame.phase} (input released: connection timed out)` : frame.phase);
    this.showBanner(frame);
    this.showStatus(frame);
  }

  showBanner({ fall_reason: fall, fallback }) {
    const banner = byId("banner");
    banner.dataset.kind = fall ? "fall" : "fallback";
    setText(banner, fall ? `Fell: ${fall}` : fallback ? `Holding still: ${fallback}` : "");
    banner.hidden = !fall && !fallback;
  }

  setConnected(connected) {
    this.connected = connected;
    this.showStatus(null);
  }

  setLoading() {
    setText(byId("real-time-factor"), "–");
    setText(byId("phase"), "");
    byId("banner").hidden = true;
    this.showStatus(null, true);
  }

  showStatus(frame, loading = false) {
    const [state, label] =
      !this.connected ? ["lost", "not connected"]
      : loading ? ["paused", "loading"]
      : !frame ? ["paused", "connected"]
      : frame.replay.file ? ["replay", "replay"]
      : frame.fall_reason ? ["fallen", "fell"]
      : !frame.playing ? ["paused", "paused"]
      : frame.fallback ? ["hold", "holding"]
      : frame.real_time_factor < MIN_REAL_TIME_SHARE * frame.time_scale ? ["slow", "slower than real time"]
      : ["live", "live"];
    const status = byId("status");
    status.dataset.state = state;
    status.title = label;
    setText(status.lastChild, label);
  }
}
