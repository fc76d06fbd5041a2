"""Disturbances unknown to the controller: pushes, loads, a carried box, model errors and hardware faults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pinocchio
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.errors import UsageError
from poise.parsing import format_value
from poise.plants.plant_errors import PlantError, require_number, require_positive, require_vector
from poise.robots import Frame, Robot, State


@dataclass(frozen=True, eq=False)
class Push:
    """A constant force for some time. Its impulse is exactly ``force · duration`` for every period of the simulation.

    Args:
        force: in the world's axes (N, 3).
        duration: duration (s).
        time: start of the push (s), in the time of the states.
        frame: the force acts at the origin of this frame; None: at the center of mass of the base's body.

    >>> Push((100, 0, 0), duration=0.1, time=1.0), Push.parse("100,0,0,0.1@1.0")
    """

    force: ArrayLike
    duration: float
    time: float
    frame: Frame | None = None

    def __post_init__(self) -> None:
        require_vector(self.force, 3, "Push.force", "N")
        require_number(self.duration, "Push.duration", low=0.0, unit="s")
        require_number(self.time, "Push.time", unit="s")
        if self.frame is not None and not isinstance(self.frame, Frame):
            raise PlantError(f"Push.frame is {format_value(self.frame)}; expected e.g. robot.hand('left')", "frame")

    @classmethod
    def parse(cls, text: str) -> Push:
        """Parse a push of the command line: ``FX,FY,FZ,DURATION@TIME`` in N and s."""
        before, separator, after = text.partition("@")
        try:
            numbers = [float(word) for word in (*before.split(","), after)] if separator else []
        except ValueError:
            numbers = []
        if len(numbers) != 5 or not np.isfinite(numbers).all():
            raise UsageError(
                f"'{text}' is not a push; expected FX,FY,FZ,DURATION@TIME in N and s, like 100,0,0,0.1@1.0"
            )
        if numbers[3] <= 0.0 or numbers[4] < 0.0:
            raise UsageError(f"the push '{text}' never acts; expected a positive DURATION and a TIME from 0 s")
        return cls(numbers[:3], numbers[3], numbers[4])

    def active_fraction(self, begin: float, end: float) -> float:
        """Return the fraction (0 to 1) of the interval from begin to end (s) in which the push acts."""
        return max(min(end, self.time + self.duration) - max(begin, self.time), 0.0) / (end - begin)


@dataclass(frozen=True, eq=False)
class Load:
    """A load carried by the robot and unknown to its controller.

    Args:
        frame: the frame that carries it, e.g. ``robot.hand("left")`` or ``robot.chest``.
        mass: mass (kg).
        position: position of the load, or of the upper end of its string, in that frame (m, 3).
        string_length: length of the string on which the load hangs (m); 0: the load is fixed to the frame.

    >>> Load(robot.hand("left"), mass=2.0, string_length=0.3)
    """

    frame: Frame
    mass: float
    position: ArrayLike = (0.0, 0.0, 0.0)
    string_length: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.frame, Frame):
            raise PlantError(f"Load.frame is {format_value(self.frame)}; expected e.g. robot.hand('left')", "frame")
        require_positive(self.mass, "Load.mass", "kg")
        require_vector(self.position, 3, "Load.position", "m")
        require_number(self.string_length, "Load.string_length", low=0.0, unit="m")


# -- Carried box -----------------------------------------------------------------------------------------------------


#: Smallest distance of the hands (m) at which they can hold a box: a palm's thickness.
MIN_HAND_DISTANCE = 0.02


@dataclass(frozen=True, eq=False)
class CarriedBox:
    """A box that the robot holds with both hands and that is unknown to its controller.

    In the start, its center is midway between the hands, y points from the right hand to the left hand, and z is as
    vertical as possible. Each hand is attached to the box at its initial position: the position is fixed, the
    orientation is held by a soft grip. So both arms carry the weight, and hands that move apart pull on each other.

    Args:
        mass: mass (kg).
        size: lengths of its edges (m, 3) along x (forward), y (from hand to hand) and z (up); None: the distance of the
            hands along y, half of it along x and z.

    >>> plant = poise.MujocoPlant(robot.stance("carrying"), carried_box=CarriedBox.of_mass_fraction(robot, 0.10))
    """

    mass: float
    size: ArrayLike | None = None

    def __post_init__(self) -> None:
        require_positive(self.mass, "CarriedBox.mass", "kg")
        if self.size is not None and not (require_vector(self.size, 3, "CarriedBox.size", "m") > 0.0).all():
            raise PlantError(f"CarriedBox.size is {format_value(self.size)}; expected 3 positive lengths in m", "size")

    @classmethod
    def of_mass_fraction(cls, robot: Robot, fraction: float, size: ArrayLike | None = None) -> CarriedBox:
        """Return a box whose mass is this fraction of the robot's mass: 0.10 is ten percent."""
        return cls(require_positive(fraction, "CarriedBox.of_mass_fraction") * robot.mass, size)

    def check(self, robot: Robot) -> None:
        """Raise an error if the robot does not have two hands."""
        robot.hand("left"), robot.hand("right")

    def pose_and_size(self, start: State) -> tuple[pinocchio.SE3, Array]:
        """Return world_from_box in a start state, and the lengths of its edges (m, 3)."""
        left, right = (start.pose(start.robot.hand(side)).translation for side in ("left", "right"))
        across = left - right
        distance = float(np.linalg.norm(across))
        if distance < MIN_HAND_DISTANCE:
            least = f"expected {100 * MIN_HAND_DISTANCE:g} cm or more to hold a box"
            message = f"the hands are {100 * distance:.1f} cm apart; {least}"
            raise PlantError(f"{message}; start from robot.stance('carrying')", "carried")
        y = across / distance
        forward = np.cross(y, [0.0, 0.0, 1.0])
        if np.linalg.norm(forward) < 0.1:  # one hand is above the other: use the world's x axis as forward
            forward = np.array([1.0, 0.0, 0.0]) - y[0] * y
        x = forward / np.linalg.norm(forward)
        size = np.array([0.5, 1.0, 0.5]) * distance if self.size is None else np.array(self.size, dtype=np.float64)
        return pinocchio.SE3(np.column_stack([x, y, np.cross(x, y)]), 0.5 * (left + right)), size


