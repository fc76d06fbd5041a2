"""Scene Navigate: guide a foot, the trunk or a hand; the robot decides when to step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from poise import runs
from poise.arrays import Array
from poise.behaviors import Done, Navigate
from poise.devices import FLIGHT_STICK, GAMEPAD, KEYBOARD
from poise.plans import MODES, Body, Goal, Mode, Points, Segment, Support, corners, guided
from poise.plants import STAIRS_AND_DOOR, Flat, Ground, MujocoPlant, Stage, Thing
from poise.robots import Robot, Side
from poise.studio.controls import Choice, Control, Switch, chosen, number
from poise.studio.operator_input import HINTS, Hands, Person, codes, legend
from poise.studio.scene_base import AS_BUILT, DRIVES, Act, MotionControls, Point, Scene, on_servos
from poise.studio.scenery import Plan

#: What a segment of each outcome does; what was projected or discarded is a commanded one that was beyond a boundary.
BECAME = {
    "done": "goes as commanded",
    "projected": "goes as far as it can",
    "discarded": "stays, as the command was beyond a boundary",
    "kept": "cannot do that: the body goes back over its feet",
    "held": "cannot do that: it comes to rest",
    "caught": "has to wait: a quick step catches the body",
}
TIMES = {1: "once", 2: "twice"}


def moves(done: Done) -> bool:
    """Whether a segment is more than standing still."""
    segment = done.segment
    asked = not done.stick.still or segment.goal.step is not None
    return asked or segment.outcome != "commanded" or bool(segment.notes)


def outcome(done: Done) -> str:
    """In one word; what was projected was done, but not all of it."""
    segment = done.segment
    if segment.outcome != "commanded":
        return segment.outcome
    beyond = "discarded" if any("discarded" in note for note in segment.notes) else "projected"
    return beyond if segment.goal.projected else "done"


def became(done: Done) -> str:
    """What becomes of a command, in a sentence."""
    segment, mode = done.segment, done.stick.mode
    lifted, count, word = segment.goal.points.lifted, segment.corrections, outcome(done)
    if not moves(done):
        return f"stands{'' if lifted is None else f', the {lifted} foot in the air'}; the {mode} is guided"
    longer = f", prolonged {TIMES.get(count, f'{count} times')} to keep its balance" if count else ""
    return f"{mode}: {BECAME.get(word, word)}, in {segment.seconds:.2f} s{longer}"


def row(done: Done) -> dict[str, Any]:
    """A segment for the page's table: time, duration (s), margin of the zero moment point (mm), and why."""
    segment = done.segment
    return {
        "time": round(done.time, 2),
        "mode": done.stick.mode,
        "seconds": round(segment.seconds, 2),
        "margin": round(1e3 * segment.margin),
        "outcome": outcome(done),
        "notes": list(segment.notes),
    }


# -- Planned ---------------------------------------------------------------------------------------------------------


#: Samples of a path: a curve of a step looks round.
SAMPLES = 16
#: A hand that moves by less (m) is not drawn.
SEEN = 0.005


def planned(segment: Segment, body: Body, mode: Mode) -> Plan:
    """The whole segment: paths of the centre of mass, of the foot that steps and of the hands, and where they end."""
    times = np.linspace(0.0, segment.seconds, SAMPLES)
    samples = [segment.sample(float(time)) for time in times]
    begin, goal = segment.beginning.points, segment.goal
    paths = [np.array([sample.center[0] for sample in samples])]
    if goal.step is not None:
        paths.append(np.array([sample.feet[goal.step][0][:3] for sample in samples]))
    for side in _moved(begin, goal.points, mode):
        points = [begin.replace(center=sample.center[0], attitude=sample.attitude[0]) for sample in samples]
        places = zip(points, samples, strict=True)
        path = np.array([there.center + there.trunk @ sample.hands[side][0][:3] for there, sample in places])
        paths.append(path)
    return wanted(begin, goal, body, mode)._replace(paths=tuple(paths))


def wanted(begin: Points, goal: Goal, body: Body, mode: Mode) -> Plan:
    """The goal alone: footprints of a foot that steps, hands, centre of mass and the support it will have."""
    points = goal.points
    soles = [] if goal.step is None else [corners(points.feet[goal.step], body.half, 0.0)]
    hands = [points.hand(side) for side in _moved(begin, points, mode)]
    return Plan(
        soles=np.array(soles).reshape(-1, 4, 3),
        hands=np.array(hands).reshape(-1, 3),
        center=points.center,
        support=_support(points, body),
        paths=(),
    )


def place(point: Array) -> Plan:
    """Nothing but a place to go to (m, 3)."""
    return Plan(np.zeros((0, 4, 3)), point[None], np.full(3, np.nan), np.zeros((0, 3)), ())


