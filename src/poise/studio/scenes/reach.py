"""Scene Reach: drag targets of hands and gaze, and change the priority of tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from poise import constraints, tasks
from poise.behaviors import UprightSettings, center_above_support, upright_hierarchy
from poise.control import KinematicController, TorqueController
from poise.hierarchy import Behavior, Hierarchy, Level
from poise.plants import IdealPlant, MujocoPlant
from poise.robots import Robot
from poise.solvers import Weighted
from poise.state import Snapshot
from poise.studio.controls import Control, Dropdown, Slider, TaskItem, TaskOrder, clamp_number, option_or_first
from poise.studio.scene_base import ControlledPlant, Point, Scene
from poise.tasks import LiveTarget

DISPLAYS = ("physics with kinematic ghost", "physics beside kinematic", "physics", "kinematic")
#: Distance between two robots side by side, as a share of their height.
GHOST_SPACING = 0.8
SOLVERS = ("strict", "weighted")
#: Weight of the contact level in the weighted solver; weights of the other levels are set by the user.
CONTACT_WEIGHT = 1000.0
#: Gain of tasks that follow handles (1/s), and their largest speed (m/s, rad/s): faster hands make the robot fall.
TASK_RATE, MAX_TASK_SPEED = 6.0, 0.6
#: Gains (1/s) of the center of mass, which ankles can follow, of angular momentum, and of posture, a mere preference.
BALANCE_RATE, MOMENTUM_RATE, POSTURE_RATE = 4.0, 8.0, 2.0
#: Tolerance of angular momentum, per mass (m²/s): reaching arms need a little.
ANGULAR_MOMENTUM_BOUND = 0.02
#: Damping of the gaze task, which on a robot without a neck moves the whole trunk.
GAZE_DAMPING = 0.1
#: Tolerance of the height of the center of mass, as a share of it: the robot does not recover from deeper knee bends.
MAX_CROUCH = 0.3
#: Initial half width of boxes (m), and of the one of the gaze (rad).
DEFAULT_BOX = 0.05


class ReachScene(Scene):
    """Standing robot with tasks for balance, hands, gaze, trunk and posture, in an order that the user sets."""

    name, title, tab_order = "reach", "Reach", 3
    hint = "Drag the targets of hands and gaze. Reorder the tasks, or relax a task to a box that allows deviations."

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot)
        self.start = robot.stance("standing")
        self.display, self.solver, self.box_half_width = DISPLAYS[0], "strict", DEFAULT_BOX
        self._center = center_above_support(self.start)
        hands = {f"{hand.side} hand": LiveTarget(self.start.pose(hand).translation) for hand in reversed(robot.hands)}
        gaze = {} if robot.head is None else {"gaze": LiveTarget(self._gaze_target())}
        self.handles = {**hands, **gaze}
        self.items = self._default_items()
        self._behaviors: list[_ExchangeableHierarchy] = []

    def _default_items(self) -> list[TaskItem]:
        names = ("balance", *self.handles, "trunk", "posture")
        return [
            TaskItem(name=n, label=n, constraint_type="" if n == "posture" else "equality", weight=1.0) for n in names
        ]

    def on_reset(self) -> None:
        """Reset the order, types and weights of the tasks, and move the targets back to the hands and the gaze."""
        self.items = self._default_items()
        for name, handle in self.handles.items():
            hand = None if name == "gaze" else self.robot.hand(name.split()[0])
            handle.set(self._gaze_target() if hand is None else self.start.pose(hand).translation)

    def _gaze_target(self) -> Any:
        gaze = self.robot.gaze
        pose = self.start.pose(gaze)
        return pose.translation + 0.8 * self.robot.height * (pose.rotation @ np.array(gaze.axis))

    def controlled_plants(self) -> dict[str, ControlledPlant]:
        plants: dict[str, ControlledPlant] = {}
        self._behaviors = []
        if self.display != "kinematic":
            plants["robot"] = ControlledPlant(
                TorqueController(self._behavior(), self._solver()), MujocoPlant(self.start)
            )
        if self.display != "physics":
            name = "ghost" if plants else "robot"
            plants[name] = ControlledPlant(
                KinematicController(self._behavior(), self._solver()), IdealPlant(self.start)
            )
        return plants

    def _behavior(self) -> _ExchangeableHierarchy:
        """Return a behavior with the current hierarchy, which `_rebuild` replaces."""
        self._behaviors.append(_ExchangeableHierarchy(self._hierarchy()))
        return self._behaviors[-1]

    def display_offsets(self) -> dict[str, Point]:
        spacing = GHOST_SPACING * self.robot.height if self.display == "physics beside kinematic" else 0.0
        return {"ghost": (0.0, spacing, 0.0)}

    def _solver(self) -> Weighted | None:
        if self.solver == "strict":
            return None
        return Weighted([CONTACT_WEIGHT, *(item.weight or 1.0 for item in self.items)])

    # -- hierarchy of tasks ----------------------------------------------------------------------------------------

    def _hierarchy(self) -> Hierarchy:
        """Build the hierarchy: contacts first, then the tasks in the user's order."""
        first = upright_hierarchy(self.start, self._center, UprightSettings())
        levels = [first.level("contact")]
        levels += [
            Level(item.label, self._tasks(item), damping=GAZE_DAMPING if item.name == "gaze" else 0.0)
            for item in self.items
        ]
        return Hierarchy([*first.always, constraints.JointSpeed(self.robot)], levels)

    def _tasks(self, item: TaskItem) -> list[tasks.Task]:
        robot, start = self.robot, self.start
        within = self.box_half_width if item.constraint_type == "box" else None
        dynamics = tasks.Decay(TASK_RATE, speed=MAX_TASK_SPEED)
        if item.name == "balance":
            slow, max_drop = tasks.Decay(BALANCE_RATE), MAX_CROUCH * self._center[2]
            damped = tasks.Decay(MOMENTUM_RATE)
            return [
                tasks.CenterOfMass(self._center, axes="xy", tolerance=within, dynamics=slow),
                tasks.CenterOfMass(
                    self._center, axes="z", tolerance=max_drop, dynamics=slow, name="height of the center of mass"
                ),
                tasks.AngularMomentum(
                    tolerance=ANGULAR_MOMENTUM_BOUND * robot.mass, weight=robot.mass**-2, dynamics=damped
                ),
            ]
        if item.name == "gaze":
            return [tasks.Gaze(robot.gaze, self.handles["gaze"], tolerance=within, dynamics=tasks.Decay(TASK_RATE))]
        if item.name == "trunk":
            trunk = robot.chest or robot.frame("root_joint")
            return [tasks.Orientation(trunk, start.pose(trunk), tolerance=within, dynamics=tasks.Decay(TASK_RATE))]
        if item.name == "posture":
            return [tasks.Posture(start, dynamics=tasks.Decay(POSTURE_RATE))]
        hand = robot.hand(item.name.split()[0])
        return [tasks.Position(hand, self.handles[item.name], tolerance=within, dynamics=dynamics, name=item.name)]

    def _rebuild(self) -> None:
        for behavior in self._behaviors:
            behavior.hierarchy = self._hierarchy()

    # -- controls --------------------------------------------------------------------------------------------------

    def controls(self) -> list[Control]:
        return [
            Dropdown(name="display", label="show", group="Robot", options=DISPLAYS, value=self.display),
            Dropdown(name="solver", label="priorities", group="Tasks", options=SOLVERS, value=self.solver,
                   help="strict: a lower task never degrades a higher one; weighted: all tasks are traded off"),
            TaskOrder(name="task_order", label="tasks, highest priority first", group="Tasks", items=tuple(self.items)),
            Slider(name="box_half_width", label="half width of boxes", group="Tasks", low=0.01, high=0.3, step=0.01,
                   unit="m, rad", value=self.box_half_width),
        ]  # fmt: skip

    def values(self) -> dict[str, Any]:
        items = [item.as_json() for item in self.items]
        return {
            "display": self.display,
            "solver": self.solver,
            "box_half_width": self.box_half_width,
            "task_order": items,
        }

    def saved_state(self) -> dict[str, Any]:
        return {**super().saved_state(), "targets": {"robot": self.robot.name, "positions": self.drag_handles()}}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Set the controls to values that `saved_state` returned, and the targets if they are those of this robot."""
        super().restore({name: value for name, value in saved.items() if name != "targets"})
        targets = saved.get("targets", {"robot": ""})
        if targets["robot"] == self.robot.name:
            for name, position in targets["positions"].items():
                self.move_handle(name, position)

    def set_control(self, name: str, value: Any) -> str:
        if name == "display":
            self.display, self.needs_reset = option_or_first(value, DISPLAYS), True
        elif name == "solver":
            self.solver, self.needs_reset = option_or_first(value, SOLVERS), True
        elif name == "box_half_width":
            self.box_half_width = clamp_number(value, 0.01, 0.3)
            self._rebuild()
        elif name == "task_order":
            self._set_order(value)
        return ""

    def _set_order(self, value: Any) -> None:
        """Apply a new order of the tasks; ignore a list that does not name each task once."""
        items_by_name = {item.name: item for item in self.items}
        entries = [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
        if sorted(str(entry.get("name")) for entry in entries) != sorted(items_by_name):
            return
        weights_before = [item.weight for item in self.items]
        self.items = [_updated_item(items_by_name[str(entry["name"])], entry) for entry in entries]
        self._rebuild()
        # The weighted solver takes its weights at construction.
        self.needs_reset = self.solver == "weighted" and weights_before != [item.weight for item in self.items]

    # -- handles ---------------------------------------------------------------------------------------------------

    def drag_handles(self) -> dict[str, Point]:
        return {name: _point(handle.value) for name, handle in self.handles.items()}

    def move_handle(self, name: str, position: Point) -> None:
        """Move a handle; it stays above the floor and within 1.5 robot heights of the initial center of mass."""
        if name not in self.handles:
            return
        middle, max_distance = self.start.center_of_mass, 1.5 * self.robot.height
        offset = np.array(position) - middle
        offset *= min(1.0, max_distance / max(float(np.linalg.norm(offset)), 1e-9))
        x, y, z = middle + offset
        self.handles[name].set(np.array([x, y, max(z, 0.0)]))

    def status_lines(self) -> list[str]:
        order = " > ".join(item.label for item in self.items)
        return [f"contact > {order}" if self.solver == "strict" else "all tasks are traded off by their weights"]

    def provenance(self) -> dict[str, Any]:
        return {"behavior": "reach", "task_order": [item.name for item in self.items]}


class _ExchangeableHierarchy(Behavior):
    """Behavior whose hierarchy can be replaced while it runs."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy

    def __call__(self, snapshot: Snapshot) -> Hierarchy:
        return self.hierarchy


def _updated_item(item: TaskItem, entry: dict[str, Any]) -> TaskItem:
    constraint_type = (
        entry.get("constraint_type")
        if item.constraint_type and entry.get("constraint_type") in ("equality", "box")
        else item.constraint_type
    )
    return TaskItem(
        name=item.name,
        label=item.label,
        constraint_type=str(constraint_type),
        weight=clamp_number(entry.get("weight"), 0.01, 100.0),
    )


def _point(value: Any) -> Point:
    x, y, z = (float(part) for part in value)
    return x, y, z
