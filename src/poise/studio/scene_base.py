"""Base classes of scenes: what moves, which controls there are, and pushes by the user."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from poise.control import Controller, Step
from poise.errors import UsageError
from poise.geometry import so3
from poise.plants import Flat, Ground, MujocoPlant, Plant, Push, Thing
from poise.robots import Robot
from poise.runs import Motion, World, motion_parameters
from poise.studio.controls import Button, Control, Slider, control_for, number, value_from_page
from poise.studio.operator_input import Hands
from poise.studio.scenery import Plan
from poise.studio.sole_pressure import Soles

if TYPE_CHECKING:
    from poise.studio.fit_service import Desk

Point = tuple[float, float, float]


class Act(NamedTuple):
    """Something that moves, and what decides how."""

    controller: Controller
    plant: Plant


class Scene(ABC):
    """One file of `poise.studio.scenes` each; it lives in the process of the simulation.

    A scene says what moves (`acts`), declares its controls, and answers when they are used. Everything else, the loop,
    the view, recording, pages, is the same for all scenes. Nothing here may block.

    Args:
        robot: who moves.

    Attributes:
        name: one word.
        title, hint: what the user reads.
        sticks: whether it is driven by a stick.
        guided: for a scene that takes keys, pads and six axes as they are (see `take`), what the page must know of it:
            "modes", each with "name" and "hint", the "keys" that count, and the legends "keyboard", "gamepad" and
            "flight_stick"; else {}.
        order: its place among the tabs.
        robots: names of those that it is made for; none: for all.
        stale: whether what was used last can only be taken over by beginning anew; the simulation then resets.
        soles: what the force cells tell, where a robot balances by them; None elsewhere.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    hint: ClassVar[str]
    sticks: ClassVar[bool] = False
    guided: ClassVar[Mapping[str, Any]] = {}
    order: ClassVar[int] = 99
    robots: ClassVar[tuple[str, ...]] = ()

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.stale = False
        self.soles: Soles | None = None

    @abstractmethod
    def acts(self) -> dict[str, Act]:
        """What moves, by name, made anew from what the controls say: "robot" first, and perhaps a "ghost"."""

    @abstractmethod
    def controls(self) -> list[Control]:
        """What the user may turn, with its values of now."""

    @abstractmethod
    def do(self, name: str, value: Any) -> str:
        """A control was used; what to tell the user, or "". PoiseError for what does not work."""

    def values(self) -> dict[str, Any]:
        """Of the controls, as they are now."""
        return {c.name: control["value"] for c in self.controls() if "value" in (control := c.as_json())}

    def drive(self, forward: float, left: float, turn: float) -> None:  # noqa: B027  not every scene
        """A stick is held so, from -1 to 1; zeros when it is let go, or nobody is there any more."""

    def take(self, hands: Hands | None) -> None:  # noqa: B027  not every scene
        """Keys, pads and sticks are held so; None when whoever held something is not heard any more."""

    def leave(self) -> None:  # noqa: B027  not every scene
        """Nobody watches any more: come to rest."""

    def places(self) -> dict[str, Point]:
        """How far from where it is an act is shown (m), by its name, where it is not shown in its place."""
        return {}

    def gizmos(self) -> dict[str, Point]:
        """Points that can be dragged, and where they are (m)."""
        return {}

    def drag(self, name: str, place: Point) -> None:  # noqa: B027  not every scene
        """A point was dragged there (m)."""

    def tick(self, steps: Mapping[str, Step]) -> None:  # noqa: B027  not every scene
        """After each period, with the steps of all acts."""

    def words(self) -> list[str]:
        """What is the case, in sentences."""
        return []

    def plans(self) -> dict[str, Plan]:
        """What is going to be, for the view: "accepted" is being done, "next" would be."""
        return {}

    def guide(self) -> dict[str, Any] | None:
        """Of a guided scene: what is heard and what becomes of it, see `NavigateScene.guide`."""
        return None

    def facts(self) -> dict[str, Any]:
        """For the provenance of a recording."""
        return {}

    @property
    def ground(self) -> Ground:
        return Flat()

    @property
    def look(self) -> Point | None:
        """From where it is seen at first, as a direction; None: from the front and the right."""
        return None

    @property
    def things(self) -> Sequence[Thing]:
        """What stands on it."""
        return ()

    # -- files: in the process of the pages, which simulates nothing ----------------------------------------------

    @classmethod
    def replayed(cls, facts: Mapping[str, Any], robot: Robot) -> tuple[Ground, Sequence[Thing]] | None:
        """The ground of a recording of this scene, and what stood on it, by its facts; None: as the facts' terrain."""
        return None

    @classmethod
    def desk(
        cls,
        say: Callable[[str, str], None],
        show: Callable[[Any], None],
        values: Callable[[], Mapping[str, Any]],
    ) -> Desk | None:
        """Who works for this scene beside the simulation, with files that take long; see `poise.studio.fit_service`."""
        return None

    @classmethod
    def read(cls, control: str, name: str, data: bytes) -> Any:
        """What a file of the user's says, as a value for `do`; UsageError if it makes no sense."""
        raise UsageError(f"'{name}' cannot be used here; this scene reads no files")

    @classmethod
    def written(cls, control: str, values: Mapping[str, Any]) -> tuple[str, str]:
        """Name and text of a file for the user, from the values of the controls."""
        raise UsageError(f"there is nothing to save as '{control}'")


