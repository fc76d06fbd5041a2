// Puts the page together: who hears what comes in, and who says what goes out.

import { byId, steerTabs } from "./dom.js";
import { Assigning } from "./assign.js";
import { Controls } from "./controls.js";
import { Drive } from "./drive.js";
import { Files } from "./files.js";
import { Gait } from "./gait.js";
import { Guide } from "./guide.js";
import { Hands } from "./hands.js";
import { Header } from "./header.js";
import { Keys } from "./keys.js";
import { connect } from "./live.js";
import { Messages } from "./messages.js";
import { Pads } from "./pad.js";
import { Plots } from "./plots.js";
import { sticks } from "./sticks.js";
import { Tables } from "./tables.js";
import { view } from "./view.js";

let wire = () => {}; // until the connection is there
const send = (name, value) => wire(name, value);

const messages = new Messages(byId("messages"), byId("events"));
const header = new Header(send);
const tables = new Tables();
const plots = new Plots();
const files = new Files(send);
const gait = new Gait();
const controls = new Controls(byId("controls"), (name, value) => send("control", [name, value]), (kind, text) => messages.show(kind, text));

const drive = new Drive(send);
const hands = new Hands(send);
const guide = new Guide(hands, send);
const keys = new Keys(drive, hands);
sticks(byId("stick-move"), byId("stick-turn"), drive);
new Pads(drive, hands, { text: byId("pad"), button: byId("assign") }, new Assigning());
view(byId("view"), keys);
book();

let lost = null;
wire = connect({
  hello(hello) {
    header.hello(hello);
    controls.hello(hello.controls);
    files.hello(hello.files);
    byId("drive").hidden = !hello.sticks;
    drive.enable(hello.sticks);
    guide.hello(hello.guided);
    gait.hello(hello.gait);
  },
  message: (message) => messages.take(message),
  sample: (frame) => plots.sample(frame),
  show(frame) {
    header.frame(frame);
    tables.frame(frame);
    controls.frame(frame.values);
    guide.frame(frame.guide);
    gait.frame(frame);
    files.frame(frame.replay);
    messages.frame(frame.events);
    plots.draw();
  },
  link(open) {
    header.link(open);
    if (open) {
      lost?.remove();
      lost = null;
    } else lost ??= messages.show("error", "The studio does not answer. It may have been closed; trying again.");
  },
});

/** Files and events share a place. */
function book() {
  const tabs = [byId("tab-files"), byId("tab-events")];
  for (const tab of tabs)
    tab.addEventListener("click", () => {
      for (const other of tabs) {
        other.setAttribute("aria-selected", other === tab);
        other.tabIndex = other === tab ? 0 : -1;
        byId(other.getAttribute("aria-controls")).hidden = other !== tab;
      }
    });
  steerTabs(tabs[0].parentElement);
}
