"""Protocol of remote plants: addresses, sockets, and msgpack messages with states, commands and reports.

| kind | from | carries |
|---|---|---|
| hello | client | protocol, robot, joints, token |
| welcome | server | token, protocol, realtime, period, timeout, start, and all values of a state message |
| command | client | session, sequence, state_sequence, notes_received, and the fields of a `Command` |
| state | server | session, sequence, last_command, timed_out, server_counts, and the fields of `report_message` |
| refused | server | reason, text; and what is refused: token, session, or sequence |
| bye | client | session |

`last_command` is the sequence number of the last executed command; `state_sequence` is the sequence number of the state
for which a command was computed; `notes_received` is the number of notes of the plant that the client has received. A
session is 16 random bytes known only to its client and the server. Both sides refuse another protocol version; to be
understood by all versions, hello and refused keep the keys kind, protocol, token, reason and text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from poise.arrays import Array
from poise.control import Command
from poise.errors import StateError
from poise.extras import msgpack, require, zmq
from poise.parsing import PLANT_ADDRESS, is_loopback, is_number
from poise.plants.control_loop import Plant
from poise.plants.plant_errors import PlantError
from poise.robots import Frame, Robot, State
from poise.state import ContactForces, Imu, SensorReadings

#: Largest message that is decoded (bytes): twenty times the state of a humanoid.
MAX_MESSAGE_SIZE = 64 * 1024
#: Largest message that libzmq receives (bytes); it closes the connection if a message is larger. It is above
#: `MAX_MESSAGE_SIZE`, so that oversized messages can be counted.
MAX_RECEIVED_SIZE = 16 * MAX_MESSAGE_SIZE
#: Queue length of a socket (messages), and size of the system's buffers (bytes): about the states or commands of 0.2 s,
#: after which they are obsolete.
QUEUE_LENGTH, BUFFER_SIZE = 50, 64 * 1024


def check_address(address: Any, allow_remote: bool = True) -> str:
    """Return an address of the form ``tcp://HOST:PORT`` or ``ipc://PATH``; raise `PlantError` otherwise.

    Args:
        address: port 0 means any free port; localhost is replaced by 127.0.0.1.
        allow_remote: whether hosts other than the loopback interface are allowed.
    """
    text = address.replace("//localhost:", "//127.0.0.1:") if isinstance(address, str) else repr(address)
    if re.fullmatch(r"ipc://[^\s]+", text):
        return text
    match = re.fullmatch(r"tcp://(\[[0-9a-fA-F:.]+\]|[\w.*-]+):(\d{1,5})", text)
    if not match or int(match[2]) > 65535:
        raise PlantError(f"'{text}' is not an address; expected tcp://HOST:PORT, like {PLANT_ADDRESS}", "address")
    if not allow_remote and not is_loopback(match[1]):
        raise PlantError(
            f"'{text}' can be reached from other machines, which could then command the robot; "
            f"to allow this, use allow_remote=True or 'poise serve --bind {match[1]}'",
            "address",
        )
    return text


def address_at_host(address: str, host: str) -> str:
    """Replace the host of an address."""
    return re.sub(r"^tcp://.*:(\d+)$", rf"tcp://{host}:\1", check_address(address))


def open_socket(kind: int, address: str) -> zmq.Socket[bytes]:
    """Open a socket for an address; it does not linger on close, and its queues are short."""
    require("zmq", "msgpack")
    zmq_socket: zmq.Socket[bytes] = zmq.Context.instance().socket(kind)
    zmq_socket.setsockopt(zmq.LINGER, 0)
    zmq_socket.setsockopt(zmq.MAXMSGSIZE, MAX_RECEIVED_SIZE)
    zmq_socket.setsockopt(zmq.IPV6, int("[" in address))
    for option in (zmq.SNDHWM, zmq.RCVHWM):
        zmq_socket.setsockopt(option, QUEUE_LENGTH)
    for option in (zmq.SNDBUF, zmq.RCVBUF):
        zmq_socket.setsockopt(option, BUFFER_SIZE)
    # Heartbeats detect a broken connection, which is then reopened; they take a few bytes per second.
    zmq_socket.setsockopt(zmq.HEARTBEAT_IVL, 1000)
    zmq_socket.setsockopt(zmq.HEARTBEAT_TIMEOUT, 3000)
    zmq_socket.setsockopt(zmq.RECONNECT_IVL, 20)
    zmq_socket.setsockopt(zmq.RECONNECT_IVL_MAX, 500)
    return zmq_socket


# -- Messages --------------------------------------------------------------------------------------------------------


Message = dict[str, Any]

#: Protocol version; increase it if the meaning of a message changes.
PROTOCOL = 2
#: Seconds without a message after which the connection counts as lost: without commands the robot holds, without states
#: the controller uses the last state. In this time a balance error doubles: the error of a robot that stands on its
#: ankles, an inverted pendulum, grows by exp(ω t) with ω of 3 to 4 1/s.
TIMEOUT = 0.2
#: Longest period of a command (s), which a simulation in lock-step runs before it receives the next message.
MAX_COMMAND_PERIOD = 1.0
#: Upper bound of sequence numbers: at a thousand per second they last longer than any machine.
MAX_SEQUENCE = 2**62


def protocol_mismatch(server: object, client: object) -> str:
    """Return the sentence that refuses another protocol version."""
    return f"the server uses protocol {server}, not {client}; use the same version of Poise on both sides"


class MalformedError(ValueError):
    """An invalid message; `name` is the name under which it is counted."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def encode(message: Mapping[str, Any]) -> bytes:
    """Encode a message as bytes."""
    data: bytes = msgpack.packb(message)
    return data


