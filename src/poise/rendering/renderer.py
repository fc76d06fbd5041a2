"""Offscreen renderer: draws states of a robot on the ground, with overlays, into an image."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

import numpy as np
import pinocchio

from poise.arrays import Array, Image
from poise.extras import mujoco
from poise.rendering.camera import Camera
from poise.rendering.opengl_context import open_context, opengl_error
from poise.rendering.overlays import CENTER, LINE, MARK, SUPPORT, Color, Extras, ground_below, support_outline, turns
from poise.rendering.visual_model import figure
from poise.robots import Robot, State

#: How much the earliest and the last but one of several ghosts cover what is behind.
FAINTEST, FAINT = 0.15, 0.35


class Stage:
    """Draws states of one robot in one size; a context manager, since it holds an OpenGL context.

    >>> with Stage(robot, 640, 480) as stage:
    ...     image = stage.draw([state], camera, Extras())
    """

    def __init__(self, robot: Robot, width: int, height: int) -> None:
        self.robot, self._size = robot, (width, height)
        self._figure = figure(robot)
        self._model = self._figure.model
        self._data = mujoco.MjData(self._model)
        mujoco.mj_forward(self._model, self._data)
        self._context = open_context(width, height)
        try:
            self._drawing = mujoco.MjrContext(self._model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        except mujoco.FatalError as error:
            self._context.free()
            raise opengl_error(error) from error
        mujoco.mjr_resizeOffscreen(width, height, self._drawing)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._drawing)

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._context.make_current()
        self._drawing.free()
        self._context.free()

    def draw(self, states: Sequence[State], camera: Camera, extras: Extras) -> Image:
        """The picture (height, width, 3); of several states the last is solid and the earlier ones are ghosts."""
        width, height = self._size
        things = len(states) * len(self._figure.shapes) + len(states[-1].support_polygon) + len(extras.points)
        scene = self._scene(camera, room=things + 10)  # ground and centre of mass
        for i, state in enumerate(states):
            last = i == len(states) - 1
            alpha = 1.0 if last else FAINTEST + (FAINT - FAINTEST) * i / max(len(states) - 2, 1)
            for shape, pose in self._figure.placed(state):
                color = (*shape.color[:3], alpha * shape.color[3])
                self._add(scene, shape.type, shape.size, pose, color, mesh=shape.mesh)
            if last:
                self._balance(scene, state)
        for point, color in zip(extras.marks.values(), turns(extras.marks), strict=True):
            self._ball(scene, point, color)
        for (lower, upper), color in zip(extras.boxes.values(), turns(extras.boxes), strict=True):
            middle = pinocchio.SE3(np.eye(3), (lower + upper) / 2)
            self._add(scene, mujoco.mjtGeom.mjGEOM_BOX, (upper - lower) / 2, middle, (*color, 0.25))
        self._context.make_current()
        image, whole = np.empty((height, width, 3), dtype=np.uint8), mujoco.MjrRect(0, 0, width, height)
        mujoco.mjr_render(whole, scene, self._drawing)
        mujoco.mjr_readPixels(image, None, whole, self._drawing)
        return np.flipud(image)

    @staticmethod
    def corners(state: State) -> Array:
        """Corners of boxes around all that is drawn of a state (n, 3), for framing."""
        return figure(state.robot).corners(state)

    def _scene(self, camera: Camera, room: int) -> mujoco.MjvScene:
        """Ground and light, seen by the camera, with room for that many things."""
        scene, view = mujoco.MjvScene(self._model, maxgeom=room), mujoco.MjvCamera()
        view.lookat, view.distance = camera.target, camera.distance
        view.azimuth, view.elevation = np.degrees([camera.azimuth, camera.elevation])
        every = mujoco.mjtCatBit.mjCAT_ALL.value
        mujoco.mjv_updateScene(self._model, self._data, mujoco.MjvOption(), None, view, every, scene)
        sun = next(light for light in scene.lights if not light.headlight)
        right, _, forward = camera.axes
        falling = 0.4 * right + 0.5 * forward * [1.0, 1.0, 0.0] - [0.0, 0.0, 1.0]  # over the photographer's shoulder
        sun.dir = falling / np.linalg.norm(falling)
        sun.pos = camera.target - 3.0 * self.robot.height * sun.dir
        return scene

    def _balance(self, scene: mujoco.MjvScene, state: State) -> None:
        """Support polygon as an outline on the ground, projected centre of mass as a ball."""
        outline = support_outline(state)
        for a, b in zip(outline, np.roll(outline, -1, axis=0), strict=True):
            self._line(scene, a, b, SUPPORT)
        self._ball(scene, ground_below(state), CENTER)

    def _ball(self, scene: mujoco.MjvScene, point: Array, color: Color) -> None:
        pose = pinocchio.SE3(np.eye(3), point)
        size = (MARK * self.robot.height, 0.0, 0.0)
        self._add(scene, mujoco.mjtGeom.mjGEOM_SPHERE, size, pose, (*color, 1.0))

    def _line(self, scene: mujoco.MjvScene, begin: Array, end: Array, color: Color) -> None:
        length = float(np.linalg.norm(end - begin))
        if length > 0.0:
            turn = pinocchio.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), (end - begin) / length).matrix()
            size = (LINE * self.robot.height, length / 2, 0.0)
            pose = pinocchio.SE3(turn, (begin + end) / 2)
            self._add(scene, mujoco.mjtGeom.mjGEOM_CAPSULE, size, pose, (*color, 1.0))

    def _add(
        self,
        scene: mujoco.MjvScene,
        kind: mujoco.mjtGeom,
        size: Array | tuple[float, float, float],
        pose: pinocchio.SE3,
        color: tuple[float, ...],
        mesh: int = -1,
    ) -> None:
        geom = scene.geoms[scene.ngeom]
        mujoco.mjv_initGeom(
            geom, kind, np.array(size, dtype=np.float64), pose.translation, pose.rotation.ravel(),
            np.array(color, dtype=np.float32),
        )  # fmt: skip
        geom.category = mujoco.mjtCatBit.mjCAT_DYNAMIC  # decoration would cast no shadow
        geom.dataid = 2 * mesh if mesh >= 0 else -1  # odd numbers are the convex hulls
        scene.ngeom += 1