def _support(points: Points, body: Body) -> Array:
    """Corners of the support region, each at the height of its sole (m, n x 3)."""
    ends = np.array([corner for foot in points.standing for corner in corners(foot, body.half, 0.0)])
    polygon = Support(points.standing, body.half, 0.0).polygon
    nearest = [int(np.argmin(np.abs(ends[:, :2] - corner).sum(axis=1))) for corner in polygon]
    return np.asarray(ends[nearest])


def _moved(begin: Points, end: Points, mode: Mode) -> list[Side]:
    """Hands that are more than carried along: guided, or moved as the body sees it."""
    away = {side: end.hands[side].position - hand.position for side, hand in begin.hands.items()}
    return [side for side in away if mode == f"{side} hand" or np.linalg.norm(away[side]) > SEEN]


# -- Navigate: guide a foot, the trunk or a hand ---------------------------------------------------------------------


WORLDS = ("flat", STAIRS_AND_DOOR)
#: Where stairs lead away from the camera, they are seen from behind and from the right, far from above.
BEHIND: Point = (-0.6, -0.95, 0.7)
RULES = ("projected onto it", "discarded")
#: So many segments are told of: what a panel shows.
TOLD = 12
#: A hand so near (m) to the place is there.
TOUCHED = 0.015
#: A note is shown for so long after its segment (s): long enough to be read.
READ = 2.5
#: So many of the last segments are looked at for what to tell.
LOOKED = 60


