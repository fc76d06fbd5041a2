// 3D view: viser's client in an iframe of the same origin.

/** Return whether the browser can draw in three dimensions. */
function hasWebGL() {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("webgl2") ?? canvas.getContext("webgl");
  context?.getExtension?.("WEBGL_lose_context")?.loseContext();
  return Boolean(context);
}

/** Load viser's client and let `keyboard` listen to keys pressed in it; without WebGL, show `notice` instead. */
export function showView(frame, notice, keyboard) {
  if (!hasWebGL()) {
    notice.hidden = false;
    frame.hidden = true;
    return;
  }
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
