// A file of the user's on its way to the studio, in pieces, over a websocket of its own.

import { make } from "./dom.js";

const PIECE = 65536; // bytes

export function upload(control, send, say) {
  const field = make("input", { type: "file", accept: control.accept, "aria-label": control.label, title: control.help });
  const element = make("div", { class: "control file" }, field, make("span", { class: "button", "aria-hidden": "true" }, control.label));
  field.addEventListener("change", async () => {
    const file = field.files[0];
    field.value = ""; // the same file can be chosen again
    if (!file) return;
    const error = await sent(control.name, file).catch(() => `'${file.name}' could not be read; choose it again`);
    if (error) say("error", error);
    else say("info", `'${file.name}' is loaded`);
  });
  return { element, show() {} };
}

/** What is wrong with the file, in one line; "" if nothing is. It is the server that decides what is too large. */
function sent(name, file) {
  const address = new URL(`/upload/${encodeURIComponent(name)}?name=${encodeURIComponent(file.name)}`, location.href);
  address.protocol = location.protocol.replace("http", "ws");
  return new Promise((done, fail) => {
    const socket = new WebSocket(address);
    const open = () => answer === null && socket.readyState === WebSocket.OPEN;
    let answer = null;
    socket.onmessage = (event) => {
      answer = JSON.parse(event.data).error;
      done(answer);
      socket.close();
    };
    socket.onclose = () => answer ?? done("the studio did not answer; try again");
    socket.onopen = async () => {
      try {
        for (let from = 0; from < file.size && open(); from += PIECE) {
          const piece = await file.slice(from, from + PIECE).arrayBuffer();
          if (open()) socket.send(piece); // the studio may have said no meanwhile
          while (socket.bufferedAmount > 4 * PIECE && open()) await new Promise((next) => setTimeout(next, 10));
        }
        if (open()) socket.send("end");
      } catch (problem) {
        fail(problem);
        socket.close();
      }
    };
  });
}