def decode(frames: list[bytes]) -> Message:
    """Decode a message; raise `MalformedError` unless it is a single frame below the size limit, a map with a kind."""
    if sum(map(len, frames)) > MAX_MESSAGE_SIZE:
        raise MalformedError("oversized message")
    if len(frames) != 1:
        raise MalformedError("malformed message")
    try:
        message = msgpack.unpackb(frames[0])
    except Exception:  # any failure means that the bytes are not a message
        raise MalformedError("malformed message") from None
    if not isinstance(message, dict) or not isinstance(message.get("kind"), str):
        raise MalformedError("malformed message")
    return message


def float_bytes(values: Any) -> bytes | None:
    """Convert numbers to bytes without loss of precision; None stays None."""
    return None if values is None else np.ascontiguousarray(values, dtype="<f8").tobytes()


def read_array(message: Mapping[str, Any], name: str, size: int | None) -> Array:
    """Read `size` finite numbers of a message (None: any number of them); raise `MalformedError` otherwise."""
    data = message.get(name)
    if not isinstance(data, bytes) or len(data) % 8 or (size is not None and len(data) != 8 * size):
        raise MalformedError("malformed message")
    values = np.frombuffer(data, dtype="<f8").astype(np.float64)
    if not np.isfinite(values).all():
        raise MalformedError("message not finite")
    return values


def read_optional_array(message: Mapping[str, Any], name: str, size: int) -> Array | None:
    """Read an array like `read_array`, or None if the message has none."""
    return None if message.get(name) is None else read_array(message, name, size)


def read_number(message: Mapping[str, Any], name: str) -> float:
    """Read a finite number of a message; raise `MalformedError` otherwise."""
    value = message.get(name)
    if not is_number(value):
        raise MalformedError("malformed message")
    return float(value)


def read_integer(message: Mapping[str, Any], name: str) -> int:
    """Read an integer, zero or more; raise `MalformedError` otherwise."""
    value = message.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < MAX_SEQUENCE:
        raise MalformedError("malformed message")
    return value


def read_text(message: Mapping[str, Any], name: str) -> str:
    """Read a text of a message as one line; raise `MalformedError` otherwise."""
    value = message.get(name)
    if not isinstance(value, str):
        raise MalformedError("malformed message")
    return " ".join(value.split())


