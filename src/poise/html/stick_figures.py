"""Stick figures of a human body, seen from the side or from the front, in a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.html.charts import ABOVE, BELOW, LEFT, RIGHT, WHOLE, drawing
from poise.html.page import figure
from poise.robots import SIDES, Robot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Chains of frames of the human body that a line is drawn through, and whose side they are on.
_LEG = ("pelvis", "{side}_thigh", "{side}_shank", "{side}_foot", "{side}_heel", "{side}_first_metatarsal",
        "{side}_toe_tip")  # fmt: skip
_ARM = ("head", "{side}_upper_arm", "{side}_forearm", "{side}_hand", "{side}_fingers")
_TRUNK = ("pelvis", "torso", "head")
CHAINS = (
    *((side, tuple(name.format(side=side) for name in chain)) for chain in (_LEG, _ARM) for side in SIDES),
    ("", _TRUNK),
)
COLORS = {"left": "#00568a", "right": "#d55e00", "": "#222222"}
MARKER = "#009e73"
#: Of a body that is drawn behind another to be compared with it.
FAINT = "#c4c4c4"
#: A head, per m of the body's height: how far its middle is above the seventh vertebra of the neck, and its radius.
HEAD, ROUND = 0.085, 0.055
#: Room of one figure along the row (m); an arm and a leg stretched out take a little less.
ROOM = 1.1


class Stick(NamedTuple):
    """A body at one moment: points of each of `CHAINS`, middle and radius of the head (m), markers (m x 3)."""

    chains: tuple[Array, ...]
    head: Array
    radius: float
    markers: Array


def drawable(robot: Robot) -> bool:
    """Whether a robot has the frames of the human body."""
    return all(name in robot.frames for _, chain in CHAINS for name in chain)


def stick(robot: Robot, q: Array, markers: Array | None = None) -> Stick:
    """A human body in a configuration, with markers (m x 3, m) if there are any."""
    model, data = robot.model, robot.model.createData()
    pinocchio.framesForwardKinematics(model, data, q)
    chains = tuple(np.array([data.oMf[robot.frame(name).index].translation for name in chain]) for _, chain in CHAINS)
    pose = data.oMf[robot.frame("head").index]
    middle = pose.translation + HEAD * robot.height * pose.rotation[:, 2]
    return Stick(chains, middle, ROUND * robot.height, np.zeros((0, 3)) if markers is None else markers)


def row(
    figures: Sequence[Stick],
    names: Sequence[str],
    forward: Array,
    view: str,
    caption: str,
    behind: Sequence[Stick] | None = None,
) -> str:
    """Bodies side by side, each in its own place, seen from their right ("side") or from before them ("front").

    Args:
        figures: one for each place.
        names: what stands below each.
        forward: where they face, a horizontal unit vector (3).
        view: "side" or "front".
        caption: of the whole.
        behind: other bodies, drawn faintly behind these, where they are in the same world.
    """
    across = forward if view == "side" else np.array([-forward[1], forward[0], 0.0])
    low = min(float(chain[:, 2].min()) for each in figures for chain in each.chains)
    top = max(float(each.head[2]) + each.radius for each in figures) - low
    unit = (WHOLE - LEFT - RIGHT) / (ROOM * len(figures))
    with drawing(caption, WHOLE, unit * (top + 0.08) + ABOVE + BELOW) as drawn:
        axes = drawn.axes
        for k, each in enumerate(figures):
            first = each if behind is None else behind[k]
            shift = ROOM * (k + 0.5) - float(first.chains[-1][0] @ across)
            if behind is not None:
                posture(axes, behind[k], across, shift, low, FAINT)
            posture(axes, each, across, shift, low)
        axes.axhline(0.0, color="#8a8a8a", linewidth=0.8, zorder=0)
        axes.set_xticks([ROOM * (k + 0.5) for k in range(len(figures))], names)
        axes.tick_params(axis="x", length=0)
        axes.set(ylabel="height (m)", xlim=(0.0, ROOM * len(figures)), ylim=(-0.05, top + 0.03), aspect="equal")
        axes.spines["bottom"].set_visible(False)
    return figure(drawn.svg, caption)


def posture(axes: Axes, each: Stick, across: Array, shift: float, low: float, faint: str = "") -> None:
    """Draws one body.

    Args:
        axes: where.
        each: the body.
        across: direction of the horizontal axis, (3,).
        shift: what is added to places on it, m.
        low: height of the floor, m.
        faint: a colour for all of it, for a body behind another.
    """
    for (side, _), points in zip(CHAINS, each.chains, strict=True):
        style: dict[str, Any] = {
            "color": faint or COLORS[side],
            "linewidth": 2.6 if faint else 1.9 if not side else 1.5,
        }
        axes.plot(points @ across + shift, points[:, 2] - low, "-" if faint else "o-", markersize=2.4, **style)
    turn = np.linspace(0.0, 2.0 * np.pi, 25)
    x, z = float(each.head @ across) + shift, float(each.head[2]) - low
    axes.plot(x + each.radius * np.cos(turn), z + each.radius * np.sin(turn), color=faint or COLORS[""])
    axes.plot(each.markers @ across + shift, each.markers[:, 2] - low, ".", color=MARKER, markersize=3.0, zorder=3)


def facing(ahead: Array) -> Array:
    """The horizontal direction of a vector; that of x where it has none."""
    length = float(np.hypot(*ahead[:2]))
    return np.array([ahead[0], ahead[1], 0.0]) / length if length > 0.0 else np.array([1.0, 0.0, 0.0])
