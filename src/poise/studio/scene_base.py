"""Base classes of scenes: what moves, which controls there are, and pushes by the user."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from poise.control import Controller, ControlStep
from poise.errors import UsageError
from poise.geometry import so3
from poise.plants import EnvironmentObject, FlatTerrain, MujocoPlant, Plant, Push, Terrain
from poise.robots import Robot
from poise.runs import Motion, World, motion_parameters
from poise.studio.controls import Button, Control, Slider, clamp_number, control_for, value_from_page
from poise.studio.operator_input import OperatorInput
from poise.studio.sole_pressure import SolePressure
from poise.viewer import Plan

if TYPE_CHECKING:
    from poise.studio.fit_service import FitService

Point = tuple[float, float, float]


class ControlledPlant(NamedTuple):
    """Something that moves, and what decides how."""

    controller: Controller
    plant: Plant


class Scene(ABC):
    """One file of `poise.studio.scenes` each; it lives in the process of the simulation.

    A scene says what moves (`controlled_plants`), declares its controls, and answers when they are used. Everything
    else, the loop, the view, recording, pages, is the same for all scenes. Nothing here may block.

    Args:
        robot: who moves.

    Attributes:
        name: one word.
        title, hint: what the user reads.
        stick_driven: whether it is driven by a stick.
        guidance_info: for a scene that takes keys, gamepads and six axes as they are (see `set_operator_input`), what
            the page must know of it: "modes", each with "name" and "hint", the "keys" that count, and the legends
            "keyboard", "gamepad" and "flight_stick"; else {}.
        tab_order: its place among the tabs.
        robots: names of those that it is made for; none: for all.
        needs_reset: whether what was used last takes effect only after a reset; the simulation then resets.
        sole_pressure: what the force cells tell, where a robot balances by them; None elsewhere.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    hint: ClassVar[str]
    stick_driven: ClassVar[bool] = False
    guidance_info: ClassVar[Mapping[str, Any]] = {}
    tab_order: ClassVar[int] = 99
    robots: ClassVar[tuple[str, ...]] = ()

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.needs_reset = False
        self.sole_pressure: SolePressure | None = None

    @abstractmethod
    def controlled_plants(self) -> dict[str, ControlledPlant]:
        """What moves, by name, made anew from what the controls say: "robot" first, and perhaps a "ghost"."""

    @abstractmethod
    def controls(self) -> list[Control]:
        """What the user may turn, with its values of now."""

    @abstractmethod
    def set_control(self, name: str, value: Any) -> str:
        """A control was used; what to tell the user, or "". PoiseError for what does not work."""

    def values(self) -> dict[str, Any]:
        """Of the controls, as they are now."""
        return {c.name: control["value"] for c in self.controls() if "value" in (control := c.as_json())}

    def set_stick(self, forward: float, left: float, turn: float) -> None:  # noqa: B027  not every scene
        """A stick is held so, from -1 to 1; zeros when it is let go, or nobody is there any more."""

    def set_operator_input(self, operator_input: OperatorInput | None) -> None:  # noqa: B027  not every scene
        """Keys, pads and sticks are held so; None when whoever held something is not heard any more."""

    def on_unattended(self) -> None:  # noqa: B027  not every scene
        """Nobody watches any more: come to rest."""

    def display_offsets(self) -> dict[str, Point]:
        """How far from where it is a plant is shown (m), by its name, where it is not shown in its place."""
        return {}

    def drag_handles(self) -> dict[str, Point]:
        """Points that can be dragged, and where they are (m)."""
        return {}

    def move_handle(self, name: str, position: Point) -> None:  # noqa: B027  not every scene
        """A point was dragged there (m)."""

    def after_step(self, steps: Mapping[str, ControlStep]) -> None:  # noqa: B027  not every scene
        """After each period, with the steps of all plants."""

    def status_lines(self) -> list[str]:
        """What is the case, in sentences."""
        return []

    def plans(self) -> dict[str, Plan]:
        """What is going to be, for the view: "accepted" is being done, "next" would be."""
        return {}

    def guidance_status(self) -> dict[str, Any] | None:
        """Of a guided scene: what is heard and what becomes of it, see `NavigateScene.guidance_status`."""
        return None

    def provenance(self) -> dict[str, Any]:
        """For the provenance of a recording."""
        return {}

    @property
    def ground(self) -> Terrain:
        return FlatTerrain()

    @property
    def camera_direction(self) -> Point | None:
        """From where it is seen at first, as a direction; None: from the front and the right."""
        return None

    @property
    def obstacles(self) -> Sequence[EnvironmentObject]:
        """What stands on it."""
        return ()

    # -- files: in the process of the pages, which simulates nothing ----------------------------------------------

    @classmethod
    def recorded_terrain(
        cls, provenance: Mapping[str, Any], robot: Robot
    ) -> tuple[Terrain, Sequence[EnvironmentObject]] | None:
        """The ground of a recording of this scene, and what stood on it, by its facts; None: as the facts' terrain."""
        return None

    @classmethod
    def fit_service(
        cls,
        post_message: Callable[[str, str], None],
        show: Callable[[Any], None],
        values: Callable[[], Mapping[str, Any]],
    ) -> FitService | None:
        """Who works for this scene beside the simulation, with files that take long; see `poise.studio.fit_service`."""
        return None

    @classmethod
    def parse_upload(cls, control: str, name: str, data: bytes) -> Any:
        """What a file of the user's says, as a value for `set_control`; UsageError if it makes no sense."""
        raise UsageError(f"'{name}' cannot be used here; this scene reads no files")

    @classmethod
    def file_to_save(cls, control: str, values: Mapping[str, Any]) -> tuple[str, str]:
        """Name and text of a file for the user, from the values of the controls."""
        raise UsageError(f"there is nothing to save as '{control}'")


