"""Annotated pictures of robot states, side by side or as ghosts, returned as arrays or saved as PNG files."""

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
from poise.plants import EnvironmentGeometry
from poise.rendering.camera import Camera
from poise.rendering.opengl_context import check_opengl
from poise.rendering.overlays import (
    CENTER_OF_MASS_COLOR,
    MARK_RADIUS,
    SUPPORT_COLOR,
    Color,
    Overlays,
    palette,
    projected_center_of_mass,
    support_outline,
)
from poise.rendering.recorded_environment import environment_camera
from poise.rendering.renderer import OffscreenRenderer
from poise.robots import Robot, State

Size = tuple[int, int]
Rgba = tuple[int, int, int, int]

#: Lines are drawn larger by this factor and then scaled down, which smooths them.
SUPERSAMPLING = 3
TEXT_COLOR = (40, 44, 52, 255)
HALO_COLOR = (255, 255, 255, 200)


def annotate(image: Image, state: State, camera: Camera, overlays: Overlays, title: str) -> Image:
    """Return a copy of a rendered picture with outlines, rings around marks, names and a title drawn over it.

    Outlines of the support polygon and rings around the CoM and the marks stay visible behind the robot.

    Args:
        image: picture (height, width, 3), rendered with ``camera``.
        state: state of the robot in the picture.
        camera: camera of the picture, with target and distance.
        overlays: marks and boxes of the picture.
        title: text at the top; empty for none.
    """
    height, width = image.shape[:2]
    size = width, height
    overlay_layer = PIL.Image.new("RGBA", (SUPERSAMPLING * width, SUPERSAMPLING * height))
    pen = PIL.ImageDraw.Draw(overlay_layer)
    line_width = max(1, round(SUPERSAMPLING * height / 400))

    outline = _visible_pixels(camera, support_outline(state), size)
    if len(outline) > 1:
        pen.line([*outline, outline[0]], fill=_rgba(SUPPORT_COLOR, 0.75), width=line_width)
    ring_radius = 1.3 * MARK_RADIUS * state.robot.height
    _draw_circle(
        pen, camera, projected_center_of_mass(state), ring_radius, size, _rgba(CENTER_OF_MASS_COLOR, 0.9), line_width
    )
    names = []
    for (name, point), color in zip(overlays.marks.items(), palette(overlays.marks), strict=True):
        target = _draw_circle(pen, camera, point, ring_radius, size, _rgba(color, 1.0), line_width)
        names += [(name, color, target)] if target else []
    overlay_layer = overlay_layer.resize(size, PIL.Image.Resampling.BOX)

    pen = PIL.ImageDraw.Draw(overlay_layer)
    small_font, large_font = (PIL.ImageFont.load_default(max(9.0, height / share)) for share in (38, 26))
    for name, color, (x, y, r) in names:
        fits = x + r + 4 + small_font.getlength(name) <= width
        anchor_point, anchor = ((x + r + 3, y), "lm") if fits else ((x - r - 3, y), "rm")
        pen.text(
            anchor_point,
            name,
            fill=_rgba(color, 1.0, 0.7),
            font=small_font,
            anchor=anchor,
            stroke_width=2,
            stroke_fill=HALO_COLOR,
        )
    if title:
        anchor_point = width / 2, height / 40
        pen.text(
            anchor_point, title, fill=TEXT_COLOR, font=large_font, anchor="ma", stroke_width=2, stroke_fill=HALO_COLOR
        )
    return np.array(PIL.Image.alpha_composite(PIL.Image.fromarray(image).convert("RGBA"), overlay_layer).convert("RGB"))


def _draw_circle(
    pen: PIL.ImageDraw.ImageDraw, camera: Camera, point: Array, radius: float, size: Size, color: Rgba, line_width: int
) -> tuple[float, float, float] | None:
    """Draw the outline of a sphere and return its center and radius (x, y, r) in pixels; None behind the camera."""
    pixels = _visible_pixels(camera, np.array([point, point + radius * camera.axes[1]]), size)
    if len(pixels) < 2:
        return None
    (x, y), (_, top) = pixels
    r = y - top
    pen.ellipse((x - r, y - r, x + r, y + r), outline=color, width=line_width)
    return x / SUPERSAMPLING, y / SUPERSAMPLING, r / SUPERSAMPLING


