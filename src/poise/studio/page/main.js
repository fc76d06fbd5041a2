// Entry point of the page: creates its parts and connects them to the server.

import { byId, addArrowKeys } from "./dom.js";
import { AxisDialog } from "./axis_dialog.js";
import { Controls } from "./controls.js";
import { StickInput } from "./stick_input.js";
import { Files } from "./files.js";
import { GaitPanel } from "./gait_panel.js";
import { GuidancePanel } from "./guidance_panel.js";
import { OperatorInput } from "./operator_input.js";
import { Jobs } from "./jobs.js";
import { Toolbar } from "./toolbar.js";
import { Keyboard } from "./keyboard.js";
import { KeyHelp } from "./key_help.js";
import { connect } from "./connection.js";
import { Messages } from "./messages.js";
import { Gamepads } from "./gamepad.js";
import { Plots } from "./plots.js";
import { connectWalkSticks } from "./screen_stick.js";
import { StatusPanel } from "./status_panel.js";
import { showView } from "./view.js";

let sendCommand = () => {}; // until the connection is set up
const send = (name, value) => sendCommand(name, value);

const messages = new Messages(byId("messages"), byId("events"));
const toolbar = new Toolbar(send);
const statusPanel = new StatusPanel();
const plots = new Plots();
const files = new Files(send);
const jobs = new Jobs(send);
const gaitPanel = new GaitPanel();
const controls = new Controls(byId("controls"), (name, value) => send("control", [name, value]), (kind, text) => messages.show(kind, text));

const stickInput = new StickInput(send);
const operatorInput = new OperatorInput(send);
const guidancePanel = new GuidancePanel(operatorInput, send);
const keyHelp = new KeyHelp();
const keyboard = new Keyboard(stickInput, operatorInput, { undo: () => send("undo"), help: () => keyHelp.open() });
connectWalkSticks(byId("stick-move"), byId("stick-turn"), stickInput);
new Gamepads(stickInput, operatorInput, { text: byId("gamepad"), button: byId("assign-axes") }, new AxisDialog());
showView(byId("view"), byId("no-webgl"), keyboard);
connectTabs();
connectPanelTabs();

let lostNotice = null;
let scene = {}, live = null;

/** Enable the sticks and keys of the scene while it is live; a replay cannot be driven. */
function showSticks(isLive) {
  if (isLive === live) return;
  live = isLive;
  byId("walk-sticks").hidden = !(isLive && scene.stick_driven);
  stickInput.enable(Boolean(isLive && scene.stick_driven));
  guidancePanel.hello(isLive ? scene.guidance : null);
}

/** Show that a scene is being loaded, and nothing of the scene before. */
function showLoading() {
  toolbar.setLoading();
  statusPanel.clear();
  plots.clear();
  files.hideReplay();
}

sendCommand = connect({
  hello(hello) {
    toolbar.hello(hello);
    controls.hello(hello.controls);
    files.hello(hello.files);
    scene = hello;
    live = null;
    showSticks(true);
    keyHelp.hello(hello);
    gaitPanel.hello(hello.gait);
    if (hello.controls.length === 0) showLoading();
  },
  message: (message) => messages.receive(message),
  sample: (frame) => plots.sample(frame),
  show(frame) {
    toolbar.frame(frame);
    statusPanel.frame(frame);
    controls.frame(frame);
    guidancePanel.frame(frame.guidance);
    gaitPanel.frame(frame);
    files.frame(frame);
    jobs.frame(frame.jobs ?? []);
    showSticks(frame.replay.file === "");
    messages.frame(frame.events);
    plots.draw();
  },
  connected(open) {
    toolbar.setConnected(open);
    if (open) {
      lostNotice?.remove();
      lostNotice = null;
    } else lostNotice ??= messages.show("error", "The studio does not respond; it may have been closed. Reconnecting.");
  },
});

/** Small windows show one panel at a time, which these tabs choose. */
function connectPanelTabs() {
  const tabs = [...byId("panel-tabs").children];
  for (const tab of tabs)
    tab.addEventListener("click", () => {
      byId("main").dataset.panel = tab.dataset.panel;
      for (const other of tabs) {
        other.setAttribute("aria-selected", other === tab);
        other.tabIndex = other === tab ? 0 : -1;
      }
    });
  addArrowKeys(byId("panel-tabs"));
}

/** Switch between the tabs Files and Events. */
function connectTabs() {
  const tabs = [byId("tab-files"), byId("tab-events")];
  for (const tab of tabs)
    tab.addEventListener("click", () => {
      for (const other of tabs) {
        other.setAttribute("aria-selected", other === tab);
        other.tabIndex = other === tab ? 0 : -1;
        byId(other.getAttribute("aria-controls")).hidden = other !== tab;
      }
    });
  addArrowKeys(tabs[0].parentElement);
}
