// On-screen sticks, for mouse, pen and fingers.

/** A stick: `drag(right, up)` hears where it is held, each between -1 and 1, and (0, 0) when it is let go. */
function stick(element, flat, drag) {
  const knob = element.querySelector(".knob");
  let holder = null;

  const put = (right, up) => {
    knob.style.transform = `translate(${right * travel(element.clientWidth)}px, ${-up * travel(element.clientWidth)}px)`;
    drag(right, up);
  };
  const follow = (event) => {
    if (event.pointerId !== holder) return;
    const box = element.getBoundingClientRect();
    const reach = travel(box.width);
    const right = (event.clientX - box.left - box.width / 2) / reach;
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
}

/** How far the knob can move from the middle, px. */
const travel = (width) => width / 2 - 20;

export function sticks(move, turn, drive) {
  stick(move, false, (right, up) => drive.hold("move", [up, -right, 0]));
  stick(turn, true, (right) => drive.hold("turn", [0, 0, -right]));
}
