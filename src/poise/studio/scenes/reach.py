"""Reach: drag hands and gaze, and decide what matters more."""

from __future__ import annotations

from typing import Any

import numpy as np

from poise import constraints, tasks
from poise.behaviors import UprightSettings, above_support, upright
from poise.control import KinematicController, TorqueController
from poise.hierarchy import Behavior, Hierarchy, Level
from poise.plants import IdealPlant, MujocoPlant
from poise.robots import Robot
from poise.solvers import Weighted
from poise.state import Snapshot
from poise.studio.controls import Choice, Control, Item, Order, Slider, chosen, number
from poise.studio.scene_base import Act, Point, Scene
from poise.tasks import Live

SHOWN = ("physics with kinematic ghost", "physics beside kinematic", "physics", "kinematic")
#: Robots that stand beside each other are this share of their height apart.
APART = 0.8
SOLVERS = ("strict", "weighted")
#: Weights of contact and of what stays upright, in the weighted sum; those of the user's tasks are beside them.
CONTACT = 1000.0
#: Tasks follow their handles at this rate (1/s), at this speed at most (m/s, rad/s): hands that are thrown topple.
RATE, SPEED = 6.0, 0.6
#: Rates (1/s) of the centre of mass, which ankles can follow, of what spins, and of the posture, a mere preference.
BALANCE, DAMPED, POSTURE = 4.0, 8.0, 2.0
#: Angular momentum that is left alone, per mass (m²/s): reaching arms spin a little.
SPIN = 0.02
#: Damping of the gaze, which on a robot without a neck takes the whole trunk.
CALM = 0.1
#: The centre of mass sinks by no more than this share of its height: knees that are bent further do not come up again.
CROUCH = 0.3
#: Half the width of a box, to begin with (m), and of the gaze's (rad).
BOX = 0.05


