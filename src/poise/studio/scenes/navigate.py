"""Scene Navigate: the user guides a foot, the trunk or a hand, and the robot decides when to step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from poise import runs
from poise.arrays import Array
from poise.behaviors import Navigate, SegmentStart
from poise.devices import FLIGHT_STICK, GAMEPAD, KEYBOARD
from poise.plans import (
    GUIDING_MODES,
    Goal,
    GuidingMode,
    MotionSegment,
    NavigationPoints,
    SupportRegion,
    ThreeMassModel,
    guided_goal,
    sole_corners,
)
from poise.plants import STAIRS_AND_DOOR, EnvironmentObject, FlatTerrain, MujocoPlant, StairsAndDoor, Terrain
from poise.robots import Robot, Side
from poise.studio.controls import Control, Dropdown, Switch, clamp_number, option_or_first
from poise.studio.operator_input import MODE_HINTS, OperatorInput, PageOperator, control_legend, key_codes
from poise.studio.scene_base import ACTUATION, AS_BUILT, ControlledPlant, MotionControls, Point, Scene, uses_servos
from poise.viewer import Plan

#: Text for each outcome of a segment. "projected" and "discarded" are commanded goals that were beyond a boundary.
OUTCOME_TEXT = {
    "done": "moves as commanded",
    "projected": "moves as far as possible",
    "discarded": "stays, as the command was beyond a boundary",
    "recentered": "command not feasible: the body returns over its feet",
    "stopped": "command not feasible: the robot comes to rest",
    "capture step": "command postponed: a quick step restores balance",
}
#: Text for how often the duration of a segment was increased.
REPETITIONS = {1: "once", 2: "twice"}


def is_motion(record: SegmentStart) -> bool:
    """Return whether a segment is more than standing still."""
    segment = record.segment
    commanded = not record.command.is_zero or segment.goal.step is not None
    return commanded or segment.outcome != "commanded" or bool(segment.notes)


def segment_outcome(record: SegmentStart) -> str:
    """Return the outcome of a segment, a key of `OUTCOME_TEXT`."""
    segment = record.segment
    if segment.outcome != "commanded":
        return segment.outcome
    limited = "discarded" if any("discarded" in note for note in segment.notes) else "projected"
    return limited if segment.goal.projected else "done"


def segment_status(record: SegmentStart) -> str:
    """Return a sentence on how a command is executed."""
    segment, mode = record.segment, record.command.mode
    lifted, count, word = segment.goal.points.lifted, segment.corrections, segment_outcome(record)
    if not is_motion(record):
        return f"stands{'' if lifted is None else f', the {lifted} foot in the air'}; the {mode} is guided"
    prolonged = f", prolonged {REPETITIONS.get(count, f'{count} times')} to keep its balance" if count else ""
    return f"{mode}: {OUTCOME_TEXT.get(word, word)}, in {segment.seconds:.2f} s{prolonged}"


def segment_row(record: SegmentStart) -> dict[str, Any]:
    """Return a row of the page's table: start time and duration (s), ZMP margin (mm), outcome and reasons."""
    segment = record.segment
    return {
        "time": round(record.time, 2),
        "mode": record.command.mode,
        "seconds": round(segment.seconds, 2),
        "margin": round(1e3 * segment.margin),
        "outcome": segment_outcome(record),
        "notes": list(segment.notes),
    }


# -- Plans for the view ----------------------------------------------------------------------------------------------


#: Samples of a path: enough for the curve of a step to look smooth.
PATH_SAMPLES = 16
#: Smallest motion of a hand that is drawn (m).
MIN_HAND_MOTION = 0.005


