"""Offscreen renderer: draws states of a robot in its environment, with overlays, into an image (MuJoCo, OpenGL)."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

import numpy as np
import pinocchio

from poise.arrays import Array, Image
from poise.extras import mujoco
from poise.plants import EnvironmentGeometry, SolidBox, box_pose
from poise.rendering.camera import Camera
from poise.rendering.opengl_context import open_context, opengl_error
from poise.rendering.overlays import (
    CENTER_OF_MASS_COLOR,
    LINE_HALF_WIDTH,
    MARK_RADIUS,
    SUPPORT_COLOR,
    Color,
    Overlays,
    palette,
    projected_center_of_mass,
    support_outline,
)
from poise.rendering.recorded_environment import EDGE_COLOR, GROUND_COLOR, HELD_BOX_COLOR, OBJECT_COLOR, step_edges
from poise.rendering.visual_model import visual_model_of
from poise.robots import Robot, State

#: Opacity of the earliest and of the latest ghost of a picture with several states.
MIN_GHOST_ALPHA, MAX_GHOST_ALPHA = 0.15, 0.35
#: Index of the ground plane in the model, its only geom.
GROUND_GEOM = 0


class OffscreenRenderer:
    """Renderer for states of one robot at one image size; a context manager, since it holds an OpenGL context.

    Args:
        robot: robot to draw.
        width, height: size of the image in pixels.

    >>> with OffscreenRenderer(robot, 640, 480) as renderer:
    ...     image = renderer.draw([state], camera, Overlays())
    """

    def __init__(self, robot: Robot, width: int, height: int) -> None:
        self.robot, self._size = robot, (width, height)
        self._visual_model = visual_model_of(robot)
        self._model = self._visual_model.model
        self._data = mujoco.MjData(self._model)
        mujoco.mj_forward(self._model, self._data)
        self._gl_context = open_context(width, height)
        try:
            self._render_context = mujoco.MjrContext(self._model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        except mujoco.FatalError as error:
            self._gl_context.free()
            raise opengl_error(error) from error
        mujoco.mjr_resizeOffscreen(width, height, self._render_context)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._render_context)

    def __enter__(self) -> OffscreenRenderer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._gl_context.make_current()
        self._render_context.free()
        self._gl_context.free()

    def draw(
        self,
        states: Sequence[State],
        camera: Camera,
        overlays: Overlays,
        environment: EnvironmentGeometry = EnvironmentGeometry(),  # noqa: B008  frozen
    ) -> Image:
        """Render states to an image (height, width, 3); the last state is solid, earlier ones are transparent ghosts.

        Args:
            states: states of the robot.
            camera: camera with target and distance, see `Camera.fit_to`.
            overlays: marks and boxes to draw.
            environment: ground, objects and the box in the hands of the robot; flat ground by default.
        """
        width, height = self._size
        edges = step_edges(environment)
        geom_count = (
            len(states) * (len(self._visual_model.shapes) + 1)  # 1 for the box in the hands
            + len(states[-1].support_polygon)
            + len(overlays.points)
            + len(environment.ground)
            + len(environment.objects)
            + len(edges)
        )
        # 10 for the ground plane and the CoM
        scene = self._scene(camera, environment.plane, max_geoms=geom_count + 10)
        for each, color in _colored_boxes(environment):
            self._add_geom(scene, mujoco.mjtGeom.mjGEOM_BOX, np.asarray(each.size) / 2, box_pose(each), color)
        for begin, end in edges:
            self._add_line(scene, begin, end, EDGE_COLOR)
        for i, state in enumerate(states):
            last = i == len(states) - 1
            alpha = 1.0 if last else MIN_GHOST_ALPHA + (MAX_GHOST_ALPHA - MIN_GHOST_ALPHA) * i / max(len(states) - 2, 1)
            for shape, pose in self._visual_model.shape_poses(state):
                color = (*shape.color[:3], alpha * shape.color[3])
                self._add_geom(scene, shape.type, shape.size, pose, color, mesh=shape.mesh)
            if environment.held_box is not None:
                held, color = environment.held_box, (*HELD_BOX_COLOR[:3], alpha)
                self._add_geom(scene, mujoco.mjtGeom.mjGEOM_BOX, held.size / 2, held.pose_in(state), color)
            if last:
                self._add_balance(scene, state)
        for point, color in zip(overlays.marks.values(), palette(overlays.marks), strict=True):
            self._add_sphere(scene, point, color)
        for (lower, upper), color in zip(overlays.boxes.values(), palette(overlays.boxes), strict=True):
            center_pose = pinocchio.SE3(np.eye(3), (lower + upper) / 2)
            self._add_geom(scene, mujoco.mjtGeom.mjGEOM_BOX, (upper - lower) / 2, center_pose, (*color, 0.25))
        self._gl_context.make_current()
        image, viewport = np.empty((height, width, 3), dtype=np.uint8), mujoco.MjrRect(0, 0, width, height)
        mujoco.mjr_render(viewport, scene, self._render_context)
        mujoco.mjr_readPixels(image, None, viewport, self._render_context)
        return np.flipud(image)

    @staticmethod
    def corners(state: State) -> Array:
        """Return the corners of the boxes around all shapes of a state, in the world (n, 3), m, for framing."""
        return visual_model_of(state.robot).corners(state)

    def _scene(self, camera: Camera, plane: pinocchio.SE3, max_geoms: int) -> mujoco.MjvScene:
        """Return a scene with a ground plane and light, seen by the camera, with room for ``max_geoms`` geoms."""
        self._data.geom_xpos[GROUND_GEOM], self._data.geom_xmat[GROUND_GEOM] = plane.translation, plane.rotation.ravel()
        scene, view = mujoco.MjvScene(self._model, maxgeom=max_geoms), mujoco.MjvCamera()
        view.lookat, view.distance = camera.target, camera.distance
        view.azimuth, view.elevation = np.degrees([camera.azimuth, camera.elevation])
        categories = mujoco.mjtCatBit.mjCAT_ALL.value
        mujoco.mjv_updateScene(self._model, self._data, mujoco.MjvOption(), None, view, categories, scene)
        sun = next(light for light in scene.lights if not light.headlight)
        right, _, forward = camera.axes
        # The light comes from behind the camera, from its left and from above.
        light_direction = 0.4 * right + 0.5 * forward * [1.0, 1.0, 0.0] - [0.0, 0.0, 1.0]
        sun.dir = light_direction / np.linalg.norm(light_direction)
        sun.pos = camera.target - 3.0 * self.robot.height * sun.dir
        return scene

    def _add_balance(self, scene: mujoco.MjvScene, state: State) -> None:
        """Add the support polygon as an outline on the ground and the projected CoM as a sphere."""
        outline = support_outline(state)
        for a, b in zip(outline, np.roll(outline, -1, axis=0), strict=True):
            self._add_line(scene, a, b, SUPPORT_COLOR)
        self._add_sphere(scene, projected_center_of_mass(state), CENTER_OF_MASS_COLOR)

    def _add_sphere(self, scene: mujoco.MjvScene, point: Array, color: Color) -> None:
        pose = pinocchio.SE3(np.eye(3), point)
        size = (MARK_RADIUS * self.robot.height, 0.0, 0.0)
        self._add_geom(scene, mujoco.mjtGeom.mjGEOM_SPHERE, size, pose, (*color, 1.0))

    def _add_line(self, scene: mujoco.MjvScene, begin: Array, end: Array, color: Color) -> None:
        length = float(np.linalg.norm(end - begin))
        if length > 0.0:
            rotation = pinocchio.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), (end - begin) / length).matrix()
            size = (LINE_HALF_WIDTH * self.robot.height, length / 2, 0.0)
            pose = pinocchio.SE3(rotation, (begin + end) / 2)
            self._add_geom(scene, mujoco.mjtGeom.mjGEOM_CAPSULE, size, pose, (*color, 1.0))

    def _add_geom(
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
        geom.category = mujoco.mjtCatBit.mjCAT_DYNAMIC  # geoms of category "decor" cast no shadow
        geom.dataid = 2 * mesh if mesh >= 0 else -1  # odd numbers are the convex hulls of the meshes
        scene.ngeom += 1


def _colored_boxes(environment: EnvironmentGeometry) -> list[tuple[SolidBox, tuple[float, ...]]]:
    """Return the boxes of the ground and the objects with their colors."""
    colored = ((environment.ground, GROUND_COLOR), (environment.objects, OBJECT_COLOR))
    return [(each, color) for boxes, color in colored for each in boxes]