# -- ModelError ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ModelError:
    """Differences between the simulated robot and the model of its controller.

    Args:
        mass: relative increase of mass and rotational inertia of every link: 0.1 is ten percent.
        friction: relative increase of the friction coefficient of ground and objects: -0.2 is more slippery.
        damping: viscous damping of every joint (N m s/rad).
        dry_friction: dry friction of every joint (N m): below this torque a joint at rest does not move.
        armature: rotor inertia of every joint in addition to that of the model (kg m²).

    >>> plant = poise.MujocoPlant(robot, model_error=ModelError(mass=0.1, damping=0.5))
    """

    mass: float = 0.0
    friction: float = 0.0
    damping: float = 0.0
    dry_friction: float = 0.0
    armature: float = 0.0

    def __post_init__(self) -> None:
        require_number(self.mass, "ModelError.mass", low=-0.9)  # the mass must stay positive: at least a tenth
        require_number(self.friction, "ModelError.friction", low=-1.0)
        require_number(self.damping, "ModelError.damping", low=0.0, unit="N m s/rad")
        require_number(self.dry_friction, "ModelError.dry_friction", low=0.0, unit="N m")
        require_number(self.armature, "ModelError.armature", low=0.0, unit="kg m²")


# -- Hardware faults -------------------------------------------------------------------------------------------------


#: Output of a faulty force cell: zero, its last value, or NaN.
CellOutput = Literal["dead", "stuck", "nan"]
CELL_OUTPUTS: tuple[CellOutput, ...] = ("dead", "stuck", "nan")
#: Number of force cells of a sole, one at each corner.
CELL_COUNT = 4


