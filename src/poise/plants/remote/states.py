"""States, and what sensors say with them, as parts of messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from poise.errors import StateError
from poise.plants.remote.messages import MalformedError, Message, array, doubles, names, number
from poise.robots import Frame, Robot, State
from poise.state import ContactForces, Imu, Sensed

#: A robot touches the world with fewer parts than this.
PARTS = 100


def state_message(state: State) -> Message:
    """A state without its robot, which both sides have."""
    contacts = [part.name for part in state.contacts]
    return {"q": doubles(state.q), "v": doubles(state.v), "time": float(state.time), "contacts": contacts}


def sensed_message(sensed: Sensed | None, state: State) -> Message | None:
    """What was sensed at the time of a state; the truth is left out where it is the state itself."""
    if sensed is None:
        return None
    forces, imu, truth = sensed.forces, sensed.imu, state_message(sensed.truth)
    return {
        "names": list(forces.names),
        "wrenches": doubles(forces.wrenches),
        "points": doubles(forces.points),
        "cells": {name: doubles(values) for name, values in sensed.cells.items()},
        "imu": {name: doubles(getattr(imu, name)) for name in ("orientation", "angular_velocity", "acceleration")},
        "positions": doubles(sensed.positions),
        "rates": doubles(sensed.rates),
        "truth": None if truth == state_message(state) else truth,
    }


class Reader:
    """Makes states of a robot from messages; raises MalformedError for what can be none."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        parts: dict[str, Frame] = {**robot.frames, **{part.name: part for part in (*robot.hands, *robot.feet)}}
        self._parts = parts
        self._contacts: dict[tuple[str, ...], tuple[Frame, ...]] = {}

    def state(self, message: Any) -> State:
        """A state, looked at as closely as one that a user made."""
        _map(message)
        model = self.robot.model
        q, v = array(message, "q", model.nq), array(message, "v", model.nv)
        try:
            return State(self.robot, q, v, number(message, "time"), self._touching(names(message, "contacts")))
        except StateError:
            raise MalformedError("malformed message") from None

    def sensed(self, message: Any, state: State) -> Sensed | None:
        """What was sensed with a state; None where the plant has no sensors."""
        if message is None:
            return None
        _map(message)
        words, joints = names(message, "names"), len(self.robot.joints)
        cells, imu = message.get("cells"), message.get("imu")
        _map(cells)
        _map(imu)
        if len(words) > PARTS or len(cells) > PARTS:
            raise MalformedError("malformed message")
        wrenches = array(message, "wrenches", 6 * len(words)).reshape(-1, 6)
        points = array(message, "points", 3 * len(words)).reshape(-1, 3)
        return Sensed(
            forces=ContactForces(words, wrenches, points),
            cells={name: array(cells, name, None) for name in cells},
            imu=Imu(array(imu, "orientation", 4), array(imu, "angular_velocity", 3), array(imu, "acceleration", 3)),
            positions=array(message, "positions", joints),
            rates=array(message, "rates", joints),
            truth=state if message.get("truth") is None else self.state(message["truth"]),
        )

    def _touching(self, words: tuple[str, ...]) -> tuple[Frame, ...]:
        """The parts of these names; the same tuple for the same names, which controllers notice."""
        found = self._contacts.get(words)
        if found is None:
            if len(words) > PARTS or not all(word in self._parts for word in words):
                raise MalformedError("malformed message")
            found = tuple(self._parts[word] for word in words)
            if len(self._contacts) < PARTS:
                self._contacts[words] = found
        return found


def _map(message: Any) -> None:
    if not isinstance(message, Mapping) or not all(isinstance(key, str) for key in message):
        raise MalformedError("malformed message")
