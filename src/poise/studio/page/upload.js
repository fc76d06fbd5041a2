// A file of the user's on its way to the studio, in pieces, over a websocket of its own.

import { createElement } from "./dom.js";

const CHUNK = 65536; // bytes

export function upload(control, send, postMessage) {
  const field = createElement("input", { type: "file", accept: control.accept, "aria-label": control.label, title: control.help });
  const element = createElement("div", { class: "control file" }, field, createElement("span", { class: "button", "aria-hidden": "true" }, control.label));
  field.addEventListener("change", async () => {
    const file = field.files[0];
    field.value = ""; // the same file can be chosen again
    if (!file) return;
    const error = await sendFile(control.name, file).catch(() => `'${file.name}' could not be read; choose it again`);
    if (error) postMessage("error", error);
    else postMessage("info", `'${file.name}' is loaded`);
  });
  return { element, show() {} };
}

/** What is wrong with the file, in one line; "" if nothing is. It is the server that decides what is too large. */
function sendFile(name, file) {
  const address = new URL(`/upload/${encodeURIComponent(name)}?name=${encodeURIComponent(file.name)}`, location.href);
  address.protocol = location.protocol.replace("http", "ws");
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(address);
    const isOpen = () => reply === null && socket.readyState === WebSocket.OPEN;
    let reply = null;
    socket.onmessage = (event) => {
      reply = JSON.parse(event.data).error;
      resolve(reply);
      socket.close();
    };
    socket.onclose = () => reply ?? resolve("the studio did not answer; try again");
    socket.onopen = async () => {
      try {
        for (let from = 0; from < file.size && isOpen(); from += CHUNK) {
          const chunk = await file.slice(from, from + CHUNK).arrayBuffer();
          if (isOpen()) socket.send(chunk); // the studio may have said no meanwhile
          while (socket.bufferedAmount > 4 * CHUNK && isOpen()) await new Promise((next) => setTimeout(next, 10));
        }
        if (isOpen()) socket.send("end");
      } catch (error) {
        reject(error);
        socket.close();
      }
    };
  });
}
