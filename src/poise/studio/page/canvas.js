// Canvases that are sharp on every screen and in both colour schemes.

/** Colours of the style sheet, read anew when the scheme changes. */
const colours = {};
function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["text", "dim", "line", "accent", "panel", "bad", ...Array.from({ length: 8 }, (_, n) => `series-${n}`)])
    colours[name] = style.getPropertyValue(`--${name}`).trim();
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", readColours);

export function colour(name) {
  if (!colours.text) readColours();
  return colours[name];
}

/** A canvas ready to draw on in CSS pixels, wiped: {pen, width, height}; null while it has no size. */
export function sheet(canvas) {
  const sharp = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  if (width < 20 || height < 20) return null;
  if (canvas.width !== Math.round(width * sharp)) canvas.width = Math.round(width * sharp);
  if (canvas.height !== Math.round(height * sharp)) canvas.height = Math.round(height * sharp);
  const pen = canvas.getContext("2d");
  pen.setTransform(sharp, 0, 0, sharp, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = '10px system-ui, "DejaVu Sans", sans-serif';
  pen.lineJoin = "round";
  return { pen, width, height };
}