class ReachScene(Scene):
    """A body on both feet with two hands, a gaze, a trunk and a posture, in an order that the user decides."""

    name, title, order = "reach", "Reach", 3
    hint = "Drag the hands and what it looks at; move tasks up and down, or make them boxes that leave freedom."

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot)
        self.start = robot.stance("standing")
        self.shown, self.solver, self.box = SHOWN[0], "strict", BOX
        self._center = above_support(self.start)
        hands = {f"{hand.side} hand": Live(self.start.pose(hand).translation) for hand in reversed(robot.hands)}
        gaze = {} if robot.gaze is None else {"gaze": Live(self._looked())}
        self.handles = {**hands, **gaze}
        names = ("balance", *self.handles, "trunk", "posture")
        self.items = [Item(name=n, label=n, wants="" if n == "posture" else "equality", weight=1.0) for n in names]
        self._behaviors: list[_Behavior] = []

    def _looked(self) -> Any:
        gaze = self.robot.gaze
        pose = self.start.pose(gaze)
        return pose.translation + 0.8 * self.robot.height * (pose.rotation @ np.array(gaze.axis))

    def acts(self) -> dict[str, Act]:
        found: dict[str, Act] = {}
        self._behaviors = []
        if self.shown != "kinematic":
            found["robot"] = Act(TorqueController(self._behavior(), self._solver()), MujocoPlant(self.start))
        if self.shown != "physics":
            name = "ghost" if found else "robot"
            found[name] = Act(KinematicController(self._behavior(), self._solver()), IdealPlant(self.start))
        return found

    def _behavior(self) -> _Behavior:
        """The stack of now, which `_rebuild` exchanges."""
        self._behaviors.append(_Behavior(self._hierarchy()))
        return self._behaviors[-1]

    def places(self) -> dict[str, Point]:
        beside = APART * self.robot.height if self.shown == "physics beside kinematic" else 0.0
        return {"ghost": (0.0, beside, 0.0)}

    def _solver(self) -> Weighted | None:
        if self.solver == "strict":
            return None
        return Weighted([CONTACT, *(item.weight or 1.0 for item in self.items)])

    # -- the stack of tasks ----------------------------------------------------------------------------------------

    def _hierarchy(self) -> Hierarchy:
        """Contacts first; then what the user put in order."""
        first = upright(self.start, self._center, UprightSettings())
        levels = [first.level("contact")]
        levels += [
            Level(item.label, self._tasks(item), damping=CALM if item.name == "gaze" else 0.0) for item in self.items
        ]
        return Hierarchy([*first.always, constraints.JointSpeed(self.robot)], levels)

    def _tasks(self, item: Item) -> list[tasks.Task]:
        robot, start = self.robot, self.start
        within = self.box if item.wants == "box" else None
        reference = tasks.Decay(RATE, speed=SPEED)
        if item.name == "balance":
            slow, high = tasks.Decay(BALANCE), CROUCH * self._center[2]
            damped = tasks.Decay(DAMPED)
            return [
                tasks.CenterOfMass(self._center, axes="xy", within=within, reference=slow),
                tasks.CenterOfMass(self._center, axes="z", within=high, reference=slow, name="height"),
                tasks.AngularMomentum(within=SPIN * robot.mass, weight=robot.mass**-2, reference=damped),
            ]
        if item.name == "gaze":
            return [tasks.Gaze(robot.gaze, self.handles["gaze"], within=within, reference=tasks.Decay(RATE))]
        if item.name == "trunk":
            trunk = robot.chest or robot.frame("root_joint")
            return [tasks.Orientation(trunk, start.pose(trunk), within=within, reference=tasks.Decay(RATE))]
        if item.name == "posture":
            return [tasks.Posture(start, reference=tasks.Decay(POSTURE))]
        hand = robot.hand(item.name.split()[0])
        return [tasks.Position(hand, self.handles[item.name], within=within, reference=reference, name=item.name)]

    def _rebuild(self) -> None:
        for behavior in self._behaviors:
            behavior.hierarchy = self._hierarchy()

    # -- controls --------------------------------------------------------------------------------------------------

    def controls(self) -> list[Control]:
        return [
            Choice(name="shown", label="show", group="Robot", options=SHOWN, value=self.shown),
            Choice(name="solver", label="priorities", group="Tasks", options=SOLVERS, value=self.solver,
                   help="strict: none is given up for one below it; weighted: all share"),
            Order(name="order", label="what matters, most first", group="Tasks", items=tuple(self.items)),
            Slider(name="box", label="half width of boxes", group="Tasks", low=0.01, high=0.3, step=0.01,
                   unit="m, rad", value=self.box),
        ]  # fmt: skip

    def values(self) -> dict[str, Any]:
        items = [item.as_json() for item in self.items]
        return {"shown": self.shown, "solver": self.solver, "box": self.box, "order": items}

    def do(self, name: str, value: Any) -> str:
        if name == "shown":
            self.shown, self.stale = chosen(value, SHOWN), True
        elif name == "solver":
            self.solver, self.stale = chosen(value, SOLVERS), True
        elif name == "box":
            self.box = number(value, 0.01, 0.3)
            self._rebuild()
        elif name == "order":
            self._ordered(value)
        return ""

    def _ordered(self, value: Any) -> None:
        """The items in their new order; what does not name each of them once is not taken."""
        known = {item.name: item for item in self.items}
        given = [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
        if sorted(str(entry.get("name")) for entry in given) != sorted(known):
            return
        before = [item.weight for item in self.items]
        self.items = [_item(known[str(entry["name"])], entry) for entry in given]
        self._rebuild()
        # The weighted sum has its weights from the beginning.
        self.stale = self.solver == "weighted" and before != [item.weight for item in self.items]

    # -- handles ---------------------------------------------------------------------------------------------------

    def gizmos(self) -> dict[str, Point]:
        return {name: _point(handle.value) for name, handle in self.handles.items()}

    def drag(self, name: str, place: Point) -> None:
        """The handle goes there, but not through the floor, nor further than any arm could dream of."""
        if name not in self.handles:
            return
        middle, far = self.start.center_of_mass, 1.5 * self.robot.height
        moved = np.array(place) - middle
        moved *= min(1.0, far / max(float(np.linalg.norm(moved)), 1e-9))
        x, y, z = middle + moved
        self.handles[name].move(np.array([x, y, max(z, 0.0)]))

    def words(self) -> list[str]:
        order = " > ".join(item.label for item in self.items)
        return [f"contact > {order}" if self.solver == "strict" else "all tasks share, by their weights"]

    def facts(self) -> dict[str, Any]:
        return {"behavior": "reach", "order": [item.name for item in self.items]}


class _Behavior(Behavior):
    """A hierarchy that can be exchanged while it is obeyed."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy

    def __call__(self, snapshot: Snapshot) -> Hierarchy:
        return self.hierarchy


def _item(known: Item, entry: dict[str, Any]) -> Item:
    wants = entry.get("kind") if known.wants and entry.get("kind") in ("equality", "box") else known.wants
    return Item(name=known.name, label=known.label, wants=str(wants), weight=number(entry.get("weight"), 0.01, 100.0))


def _point(value: Any) -> Point:
    x, y, z = (float(part) for part in value)
    return x, y, z