# -- What drives the joints, as a user chooses it --------------------------------------------------------------------


#: As built: servos for robots that have them, motors for all others; so it stays right when another robot is chosen.
DRIVES = AS_BUILT, MOTORS, SERVOS = ("as built", "torque motors", "position servos")


def on_servos(robot: Robot, drives: str) -> bool:
    """Whether the joints of a robot are driven by position servos, with one of `DRIVES` chosen.

    >>> on_servos(poise.load_robot("hoap3"), AS_BUILT)
    True
    """
    return robot.servos.usual if drives == AS_BUILT else drives == SERVOS


# -- Pushes of a user ------------------------------------------------------------------------------------------------


#: Pushes go up to this share of the weight, which for 0.1 s no walk withstands.
HARDEST = 0.8
#: A push to begin with, as a share of the weight: G1 while it walks takes it in any direction.
USUAL = 0.18
#: The handle hangs so far before the base and above it, as shares of the height; drawn away by a metre it pulls with
#: twice the weight.
AHEAD, UP, STIFF = 0.25, 0.15, 2.0
#: A handle pulls for so long (s) after it was moved last: pages tell thirty times a second.
LASTS = 0.05


class Pushes:
    """Size, direction and duration of pushes, and the handle.

    Args:
        robot: who is pushed.
    """

    def __init__(self, robot: Robot) -> None:
        self._weight = robot.weight
        self._offset = np.array([AHEAD * robot.height, 0.0, UP * robot.height])
        self._most = round(HARDEST * self._weight, -1)
        self.size, self.direction, self.duration = float(round(USUAL * self._weight)), 0.0, 0.1
        self._pulled: np.ndarray | None = None
        self._until = -math.inf

    def controls(self) -> list[Control]:
        return [
            Button(name="push", label="push", group="Push", help="pushes the base, as set below"),
            Slider(name="push.size", label="force", group="Push", low=0.0, high=self._most, step=1.0, unit="N",
                   value=self.size),
            Slider(name="push.direction", label="direction", group="Push", low=-180.0, high=180.0, step=5.0,
                   unit="degrees", value=self.direction, help="0 pushes ahead, 90 to the left"),
            Slider(name="push.duration", label="duration", group="Push", low=0.02, high=0.5, step=0.01, unit="s",
                   value=self.duration),
        ]  # fmt: skip

    def values(self) -> dict[str, Any]:
        return {"push.size": self.size, "push.direction": self.direction, "push.duration": self.duration}

    def do(self, name: str, value: Any, plant: MujocoPlant) -> str:
        """A control was used; what to tell."""
        if name == "push.size":
            self.size = number(value, 0.0, self._most)
        elif name == "push.direction":
            self.direction = number(value, -180.0, 180.0)
        elif name == "push.duration":
            self.duration = number(value, 0.02, 0.5)
        elif name == "push":
            angle = math.radians(self.direction) + _heading(plant)
            force = (self.size * math.cos(angle), self.size * math.sin(angle), 0.0)
            plant.push(Push(force, self.duration, plant.time))
            return f"pushed with {self.size:.0f} N for {self.duration:g} s"
        return ""

    def gizmos(self, plant: MujocoPlant) -> dict[str, Point]:
        if plant.time >= self._until:
            self._pulled = None
        x, y, z = self._rests(plant) if self._pulled is None else self._pulled
        return {"push": (float(x), float(y), float(z))}

    def drag(self, place: Point, plant: MujocoPlant) -> None:
        """The handle was drawn there (m): like on a rubber band, the further the harder."""
        self._pulled = np.array(place)
        if plant.time < self._until:
            return
        force = STIFF * self._weight * (self._pulled - self._rests(plant))
        force *= min(1.0, self._most / max(float(np.linalg.norm(force)), 1e-9))
        plant.push(Push(force.tolist(), LASTS, plant.time))
        self._until = plant.time + LASTS

    def _rests(self, plant: MujocoPlant) -> np.ndarray:
        return np.asarray(plant.truth().q[:3] + so3.yaw_matrix(_heading(plant)) @ self._offset)


