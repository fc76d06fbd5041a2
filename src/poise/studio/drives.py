"""What drives the joints, as a user chooses it: as the robot is built, motors or servos."""

from __future__ import annotations

from poise.robots import Robot

#: As built: servos for robots that have them, motors for all others; so it stays right when another robot is chosen.
DRIVES = AS_BUILT, MOTORS, SERVOS = ("as built", "torque motors", "position servos")


def on_servos(robot: Robot, drives: str) -> bool:
    """Whether the joints of a robot are driven by position servos, with one of `DRIVES` chosen.

    >>> on_servos(poise.load_robot("hoap3"), AS_BUILT)
    True
    """
    return robot.servos.usual if drives == AS_BUILT else drives == SERVOS
