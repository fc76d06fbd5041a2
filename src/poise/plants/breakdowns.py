"""What breaks in a robot while it moves: force cells, the cables of its soles, motors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from poise.errors import UsageError
from poise.plants.errors import PlantError, number
from poise.robots import Robot
from poise.tasks.axes import shown

#: What a broken cell says: zero; what it said last; no number.
Saying = Literal["dead", "stuck", "nan"]
SAYINGS: tuple[Saying, ...] = ("dead", "stuck", "nan")
#: A sole has four cells, at its corners.
CORNERS = 4


@dataclass(frozen=True)
class Breakdown:
    """Something that breaks at a time and stays broken: a `BrokenCell`, `SwappedSoles` or a `WeakMotor`.

    Cells and cables change only what is sensed: the ground carries the robot as before, and its controller is told
    something else. A weak motor is weak indeed. Nobody tells the controller of either.

    Args:
        time: when it breaks (s), on the clock of the states.

    >>> poise.MujocoPlant(robot, breakdowns=[BrokenCell(1.5, "left", 2), Breakdown.parsed("weak:left_knee:0.3@1")])
    """

    time: float

    def __post_init__(self) -> None:
        if type(self) is Breakdown:
            raise PlantError("a Breakdown does not say what breaks; give BrokenCell, SwappedSoles or WeakMotor", "kind")
        number(self.time, f"{type(self).__name__}.time", unit="s")

    def check(self, robot: Robot) -> None:
        """Makes sure that a robot has what is to break, or raises one line."""

    @staticmethod
    def parsed(text: str) -> Breakdown:
        """A breakdown as the command line writes it, with the time in s.

        >>> Breakdown.parsed("cell:left:2:dead@1.5"), Breakdown.parsed("cell:right:0:stuck@1")
        >>> Breakdown.parsed("swapped@2"), Breakdown.parsed("weak:left_knee:0.3@1")
        """
        before, _, after = text.rpartition("@")
        try:
            time = float(after)
            match before.split(":"):
                case ["cell", side, corner, says]:
                    return BrokenCell(time, side, int(corner), says)  # type: ignore[arg-type]  # it is checked there
                case ["swapped"]:
                    return SwappedSoles(time)
                case ["weak", joint, share]:
                    return WeakMotor(time, joint, float(share))
        except ValueError:  # also a PlantError
            pass
        expected = "cell:SIDE:CORNER:dead|stuck|nan@TIME, swapped@TIME or weak:JOINT:SHARE@TIME"
        reach = f"with corners from 0 to {CORNERS - 1}, shares from 0 to 1, and s"
        raise UsageError(f"'{text}' is not a breakdown; expected {expected} {reach}, like cell:left:2:dead@1.5")


@dataclass(frozen=True)
class BrokenCell(Breakdown):
    """A force cell that says something else than what it feels. The six-axis sensor of the ankle is another sensor.

    Args:
        time: s.
        side: of its foot, "left" or "right".
        corner: number of the cell, from 0 to 3, counter-clockwise from the front left one, as `foot.corners` has them.
        says: "dead", zero; "stuck", what it said last; "nan", no number.

    >>> BrokenCell(1.5, "left", corner=2, says="dead")
    """

    side: str
    corner: int
    says: Saying = "dead"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.side not in ("left", "right"):
            raise PlantError(f"BrokenCell.side is {shown(self.side)}; expected 'left' or 'right'", "side")
        if isinstance(self.corner, bool) or self.corner not in range(CORNERS):
            expected = f"expected a whole number from 0 to {CORNERS - 1}"
            raise PlantError(f"BrokenCell.corner is {shown(self.corner)}; {expected}", "corner")
        if self.says not in SAYINGS:
            raise PlantError(f"BrokenCell.says is {shown(self.says)}; expected one of {', '.join(SAYINGS)}", "says")

    def check(self, robot: Robot) -> None:
        robot.foot(self.side)


@dataclass(frozen=True)
class SwappedSoles(Breakdown):
    """Cables that were swapped: what the left sole feels is told as the right's, and the other way round.

    That goes for the cells, corner by corner, and for the six-axis sensors of the ankles, which measure in axes of
    their own soles: a wrench ``(R_lᵀ F, R_lᵀ τ)`` of the left sole is told as that of the right one, ``(R_r R_lᵀ F, R_r
    R_lᵀ τ)`` in world axes, with R_l and R_r world_from_sole.

    >>> SwappedSoles(2.0)
    """

    def check(self, robot: Robot) -> None:
        robot.foot("left"), robot.foot("right")


@dataclass(frozen=True)
class WeakMotor(Breakdown):
    """A motor or servo that has only a share of its torque left: its limit becomes ``share · limit``.

    Args:
        time: s.
        joint: its name.
        share: from 0, a joint that hangs loose, to 1, one that is whole again.

    >>> WeakMotor(1.0, "left_knee", share=0.3)
    """

    joint: str
    share: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.joint, str) or not self.joint:
            raise PlantError(f"WeakMotor.joint is {shown(self.joint)}; expected the name of a joint", "joint")
        number(self.share, "WeakMotor.share", low=0.0, high=1.0)

    def check(self, robot: Robot) -> None:
        robot.joint(self.joint)
