"""What is written and drawn over a picture: titles, names of marks, and lines that shine through the robot."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from poise.report.camera import Camera
from poise.report.extras import CENTER, MARK, SUPPORT, Color, Extras, ground_below, support_outline, turns
from poise.robots import State

Array = NDArray[np.float64]
Image = NDArray[np.uint8]
Size = tuple[int, int]
Ink = tuple[int, int, int, int]

#: Lines are drawn this much larger and then shrunk, which smooths them.
FINE = 3
INK = (40, 44, 52, 255)
PAPER = (255, 255, 255, 200)


def annotated(image: Image, state: State, camera: Camera, extras: Extras, title: str) -> Image:
    """A copy of a picture, drawn with this camera, with the outlines of what the robot hides and with all texts."""
    height, width = image.shape[:2]
    size = width, height
    layer = Pillow.new("RGBA", (FINE * width, FINE * height))
    pen = ImageDraw.Draw(layer)
    thin = max(1, round(FINE * height / 400))

    outline = _visible(camera, support_outline(state), size)
    if len(outline) > 1:
        pen.line([*outline, outline[0]], fill=_ink(SUPPORT, 0.75), width=thin)
    ring = 1.3 * MARK * state.robot.height
    _circle(pen, camera, ground_below(state), ring, size, _ink(CENTER, 0.9), thin)
    names = []
    for (name, point), color in zip(extras.marks.items(), turns(extras.marks), strict=True):
        place = _circle(pen, camera, point, ring, size, _ink(color, 1.0), thin)
        names += [(name, color, place)] if place else []
    layer = layer.resize(size, Pillow.Resampling.BOX)

    pen = ImageDraw.Draw(layer)
    small, large = (ImageFont.load_default(max(9.0, height / share)) for share in (38, 26))
    for name, color, (x, y, r) in names:
        fits = x + r + 4 + small.getlength(name) <= width
        at, side = ((x + r + 3, y), "lm") if fits else ((x - r - 3, y), "rm")
        pen.text(at, name, fill=_ink(color, 1.0, 0.7), font=small, anchor=side, stroke_width=2, stroke_fill=PAPER)
    if title:
        at = width / 2, height / 40
        pen.text(at, title, fill=INK, font=large, anchor="ma", stroke_width=2, stroke_fill=PAPER)
    return np.array(Pillow.alpha_composite(Pillow.fromarray(image).convert("RGBA"), layer).convert("RGB"))


def _circle(
    pen: ImageDraw.ImageDraw, camera: Camera, point: Array, radius: float, size: Size, ink: Ink, thin: int
) -> tuple[float, float, float] | None:
    """Draws the outline of a ball and says where it is and how large, in pixels; none if it is behind the camera."""
    places = _visible(camera, np.array([point, point + radius * camera.axes[1]]), size)
    if len(places) < 2:
        return None
    (x, y), (_, top) = places
    r = y - top
    pen.ellipse((x - r, y - r, x + r, y + r), outline=ink, width=thin)
    return x / FINE, y / FINE, r / FINE


def _visible(camera: Camera, points: Array, size: Size) -> list[tuple[float, float]]:
    """Where points are on the fine layer, those behind the camera left out."""
    places = FINE * camera.project(points, *size)
    return [(float(x), float(y)) for x, y in places if np.isfinite(x)]


def _ink(color: Color, alpha: float, shade: float = 1.0) -> Ink:
    red, green, blue = (round(255 * shade * part) for part in color)
    return red, green, blue, round(255 * alpha)