def segment_plan(segment: MotionSegment, body: ThreeMassModel, mode: GuidingMode) -> Plan:
    """Return the plan of a segment: its goal, and paths of the center of mass, the swing foot and moving hands."""
    times = np.linspace(0.0, segment.seconds, PATH_SAMPLES)
    samples = [segment.sample(float(time)) for time in times]
    begin, goal = segment.initial.points, segment.goal
    paths = [np.array([sample.center[0] for sample in samples])]
    if goal.step is not None:
        paths.append(np.array([sample.feet[goal.step][0][:3] for sample in samples]))
    for side in _moving_hands(begin, goal.points, mode):
        points = [begin.replace(center=sample.center[0], attitude=sample.attitude[0]) for sample in samples]
        places = zip(points, samples, strict=True)
        path = np.array([point.center + point.trunk @ sample.hands[side][0][:3] for point, sample in places])
        paths.append(path)
    return goal_plan(begin, goal, body, mode)._replace(paths=tuple(paths))


def goal_plan(begin: NavigationPoints, goal: Goal, body: ThreeMassModel, mode: GuidingMode) -> Plan:
    """Return the plan of a goal without paths: footprint, hands, center of mass and support region."""
    points = goal.points
    soles = [] if goal.step is None else [sole_corners(points.feet[goal.step], body.sole_half, 0.0)]
    hands = [points.hand_position(side) for side in _moving_hands(begin, points, mode)]
    return Plan(
        footprints=np.array(soles).reshape(-1, 4, 3),
        hands=np.array(hands).reshape(-1, 3),
        center_of_mass=points.center,
        support=_support_corners(points, body),
        paths=(),
    )


def target_plan(point: Array) -> Plan:
    """Return a plan that contains only a target point for a hand (m, 3)."""
    return Plan(np.zeros((0, 4, 3)), point[None], np.full(3, np.nan), np.zeros((0, 3)), ())


def _support_corners(points: NavigationPoints, body: ThreeMassModel) -> Array:
    """Return the corners of the support region, each at the height of its sole (m, n x 3)."""
    ends = np.array([corner for foot in points.stance_feet for corner in sole_corners(foot, body.sole_half, 0.0)])
    polygon = SupportRegion(points.stance_feet, body.sole_half, 0.0).polygon
    nearest = [int(np.argmin(np.abs(ends[:, :2] - corner).sum(axis=1))) for corner in polygon]
    return np.asarray(ends[nearest])


def _moving_hands(begin: NavigationPoints, end: NavigationPoints, mode: GuidingMode) -> list[Side]:
    """Return the sides of hands that are guided or move relative to the body."""
    shifts = {side: end.hands[side].position - hand.position for side, hand in begin.hands.items()}
    return [side for side in shifts if mode == f"{side} hand" or np.linalg.norm(shifts[side]) > MIN_HAND_MOTION]


# -- Scene -----------------------------------------------------------------------------------------------------------


WORLDS = ("flat", STAIRS_AND_DOOR)
#: Direction to the camera in the world with stairs: from behind, from the right and well from above.
STAIRS_CAMERA: Point = (-0.6, -0.95, 0.7)
BOUNDARY_RULES = ("projected onto it", "discarded")
#: Number of segments in the table of the page.
LISTED_SEGMENTS = 12
#: Distance to the target below which a hand has reached it (m).
TOUCH_DISTANCE = 0.015
#: Time for which a note is shown after the end of its segment (s), long enough to be read.
NOTE_DURATION = 2.5
#: Number of recent segments that are searched for the table and for notes.
SEARCHED_SEGMENTS = 60


