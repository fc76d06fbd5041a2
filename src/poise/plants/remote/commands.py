"""Commands as messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from poise.control import Command
from poise.plants.remote.messages import LONGEST, MalformedError, Message, array, doubles, maybe, number, text
from poise.robots import Robot


def command_message(command: Command) -> Message:
    """What a plant needs of a command; the solution that justifies it stays with the controller."""
    return {
        "velocity": doubles(command.velocity),
        "acceleration": doubles(command.acceleration),
        "torque": doubles(command.torque),
        "position": doubles(command.position),
        "period": float(command.period),
        "fallback": str(command.fallback)[:200],
        "phase": str(command.phase)[:200],
    }


def command_of(message: Mapping[str, Any], robot: Robot) -> Command:
    """The command of a message for a robot, all of it finite, or a MalformedError."""
    nv = robot.model.nv
    period = number(message, "period")
    if not 0.0 < period <= LONGEST:
        raise MalformedError("malformed message")
    return Command(
        velocity=array(message, "velocity", nv),
        acceleration=maybe(message, "acceleration", nv),
        period=period,
        fallback=text(message, "fallback"),
        phase=text(message, "phase"),
        torque=maybe(message, "torque", nv - 6),
        position=maybe(message, "position", nv - 6),
    )


def in_steps(command: Command, step: float) -> Command:
    """The same command for a plant that takes shorter or longer steps (s), until the next command comes.

    A position q is meant for the end of the command's period T. Servos go there with the velocity v that comes with it,
    on the line ``q + (t - T) v``, and are at its point ``q - (T - step) v`` when the first step is over.
    """
    if command.position is None:
        return replace(command, period=step)
    return replace(command, period=step, position=command.position - (command.period - step) * command.velocity[6:])