@dataclass(frozen=True)
class HardwareFault:
    """A permanent fault from a given time on: `ForceCellFault`, `SwappedSoleSensors` or `WeakMotor`.

    Faults of cells and cables change only the sensor readings, not the contact forces. A weak motor changes the motion.
    The controller is not informed of a fault.

    Args:
        time: time of the fault (s), in the time of the states.

    >>> poise.MujocoPlant(robot, faults=[ForceCellFault(1.5, "left", 2), HardwareFault.parse("weak:left_knee:0.3@1")])
    """

    time: float

    def __post_init__(self) -> None:
        if type(self) is HardwareFault:
            raise PlantError(
                "HardwareFault is an abstract class; use ForceCellFault, SwappedSoleSensors or WeakMotor", "kind"
            )
        require_number(self.time, f"{type(self).__name__}.time", unit="s")

    def check(self, robot: Robot) -> None:
        """Raise an error if the robot does not have the faulty part."""

    @staticmethod
    def parse(text: str) -> HardwareFault:
        """Parse a fault of the command line, with the time in s.

        >>> HardwareFault.parse("cell:left:2:dead@1.5"), HardwareFault.parse("cell:right:0:stuck@1")
        >>> HardwareFault.parse("swapped@2"), HardwareFault.parse("weak:left_knee:0.3@1")
        """
        before, _, after = text.rpartition("@")
        try:
            time = float(after)
            match before.split(":"):
                case ["cell", side, corner, output]:
                    return ForceCellFault(time, side, int(corner), output)  # type: ignore[arg-type]  # it is checked there
                case ["swapped"]:
                    return SwappedSoleSensors(time)
                case ["weak", joint, share]:
                    return WeakMotor(time, joint, float(share))
        except ValueError:  # also a PlantError
            pass
        expected = "cell:SIDE:CORNER:dead|stuck|nan@TIME, swapped@TIME or weak:JOINT:SHARE@TIME"
        reach = f"with CORNER from 0 to {CELL_COUNT - 1}, SHARE from 0 to 1, TIME in s"
        raise UsageError(f"'{text}' is not a hardware fault; expected {expected} {reach}, like cell:left:2:dead@1.5")


@dataclass(frozen=True)
class ForceCellFault(HardwareFault):
    """A force cell with a wrong output. The six-axis force sensor of the ankle is not affected.

    Args:
        time: time of the fault (s).
        side: side of its foot, "left" or "right".
        corner: index of the cell, from 0 to 3, counter-clockwise from the front left one, as in `foot.corners`.
        output: "dead": zero; "stuck": its last value; "nan": NaN.

    >>> ForceCellFault(1.5, "left", corner=2, output="dead")
    """

    side: str
    corner: int
    output: CellOutput = "dead"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.side not in ("left", "right"):
            raise PlantError(f"ForceCellFault.side is {format_value(self.side)}; expected 'left' or 'right'", "side")
        if isinstance(self.corner, bool) or self.corner not in range(CELL_COUNT):
            expected = f"expected a whole number from 0 to {CELL_COUNT - 1}"
            raise PlantError(f"ForceCellFault.corner is {format_value(self.corner)}; {expected}", "corner")
        if self.output not in CELL_OUTPUTS:
            raise PlantError(
                f"ForceCellFault.output is {format_value(self.output)}; expected one of {', '.join(CELL_OUTPUTS)}",
                "output",
            )

    def check(self, robot: Robot) -> None:
        robot.foot(self.side)


@dataclass(frozen=True)
class SwappedSoleSensors(HardwareFault):
    """Swapped sensor cables: the left sole's readings are reported as the right's, and vice versa.

    This affects the cells, corner by corner, and the six-axis sensors of the ankles, which measure in the axes of their
    soles: a wrench ``(R_lᵀ F, R_lᵀ τ)`` of the left sole is reported as that of the right sole, ``(R_r R_lᵀ F, R_r R_lᵀ
    τ)`` in world axes, with R_l and R_r world_from_sole.

    >>> SwappedSoleSensors(2.0)
    """

    def check(self, robot: Robot) -> None:
        robot.foot("left"), robot.foot("right")


@dataclass(frozen=True)
class WeakMotor(HardwareFault):
    """A motor or servo with reduced torque: its torque limit becomes ``torque_fraction · limit``.

    Args:
        time: time of the fault (s).
        joint: name of the joint.
        torque_fraction: from 0, no torque, to 1, full torque (a repaired motor).

    >>> WeakMotor(1.0, "left_knee", torque_fraction=0.3)
    """

    joint: str
    torque_fraction: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.joint, str) or not self.joint:
            raise PlantError(f"WeakMotor.joint is {format_value(self.joint)}; expected the name of a joint", "joint")
        require_number(self.torque_fraction, "WeakMotor.torque_fraction", low=0.0, high=1.0)

    def check(self, robot: Robot) -> None:
        robot.joint(self.joint)
