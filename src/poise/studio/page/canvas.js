// Canvases that are sharp at every pixel density, with the colors of the light or dark scheme.

/** Color of the style sheet by name; the cache is cleared when the color scheme changes. */
const themeColors = {};
function readThemeColors() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["text", "muted", "line", "accent", "panel", "warning", "error", ...Array.from({ length: 8 }, (_, n) => `series-${n}`)])
    themeColors[name] = style.getPropertyValue(`--${name}`).trim();
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", readThemeColors);

export function themeColor(name) {
  if (!themeColors.text) readThemeColors();
  return themeColors[name];
}

/** Clear a canvas and scale it to CSS pixels; return {context, width, height}, or null while it has no size. */
export function prepareCanvas(canvas) {
  const pixelRatio = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  if (width < 20 || height < 20) return null;
  if (canvas.width !== Math.round(width * pixelRatio)) canvas.width = Math.round(width * pixelRatio);
  if (canvas.height !== Math.round(height * pixelRatio)) canvas.height = Math.round(height * pixelRatio);
  const context = canvas.getContext("2d");
  context.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = '10px system-ui, "DejaVu Sans", sans-serif';
  context.lineJoin = "round";
  return { context, width, height };
}
