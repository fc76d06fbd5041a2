// On-screen sticks, for mouse, pen and fingers.

/**
 * A stick: `drag(right, up)` hears where it is held, each between -1 and 1, and (0, 0) when it is let go. One of the class
 * "flat" moves sideways only, one of the class "upright" only up and down. Returns `show(right, up)`, which lets a knob
 * that nobody holds tell what another device does.
 */
export function stick(element, drag) {
  const knob = element.querySelector(".knob");
  const flat = element.classList.contains("flat"), upright = element.classList.contains("upright");
  let holder = null;

  const place = (right, up) => {
    const reach = travel(Math.max(element.clientWidth, element.clientHeight));
    knob.style.transform = `translate(${right * reach}px, ${-up * reach}px)`;
  };
  const put = (right, up) => {
    place(right, up);
    drag(right, up);
  };
  const follow = (event) => {
    if (event.pointerId !== holder) return;
    const box = element.getBoundingClientRect();
    const reach = travel(Math.max(box.width, box.height));
    const right = upright ? 0 : (event.clientX - box.left - box.width / 2) / reach;
    const up = flat ? 0 : (box.top + box.height / 2 - event.clientY) / reach;
    const far = Math.max(1, Math.hypot(right, up));
    put(right / far, up / far);
  };
  const letGo = () => {
    if (holder === null) return;
    holder = null;
    element.classList.remove("held");
    put(0, 0);
  };
  element.addEventListener("pointerdown", (event) => {
    if (holder !== null || event.button !== 0) return;
    holder = event.pointerId;
    element.setPointerCapture(holder);
    element.classList.add("held");
    follow(event);
  });
  element.addEventListener("pointermove", follow);
  for (const kind of ["pointerup", "pointercancel", "lostpointercapture"])
    element.addEventListener(kind, (event) => event.pointerId === holder && letGo());
  addEventListener("released", letGo);
  return (right, up) => holder === null && place(right, up);
}

/** How far the knob can move from the middle, px. */
const travel = (length) => length / 2 - 20;

export function sticks(move, turn, drive) {
  stick(move, (right, up) => drive.hold("move", [up, -right, 0]));
  stick(turn, (right) => drive.hold("turn", [0, 0, -right]));
}
