// Viewer: playback, camera, and mouse, touch and keyboard input.

class Viewer {
  constructor(data) {
    this.data = data;
    this.poses = new Float32Array(bytes(data.poses).buffer);
    this.cameraPath = new Float32Array(bytes(data.cameraPath).buffer);
    this.now = new Float32Array(7 * data.frames);
    this.time = data.time[0];
    this.end = data.time[data.time.length - 1];
    this.playing = false;
    this.last = null;
    this.element = (name) => document.getElementById(name);
    this.canvas = this.element("view");
    this.drawing = new Drawing(this.canvas, data);
    this.reset();
    this.listen();
    const start = /[#&]t=([\d.]+)/.exec(location.hash); // page.html#t=1.5 opens at 1.5 s, paused
    if (start) this.seek(Number(start[1]));
    else this.play(this.end > this.time);
    requestAnimationFrame((now) => this.frame(now));
  }

  reset() {
    const { azimuth, elevation, distance, target } = this.data.view;
    Object.assign(this, { azimuth, elevation, distance, offset: [...target], still: null });
  }

  // Indices of the samples before and after the current time, and the fraction between them.
  between() {
    const times = this.data.time;
    let low = 0, high = times.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle] <= this.time) low = middle;
      else high = middle;
    }
    const span = times[high] - times[low];
    return [low, high, span > 0 ? Math.min(Math.max((this.time - times[low]) / span, 0), 1) : 0];
  }

  // Interpolates positions linearly, and quaternions linearly along the shorter arc with normalization.
  place() {
    const [a, b, share] = this.between(), size = this.now.length, { poses, now } = this;
    for (let i = 0; i < size; i += 7) {
      let sign = 0, length = 0;
      for (let k = 3; k < 7; k++) sign += poses[a * size + i + k] * poses[b * size + i + k];
      sign = sign < 0 ? -1 : 1;
      for (let k = 0; k < 7; k++)
        now[i + k] = (1 - share) * poses[a * size + i + k] + share * (k < 3 ? 1 : sign) * poses[b * size + i + k];
      for (let k = 3; k < 7; k++) length += now[i + k] * now[i + k];
      for (let k = 3; k < 7; k++) now[i + k] /= Math.sqrt(length) || 1;
    }
    return [0, 1, 2].map((k) => (1 - share) * this.cameraPath[3 * a + k] + share * this.cameraPath[3 * b + k]);
  }

  frame(now) {
    if (this.playing && this.last !== null) {
      this.time += Math.min((now - this.last) / 1000, 0.5) * Number(this.element("speed").value);
      if (this.time > this.end) this.time = this.data.time[0]; // loop
    }
    this.last = now;
    const canvas = this.canvas, sharp = Math.min(window.devicePixelRatio || 1, 2);
    const width = Math.round(canvas.clientWidth * sharp), height = Math.round(canvas.clientHeight * sharp);
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const robot = this.place();
    if (!this.element("follow").checked) this.still = this.still || robot;
    else this.still = null;
    const from = this.still || robot, { azimuth: a, elevation: e } = this;
    const narrow = Math.max(this.data.view.aspect * height / Math.max(width, 1), 1); // the camera moves back in a tall window
    const distance = this.distance * narrow, target = [0, 1, 2].map((k) => from[k] + this.offset[k]);
    const forward = [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)];
    const eye = target.map((number, k) => number - distance * forward[k]);
    this.drawing.draw(this.now, { eye, forward, target, distance, fieldOfView: this.data.view.fieldOfView });
    this.element("slider").value = this.time;
    this.element("clock").textContent = `${this.time.toFixed(2)} of ${this.end.toFixed(2)} s`;
    document.body.dataset.state = this.playing ? "playing" : "paused";
    requestAnimationFrame((later) => this.frame(later));
  }

  play(on) {
    this.playing = on;
    this.element("play").textContent = on ? "\u275A\u275A" : "\u25B6";
  }

  seek(time) {
    this.time = Math.min(Math.max(time, this.data.time[0]), this.end);
    this.play(false);
  }

  turn(dx, dy) {
    this.azimuth -= 0.008 * dx;
    this.elevation = Math.min(Math.max(this.elevation - 0.008 * dy, -1.5), 1.5);
  }

  shift(dx, dy) {
    const { azimuth: a, elevation: e } = this;
    const step = 2 * this.distance * Math.tan(this.data.view.fieldOfView / 2) / Math.max(this.canvas.clientHeight, 1);
    const right = [Math.sin(a), -Math.cos(a), 0], up = [-Math.sin(e) * Math.cos(a), -Math.sin(e) * Math.sin(a), Math.cos(e)];
    this.offset = this.offset.map((number, k) => number - step * (dx * right[k] - dy * up[k]));
  }

  zoom(factor) {
    this.distance = Math.min(Math.max(this.distance * factor, 0.2), 100);
  }

  listen() {
    const { canvas, data } = this, slider = this.element("slider"), fingers = new Map();
    slider.min = data.time[0];
    slider.max = this.end;
    slider.addEventListener("input", () => this.seek(Number(slider.value)));
    this.element("play").addEventListener("click", () => this.play(!this.playing));
    this.element("reset").addEventListener("click", () => this.reset());
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
    });
    for (const name of ["pointerup", "pointercancel"])
      canvas.addEventListener(name, (event) => fingers.delete(event.pointerId));
    canvas.addEventListener("pointermove", (event) => this.drag(event, fingers));
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(0.001 * event.deltaY));
    }, { passive: false });
    document.addEventListener("keydown", (event) => this.key(event));
  }

  // One finger or the left button rotates; another button or Shift pans; two fingers pan and zoom.
  drag(event, fingers) {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY], dx = now[0] - before[0], dy = now[1] - before[1];
    if (fingers.size === 2) {
      const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
      const apart = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
      this.zoom(apart(before) / apart(now));
      this.shift(dx / 2, dy / 2);
    } else if (event.shiftKey || event.buttons & 6) this.shift(dx, dy);
    else this.turn(dx, dy);
    fingers.set(event.pointerId, now);
  }

  key(event) {
    if (["INPUT", "SELECT", "BUTTON"].includes(event.target.tagName) && event.key !== "Home") return;
    const step = (this.end - this.data.time[0]) / Math.max(this.data.time.length - 1, 1);
    if (event.key === " ") this.play(!this.playing);
    else if (event.key === "ArrowLeft") this.seek(this.time - step);
    else if (event.key === "ArrowRight") this.seek(this.time + step);
    else if (event.key === "Home") this.reset();
    else return;
    event.preventDefault();
  }
}

try {
  window.viewer = new Viewer(JSON.parse(document.getElementById("data").textContent));
} catch (error) {
  const notice = document.getElementById("notice");
  notice.hidden = false;
  notice.textContent = `The scene cannot be shown: ${error.message}.`;
  document.body.dataset.state = "failed";
}
