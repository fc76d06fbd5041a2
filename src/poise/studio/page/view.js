// 3D view: viser's client in an iframe of the same origin.

/** Load viser's client and let `keyboard` listen to keys pressed in it. */
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
