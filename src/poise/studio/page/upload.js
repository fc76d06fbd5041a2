// Upload control: sends a file to the studio in chunks over a separate websocket.

import { createElement } from "./dom.js";

const CHUNK = 65536; // bytes

export function upload(control, send, postMessage) {
  const field = createElement("input", { type: "file", accept: control.accept, "aria-label": control.label, title: control.help });
  const element = createElement("div", { class: "control file" }, field, createElement("span", { class: "button", "aria-hidden": "true" }, control.label));
  field.addEventListener("change", async () => {
    const file = field.files[0];
    field.value = ""; // so that the same file can be chosen again
    if (!file) return;
    const error = await sendFile(control.name, file).catch(() => `'${file.name}' could not be read; choose it again`);
    if (error) postMessage("error", error);
    else postMessage("info", `'${file.name}' is loaded`);
  });
  return { element, show() {} };
}

/** Send a file; resolve to "" or one line that says what is wrong with it. The server checks the size. */
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
    socket.onclose = () => reply ?? resolve("the studio did not respond; try again");
    socket.onopen = async () => {
      try {
        for (let from = 0; from < file.size && isOpen(); from += CHUNK) {
          const chunk = await file.slice(from, from + CHUNK).arrayBuffer();
          if (isOpen()) socket.send(chunk); // the studio may have refused the file in the meantime
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
