// The wire to the server: hello, frames and messages come in, commands go out. It comes back by itself when it breaks.

const ALIVE = 200; // ms; the simulation lets go of a stick after 500 ms of silence
const FIRST_WAIT = 500, LONGEST_WAIT = 3000; // ms until the next try
const CROWDED = 65536; // bytes not yet sent; more of the same would only come late

/**
 * Connects and stays connected.
 * heard: {hello(value), sample(frame), show(frame), message(value), link(open)};
 * sample gets every frame, show the latest one, once per picture of the screen.
 */
export function connect(heard) {
  let socket = null, wait = FIRST_WAIT, latest = null, asked = false;

  const draw = () => {
    asked = false;
    if (latest) heard.show(latest);
  };
  const take = (event) => {
    const said = JSON.parse(event.data);
    if (said.hello) heard.hello(said.hello);
    if (said.message) heard.message(said.message);
    if (said.frame) {
      latest = said.frame;
      heard.sample(latest);
      if (!asked) requestAnimationFrame(draw);
      asked = true;
    }
  };
  const open = () => {
    const own = new WebSocket(`${location.protocol.replace("http", "ws")}//${location.host}/live`);
    own.onopen = () => {
      wait = FIRST_WAIT;
      heard.link(true);
    };
    own.onmessage = take;
    own.onclose = () => {
      heard.link(false);
      setTimeout(open, wait);
      wait = Math.min(1.5 * wait, LONGEST_WAIT);
    };
    socket = own;
  };
  const send = (name, value = null) => {
    if (socket?.readyState !== WebSocket.OPEN || socket.bufferedAmount > CROWDED) return;
    socket.send(JSON.stringify({ do: name, with: value }));
  };
  setInterval(() => send("alive"), ALIVE);
  open();
  return send;
}
