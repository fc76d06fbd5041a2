"use strict";
// Drawing of robot surfaces and the ground with WebGL 2. Matrices are column-major arrays of 16 numbers; the world has z up.

const SUN = normalized([0.45, -0.35, 0.82]); // direction from the ground towards the sun
const SKY = [0.929, 0.949, 0.969];

function bytes(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

function normalized(v) {
  const length = Math.hypot(...v);
  return v.map((number) => number / length);
}

function cross(a, b) {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

function dot(a, b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

function product(a, b) {
  const c = new Float32Array(16);
  for (let i = 0; i < 4; i++)
    for (let j = 0; j < 4; j++)
      for (let k = 0; k < 4; k++) c[4 * j + i] += a[4 * k + i] * b[4 * j + k];
  return c;
}

// View matrix: from the world to a camera at `eye` that looks along `forward`, with z up.
function looking(eye, forward) {
  const right = normalized(cross(forward, [0, 0, 1])), up = cross(right, forward);
  return [right[0], up[0], -forward[0], 0, right[1], up[1], -forward[1], 0, right[2], up[2], -forward[2], 0,
    -dot(right, eye), -dot(up, eye), dot(forward, eye), 1];
}

function perspective(field, aspect, near, far) {
  const f = 1 / Math.tan(field / 2);
  return [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, 2 * far * near / (near - far), 0];
}

// Matrix of the pose that begins at index `at`: position and quaternion (x, y, z, w).
function placed(p, at) {
  const [tx, ty, tz, x, y, z, w] = p.subarray(at, at + 7);
  return [1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w), 0,
    2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w), 0,
    2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y), 0, tx, ty, tz, 1];
}

// Matrix that projects points along the sunlight onto the ground plane; 2 mm above it, so that the shadow is not hidden.
function shadowed(ground) {
  const n = [ground[8], ground[9], ground[10]], height = dot(n, [ground[12], ground[13], ground[14]]) + 0.002;
  const c = dot(n, SUN), m = new Float32Array(16);
  for (let j = 0; j < 3; j++)
    for (let i = 0; i < 3; i++) m[4 * j + i] = (i === j ? 1 : 0) - SUN[i] * n[j] / c;
  for (let i = 0; i < 3; i++) m[12 + i] = SUN[i] * height / c;
  m[15] = 1;
  return m;
}

const BODY = [`#version 300 es
in vec3 position; in vec3 normal;
uniform mat4 camera, pose; uniform float scale;
out vec3 side;
void main() { side = mat3(pose) * normal; gl_Position = camera * pose * vec4(scale * position, 1.0); }`,
`#version 300 es
precision highp float;
in vec3 side; uniform vec4 color; uniform vec3 sun, forward; uniform float shade; out vec4 pixel;
void main() {
  if (shade > 0.0) { pixel = vec4(0.10, 0.13, 0.18, shade); return; }
  vec3 n = normalize(gl_FrontFacing ? side : -side);
  float light = 0.42 + 0.10 * n.z + 0.40 * max(dot(n, sun), 0.0) + 0.18 * max(dot(n, -forward), 0.0);
  pixel = vec4(color.rgb * light, color.a);
}`];

const GROUND = [`#version 300 es
in vec2 position; uniform mat4 camera, pose; uniform vec2 middle; uniform float reach; out vec2 place, from;
void main() { from = position; place = middle + reach * position; gl_Position = camera * pose * vec4(place, 0.0, 1.0); }`,
`#version 300 es
precision highp float;
in vec2 place, from; uniform vec3 sky; out vec4 pixel;
float lines(float step) {
  vec2 x = place / step, near = abs(fract(x - 0.5) - 0.5) / fwidth(x);
  return 1.0 - min(min(near.x, near.y), 1.0);
}
void main() {
  vec3 color = mix(vec3(0.86, 0.88, 0.90), vec3(0.72, 0.75, 0.79), 0.5 * lines(0.25));
  color = mix(color, vec3(0.56, 0.61, 0.66), 0.8 * lines(1.0));
  pixel = vec4(mix(color, sky, smoothstep(0.3, 1.0, length(from))), 1.0);
}`];

