// On-screen sticks for mouse, pen and touch.

/**
 * Create a stick. `onMove(right, up)` is called with its position, each between -1 and 1, and with (0, 0) on release.
 * With class "horizontal" it moves only sideways, with class "vertical" only up and down. Returns `show(right, up)`, which
 * displays the input of another device while the stick is not held.
 */
export function screenStick(element, onMove) {
  const knob = element.querySelector(".knob");
  const horizontal = element.classList.contains("horizontal"), vertical = element.classList.contains("vertical");
  let pointer = null;

  const placeKnob = (right, up) => {
    const travel = knobTravel(Math.max(element.clientWidth, element.clientHeight));
    knob.style.transform = `translate(${right * travel}px, ${-up * travel}px)`;
  };
  const moveTo = (right, up) => {
    placeKnob(right, up);
    onMove(right, up);
  };
  const follow = (event) => {
    if (event.pointerId !== pointer) return;
    const box = element.getBoundingClientRect();
    const travel = knobTravel(Math.max(box.width, box.height));
    const right = vertical ? 0 : (event.clientX - box.left - box.width / 2) / travel;
    const up = horizontal ? 0 : (box.top + box.height / 2 - event.clientY) / travel;
    const radius = Math.max(1, Math.hypot(right, up));
    moveTo(right / radius, up / radius);
  };
  const release = () => {
    if (pointer === null) return;
    pointer = null;
    element.classList.remove("active");
    moveTo(0, 0);
  };
  element.addEventListener("pointerdown", (event) => {
    if (pointer !== null || event.button !== 0) return;
    pointer = event.pointerId;
    element.setPointerCapture(pointer);
    element.classList.add("active");
    follow(event);
  });
  element.addEventListener("pointermove", follow);
  for (const kind of ["pointerup", "pointercancel", "lostpointercapture"])
    element.addEventListener(kind, (event) => event.pointerId === pointer && release());
  addEventListener("released", release);
  return (right, up) => pointer === null && placeKnob(right, up);
}

/** Largest distance of the knob from the center, px. */
const knobTravel = (length) => length / 2 - 20;

export function connectWalkSticks(move, turn, stickInput) {
  screenStick(move, (right, up) => stickInput.hold("move", [up, -right, 0]));
  screenStick(turn, (right) => stickInput.hold("turn", [0, 0, -right]));
}