# -- What drives the joints, as a user chooses it --------------------------------------------------------------------


#: As built: servos for robots that have them, motors for all others; so it stays right when another robot is chosen.
ACTUATION = AS_BUILT, TORQUE_MOTORS, POSITION_SERVOS = ("as built", "torque motors", "position servos")


def uses_servos(robot: Robot, actuation: str) -> bool:
    """Whether the joints of a robot are driven by position servos, with one of `ACTUATION` chosen.

    >>> uses_servos(poise.load_robot("hoap3"), AS_BUILT)
    True
    """
    return robot.servos.position_controlled if actuation == AS_BUILT else actuation == POSITION_SERVOS


# -- Pushes of a user ------------------------------------------------------------------------------------------------


#: Pushes go up to this share of the weight, which for 0.1 s no walk withstands.
MAX_PUSH = 0.8
#: A push to begin with, as a share of the weight: G1 while it walks takes it in any direction.
DEFAULT_PUSH = 0.18
#: The handle hangs so far before the base and above it, as shares of the height; drawn away by a metre it pulls with
#: twice the weight.
HANDLE_AHEAD, HANDLE_UP, HANDLE_STIFFNESS = 0.25, 0.15, 2.0
#: A handle pulls for so long (s) after it was moved last: pages tell thirty times a second.
PULL_DURATION = 0.05


