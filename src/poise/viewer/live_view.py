"""Live view of a user's own program: a page with the robot, its contacts, targets and support polygon."""

from __future__ import annotations

import sys
import time
import webbrowser
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import numpy as np

from poise.arrays import Array
from poise.control import Controller, ControlStep
from poise.errors import PoiseError
from poise.hierarchy import Hierarchy
from poise.plants import EnvironmentGeometry, Terrain
from poise.robots import Robot, State
from poise.tasks import Gaze, HoldPose, Pose, Position, is_moving
from poise.viewer.view_frame import ViewFrame
from poise.viewer.viewer import Viewer

#: Frames per second that the page receives; states between two frames are not drawn.
FRAME_RATE = 30.0
#: Lag behind real time (s) beyond which the view does not try to catch up: the clock continues from the current time.
MAX_LAG = 0.1
#: Longest wait (s) for the browser to show the page before the motion starts.
PAGE_TIMEOUT = 15.0
#: Width and height of the page inside a notebook (CSS).
NOTEBOOK_SIZE = "width: 100%; height: 480px; border: 0"


def view(
    robot: Robot | State,
    *,
    controller: Controller | None = None,
    ground: Terrain | EnvironmentGeometry | None = None,
    port: int = 0,
    speed: float = 1.0,
    open_browser: bool | None = None,
) -> LiveView:
    """Open a page in the browser that shows a robot while a program moves it.

    Args:
        robot: the robot to show, or its first state.
        controller: draws the targets of its tasks; None: no targets, unless they are passed to `LiveView.show`.
        ground: terrain of the plant, or its `environment`, which has objects and boxes too; None: flat.
        port: on 127.0.0.1; 0: any free port.
        speed: ratio of motion time to wall-clock time; 1: real time, 0: as fast as the program runs.
        open_browser: whether to open the page in the default browser; None: only from an interactive terminal. The
            address is printed to standard error in any case.

    >>> with poise.view(robot) as view:
    ...     for step in poise.steps(controller, plant, seconds=5.0):
    ...         view(step)
    """
    if not isinstance(robot, (Robot, State)):
        raise PoiseError(f"view of {robot!r}; expected a robot or a state, like poise.view(robot)")
    if not (isinstance(speed, (int, float)) and 0.0 <= speed < float("inf")):
        raise PoiseError(f"speed of the view is {speed!r}; expected a number, zero or more; 1 is real time")
    start = robot if isinstance(robot, State) else robot.stance("standing")
    environment = ground if isinstance(ground, EnvironmentGeometry) else EnvironmentGeometry.of(ground, start)
    viewer = Viewer(port)
    viewer.set_figures({"robot": (start.robot, None)})
    viewer.set_environment(environment)
    viewer.show(ViewFrame.from_state(start))
    live_view = LiveView(viewer, start.robot, controller, float(speed))
    print(f"view: {live_view.url}", file=sys.stderr)
    in_terminal = sys.stdout.isatty() and sys.stderr.isatty()
    if in_terminal if open_browser is None else open_browser:
        webbrowser.open(live_view.url)
        live_view.wait_for_page(PAGE_TIMEOUT)
    return live_view


class LiveView:
    """A page that shows a robot in real time; see `view`.

    Call it with each control step, or call `show` with states of your own. In a notebook the object displays itself.

    Args:
        viewer: shows the robot; the view closes it.
        robot, controller, speed: as in `view`.

    Attributes:
        url: address of the page.
    """

    def __init__(self, viewer: Viewer, robot: Robot, controller: Controller | None, speed: float) -> None:
        self.url = f"http://127.0.0.1:{viewer.port}"
        self._viewer: Viewer | None = viewer
        self._robot, self._controller, self._speed = robot, controller, speed
        self._motion_start: float | None = None
        self._real_start = self._next_frame = 0.0

    def __repr__(self) -> str:
        return f"LiveView({self._robot.name}, {self.url})"

    def __call__(self, step: ControlStep, targets: Sequence[Array] | None = None) -> None:
        """Show a control step, then wait as long as the motion is ahead of real time (times `speed`).

        Args:
            step: from `poise.steps`.
            targets: points in the world (m); None: those of the controller's hierarchy, if the view knows one.
        """
        self._show(step.state.time, step, targets)

    def show(self, state: State, targets: Sequence[Array] | None = None) -> None:
        """Show a state, then wait as long as the motion is ahead of real time; arguments as in `__call__`."""
        self._show(state.time, state, targets)

    def wait_for_page(self, timeout: float) -> bool:
        """Wait until a browser shows the page, at most `timeout` (s); return whether one does."""
        deadline = time.monotonic() + timeout
        while self._viewer is not None and not self._viewer.client_count and time.monotonic() < deadline:
            time.sleep(0.05)
        return self._viewer is not None and self._viewer.client_count > 0

    def wait(self) -> None:
        """Keep the page until the user presses Enter or Ctrl-C; returns at once without a terminal."""
        if self._viewer is None or not sys.stdin.isatty():
            return
        try:
            input(f"view: {self.url}; press Enter to close ")
        except (KeyboardInterrupt, EOFError):
            print(file=sys.stderr)

    def close(self) -> None:
        """Close the page; a second call does nothing."""
        viewer, self._viewer = self._viewer, None
        if viewer is not None:
            viewer.close()

    def __enter__(self) -> LiveView:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _repr_html_(self) -> str:
        return f'<iframe src="{self.url}" style="{NOTEBOOK_SIZE}" title="{self._robot.name}"></iframe>'

    def _show(self, motion_time: float, shown: ControlStep | State, targets: Sequence[Array] | None) -> None:
        if self._viewer is None:
            return
        now = time.monotonic()
        if self._motion_start is None or motion_time < self._motion_start:  # the first step, or a motion begun again
            self._motion_start, self._real_start, self._next_frame = motion_time, now, 0.0
        if now >= self._next_frame:
            self._next_frame = now + 1.0 / FRAME_RATE
            self._viewer.show(self._frame(shown, motion_time, targets))
        if self._speed > 0.0:
            lead = self._real_start + (motion_time - self._motion_start) / self._speed - time.monotonic()
            if lead > 0.0:
                time.sleep(lead)
            elif -lead > MAX_LAG:
                self._real_start -= lead

    def _frame(self, shown: ControlStep | State, motion_time: float, targets: Sequence[Array] | None) -> ViewFrame:
        if targets is None:
            hierarchy = None if self._controller is None else self._controller.hierarchy
            targets = [] if hierarchy is None else target_points(hierarchy, motion_time)
        fields: dict[str, Any] = {"markers": {"target": np.asarray(targets, dtype=float).reshape(-1, 3)}}
        if isinstance(shown, State):
            return ViewFrame.from_state(shown, **fields)
        return ViewFrame.from_step(shown, **fields)


def target_points(hierarchy: Hierarchy, motion_time: float) -> list[Array]:
    """Return the points in the world (m) that are targets of `Position`, `Pose` and `Gaze` tasks at a time (s)."""
    points = []
    for level in hierarchy.levels:
        for task in level.tasks:
            point: Any = None
            if isinstance(task, HoldPose):
                continue
            if isinstance(task, Gaze):
                point = task.target.sample(motion_time)[0] if is_moving(task.target) else task.target
            elif isinstance(task, (Position, Pose)) and task.part_sizes is not None and task.part_sizes[0] == 3:
                point = task.sample_target(motion_time)[0]
            if point is not None:
                points.append(np.array(point, dtype=float))
    return points
