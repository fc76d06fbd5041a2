"""Stick figures of the human body as charts, seen from the side or from the front, in a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.html.charts import FULL_WIDTH, MARGIN_BOTTOM, MARGIN_LEFT, MARGIN_RIGHT, MARGIN_TOP, new_chart
from poise.html.page import figure
from poise.robots import SIDES, Robot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Chains of frames of the human body, each drawn as one line, with the body side of the chain.
_LEG = ("pelvis", "{side}_thigh", "{side}_shank", "{side}_foot", "{side}_heel", "{side}_first_metatarsal",
        "{side}_toe_tip")  # fmt: skip
_ARM = ("head", "{side}_upper_arm", "{side}_forearm", "{side}_hand", "{side}_fingers")
_TRUNK = ("pelvis", "torso", "head")
SEGMENT_CHAINS = (
    *((side, tuple(name.format(side=side) for name in chain)) for chain in (_LEG, _ARM) for side in SIDES),
    ("", _TRUNK),
)
SIDE_COLORS = {"left": "#00568a", "right": "#d55e00", "": "#222222"}
MARKER_COLOR = "#009e73"
#: Color of a body that is drawn behind another one for comparison.
BACKGROUND_COLOR = "#c4c4c4"
#: Head, per m of body height: height of its center above the seventh cervical vertebra, and its radius.
HEAD_OFFSET, HEAD_RADIUS = 0.085, 0.055
#: Horizontal space of one figure in the row (m); a stretched arm and leg need slightly less.
FIGURE_SPACING = 1.1


class StickFigure(NamedTuple):
    """A body at one time, in the world frame.

    Attributes:
        chains: points of each chain of `SEGMENT_CHAINS` (points x 3, m).
        head_center, head_radius: circle of the head (m).
        markers: positions of the markers (markers x 3, m).
    """

    chains: tuple[Array, ...]
    head_center: Array
    head_radius: float
    markers: Array


def has_human_frames(robot: Robot) -> bool:
    """Return whether a robot has all frames of the human body that a stick figure needs."""
    return all(name in robot.frames for _, chain in SEGMENT_CHAINS for name in chain)


def stick_figure(robot: Robot, q: Array, markers: Array | None = None) -> StickFigure:
    """Return the stick figure of a human body in a configuration, with markers (markers x 3, m) if given."""
    model, data = robot.model, robot.model.createData()
    pinocchio.framesForwardKinematics(model, data, q)
    chains = tuple(
        np.array([data.oMf[robot.frame(name).index].translation for name in chain]) for _, chain in SEGMENT_CHAINS
    )
    pose = data.oMf[robot.frame("head").index]
    head_center = pose.translation + HEAD_OFFSET * robot.height * pose.rotation[:, 2]
    return StickFigure(
        chains, head_center, HEAD_RADIUS * robot.height, np.zeros((0, 3)) if markers is None else markers
    )


def stick_figure_row(
    figures: Sequence[StickFigure],
    labels: Sequence[str],
    forward: Array,
    view: str,
    caption: str,
    background: Sequence[StickFigure] | None = None,
) -> str:
    """Draw stick figures side by side, seen from their right ("side") or from the front ("front").

    Args:
        figures: bodies, from left to right.
        labels: text below each body.
        forward: direction in which the bodies face, a horizontal unit vector (3).
        view: "side" or "front".
        caption: caption of the whole figure.
        background: bodies for comparison, one for each figure, drawn in gray behind it, in the same world frame.
    """
    horizontal = forward if view == "side" else np.array([-forward[1], forward[0], 0.0])
    heights = np.concatenate([chain[:, 2] for body in figures for chain in body.chains])
    heights = heights[np.isfinite(heights)]  # parts that were not measured are not drawn
    ground = float(heights.min(initial=np.inf)) if len(heights) else 0.0
    heads = [float(body.head_center[2]) + body.head_radius for body in figures]
    top = max([*(head for head in heads if np.isfinite(head)), float(heights.max(initial=ground))]) - ground
    scale = (FULL_WIDTH - MARGIN_LEFT - MARGIN_RIGHT) / (FIGURE_SPACING * len(figures))
    with new_chart(caption, FULL_WIDTH, scale * (top + 0.08) + MARGIN_TOP + MARGIN_BOTTOM) as chart:
        axes = chart.axes
        for k, body in enumerate(figures):
            anchor = body if background is None else background[k]
            middle = float(anchor.chains[-1][0] @ horizontal)
            offset = FIGURE_SPACING * (k + 0.5) - (middle if np.isfinite(middle) else 0.0)
            if background is not None:
                draw_stick_figure(axes, background[k], horizontal, offset, ground, BACKGROUND_COLOR)
            draw_stick_figure(axes, body, horizontal, offset, ground)
        axes.axhline(0.0, color="#8a8a8a", linewidth=0.8, zorder=0)
        axes.set_xticks([FIGURE_SPACING * (k + 0.5) for k in range(len(figures))], labels)
        axes.tick_params(axis="x", length=0)
        axes.set(
            ylabel="height (m)", xlim=(0.0, FIGURE_SPACING * len(figures)), ylim=(-0.05, top + 0.03), aspect="equal"
        )
        axes.spines["bottom"].set_visible(False)
    return figure(chart.svg, caption)


def draw_stick_figure(
    axes: Axes, body: StickFigure, horizontal: Array, offset: float, ground: float, single_color: str = ""
) -> None:
    """Draw one body.

    Args:
        axes: axes to draw in.
        body: the body.
        horizontal: direction of the horizontal axis in the world, (3,).
        offset: added to horizontal coordinates, m.
        ground: height of the floor in the world, m.
        single_color: one color for the whole body, for a body in the background.
    """
    for (side, _), points in zip(SEGMENT_CHAINS, body.chains, strict=True):
        style: dict[str, Any] = {
            "color": single_color or SIDE_COLORS[side],
            "linewidth": 2.6 if single_color else 1.9 if not side else 1.5,
        }
        axes.plot(
            points @ horizontal + offset, points[:, 2] - ground, "-" if single_color else "o-", markersize=2.4, **style
        )
    angles = np.linspace(0.0, 2.0 * np.pi, 25)
    x, z = float(body.head_center @ horizontal) + offset, float(body.head_center[2]) - ground
    axes.plot(
        x + body.head_radius * np.cos(angles),
        z + body.head_radius * np.sin(angles),
        color=single_color or SIDE_COLORS[""],
    )
    axes.plot(
        body.markers @ horizontal + offset,
        body.markers[:, 2] - ground,
        ".",
        color=MARKER_COLOR,
        markersize=3.0,
        zorder=3,
    )


def horizontal_direction(vector: Array) -> Array:
    """Return the horizontal direction of a vector (3), a unit vector; x if the vector is vertical."""
    length = float(np.hypot(*vector[:2]))
    return np.array([vector[0], vector[1], 0.0]) / length if length > 0.0 else np.array([1.0, 0.0, 0.0])