class NavigateScene(Scene):
    """Guidance of one point of the robot with sticks, keys or a gamepad; see `poise.behaviors.navigate`."""

    name, title, tab_order = "navigate", "Navigate", 4
    hint = "Choose a point and guide it with the sticks, a gamepad or keys. The body follows, and steps when necessary."
    guidance_info: ClassVar[Mapping[str, Any]] = {
        "modes": [{"name": mode, "hint": MODE_HINTS[mode]} for mode in GUIDING_MODES],
        "keys": key_codes(KEYBOARD),
        "keyboard": control_legend(KEYBOARD),
        "gamepad": control_legend(GAMEPAD),
        "flight_stick": control_legend(FLIGHT_STICK),
    }

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot)
        self.actuation, self.world, self.boundary_rule, self.show_next_goal = (
            AS_BUILT,
            WORLDS[0],
            BOUNDARY_RULES[0],
            True,
        )
        self.operator = PageOperator()
        self.parameters = MotionControls(
            runs.Navigate, robot, exclude=("script", "random", "scenario", "remote", "terrain")
        )
        self.navigate: Navigate | None = None
        self.plant: MujocoPlant | None = None
        self._accepted_plan: tuple[object, Plan | None] = (None, None)
        self._next_plan: tuple[object, Plan | None] = (None, None)
        self._recent_segments: tuple[object, list[SegmentStart]] = (None, [])

    def controlled_plants(self) -> dict[str, ControlledPlant]:
        start, surface = self.robot.stance("standing"), None if self.is_flat else self.stairs_and_door.under
        discard = self.boundary_rule == BOUNDARY_RULES[1]
        self.navigate = navigate = Navigate(self.robot, self.operator, start=start, ground=surface, discard=discard)
        motion = self.parameters.build_motion(mode=self.mode)
        self.plant = motion.world.plant(start, servos=self.servos, ground=self.ground, objects=self.obstacles)
        return {"robot": ControlledPlant(motion.controller(navigate, navigate.weights), self.plant)}

    @property
    def mode(self) -> str:
        """Control mode that fits the actuation: "position" or "torque"."""
        return "position" if self.servos else "torque"

    @property
    def servos(self) -> bool:
        """Whether position servos drive the joints."""
        return uses_servos(self.robot, self.actuation)

    @property
    def is_flat(self) -> bool:
        """Whether the world is a flat floor."""
        return self.world == WORLDS[0]

    @cached_property
    def stairs_and_door(self) -> StairsAndDoor:
        """World with stairs and a door, scaled to the robot."""
        return StairsAndDoor.of(self.robot)

    @property
    def camera_direction(self) -> Point | None:
        return None if self.is_flat else STAIRS_CAMERA

    @property
    def ground(self) -> Terrain:
        return FlatTerrain() if self.is_flat else self.stairs_and_door

    @property
    def obstacles(self) -> Sequence[EnvironmentObject]:
        return () if self.is_flat else self.stairs_and_door.objects

    # -- controls --------------------------------------------------------------------------------------------------

    def controls(self) -> list[Control]:
        return [
            Dropdown(name="world", label="world", group="World", options=WORLDS, value=self.world,
                   help="flat floor, or three stairs down to a room with a door, scaled to the robot"),
            Dropdown(name="actuation", label="joints", group="Robot", options=ACTUATION, value=self.actuation,
                   help="actuation: torque-controlled motors, or position servos"),
            Dropdown(name="boundary_rule", label="beyond a boundary", group="Guidance", options=BOUNDARY_RULES,
                   value=self.boundary_rule,
                   help="a command that goes too far is executed as far as possible, or not at all"),
            Switch(name="show_next_goal", label="show the next goal", group="Guidance", value=self.show_next_goal,
                   help="draw the goal that would follow if the stick stayed as it is"),
            *self.parameters.controls(mode=self.mode),
        ]  # fmt: skip

    def values(self) -> dict[str, Any]:
        scene_values = {
            "world": self.world,
            "actuation": self.actuation,
            "lift": self.operator.lift,
            "boundary_rule": self.boundary_rule,
        }
        world = {control.name: control.as_json()["value"] for control in self.parameters.controls(mode=self.mode)}
        return {**scene_values, **world, "show_next_goal": self.show_next_goal, "mode": self.operator.mode}

    def set_control(self, name: str, value: Any) -> str:
        if name == "mode":
            self.operator.mode = option_or_first(value, (self.operator.mode, *GUIDING_MODES))
        elif name == "lift":
            self.operator.lift = clamp_number(value, 0.0, 1.0)
        elif name == "show_next_goal":
            self.show_next_goal = bool(value)
        elif name == "boundary_rule":
            self.boundary_rule = option_or_first(value, BOUNDARY_RULES)
            if self.navigate is not None:
                self.navigate.discard = self.boundary_rule == BOUNDARY_RULES[1]
        elif name == "actuation":
            self.actuation, self.needs_reset = option_or_first(value, ACTUATION), True
        elif name == "world":
            self.world, self.needs_reset = option_or_first(value, WORLDS), True
        elif self.parameters.set(name, value, mode=self.mode):
            self.needs_reset = True
        return ""

    # -- guiding ---------------------------------------------------------------------------------------------------

    def set_operator_input(self, operator_input: OperatorInput | None) -> None:
        self.operator.set_input(operator_input)

    def on_unattended(self) -> None:
        self.operator.set_input(None)

    # -- plans and status ------------------------------------------------------------------------------------------

    def plans(self) -> dict[str, Plan]:
        navigate = self.navigate
        if navigate is None or navigate.segment is None or self.plant is None or self.plant.fallen:
            return {}
        segment = navigate.segment
        if self._accepted_plan[0] is not segment:
            self._accepted_plan = (
                segment,
                segment_plan(segment, navigate.body, navigate.command.mode)
                if is_motion(navigate.history[-1])
                else None,
            )
        plans = {"accepted": self._accepted_plan[1], "next": self._next_goal_plan(navigate)}
        if not self.is_flat:
            plans["target"] = target_plan(self.stairs_and_door.target)
        return {name: plan for name, plan in plans.items() if plan is not None}

    def _next_goal_plan(self, navigate: Navigate) -> Plan | None:
        """Return the goal that would follow the current one if the stick stayed as it is; None without input."""
        stick, segment = self.operator.stick, navigate.segment
        if not self.show_next_goal or stick.is_zero or segment is None:
            return None
        cache_key = stick, segment
        if self._next_plan[0] != cache_key:
            points = segment.goal.points
            goal = guided_goal(points, stick, navigate.workspace, navigate.legs, navigate.ground, navigate.discard)
            self._next_plan = cache_key, goal_plan(points, goal, navigate.body, stick.mode)
        return self._next_plan[1]

    def status_lines(self) -> list[str]:
        navigate, plant = self.navigate, self.plant
        if navigate is None or plant is None or navigate.segment is None:
            return []
        if plant.fallen:
            return ["The robot has fallen; reset to start again."]
        return [segment_status(navigate.history[-1]), *self._task_lines()]

    def _task_lines(self) -> list[str]:
        """Return the remaining distance to the target in the world with the door."""
        hand = next((hand for hand in self.robot.hands if hand.side == "left"), None)
        if self.is_flat or hand is None or self.plant is None:
            return []
        distance = float(np.linalg.norm(self.plant.state().pose(hand).translation - self.stairs_and_door.target))
        if distance < TOUCH_DISTANCE:
            return ["The left hand is at the door. Well done."]
        return [f"Go down the stairs, cross the room, and move the left hand to the door: {distance:.2f} m to go."]

    def guidance_status(self) -> dict[str, Any]:
        """Return the current command and the recent segments.

        "mode", "axes" and "lift" are the current command, "has_target" whether the world has a target. "notes" are the
        reasons why the current segment, or one shortly before, differs from the command. "segments" are rows of
        `segment_row` for the last segments that were more than standing, latest first.
        """
        stick = self.operator.stick
        axes = [round(value, 3) for value in stick.axes]
        status = {"mode": stick.mode, "axes": axes, "lift": round(stick.lift, 3), "has_target": not self.is_flat}
        navigate, plant = self.navigate, self.plant
        if navigate is None or plant is None:
            return {**status, "notes": [], "segments": []}
        if self._recent_segments[0] is not navigate.segment:
            self._recent_segments = (
                navigate.segment,
                [record for record in islice(reversed(navigate.history), SEARCHED_SEGMENTS) if is_motion(record)],
            )
        recent = self._recent_segments[1]
        noted = next((record for record in recent if record.segment.notes), None)
        is_recent = noted is not None and noted.time + noted.segment.seconds > plant.time - NOTE_DURATION
        notes = list(noted.segment.notes) if noted is not None and is_recent else []
        return {**status, "notes": notes, "segments": [segment_row(record) for record in recent[:LISTED_SEGMENTS]]}

    def provenance(self) -> dict[str, Any]:
        return {"behavior": "navigate", "terrain": self.world}