def _visible_pixels(camera: Camera, points: Array, size: Size) -> list[tuple[float, float]]:
    """Project points to pixels of the supersampled layer, without those behind the camera."""
    pixels = SUPERSAMPLING * camera.project(points, *size)
    return [(float(x), float(y)) for x, y in pixels if np.isfinite(x)]


def _rgba(color: Color, alpha: float, shade: float = 1.0) -> Rgba:
    red, green, blue = (round(255 * shade * part) for part in color)
    return red, green, blue, round(255 * alpha)


# -- Pictures of robot states ----------------------------------------------------------------------------------------


Marks = Mapping[str, ArrayLike]

#: Smallest and largest width or height (pixels): too small to see anything, too large for graphics drivers.
MIN_PIXELS, MAX_PIXELS = 16, 8192


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
    environment: EnvironmentGeometry | Sequence[EnvironmentGeometry] | None = None,
) -> Image:
    """Draw one or several robot states on the ground, with support polygon (green) and projected CoM (red).

    The outline of the polygon and the rings around the CoM and the marks are drawn over the robot, so that it does not
    hide them.

    Args:
        states: one state or several; states in a row may be of different robots and are all shown at the same scale.
        width, height: size of the whole picture, in pixels.
        camera: see `Camera`; by default from the front right, or from the side if the ground is not flat or has
            objects, as near as possible with everything in view.
        labels: text above each state; one text for a "ghost" picture.
        arrange: "row" gives each state its own part of the picture, from left to right; "ghost" draws all states in one
            place, the last one solid and the earlier ones transparent.
        marks: points to show, by name, in the world (m): one mapping for all states, or a list with one per state.
        boxes: boxes to show, by name, as lower and upper corner in the world (m).
        environment: ground, objects and the box in the hands: one for all states, or a list with one per panel; None:
            flat ground.

    Returns:
        Image (height, width, 3), red, green, blue from 0 to 255.

    Raises:
        PoiseError: an argument is invalid, or OpenGL is not available.

    >>> image = picture(state, marks={"target": (0.4, -0.2, 0.9)})
    """
    checked_states = _checked_states(states)
    if arrange not in ("row", "ghost"):
        raise PoiseError(f"picture: arrange is {arrange!r}; expected 'row' or 'ghost'")
    panels = [[state] for state in checked_states] if arrange == "row" else [checked_states]
    if arrange == "ghost" and any(state.robot is not checked_states[0].robot for state in checked_states):
        names = " and ".join(sorted({state.robot.name for state in checked_states}))
        raise PoiseError(f"picture: states of {names}; arrange='ghost' needs states of one robot, use arrange='row'")
    edges = np.linspace(0, _checked_pixels(width, "width", len(panels)), len(panels) + 1).round().astype(int).tolist()
    height = _checked_pixels(height, "height")
    titles = _panel_titles(labels, len(panels))
    overlays = _panel_overlays(marks, boxes, len(panels))
    environments = _panel_environments(environment, len(panels))
    require("PIL")
    check_opengl()
    viewpoint = camera or environment_camera(environments[0])
    view = _shared_camera(viewpoint, panels, overlays, min(np.diff(edges).tolist()), height)
    image = np.empty((height, edges[-1], 3), dtype=np.uint8)
    renderers: dict[tuple[Robot, int], OffscreenRenderer] = {}
    with ExitStack() as stack:
        for panel, overlay, place, title, left, right in zip(
            panels, overlays, environments, titles, edges, edges[1:], strict=False
        ):
            key = panel[0].robot, right - left
            if key not in renderers:
                renderers[key] = stack.enter_context(OffscreenRenderer(*key, height))
            rendered = renderers[key].draw(panel, view, overlay, place)
            image[:, left:right] = annotate(rendered, panel[-1], view, overlay, title)
    return image


