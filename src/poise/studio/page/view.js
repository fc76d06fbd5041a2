// The 3D view: viser's client in a frame of the same origin.

/** Shows viser and lets `keyboard` hear the keys that are pressed in it. */
export function showView(frame, keyboard) {
  frame.addEventListener("load", () => {
    const inner = frame.contentDocument;
    if (!inner?.head) return;
    const style = inner.createElement("link");
    Object.assign(style, { rel: "stylesheet", href: "/page/viser.css" });
    inner.head.append(style);
    keyboard.listen(frame.contentWindow);
  });
  const socket = `${location.protocol.replace("http", "ws")}//${location.host}/vws`;
  frame.src = `/viser/?websocket=${encodeURIComponent(socket)}&hideViserLogo`;
}