def _heading(plant: MujocoPlant) -> float:
    """Where the feet point (rad): not every base looks ahead."""
    state = plant.truth()
    ahead = sum((state.pose(foot).rotation[:2, 0] for foot in state.robot.feet), np.zeros(2))
    return math.atan2(ahead[1], ahead[0])


class PushedScene(Scene):
    """A scene whose robot can be pushed; it keeps its plant in `plant`."""

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot)
        self.pushes = Pushes(robot)
        self.plant: MujocoPlant | None = None

    def gizmos(self) -> dict[str, Point]:
        return {} if self.plant is None else self.pushes.gizmos(self.plant)

    def drag(self, name: str, place: Point) -> None:
        if self.plant is not None:
            self.pushes.drag(place, self.plant)


# -- Motions: controls that follow from a definition -----------------------------------------------------------------


class MotionControls:
    """Controls of the parameters of a motion (`poise.runs`) that its scene has no control of its own for.

    Every parameter that is a number with a range, a choice or a switch appears; changing one begins the scene anew.

    Args:
        motion: the definition.
        robot: that moves.
        own: names of parameters that the scene shows in another way, or that mean nothing in the studio.

    Attributes:
        given: parameters that the user changed.
    """

    #: The page has its own ways to choose the robot and to push, runs for as long as the user likes, and strictly.
    ELSEWHERE = frozenset({"robot", "mode", "plant", "solver", "seconds", "seed", "push", "faults", "carry"})

    def __init__(self, motion: type[Motion], robot: Robot, own: Iterable[str] = ()) -> None:
        self.motion, self.robot, self._own = motion, robot, {*own, *self.ELSEWHERE}
        self.given: dict[str, Any] = {}

    def definition(self, **more: Any) -> Any:
        """The motion with the user's parameters and more."""
        return self.motion(**{"robot": self.robot.name, **self.given, **more})

    def controls(self, **more: Any) -> list[Control]:
        """One control per parameter, with the values of `definition(**more)`."""
        made = self.definition(**more)
        found = []
        for each in motion_parameters(self.motion).values():
            if each.name in self._own:
                continue
            outside = each.name in World.__dataclass_fields__
            value = getattr(made.world if outside else made, each.name)
            control = control_for(each, value, "World" if outside else "Motion")
            found += [] if control is None else [control]
        return found

    def set(self, name: str, value: object, **more: Any) -> bool:
        """Take over what a page sent; whether the motion has such a parameter."""
        for control in self.controls(**more):
            if control.name == name:
                self.given[name] = value_from_page(control, value)
                return True
        return False