def read_names(message: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Read a list of texts; raise `MalformedError` otherwise."""
    value = message.get(name)
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise MalformedError("malformed message")
    return tuple(value)


def read_counts(message: Mapping[str, Any], name: str) -> Counter[str]:
    """Read counts by name; raise `MalformedError` otherwise."""
    value = message.get(name)
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        raise MalformedError("malformed message")
    return Counter({name: read_integer(value, name) for name in value})


# -- States and sensor readings --------------------------------------------------------------------------------------


#: Largest number of parts in contact in a message.
MAX_PARTS = 100


def state_message(state: State) -> Message:
    """Encode a state without its robot, which both sides have."""
    contacts = [part.name for part in state.contacts]
    return {"q": float_bytes(state.q), "v": float_bytes(state.v), "time": float(state.time), "contacts": contacts}


def readings_message(readings: SensorReadings | None, state: State) -> Message | None:
    """Encode sensor readings at the time of a state; the true state is left out if it equals the state."""
    if readings is None:
        return None
    forces, imu, truth = readings.forces, readings.imu, state_message(readings.truth)
    return {
        "names": list(forces.names),
        "wrenches": float_bytes(forces.wrenches),
        "points": float_bytes(forces.points),
        "cells": {name: float_bytes(values) for name, values in readings.cells.items()},
        "imu": {name: float_bytes(getattr(imu, name)) for name in ("orientation", "angular_velocity", "acceleration")},
        "positions": float_bytes(readings.positions),
        "velocities": float_bytes(readings.velocities),
        "truth": None if truth == state_message(state) else truth,
    }


class StateDecoder:
    """Decodes states and sensor readings of a robot; raises `MalformedError` for invalid messages."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        parts: dict[str, Frame] = {**robot.frames, **{part.name: part for part in (*robot.hands, *robot.feet)}}
        self._parts = parts
        self._contacts: dict[tuple[str, ...], tuple[Frame, ...]] = {}

    def state(self, message: Any) -> State:
        """Decode a state, with the same checks as `State`."""
        _check_map(message)
        model = self.robot.model
        q, v = read_array(message, "q", model.nq), read_array(message, "v", model.nv)
        try:
            return State(
                self.robot, q, v, read_number(message, "time"), self._contact_frames(read_names(message, "contacts"))
            )
        except StateError:
            raise MalformedError("malformed message") from None

    def readings(self, message: Any, state: State) -> SensorReadings | None:
        """Decode the sensor readings of a state; None if the plant has no sensors."""
        if message is None:
            return None
        _check_map(message)
        names, joints = read_names(message, "names"), len(self.robot.joints)
        cells, imu = message.get("cells"), message.get("imu")
        _check_map(cells)
        _check_map(imu)
        if len(names) > MAX_PARTS or len(cells) > MAX_PARTS:
            raise MalformedError("malformed message")
        wrenches = read_array(message, "wrenches", 6 * len(names)).reshape(-1, 6)
        points = read_array(message, "points", 3 * len(names)).reshape(-1, 3)
        return SensorReadings(
            forces=ContactForces(names, wrenches, points),
            cells={name: read_array(cells, name, None) for name in cells},
            imu=Imu(
                read_array(imu, "orientation", 4),
                read_array(imu, "angular_velocity", 3),
                read_array(imu, "acceleration", 3),
            ),
            positions=read_array(message, "positions", joints),
            velocities=read_array(message, "velocities", joints),
            truth=state if message.get("truth") is None else self.state(message["truth"]),
        )

    def _contact_frames(self, names: tuple[str, ...]) -> tuple[Frame, ...]:
        """Return the parts with these names; the same names give the same tuple object, which controllers rely on."""
        frames = self._contacts.get(names)
        if frames is None:
            if len(names) > MAX_PARTS or not all(name in self._parts for name in names):
                raise MalformedError("malformed message")
            frames = tuple(self._parts[name] for name in names)
            if len(self._contacts) < MAX_PARTS:
                self._contacts[names] = frames
        return frames


def _check_map(message: Any) -> None:
    if not isinstance(message, Mapping) or not all(isinstance(key, str) for key in message):
        raise MalformedError("malformed message")


# -- Commands --------------------------------------------------------------------------------------------------------


def command_message(command: Command) -> Message:
    """Encode the parts of a command that a plant needs; the solver's solution is not sent."""
    return {
        "velocity": float_bytes(command.velocity),
        "acceleration": float_bytes(command.acceleration),
        "torque": float_bytes(command.torque),
        "position": float_bytes(command.position),
        "period": float(command.period),
        "fallback": str(command.fallback)[:200],
        "phase": str(command.phase)[:200],
    }


def decode_command(message: Mapping[str, Any], robot: Robot) -> Command:
    """Decode the command of a message for a robot; raise `MalformedError` if a value is missing or not finite."""
    nv = robot.model.nv
    period = read_number(message, "period")
    if not 0.0 < period <= MAX_COMMAND_PERIOD:
        raise MalformedError("malformed message")
    return Command(
        velocity=read_array(message, "velocity", nv),
        acceleration=read_optional_array(message, "acceleration", nv),
        period=period,
        fallback=read_text(message, "fallback"),
        phase=read_text(message, "phase"),
        torque=read_optional_array(message, "torque", nv - 6),
        position=read_optional_array(message, "position", nv - 6),
    )


def resample_command(command: Command, step: float) -> Command:
    """Return a command for a plant whose steps (s) are shorter or longer than the period of the command.

    The command asks for joint positions q at the end of its period T, reached with the joint velocities v. Until the
    next command, servo targets move along ``q + (t - T) v``: the returned position is that after the first step,
    ``q - (T - step) v``.
    """
    if command.position is None:
        return replace(command, period=step)
    return replace(command, period=step, position=command.position - (command.period - step) * command.velocity[6:])


# -- Reports: all values that a served plant sends with a state ------------------------------------------------------


#: Largest number of notes in a message, and characters per note.
MAX_NOTES, MAX_NOTE_LENGTH = 10, 300


@dataclass(frozen=True, eq=False)
class Report:
    """Contents of a state message.

    Attributes:
        sequence: sequence number of the state.
        last_command: sequence number of the last executed command.
        state, readings, time, fallen, fall: as in `Plant`.
        counts, server_counts: number of errors in the plant, and in the server, by name.
        notes, notes_offset: further notes of the plant, and the number of notes before them.
        timed_out: whether the robot is held because commands are missing.
    """

    sequence: int
    last_command: int
    state: State
    readings: SensorReadings | None
    time: float
    fallen: bool
    fall: str
    counts: Counter[str]
    server_counts: Counter[str]
    notes: tuple[str, ...]
    notes_offset: int
    timed_out: bool


def report_message(plant: Plant, notes_received: int) -> Message:
    """Encode the report of a plant, with the notes that the client has not received."""
    state = plant.state()
    return {
        "state": state_message(state),
        "readings": readings_message(plant.readings(), state),
        "time": float(plant.time),
        "fallen": bool(plant.fallen),
        "fall": str(plant.fall)[:MAX_NOTE_LENGTH],
        "counts": {str(name): int(count) for name, count in plant.counts.items()},
        "notes": [str(note)[:MAX_NOTE_LENGTH] for note in plant.notes[notes_received : notes_received + MAX_NOTES]],
        "notes_offset": notes_received,
    }


def decode_report(message: Mapping[str, Any], decoder: StateDecoder) -> Report:
    """Decode and check the report of a message; raise `MalformedError` if it is invalid."""
    state = decoder.state(message.get("state"))
    return Report(
        sequence=read_integer(message, "sequence"),
        last_command=read_integer(message, "last_command"),
        state=state,
        readings=decoder.readings(message.get("readings"), state),
        time=read_number(message, "time"),
        fallen=message.get("fallen") is True,
        fall=read_text(message, "fall"),
        counts=read_counts(message, "counts"),
        server_counts=read_counts(message, "server_counts"),
        notes=read_names(message, "notes"),
        notes_offset=read_integer(message, "notes_offset"),
        timed_out=message.get("timed_out") is True,
    )