class PushControls:
    """Size, direction and duration of pushes, and the handle.

    Args:
        robot: who is pushed.
    """

    def __init__(self, robot: Robot) -> None:
        self._weight = robot.weight
        self._offset = np.array([HANDLE_AHEAD * robot.height, 0.0, HANDLE_UP * robot.height])
        self._max_force = round(MAX_PUSH * self._weight, -1)
        self.force, self.direction, self.duration = float(round(DEFAULT_PUSH * self._weight)), 0.0, 0.1
        self._handle: np.ndarray | None = None
        self._pull_end = -math.inf

    def controls(self) -> list[Control]:
        return [
            Button(name="push", label="push", group="Push", help="pushes the base, as set below"),
            Slider(name="push.force", label="force", group="Push", low=0.0, high=self._max_force, step=1.0, unit="N",
                   value=self.force),
            Slider(name="push.direction", label="direction", group="Push", low=-180.0, high=180.0, step=5.0,
                   unit="degrees", value=self.direction, help="0 pushes ahead, 90 to the left"),
            Slider(name="push.duration", label="duration", group="Push", low=0.02, high=0.5, step=0.01, unit="s",
                   value=self.duration),
        ]  # fmt: skip

    def values(self) -> dict[str, Any]:
        return {"push.force": self.force, "push.direction": self.direction, "push.duration": self.duration}

    def set_control(self, name: str, value: Any, plant: MujocoPlant) -> str:
        """A control was used; what to tell."""
        if name == "push.force":
            self.force = clamp_number(value, 0.0, self._max_force)
        elif name == "push.direction":
            self.direction = clamp_number(value, -180.0, 180.0)
        elif name == "push.duration":
            self.duration = clamp_number(value, 0.02, 0.5)
        elif name == "push":
            angle = math.radians(self.direction) + _feet_heading(plant)
            force = (self.force * math.cos(angle), self.force * math.sin(angle), 0.0)
            plant.push(Push(force, self.duration, plant.time))
            return f"pushed with {self.force:.0f} N for {self.duration:g} s"
        return ""

    def drag_handles(self, plant: MujocoPlant) -> dict[str, Point]:
        if plant.time >= self._pull_end:
            self._handle = None
        x, y, z = self._handle_rest(plant) if self._handle is None else self._handle
        return {"push": (float(x), float(y), float(z))}

    def move_handle(self, position: Point, plant: MujocoPlant) -> None:
        """The handle was drawn there (m): like on a rubber band, the further the harder."""
        self._handle = np.array(position)
        if plant.time < self._pull_end:
            return
        force = HANDLE_STIFFNESS * self._weight * (self._handle - self._handle_rest(plant))
        force *= min(1.0, self._max_force / max(float(np.linalg.norm(force)), 1e-9))
        plant.push(Push(force.tolist(), PULL_DURATION, plant.time))
        self._pull_end = plant.time + PULL_DURATION

    def _handle_rest(self, plant: MujocoPlant) -> np.ndarray:
        return np.asarray(plant.truth().q[:3] + so3.yaw_matrix(_feet_heading(plant)) @ self._offset)


def _feet_heading(plant: MujocoPlant) -> float:
    """Where the feet point (rad): not every base looks ahead."""
    state = plant.truth()
    ahead = sum((state.pose(foot).rotation[:2, 0] for foot in state.robot.feet), np.zeros(2))
    return math.atan2(ahead[1], ahead[0])


class PushableScene(Scene):
    """A scene whose robot can be pushed; it keeps its plant in `plant`."""

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot)
        self.push_controls = PushControls(robot)
        self.plant: MujocoPlant | None = None

    def drag_handles(self) -> dict[str, Point]:
        return {} if self.plant is None else self.push_controls.drag_handles(self.plant)

    def move_handle(self, name: str, position: Point) -> None:
        if self.plant is not None:
            self.push_controls.move_handle(position, self.plant)


# -- Motions: controls that follow from a definition -----------------------------------------------------------------


class MotionControls:
    """Controls of the parameters of a motion (`poise.runs`) that its scene has no control of its own for.

    Every parameter that is a number with a range, a choice or a switch appears; changing one begins the scene anew.

    Args:
        motion_class: the definition.
        robot: that moves.
        exclude: names of parameters that the scene shows in another way, or that mean nothing in the studio.

    Attributes:
        overrides: parameters that the user changed.
    """

    #: The page has its own ways to choose the robot and to push, runs for as long as the user likes, and strictly.
    EXCLUDED = frozenset({"robot", "mode", "plant", "solver", "seconds", "seed", "push", "faults", "carry"})

    def __init__(self, motion_class: type[Motion], robot: Robot, exclude: Iterable[str] = ()) -> None:
        self.motion_class, self.robot, self._exclude = motion_class, robot, {*exclude, *self.EXCLUDED}
        self.overrides: dict[str, Any] = {}

    def build_motion(self, **extra: Any) -> Any:
        """The motion with the user's parameters and more."""
        return self.motion_class(**{"robot": self.robot.name, **self.overrides, **extra})

    def controls(self, **extra: Any) -> list[Control]:
        """One control per parameter, with the values of `build_motion(**extra)`."""
        motion = self.build_motion(**extra)
        controls = []
        for declared in motion_parameters(self.motion_class).values():
            if declared.name in self._exclude:
                continue
            is_world = declared.name in World.__dataclass_fields__
            value = getattr(motion.world if is_world else motion, declared.name)
            control = control_for(declared, value, "World" if is_world else "Motion")
            controls += [] if control is None else [control]
        return controls

    def set(self, name: str, value: object, **extra: Any) -> bool:
        """Take over what a page sent; whether the motion has such a parameter."""
        for control in self.controls(**extra):
            if control.name == name:
                self.overrides[name] = value_from_page(control, value)
                return True
        return False