class NavigateScene(Scene):
    """One guided point, chosen by the user, follows a stick; see `poise.behaviors.navigate`."""

    name, title, order = "navigate", "Navigate", 4
    hint = "Choose a point and push a stick, a gamepad or keys: the rest of the body follows, and steps when it must."
    guided: ClassVar[Mapping[str, Any]] = {
        "modes": [{"name": mode, "hint": HINTS[mode]} for mode in MODES],
        "keys": codes(KEYBOARD),
        "keyboard": legend(KEYBOARD),
        "gamepad": legend(GAMEPAD),
        "flight_stick": legend(FLIGHT_STICK),
    }

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot)
        self.drives, self.world, self.rule, self.ahead = AS_BUILT, WORLDS[0], RULES[0], True
        self.person = Person()
        self.parameters = MotionControls(
            runs.Navigate, robot, own=("script", "random", "scenario", "remote", "terrain")
        )
        self.navigate: Navigate | None = None
        self.plant: MujocoPlant | None = None
        self._drawn: tuple[object, Plan | None] = (None, None)
        self._next: tuple[object, Plan | None] = (None, None)
        self._told: tuple[object, list[Done]] = (None, [])

    def acts(self) -> dict[str, Act]:
        start, under = self.robot.stance("standing"), None if self.level else self.stage.under
        discard = self.rule == RULES[1]
        self.navigate = navigate = Navigate(self.robot, self.person, start=start, ground=under, discard=discard)
        motion = self.parameters.definition(mode=self.mode)
        self.plant = motion.world.plant(start, servos=self.servos, ground=self.ground, things=self.things)
        return {"robot": Act(motion.controller(navigate, navigate.weights), self.plant)}

    @property
    def mode(self) -> str:
        """Control mode, by what drives the joints."""
        return "position" if self.servos else "torque"

    @property
    def servos(self) -> bool:
        """Whether joints are driven by position servos."""
        return on_servos(self.robot, self.drives)

    @property
    def level(self) -> bool:
        """Whether there is nothing but a floor."""
        return self.world == WORLDS[0]

    @cached_property
    def stage(self) -> Stage:
        """The stairs and the door, as large as fits the robot."""
        return Stage.of(self.robot)

    @property
    def look(self) -> Point | None:
        return None if self.level else BEHIND

    @property
    def ground(self) -> Ground:
        return Flat() if self.level else self.stage

    @property
    def things(self) -> Sequence[Thing]:
        return () if self.level else self.stage.things

    # -- controls --------------------------------------------------------------------------------------------------

    def controls(self) -> list[Control]:
        return [
            Choice(name="world", label="world", group="World", options=WORLDS, value=self.world,
                   help="a level floor, or a stage, three steps down, a room and a door, as large as fits the robot"),
            Choice(name="drives", label="joints", group="Robot", options=DRIVES, value=self.drives,
                   help="what drives them: motors that are told torques, or servos that are told angles"),
            Choice(name="rule", label="beyond a boundary", group="Guidance", options=RULES, value=self.rule,
                   help="what becomes of a command that goes too far: done as far as possible, or not at all"),
            Switch(name="ahead", label="show the next goal", group="Guidance", value=self.ahead,
                   help="where the stick, as it is held now, would lead next"),
            *self.parameters.controls(mode=self.mode),
        ]  # fmt: skip

    def values(self) -> dict[str, Any]:
        own = {"world": self.world, "drives": self.drives, "lift": self.person.lift, "rule": self.rule}
        world = {control.name: control.as_json()["value"] for control in self.parameters.controls(mode=self.mode)}
        return {**own, **world, "ahead": self.ahead, "mode": self.person.mode}

    def do(self, name: str, value: Any) -> str:
        if name == "mode":
            self.person.mode = chosen(value, (self.person.mode, *MODES))
        elif name == "lift":
            self.person.lift = number(value, 0.0, 1.0)
        elif name == "ahead":
            self.ahead = bool(value)
        elif name == "rule":
            self.rule = chosen(value, RULES)
            if self.navigate is not None:
                self.navigate.discard = self.rule == RULES[1]
        elif name == "drives":
            self.drives, self.stale = chosen(value, DRIVES), True
        elif name == "world":
            self.world, self.stale = chosen(value, WORLDS), True
        elif self.parameters.set(name, value, mode=self.mode):
            self.stale = True
        return ""

    # -- guiding ---------------------------------------------------------------------------------------------------

    def take(self, hands: Hands | None) -> None:
        self.person.take(hands)

    def leave(self) -> None:
        self.person.take(None)

    # -- what is the case, and what will be ------------------------------------------------------------------------

    def plans(self) -> dict[str, Plan]:
        navigate = self.navigate
        if navigate is None or navigate.segment is None or self.plant is None or self.plant.fallen:
            return {}
        segment = navigate.segment
        if self._drawn[0] is not segment:
            self._drawn = (
                segment,
                planned(segment, navigate.body, navigate.stick.mode) if moves(navigate.history[-1]) else None,
            )
        found = {"accepted": self._drawn[1], "next": self._ahead(navigate)}
        if not self.level:
            found["place"] = place(self.stage.target)
        return {name: plan for name, plan in found.items() if plan is not None}

    def _ahead(self, navigate: Navigate) -> Plan | None:
        """The goal that would follow the present one, if nobody moved the stick until then."""
        stick, segment = self.person.stick, navigate.segment
        if not self.ahead or stick.still or segment is None:
            return None
        known = stick, segment
        if self._next[0] != known:
            points = segment.goal.points
            goal = guided(points, stick, navigate.workspace, navigate.legs, navigate.ground, navigate.discard)
            self._next = known, wanted(points, goal, navigate.body, stick.mode)
        return self._next[1]

    def words(self) -> list[str]:
        navigate, plant = self.navigate, self.plant
        if navigate is None or plant is None or navigate.segment is None:
            return []
        if plant.fallen:
            return ["It has fallen; reset to begin anew."]
        return [became(navigate.history[-1]), *self._left()]

    def _left(self) -> list[str]:
        """What is left to do in a world that has something to do."""
        hand = next((hand for hand in self.robot.hands if hand.side == "left"), None)
        if self.level or hand is None or self.plant is None:
            return []
        away = float(np.linalg.norm(self.plant.state().pose(hand).translation - self.stage.target))
        if away < TOUCHED:
            return ["The left hand is at the door. Well done."]
        return [f"Down the steps, across the room, the left hand to the door: {away:.2f} m to go."]

    def guide(self) -> dict[str, Any]:
        """What is heard and what becomes of it.

        "mode", "axes" and "lift" are what counts now, "place" whether there is one to touch; "notes" why the present
        segment, or one just before, was not done as commanded; "segments" the last that were not just standing, the
        latest first.
        """
        stick = self.person.stick
        axes = [round(value, 3) for value in stick.axes]
        heard = {"mode": stick.mode, "axes": axes, "lift": round(stick.lift, 3), "place": not self.level}
        navigate, plant = self.navigate, self.plant
        if navigate is None or plant is None:
            return {**heard, "notes": [], "segments": []}
        if self._told[0] is not navigate.segment:
            self._told = navigate.segment, [done for done in islice(reversed(navigate.history), LOOKED) if moves(done)]
        lately = self._told[1]
        noted = next((done for done in lately if done.segment.notes), None)
        fresh = noted is not None and noted.time + noted.segment.seconds > plant.time - READ
        notes = list(noted.segment.notes) if noted is not None and fresh else []
        return {**heard, "notes": notes, "segments": [row(done) for done in lately[:TOLD]]}

    def facts(self) -> dict[str, Any]:
        return {"behavior": "navigate", "world": self.world}

    @classmethod
    def replayed(cls, facts: Mapping[str, Any], robot: Robot) -> tuple[Ground, Sequence[Thing]] | None:
        stage = Stage.of(robot) if facts.get("world") == WORLDS[1] else None
        return None if stage is None else (stage, stage.things)
