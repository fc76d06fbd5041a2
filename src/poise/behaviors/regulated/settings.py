"""Numbers of a body on position servos."""

from __future__ import annotations

from dataclasses import dataclass

from poise.behaviors.settings import check_settings
from poise.errors import PoiseError

#: What joints are comfortable in: the middle of their ranges, as in the paper, or the stance they started in.
COMFORTS = ("middle", "stance")


@dataclass(frozen=True)
class RegulatedSettings:
    """Gains of a body on position servos; a robot's data file may have its own (``[servos.regulation]``).

    Args:
        proportional, derivative: K_p and K_d (s) of the ZMP regulation, [Galdeano2014] eq. (13). A centre of mass that
            is led back makes the ZMP go ahead before it follows, the more the stiffer the servos: too much of either
            shakes the robot over.
        across: share of both across the feet: two legs beside each other are stiff where one behind the other yields.
        trim: K_i, 1/s: how fast what is left of the error, in which the paper's law rests, is taken out; zero: not.
        smooth: time constant of the filter on the force cells (s).
        spin: how strongly arms and trunk turn when the ZMP comes to the edge of the soles, see `Spin`; zero: not.
        regulate: one, or zero for the centre of mass alone.
        stiffness: of the servos, as a share of what the data file says: drives have a gain that can be set, and a body
            that gives way a little is kinder to people and gears.
        feet, center: rates of these tasks, 1/s.
        beta: β of the joints' comfort, eq. (14), 1/s.
        hands: rate of the hands, where these have a task, 1/s.
        comfort: "middle" or "stance".
    """

    proportional: float = 0.1
    derivative: float = 0.01
    across: float = 0.3
    trim: float = 0.3
    smooth: float = 0.1
    spin: float = 0.0
    regulate: float = 1.0
    stiffness: float = 1.0
    feet: float = 50.0
    center: float = 20.0
    beta: float = 4.0
    hands: float = 10.0
    comfort: str = "middle"

    def __post_init__(self) -> None:
        if self.comfort not in COMFORTS:
            raise PoiseError(f"regulated: comfort is {self.comfort!r}; expected {' or '.join(COMFORTS)}")
        zero = ("proportional", "derivative", "across", "trim", "smooth", "spin", "regulate")
        names = [name for name in self.__dataclass_fields__ if name != "comfort"]
        check_settings(self, zero=zero, names=names)
