// The wire to the server: hello, frames and messages come in, commands go out. It comes back by itself when it breaks.

const KEEP_ALIVE_PERIOD = 200; // ms; the simulation lets go of a stick after 500 ms of silence
const FIRST_RETRY = 500, LONGEST_RETRY = 3000; // ms until the next try
const MAX_BUFFERED = 65536; // bytes not yet sent; more of the same would only come late

/**
 * Connects and stays connected.
 * handlers: {hello(value), sample(frame), show(frame), message(value), connected(open)};
 * sample gets every frame, show the latest one, once per picture of the screen.
 */
export function connect(handlers) {
  let socket = null, retry = FIRST_RETRY, latest = null, drawRequested = false;

  const draw = () => {
    drawRequested = false;
    if (latest) handlers.show(latest);
  };
  const receive = (event) => {
    const message = JSON.parse(event.data);
    if (message.hello) handlers.hello(message.hello);
    if (message.message) handlers.message(message.message);
    if (message.frame) {
      latest = message.frame;
      handlers.sample(latest);
      if (!drawRequested) requestAnimationFrame(draw);
      drawRequested = true;
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
