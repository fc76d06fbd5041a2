"""Robots in the view: one frame a joint, moved thirty times a second, and what it carries, sent once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio
from numpy.typing import NDArray
from viser import FrameHandle, MeshHandle, ViserServer

from poise.robots import Robot
from poise.studio.meshes import Piece
from poise.studio.viewer.marks import seen
from poise.studio.viewer.scenery import finite

Array = NDArray[np.float64]
Tint = tuple[float, float, float, float]

#: Opacity of feet that what is under them can be seen through.
GLASS = 0.3
#: A joint so near before that of a foot, as a share of the robot's height, is of the ankle, and goes with the foot.
NEAR = 0.05


class Shown:
    """One robot in the view.

    Args:
        root: name of the scene node under which it stands.
        found: its shapes.
        tint: colour and opacity of all of it; None: its own colours.
    """

    def __init__(self, server: ViserServer, root: str, robot: Robot, found: Sequence[Piece], tint: Tint | None) -> None:
        self.robot, self.tint = robot, tint
        self._root = server.scene.add_frame(root, show_axes=False)
        self._frames: dict[int, FrameHandle] = {}
        self._feet: list[tuple[MeshHandle, float | None]] = []
        self._glass, feet = False, _feet(robot)
        for number, piece in enumerate(found):
            if piece.joint not in self._frames:
                frame = server.scene.add_frame(f"{root}/{piece.joint}", show_axes=False, visible=piece.joint == 0)
                self._frames[piece.joint] = frame
            r, g, b, a = piece.color if tint is None else tint
            mesh = server.scene.add_mesh_simple(
                f"{root}/{piece.joint}/{number}",
                piece.points,
                piece.faces,
                color=(r, g, b),
                opacity=a if a < 1.0 else None,
                side="double" if tint is None else "front",
                cast_shadow=False,
                receive_shadow=False,
            )
            if piece.joint in feet:
                self._feet.append((mesh, mesh.opacity))
        self._moving = np.array(sorted(joint for joint in self._frames if joint > 0), dtype=np.int64)
        self._last = np.full((robot.model.njoints, 7), np.nan)
        self.extent = _extent(robot, found)

    def place(self, poses: Array) -> None:
        """Moves all joints, njoints x 7; joints that did not move by what can be seen are left alone."""
        if finite(poses, len(self._last), 7) is None:
            return
        moving = self._moving
        # A hundredth of a millimetre and of a milliradian: far below a pixel.
        moved = moving[~(np.abs(poses[moving] - self._last[moving]).max(axis=1, initial=0.0) < 1e-5)]
        self._last[moved] = poses[moved]
        for joint in moved.tolist():
            frame = self._frames[joint]
            frame.position, frame.wxyz = poses[joint, :3], poses[joint, 3:]
            frame.visible = True

    def present(self, there: bool) -> None:
        """Whether it is there at all."""
        seen(self._root, there)

    def bare(self, soles: bool) -> None:
        """Whether what is under its soles is seen, through its feet."""
        if soles != self._glass:
            self._glass = soles
            for mesh, opacity in self._feet:
                mesh.opacity = min(GLASS, opacity or 1.0) if soles else opacity

    def remove(self) -> None:
        self._root.remove()


def _feet(robot: Robot) -> set[int]:
    """Joints that carry feet, and those of the ankles."""
    joints = {foot.joint for foot in robot.feet}
    arms = {joint: float(np.linalg.norm(robot.model.jointPlacements[joint].translation)) for joint in joints}
    return joints | {int(robot.model.parents[joint]) for joint, arm in arms.items() if arm < NEAR * robot.height}


def _extent(robot: Robot, found: Sequence[Piece]) -> tuple[float, float]:
    """Lowest and highest point at rest (m)."""
    data = robot.model.createData()
    pinocchio.forwardKinematics(robot.model, data, robot.rest)
    heights = [p.points @ data.oMi[p.joint].rotation[2] + data.oMi[p.joint].translation[2] for p in found]
    every = np.concatenate([np.zeros(1), *heights])
    return float(every.min()), float(every.max())
