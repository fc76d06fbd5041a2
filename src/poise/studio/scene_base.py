"""Base classes of scenes, and controls that scenes share: pushes, actuation and parameters of a motion."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from poise.control import Controller, ControlStep
from poise.errors import PoiseError, UsageError
from poise.geometry import so3
from poise.plants import (
    FlatTerrain,
    MujocoPlant,
    Plant,
    Push,
    RoughTerrain,
    Slope,
    Stairs,
    parse_terrain,
)
from poise.robots import Robot
from poise.runs import Motion, World, motion_parameters
from poise.studio.controls import Button, Control, Dropdown, Slider, clamp_number, control_for, value_from_page
from poise.studio.operator_input import OperatorInput
from poise.studio.sole_pressure import SolePressure
from poise.viewer import Plan

if TYPE_CHECKING:
    from poise.studio.fit_service import FitService

Point = tuple[float, float, float]


class ControlledPlant(NamedTuple):
    """A plant and its controller."""

    controller: Controller
    plant: Plant


class FeasibleRange(NamedTuple):
    """Range of a slider, around its value, in which the motion is expected to succeed.

    Attributes:
        low, high: ends of the range; both equal to the value if the motion is expected to fail with it.
        simulated: whether simulations confirm it; False: a first estimate.
    """

    low: float
    high: float
    simulated: bool


class Scene(ABC):
    """Base class of scenes; each is one file of `poise.studio.scenes` and runs in the simulation process.

    A scene builds plants and controllers (`controlled_plants`), declares its controls, and responds when they are used.
    The loop, the view, recording and the pages are the same for all scenes. No method may block.

    Args:
        robot: robot of the scene.

    Attributes:
        name: identifier, one word.
        title, hint: title of the tab, and a sentence on how to use the scene.
        stick_driven: whether the scene is driven by a stick, see `set_stick`.
        guidance_info: for a scene that takes keys, gamepads and six axes directly (see `set_operator_input`), data for
            the page: "modes", each with "name" and "hint", the "keys" in use, and the legends "keyboard", "gamepad" and
            "flight_stick"; {} for other scenes.
        tab_order: position among the tabs.
        robots: names of the supported robots; empty: all.
        needs_reset: set by `set_control` if a change takes effect only after a reset; the simulation then resets.
        controls_changed: set by the scene if the options of a control have changed; the simulation then sends the
            controls to the pages again.
        sole_pressure: filtered readings of the force cells, if the robot balances by them; else None.
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
        self.needs_reset = self.controls_changed = False
        self.sole_pressure: SolePressure | None = None

    @abstractmethod
    def controlled_plants(self) -> dict[str, ControlledPlant]:
        """Build the plants and controllers for the current values of the controls, by name.

        "robot" comes first; a second one, "ghost", is optional.
        """

    @abstractmethod
    def controls(self) -> list[Control]:
        """Return the controls of the scene with their current values."""

    @abstractmethod
    def set_control(self, name: str, value: Any) -> str:
        """Apply the value of a control; return a message for the user, or "". Raise PoiseError if it cannot be used."""

    def values(self) -> dict[str, Any]:
        """Return the current values of the controls by name."""
        return {c.name: control["value"] for c in self.controls() if "value" in (control := c.as_json())}

    def saved_state(self) -> dict[str, Any]:
        """Return what `restore` needs to bring the controls back to their current values."""
        return self.values()

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Set the controls to values that `saved_state` returned; one that the scene rejects now is left as it is."""
        current = self.saved_state()
        for name, value in saved.items():
            if name not in current or current[name] != value:
                with suppress(PoiseError):
                    self.set_control(name, value)

    def on_reset(self) -> None:  # noqa: B027  not every scene
        """Called when the user resets the simulation, before its plants are built anew."""

    def set_stick(self, forward: float, left: float, turn: float) -> None:  # noqa: B027  not every scene
        """Set the position of the stick, each axis from -1 to 1; zeros when it is released or the page is gone."""

    def set_operator_input(self, operator_input: OperatorInput | None) -> None:  # noqa: B027  not every scene
        """Set the state of keys, gamepad and sticks; None when the page that held an input stops responding."""

    def on_unattended(self) -> None:  # noqa: B027  not every scene
        """Bring the robot to rest, as no page is connected any more."""

    def display_offsets(self) -> dict[str, Point]:
        """Return offsets (m) by plant name, by which plants are drawn away from their true position."""
        return {}

    def drag_handles(self) -> dict[str, Point]:
        """Return the positions (m) of draggable points by name."""
        return {}

    def move_handle(self, name: str, position: Point) -> None:  # noqa: B027  not every scene
        """Handle the drag of a point to a position (m)."""

    def after_step(self, steps: Mapping[str, ControlStep]) -> None:  # noqa: B027  not every scene
        """Called after each control period with the control steps of all plants."""

    def feasible_ranges(self) -> dict[str, FeasibleRange]:
        """Return the ranges of sliders in which the motion is expected to succeed, by name of the control.

        They are marked on the sliders; a slider without a known range has no marks.
        """
        return {}

    def before_frame(self) -> list[str]:
        """Called before each frame for the pages, also while the simulation is paused; return messages for the user."""
        return []

    def status_lines(self) -> list[str]:
        """Return sentences on the current state, for the page."""
        return []

    def plans(self) -> dict[str, Plan]:
        """Return plans for the view, by name of `poise.viewer.view_marks.PLAN_COLORS`.

        "accepted" is the plan in execution, "next" the one that would follow, "target" a point to reach.
        """
        return {}

    def guidance_status(self) -> dict[str, Any] | None:
        """Return the state of the guidance, see `NavigateScene.guidance_status`; None if the scene is not guided."""
        return None

    def provenance(self) -> dict[str, Any]:
        """Return entries for the provenance of a recording."""
        return {}

    @property
    def camera_direction(self) -> Point | None:
        """Initial direction from the robot to the camera; None: the default, from the front right."""
        return None

    # -- files; these methods run in the server process, without a simulation --------------------------------------

    @classmethod
    def fit_service(
        cls,
        post_message: Callable[[str, str], None],
        show: Callable[[Any], None],
        values: Callable[[], Mapping[str, Any]],
    ) -> FitService | None:
        """Return the fit service of the scene, which processes files that take long; None for most scenes."""
        return None

    @classmethod
    def parse_upload(cls, control: str, name: str, data: bytes) -> Any:
        """Parse an uploaded file to a value for `set_control`; raise UsageError if it is invalid."""
        raise UsageError(f"'{name}' cannot be loaded: this scene has no upload; choose another scene")

    @classmethod
    def file_to_save(cls, control: str, values: Mapping[str, Any]) -> tuple[str, str]:
        """Return name and text of a file to download, made from the values of the controls."""
        raise UsageError(f"this scene has nothing to save as '{control}'; reload the page")


# -- Actuation -------------------------------------------------------------------------------------------------------


#: Options of actuation. "as built": position servos if the robot has them, else torque motors; this stays valid when
#: the user selects another robot.
ACTUATION = AS_BUILT, TORQUE_MOTORS, POSITION_SERVOS = ("as built", "torque motors", "position servos")


def uses_servos(robot: Robot, actuation: str) -> bool:
    """Return whether position servos drive the joints of a robot, for an option of `ACTUATION`.

    >>> uses_servos(poise.load_robot("hoap3"), AS_BUILT)
    True
    """
    return robot.servos.position_controlled if actuation == AS_BUILT else actuation == POSITION_SERVOS


# -- Pushes ----------------------------------------------------------------------------------------------------------


#: Largest push, as a share of the weight: for 0.1 s, no walk withstands it.
MAX_PUSH = 0.8
#: Initial push, as a share of the weight: G1 withstands it in any direction while walking.
DEFAULT_PUSH = 0.18
#: Position of the handle in front of the base and above it, as shares of the robot's height, and its stiffness (body
#: weights per m).
HANDLE_AHEAD, HANDLE_UP, HANDLE_STIFFNESS = 0.25, 0.15, 2.0
#: Duration of the force after each move of the handle (s): pages send moves at 30 Hz.
PULL_DURATION = 0.05


class PushControls:
    """Controls of pushes: force, direction and duration, a button, and a handle that pulls the robot.

    Args:
        robot: robot that is pushed.

    Attributes:
        force, direction, duration: N, degrees from the direction of the feet (90: to the left), s.
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
            Button(name="push", label="push", group="Push", help="push the base with the force below"),
            Slider(name="push.force", label="force", group="Push", low=0.0, high=self._max_force, step=1.0, unit="N",
                   value=self.force, help="size of the next push"),
            Slider(name="push.direction", label="direction", group="Push", low=-180.0, high=180.0, step=5.0,
                   unit="degrees", value=self.direction, help="0: forward, 90: to the left"),
            Slider(name="push.duration", label="duration", group="Push", low=0.02, high=0.5, step=0.01, unit="s",
                   value=self.duration, help="duration of the next push"),
        ]  # fmt: skip

    def values(self) -> dict[str, Any]:
        return {"push.force": self.force, "push.direction": self.direction, "push.duration": self.duration}

    def set_control(self, name: str, value: Any, plant: MujocoPlant) -> str:
        """Apply the value of a control, or push; return a message for the user, or ""."""
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
        """Pull the robot with a force proportional to the distance of the handle from its rest position (m)."""
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
    """Return the heading of the feet (rad); the x axis of the base does not point forward on every robot."""
    state = plant.truth()
    ahead = sum((state.pose(foot).rotation[:2, 0] for foot in state.robot.feet), np.zeros(2))
    return math.atan2(ahead[1], ahead[0])


