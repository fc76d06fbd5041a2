"""Sensors: how well a simulated robot knows its own state."""

from __future__ import annotations

from dataclasses import dataclass

from poise.plants.errors import number


@dataclass(frozen=True)
class Sensors:
    """Noise, delay and steps of all sensors of a robot; perfect unless said otherwise.

    Noise is white: a new value at every tick of the controller, normally distributed, with the standard deviations
    below. One number s, the level, sets them all; 0.01 is what good sensors with a simple estimator leave.

    | what | deviation |
    |---|---|
    | velocity of the base, linear and angular | s m/s, s rad/s |
    | rates of the joints | 5 s rad/s |
    | position and orientation of the base, angles of the joints | 0.1 s m, 0.1 s rad |
    | orientation and angular velocity of the IMU, its acceleration | 0.1 s rad, s rad/s, 10 s m/s² |
    | force cells and forces on parts; moments on them | 20 s N; 2 s N m |

    Args:
        noise: the level s.
        delay: how old everything is that a controller sees (s): a whole number of steps of the simulation.
        encoder_step: angles of the joints come in multiples of this (rad).
        force_step: forces of cells and ankles come in multiples of this (N), moments in tenths of it (N m).

    >>> Sensors(noise=0.01, delay=0.004, encoder_step=2e-5)
    """

    noise: float = 0.0
    delay: float = 0.0
    encoder_step: float = 0.0
    force_step: float = 0.0

    def __post_init__(self) -> None:
        number(self.noise, "Sensors.noise", low=0.0)
        number(self.delay, "Sensors.delay", low=0.0, unit="s")
        number(self.encoder_step, "Sensors.encoder_step", low=0.0, unit="rad")
        number(self.force_step, "Sensors.force_step", low=0.0, unit="N")
