"""The three tasks of [Galdeano2014], in order, and that of the hands before the last."""

from __future__ import annotations

from poise import constraints, tasks
from poise.behaviors.regulated.settings import RegulatedSettings
from poise.behaviors.regulated.spin import Spin
from poise.hierarchy import Hierarchy, Level
from poise.robots import Robot, State

#: Damping of the spin: what it may ask of the joints (rad/s per kg m²/s).
CALM = 0.05


class Levels:
    """One hierarchy, the same whatever foot bears: nothing is switched.

    Relative feet pose (equations 1 to 6); centre of mass seen from the reference foot, with what the ZMP regulation
    adds to its error (7 to 13); if the robot carries something, the hands; comfort of the joints (14 and 15). All are
    seen from the reference foot, so the base is free to be anywhere, and takes no part.

    Ranges and speeds of the joints stand above all. A solver in closed form (`NullSpace`, equations 16 to 20) does not
    see them: that is what the comfort is for.

    Args:
        robot: with two feet.
        start: where it begins.
        settings: rates of the tasks.
        carries: whether the hands have a task.

    Attributes:
        feet, center: what is led: reference_from_other, frames of the feet; centre of mass in the reference frame.
        grasp: place of the left hand in the reference frame, if the hands have a task.
        spin: what asks for angular momentum, if the settings want it; the reference foot then stays where it is, for
            the motion of the base is part of it.
        reference, other: the feet.
    """

    def __init__(self, robot: Robot, start: State, settings: RegulatedSettings, carries: bool) -> None:
        self.reference, self.other = robot.foot("left"), robot.foot("right")
        a = start.pose(self.reference)
        self.feet = tasks.Led(a.actInv(start.pose(self.other)))
        self.center = tasks.Led(a.actInv(start.center_of_mass))
        rate = tasks.Decay
        levels = [
            Level("feet", [
                tasks.RelativePose(
                    self.other, seen_from=self.reference, target=self.feet, reference=rate(settings.feet),
                    name="relative feet pose",
                ),
            ]),
            Level("center", [
                tasks.CenterOfMass(self.center, frame=self.reference, reference=rate(settings.center)),
            ]),
        ]  # fmt: skip
        self.grasp: tasks.Led | None = None
        if carries:
            levels.append(Level("hands", self._hands(robot, start, settings)))
        self.spin = Spin(start, self.reference, settings.spin) if settings.spin else None
        if self.spin is not None:
            turning = tasks.AngularMomentum(self.spin.momentum, axes="xy", name="spin")
            levels[0] = Level("feet", [*levels[0].tasks, tasks.HoldPose(self.reference, at=start)])
            levels.append(Level("spin", [turning], damping=CALM))
        if settings.comfort == "middle":
            levels.append(Level("comfort", [tasks.JointComfort(robot, settings.beta)]))
        else:
            levels.append(Level("comfort", [tasks.Posture(start, reference=rate(settings.beta), name="joint comfort")]))
        self.hierarchy = Hierarchy(always=[constraints.JointRange(robot), constraints.JointSpeed(robot)], levels=levels)
        #: As the closed form takes it: equalities only.
        self.equalities = Hierarchy(always=[], levels=levels)

    def _hands(self, robot: Robot, start: State, settings: RegulatedSettings) -> list[tasks.Task]:
        """One hand goes with the centre of mass, level; the other stays where it is, seen from the first."""
        left, right, rate = robot.hand("left"), robot.hand("right"), tasks.Decay(settings.hands)
        pose = start.pose(self.reference).actInv(start.pose(left))
        self.grasp = tasks.Led(pose)
        held = start.pose(left).actInv(start.pose(right))
        return [
            tasks.RelativePose(left, seen_from=self.reference, target=self.grasp, reference=rate, name="left hand"),
            tasks.RelativePose(right, seen_from=left, target=held, reference=rate, name="grasp"),
        ]
