// Websocket to the server: receives hello, frames and messages, sends commands, and reconnects automatically.

const KEEP_ALIVE_PERIOD = 200; // ms; the simulation releases a stick after 500 ms without a message
const FIRST_RETRY = 500, LONGEST_RETRY = 3000; // ms until the next attempt
const MAX_BUFFERED = 65536; // bytes waiting to be sent, above which commands are dropped, as they would arrive late

/**
 * Connect, and reconnect whenever the connection closes; return send(name, value).
 * handlers: {hello(value), sample(frame), show(frame), message(value), connected(open)};
 * sample is called with every frame, show with the latest one, once per screen refresh, and again after each hello.
 */
export function connect(handlers) {
  let socket = null, retry = FIRST_RETRY, latest = null, drawRequested = false;

  const draw = () => {
    drawRequested = false;
    if (latest) handlers.show(latest);
  };
  const requestDraw = () => {
    if (!drawRequested) requestAnimationFrame(draw);
    drawRequested = true;
  };
  const receive = (event) => {
    const message = JSON.parse(event.data);
    if (message.hello) {
      if (message.hello.controls.length === 0) latest = null; // a scene is being loaded; the frame is of the one before
      handlers.hello(message.hello);
      requestDraw(); // hello rebuilds panels, and a paused simulation sends no other frame
    }
    if (message.message) handlers.message(message.message);
    if (message.frame) {
      latest = message.frame;
      handlers.sample(latest);
      requestDraw();
    }
  };
  const open = () => {
    const opened = new WebSocket(`${location.protocol.replace("http", "ws")}//${location.host}/live`);
    opened.onopen = () => {
      retry = FIRST_RETRY;
      handlers.connected(true);
    };
    opened.onmessage = receive;
    opened.onclose = () => {
      handlers.connected(false);
      setTimeout(open, retry);
      retry = Math.min(1.5 * retry, LONGEST_RETRY);
    };
    socket = opened;
  };
  const send = (name, value = null) => {
    if (socket?.readyState !== WebSocket.OPEN || socket.bufferedAmount > MAX_BUFFERED) return;
    socket.send(JSON.stringify({ command: name, value }));
  };
  setInterval(() => send("keep_alive"), KEEP_ALIVE_PERIOD);
  open();
  return send;
}