class PushableScene(Scene):
    """Base class of scenes whose robot can be pushed.

    Attributes:
        push_controls: controls of pushes.
        plant: plant that is pushed; set by `controlled_plants`.
    """

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot)
        self.push_controls = PushControls(robot)
        self.plant: MujocoPlant | None = None

    def drag_handles(self) -> dict[str, Point]:
        return {} if self.plant is None else self.push_controls.drag_handles(self.plant)

    def move_handle(self, name: str, position: Point) -> None:
        if self.plant is not None:
            self.push_controls.move_handle(position, self.plant)


# -- Parameters of a motion ------------------------------------------------------------------------------------------


#: Tooltip of the terrain, whose declared description is the syntax of the command line.
TERRAIN_HELP = "ground under the robot; a change starts the scene again"


def terrain_name(text: str) -> str:
    """Return the name of a terrain for the page.

    >>> terrain_name("stairs:-0.05,0.3,4")
    'stairs, 4 steps of 5 cm down'
    """
    match parse_terrain(text):
        case FlatTerrain():
            return "flat floor"
        case Slope(degrees=degrees):
            return f"slope, {abs(degrees):g}° {'up' if degrees > 0.0 else 'down'}"
        case RoughTerrain(height=height):
            return f"uneven ground, up to {100.0 * height:g} cm"
        case Stairs(rise=rise, count=count):
            return f"stairs, {count} steps of {100.0 * abs(rise):g} cm {'up' if rise > 0.0 else 'down'}"
    return text