def save_picture(path: str | os.PathLike[str], states: State | Iterable[State], **options: Any) -> Path:
    """Write a `picture` to a PNG file and return its path; options are those of `picture`.

    >>> save_picture("stances.png", [robot.stance("standing") for robot in robots], width=1280, height=480)
    """
    file = Path(path)
    if file.suffix.lower() != ".png":
        raise PoiseError(f"save_picture: {file} is not a PNG file; pass a path that ends in .png")
    target = writable_path(path, lambda message: PoiseError(f"save_picture: {message}"))
    image = picture(states, **options)
    try:
        with atomic_write(target) as temporary:
            PIL.Image.fromarray(image).save(temporary, optimize=True)
    except OSError as error:
        raise PoiseError(f"save_picture: {file} cannot be written: {failure_reason(error)}") from error
    return file


def _shared_camera(
    camera: Camera, panels: list[list[State]], overlays: list[Overlays], width: int, height: int
) -> Camera:
    """Return one camera for all panels, so that they have the same scale."""
    points = [OffscreenRenderer.corners(state) for panel in panels for state in panel]
    return camera.fit_to(np.vstack([*points, *(overlay.points for overlay in overlays)]), width, height)


def _checked_states(value: State | Iterable[State]) -> list[State]:
    states: list[Any] = [value] if isinstance(value, State) else list(value) if isinstance(value, Iterable) else [value]
    for state in states:
        if not isinstance(state, State):
            raise PoiseError(f"picture: {state!r} is not a State; pass for example robot.stance('standing')")
    if not states:
        raise PoiseError("picture: no states given; pass at least one")
    return states


def _checked_pixels(value: Any, name: str, panels: int = 1) -> int:
    minimum = MIN_PIXELS * panels
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or not minimum <= value <= MAX_PIXELS:
        raise PoiseError(f"picture: {name} is {value!r}; expected a number of pixels from {minimum} to {MAX_PIXELS}")
    return int(value)


def _panel_titles(labels: Sequence[str] | None, panels: int) -> list[str]:
    titles = [""] * panels if labels is None else [labels] if isinstance(labels, str) else [str(t) for t in labels]
    if len(titles) != panels:
        raise PoiseError(f"picture: {len(titles)} labels for {panels} panels; pass one for each panel")
    return titles


def _panel_overlays(
    marks: Marks | Sequence[Marks] | None, boxes: Mapping[str, tuple[ArrayLike, ArrayLike]] | None, panels: int
) -> list[Overlays]:
    each = [marks or {}] * panels if marks is None or isinstance(marks, Mapping) else list(marks)
    if len(each) != panels:
        raise PoiseError(f"picture: marks for {len(each)} of {panels} panels; pass one mapping, or one for each panel")
    box_corners: dict[str, tuple[Array, Array]] = {}
    for name, corners in (boxes or {}).items():
        lower, upper = _checked_points(corners, 2, f"box {name!r}")
        if not (lower <= upper).all():
            raise PoiseError(f"picture: box {name!r} has the corners {lower} and {upper}; pass the lower corner first")
        box_corners[name] = (lower, upper)
    return [
        Overlays({n: _checked_points([p], 1, f"mark {n!r}")[0] for n, p in one.items()}, box_corners) for one in each
    ]


def _panel_environments(
    environment: EnvironmentGeometry | Sequence[EnvironmentGeometry] | None, panels: int
) -> list[EnvironmentGeometry]:
    if environment is None or isinstance(environment, EnvironmentGeometry):
        return [environment or EnvironmentGeometry()] * panels
    each = list(environment)
    if len(each) != panels:
        raise PoiseError(f"picture: {len(each)} environments for {panels} panels; pass one, or one for each panel")
    return each


def _checked_points(value: Any, count: int, name: str) -> Array:
    try:
        points = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        points = np.empty(0)
    if points.shape != (count, 3) or not np.isfinite(points).all():
        expected = "three numbers (x, y, z)" if count == 1 else "two corners of three numbers"
        raise PoiseError(f"picture: {name} is {value!r}; expected {expected}, in m")
    return points
