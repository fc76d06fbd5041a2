"""Annotated pictures of robot states, in a row or as ghosts, as arrays and as PNG files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from poise.arrays import Array, Image
from poise.errors import PoiseError
from poise.extras import PIL, require
from poise.files import atomic_write, failure_reason, writable_path
from poise.rendering.camera import Camera
from poise.rendering.opengl_context import check_opengl
from poise.rendering.overlays import CENTER, MARK, SUPPORT, Color, Extras, ground_below, support_outline, turns
from poise.rendering.renderer import Stage
from poise.robots import Robot, State

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
    layer = PIL.Image.new("RGBA", (FINE * width, FINE * height))
    pen = PIL.ImageDraw.Draw(layer)
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
    layer = layer.resize(size, PIL.Image.Resampling.BOX)

    pen = PIL.ImageDraw.Draw(layer)
    small, large = (PIL.ImageFont.load_default(max(9.0, height / share)) for share in (38, 26))
    for name, color, (x, y, r) in names:
        fits = x + r + 4 + small.getlength(name) <= width
        at, side = ((x + r + 3, y), "lm") if fits else ((x - r - 3, y), "rm")
        pen.text(at, name, fill=_ink(color, 1.0, 0.7), font=small, anchor=side, stroke_width=2, stroke_fill=PAPER)
    if title:
        at = width / 2, height / 40
        pen.text(at, title, fill=INK, font=large, anchor="ma", stroke_width=2, stroke_fill=PAPER)
    return np.array(PIL.Image.alpha_composite(PIL.Image.fromarray(image).convert("RGBA"), layer).convert("RGB"))


def _circle(
    pen: PIL.ImageDraw.ImageDraw, camera: Camera, point: Array, radius: float, size: Size, ink: Ink, thin: int
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


# -- Pictures of a robot's states, to look at and to put on a page ---------------------------------------------------


Marks = Mapping[str, ArrayLike]

#: Fewest and most pixels of a side: below, nothing can be seen; above, graphics drivers refuse.
SMALLEST, LARGEST = 16, 8192


def picture(
    states: State | Iterable[State],
    width: int = 960,
    height: int = 720,
    camera: Camera | None = None,
    labels: Sequence[str] | None = None,
    *,
    arrange: Literal["row", "ghost"] = "row",
    marks: Marks | Sequence[Marks] | None = None,
    boxes: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
) -> Image:
    """A robot, or a row of them, on the ground, with support polygon (green) and projected centre of mass (red).

    The outline of the polygon and the rings around marks are drawn over the robot, so that they are seen through it.

    Args:
        states: one or several; those of a row may be of different robots and are all shown at the same scale.
        width, height: of the whole picture, in pixels.
        camera: see `Camera`; by default from the front right, as near as shows everything.
        labels: a text for each state, above it; of a "ghost" picture one for the whole.
        arrange: "row" gives each state its own part of the picture, from left to right; "ghost" draws all in one place,
            the last one solid.
        marks: points to show, by name, in the world (m): for all states, or a list with those of each.
        boxes: boxes to show, by name, as lower and upper corner in the world (m).

    Returns:
        (height, width, 3), red, green, blue from 0 to 255.

    >>> image = picture(state, marks={"target": (0.4, -0.2, 0.9)})
    """
    shown = _states(states)
    if arrange not in ("row", "ghost"):
        raise PoiseError(f"picture: arrange is {arrange!r}; expected 'row' or 'ghost'")
    panels = [[state] for state in shown] if arrange == "row" else [shown]
    if arrange == "ghost" and any(state.robot is not shown[0].robot for state in shown):
        names = " and ".join(sorted({state.robot.name for state in shown}))
        raise PoiseError(f"picture: ghosts of {names} in one place; give states of one robot, or arrange='row'")
    edges = np.linspace(0, _pixels(width, "width", len(panels)), len(panels) + 1).round().astype(int).tolist()
    height = _pixels(height, "height")
    titles = _titles(labels, len(panels))
    extras = _extras(marks, boxes, len(panels))
    require("PIL")
    check_opengl()
    view = _framed(camera or Camera(), panels, extras, min(np.diff(edges).tolist()), height)
    image = np.empty((height, edges[-1], 3), dtype=np.uint8)
    stages: dict[tuple[Robot, int], Stage] = {}
    with ExitStack() as ending:
        for panel, extra, title, left, right in zip(panels, extras, titles, edges, edges[1:], strict=False):
            key = panel[0].robot, right - left
            if key not in stages:
                stages[key] = ending.enter_context(Stage(*key, height))
            image[:, left:right] = annotated(stages[key].draw(panel, view, extra), panel[-1], view, extra, title)
    return image


def save_picture(path: str | os.PathLike[str], states: State | Iterable[State], **options: Any) -> Path:
    """Writes a `picture` with the same options to a PNG file and returns its path.

    >>> save_picture("stances.png", [robot.stance("standing") for robot in robots], width=1280, height=480)
    """
    file = Path(path)
    if file.suffix.lower() != ".png":
        raise PoiseError(f"save_picture: {file} is not a PNG file; give a path that ends with .png")
    place = writable_path(path, lambda message: PoiseError(f"save_picture: {message}"))
    image = picture(states, **options)
    try:
        with atomic_write(place) as beside:
            PIL.Image.fromarray(image).save(beside, optimize=True)
    except OSError as error:
        raise PoiseError(f"save_picture: {file} cannot be written: {failure_reason(error)}") from error
    return file


def _framed(camera: Camera, panels: list[list[State]], extras: list[Extras], width: int, height: int) -> Camera:
    """One camera for all panels, so that they can be compared."""
    points = [Stage.corners(state) for panel in panels for state in panel]
    return camera.framed(np.vstack([*points, *(extra.points for extra in extras)]), width, height)


def _states(given: State | Iterable[State]) -> list[State]:
    states: list[Any] = [given] if isinstance(given, State) else list(given) if isinstance(given, Iterable) else [given]
    for state in states:
        if not isinstance(state, State):
            raise PoiseError(f"picture: {state!r} is not a State; give e.g. robot.stance('standing')")
    if not states:
        raise PoiseError("picture: no states were given; give one or more")
    return states


def _pixels(given: Any, name: str, panels: int = 1) -> int:
    least = SMALLEST * panels
    if not isinstance(given, int | np.integer) or isinstance(given, bool) or not least <= given <= LARGEST:
        raise PoiseError(f"picture: {name} is {given!r}; expected a number of pixels from {least} to {LARGEST}")
    return int(given)


def _titles(labels: Sequence[str] | None, panels: int) -> list[str]:
    titles = [""] * panels if labels is None else [labels] if isinstance(labels, str) else [str(t) for t in labels]
    if len(titles) != panels:
        raise PoiseError(f"picture: {len(titles)} labels for {panels} panels; give one for each")
    return titles


def _extras(
    marks: Marks | Sequence[Marks] | None, boxes: Mapping[str, tuple[ArrayLike, ArrayLike]] | None, panels: int
) -> list[Extras]:
    each = [marks or {}] * panels if marks is None or isinstance(marks, Mapping) else list(marks)
    if len(each) != panels:
        raise PoiseError(f"picture: marks for {len(each)} of {panels} panels; give a list with those of each, or one")
    solid: dict[str, tuple[Array, Array]] = {}
    for name, corners in (boxes or {}).items():
        lower, upper = _points(corners, 2, f"box {name!r}")
        if not (lower <= upper).all():
            raise PoiseError(f"picture: box {name!r} has the corners {lower} and {upper}; give the lower one first")
        solid[name] = (lower, upper)
    return [Extras({n: _points([p], 1, f"mark {n!r}")[0] for n, p in one.items()}, solid) for one in each]


def _points(given: Any, count: int, name: str) -> Array:
    try:
        points = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        points = np.empty(0)
    if points.shape != (count, 3) or not np.isfinite(points).all():
        expected = "three numbers (x, y, z)" if count == 1 else "two corners of three numbers"
        raise PoiseError(f"picture: {name} is {given!r}; expected {expected}, in m")
    return points