class MotionControls:
    """Controls generated from the declared parameters of a motion (`poise.runs`).

    Every parameter that is a number with a range, a choice or a switch gets a control; a change resets the scene.

    Args:
        motion_class: class of the motion.
        robot: robot of the scene.
        exclude: parameters that the scene shows in another way, or that have no meaning in the studio.

    Attributes:
        overrides: parameters that the user changed.
    """

    #: Parameters without a control: the page selects the robot and pushes by other means, runs without a time limit,
    #: and uses the strict solver with its usual budget and the actual delay.
    EXCLUDED = frozenset(
        {
            *("robot", "mode", "plant", "solver", "budget", "seconds", "seed"),
            *("push", "faults", "carried_mass", "assumed_delay"),
        }
    )

    def __init__(self, motion_class: type[Motion], robot: Robot, exclude: Iterable[str] = ()) -> None:
        self.motion_class, self.robot, self._exclude = motion_class, robot, {*exclude, *self.EXCLUDED}
        self.overrides: dict[str, Any] = {}

    def build_motion(self, **extra: Any) -> Any:
        """Build the motion with the parameters that the user changed, and `extra` ones."""
        return self.motion_class(**{"robot": self.robot.name, **self.overrides, **extra})

    def controls(self, **extra: Any) -> list[Control]:
        """Return one control per parameter, with the values of `build_motion(**extra)`."""
        motion = self.build_motion(**extra)
        controls = []
        for declared in motion_parameters(self.motion_class).values():
            if declared.name in self._exclude:
                continue
            is_world = declared.name in World.__dataclass_fields__
            value = getattr(motion.world if is_world else motion, declared.name)
            control = control_for(declared, value, "World" if is_world else "Motion")
            if declared.name == "terrain" and isinstance(control, Dropdown):
                control = replace(control, option_labels=tuple(map(terrain_name, control.options)), help=TERRAIN_HELP)
            controls += [] if control is None else [control]
        return controls

    def set(self, name: str, value: object, **extra: Any) -> bool:
        """Store a value that a page sent; return whether the motion has this parameter."""
        for control in self.controls(**extra):
            if control.name == name:
                self.overrides[name] = value_from_page(control, value)
                return True
        return False