function createProgram(gl, [vertex, fragment]) {
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) || "no graphics");
  const at = {};
  for (let i = 0; i < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); i++) {
    const name = gl.getActiveUniform(program, i).name;
    at[name] = gl.getUniformLocation(program, name);
  }
  return { program, at };
}

class Drawing {
  constructor(canvas, data) {
    const gl = canvas.getContext("webgl2", { alpha: false, antialias: true, stencil: true });
    if (!gl) throw new Error("this browser has no WebGL 2");
    this.gl = gl;
    this.data = data;
    this.body = createProgram(gl, BODY);
    this.ground = createProgram(gl, GROUND);
    this.bodies = this.surfaces(bytes(data.vertices), bytes(data.indices));
    this.square = this.plane();
    this.shadow = shadowed(data.ground);
    gl.enable(gl.DEPTH_TEST);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.clearColor(...SKY, 1);
  }

  surfaces(vertices, indices) {
    const gl = this.gl, array = gl.createVertexArray();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, vertices, gl.STATIC_DRAW);
    for (const [name, kind, offset] of [["position", gl.SHORT, 0], ["normal", gl.BYTE, 8]]) {
      const place = gl.getAttribLocation(this.body.program, name);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, 3, kind, true, 12, offset);
    }
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, indices, gl.STATIC_DRAW);
    return array;
  }

  plane() {
    const gl = this.gl, array = gl.createVertexArray(), place = gl.getAttribLocation(this.ground.program, "position");
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), gl.STATIC_DRAW);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, 2, gl.FLOAT, false, 0, 0);
    return array;
  }

  // poses: 7 numbers per frame; view: eye, forward, target, distance, field (of view, rad).
  draw(poses, view) {
    const gl = this.gl, { width, height } = gl.canvas;
    gl.viewport(0, 0, width, height);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    const lens = perspective(view.fieldOfView, width / height, 0.02 * view.distance, 20 * view.distance + 20);
    const camera = product(lens, looking(view.eye, view.forward));
    const matrices = [];
    for (let i = 0; i < this.data.frames; i++) matrices.push(placed(poses, 7 * i));
    this.drawGround(camera, view);
    this.drawShadow(camera, matrices);
    this.drawBodies(camera, matrices, view.forward, 0);
  }

  drawGround(camera, view) {
    const gl = this.gl, at = this.ground.at;
    gl.useProgram(this.ground.program);
    gl.uniformMatrix4fv(at.camera, false, camera);
    gl.uniformMatrix4fv(at.pose, false, this.data.ground);
    gl.uniform2f(at.middle, view.target[0], view.target[1]);
    gl.uniform1f(at.reach, 4 + 3 * view.distance);
    gl.uniform3fv(at.sky, SKY);
    gl.bindVertexArray(this.square);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }

  // The stencil buffer darkens every pixel only once if several bodies shade it.
  drawShadow(camera, matrices) {
    if (!this.data.isFlat) return;
    const gl = this.gl;
    gl.enable(gl.BLEND);
    gl.enable(gl.STENCIL_TEST);
    gl.depthMask(false);
    gl.stencilFunc(gl.EQUAL, 0, 255);
    gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
    this.drawBodies(product(camera, this.shadow), matrices, [0, 0, -1], 0.22);
    gl.depthMask(true);
    gl.disable(gl.STENCIL_TEST);
    gl.disable(gl.BLEND);
  }

  drawBodies(camera, matrices, forward, shade) {
    const gl = this.gl, at = this.body.at;
    gl.useProgram(this.body.program);
    gl.uniformMatrix4fv(at.camera, false, camera);
    gl.uniform1f(at.scale, this.data.scale);
    gl.uniform1f(at.shade, shade);
    gl.uniform3fv(at.sun, SUN);
    gl.uniform3fv(at.forward, forward);
    gl.bindVertexArray(this.bodies);
    for (const part of this.data.parts) {
      if (!shade && part.color[3] < 1) gl.enable(gl.BLEND);
      gl.uniformMatrix4fv(at.pose, false, matrices[part.frame]);
      gl.uniform4fv(at.color, part.color);
      gl.drawElements(gl.TRIANGLES, part.indexCount, gl.UNSIGNED_INT, 4 * part.firstIndex);
    }
    if (!shade) gl.disable(gl.BLEND);
  }
}
