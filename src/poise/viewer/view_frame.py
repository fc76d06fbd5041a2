"""View frame: content of the 3D view at one moment, as plain arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.control import ControlStep
from poise.rendering import floor_height, support_outline
from poise.robots import Robot, State
from poise.state import center_of_pressure

#: Length of the arrow of a force equal to the robot's weight, as a share of the robot's height.
FORCE_ARROW_LENGTH = 0.5
#: Forces below this share of the weight are not drawn.
MIN_DRAWN_FORCE = 0.02

Point = tuple[float, float, float]


class Plan(NamedTuple):
    """Planned motion, in the world frame (m).

    Attributes:
        footprints: k x 4 x 3, corners of planned footprints.
        hands: k x 3, goal positions of hands.
        center_of_mass: 3, at the end of the motion.
        support: n x 3, corners of the support region at the end of the motion, in order.
        paths: n x 3 each, paths of moving points; the first is that of the center of mass.
    """

    footprints: Array
    hands: Array
    center_of_mass: Array
    support: Array
    paths: tuple[Array, ...]


class SolePressureFrame(NamedTuple):
    """Loads of k soles measured by force cells, in the world frame (m).

    Attributes:
        outlines: k x 4 x 3, corners of the soles, in order.
        centers: k x 3, centers of the soles: desired positions of the zero moment point (ZMP).
        zmps: k x 3, measured ZMP under each sole.
        load_shares: k, share of the weight on each sole.
    """

    outlines: Array
    centers: Array
    zmps: Array
    load_shares: Array


class ViewFrame(NamedTuple):
    """Content of the 3D view at one moment, in the world frame (m).

    Parts that are not finite or have a wrong shape are not drawn; the other parts are.

    Attributes:
        poses: by figure, njoints x 7: x, y, z, qw, qx, qy, qz of every joint of its model, the world first. A figure
            without poses is hidden.
        forces: k x 2 x 3, start and end of arrows.
        support: n x 3, corners of the support polygon in order.
        center_of_mass: 3; None: not drawn.
        center_of_pressure: 3; None: not drawn.
        drag_handles: positions of the draggable points in the simulation, 3 each; ignored for a point being dragged.
        camera_target: 3, point that the camera follows; None: the camera does not move. Its height is replaced by that
            of the support, so that a squat stays visible.
        plans: planned motions by name, see `PLAN_COLORS` of `poise.viewer.view_marks`; None: none.
        sole_pressure: loads measured by force cells; None: not drawn.
        markers: k x 3 by kind, see `MARKER_COLORS` of `poise.viewer.view_marks`; NaN: not visible; None: none.
    """

    poses: Mapping[str, Array]
    forces: Array
    support: Array
    center_of_mass: Array | None
    center_of_pressure: Array | None
    drag_handles: Mapping[str, Array]
    camera_target: Array | None
    plans: Mapping[str, Plan] | None = None
    sole_pressure: SolePressureFrame | None = None
    markers: Mapping[str, Array] | None = None

    @classmethod
    def from_state(cls, state: State, name: str = "robot", **fields: Any) -> ViewFrame:
        """Build the frame of a robot at rest: links, support polygon and center of mass, and other fields as given."""
        defaults: dict[str, Any] = {
            "poses": {name: joint_poses(state)},
            "forces": np.zeros((0, 2, 3)),
            "support": support_outline(state) if state.contacts else np.zeros((0, 3)),
            "center_of_mass": np.array(state.center_of_mass),
            "center_of_pressure": None,
            "drag_handles": {},
            "camera_target": np.array(state.q[:3]),
        }
        return cls(**{**defaults, **fields})

    @classmethod
    def from_step(cls, step: ControlStep, **fields: Any) -> ViewFrame:
        """Build the frame of a control step, with contact forces and center of pressure; other fields as given."""
        floor = floor_height(step.state)
        pressure = pressure_point(step, floor)
        forces = {
            "forces": contact_force_arrows(step),
            "center_of_pressure": None if pressure is None else np.array([*pressure, floor]),
        }
        return cls.from_state(step.state, **{**forces, **fields})


def contact_force_arrows(step: ControlStep | None) -> Array:
    """Return the contact forces of a step as arrows, k x 2 x 3 (m): measured if there are sensors, else commanded."""
    forces = None if step is None else _contact_wrenches(step)
    if step is None or forces is None:
        return np.zeros((0, 2, 3))
    return force_arrows(step.state.robot, *forces)


def force_arrows(robot: Robot, wrenches: Array, points: Array) -> Array:
    """Return arrows, k x 2 x 3 (m), of contact wrenches (N, N m; n x 6) at points (m, n x 3), without small ones."""
    is_drawn = np.linalg.norm(wrenches[:, :3], axis=1) > MIN_DRAWN_FORCE * robot.weight
    ends = points + FORCE_ARROW_LENGTH * robot.height / robot.weight * wrenches[:, :3]
    return np.stack([points, ends], axis=1)[is_drawn]


def pressure_point(step: ControlStep, floor: float) -> Array | None:
    """Return the center of pressure of a step at height `floor` (m): x and y; None without contact forces."""
    forces = _contact_wrenches(step)
    if forces is None:
        return None
    wrenches, points = forces
    if not wrenches[:, 2].sum() > MIN_DRAWN_FORCE * step.state.robot.weight:
        return None
    return center_of_pressure(points, wrenches[:, :3], wrenches[:, 3:], floor)


def _contact_wrenches(step: ControlStep) -> tuple[Array, Array] | None:
    """Return contact wrenches (k x 6) and their points (k x 3), measured if the plant has sensors, else commanded."""
    forces = step.readings.forces if step.readings is not None else step.command.forces
    return None if forces is None or not len(forces.names) else (forces.wrenches, forces.points)


def joint_poses(state: State) -> Array:
    """Return the poses of all joints of the model in the world, njoints x 7: x, y, z (m), qw, qx, qy, qz."""
    data = state.robot._kinematics(state)
    return np.array([pinocchio.SE3ToXYZQUAT(pose) for pose in data.oMi])[:, [0, 1, 2, 6, 3, 4, 5]]


def finite_array(value: Any, *shape: int) -> Array | None:
    """Return `value` as an array if it has this shape (-1: any length) and is finite, else None."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    has_shape = array.ndim == len(shape) and all(n in (-1, m) for n, m in zip(shape, array.shape, strict=True))
    return array if has_shape and bool(np.isfinite(array).all()) else None
