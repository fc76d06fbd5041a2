// Entry point of the page: creates its parts and connects them to the server.

import { byId, addArrowKeys } from "./dom.js";
import { AxisDialog } from "./axis_dialog.js";
import { Controls } from "./controls.js";
import { StickInput } from "./stick_input.js";
import { Files } from "./files.js";
import { GaitPanel } from "./gait_panel.js";
import { GuidancePanel } from "./guidance_panel.js";
import { OperatorInput } from "./operator_input.js";
import { Toolbar } from "./toolbar.js";
import { Keyboard } from "./keyboard.js";
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
const gaitPanel = new GaitPanel();
const controls = new Controls(byId("controls"), (name, value) => send("control", [name, value]), (kind, text) => messages.show(kind, text));

const stickInput = new StickInput(send);
const operatorInput = new OperatorInput(send);
const guidancePanel = new GuidancePanel(operatorInput, send);
const keyboard = new Keyboard(stickInput, operatorInput);
connectWalkSticks(byId("stick-move"), byId("stick-turn"), stickInput);
new Gamepads(stickInput, operatorInput, { text: byId("gamepad"), button: byId("assign-axes") }, new AxisDialog());
showView(byId("view"), keyboard);
connectTabs();

let lostNotice = null;
sendCommand = connect({
  hello(hello) {
    toolbar.hello(hello);
    controls.hello(hello.controls);
    files.hello(hello.files);
    byId("walk-sticks").hidden = !hello.stick_driven;
    stickInput.enable(hello.stick_driven);
    guidancePanel.hello(hello.guidance);
    gaitPanel.hello(hello.gait);
  },
  message: (message) => messages.receive(message),
  sample: (frame) => plots.sample(frame),
  show(frame) {
    toolbar.frame(frame);
    statusPanel.frame(frame);
    controls.frame(frame.values);
    guidancePanel.frame(frame.guidance);
    gaitPanel.frame(frame);
    files.frame(frame.replay);
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
