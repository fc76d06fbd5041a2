"""The messages: maps in msgpack, one frame each, arrays as the bytes of their doubles.

| kind | from | carries |
|---|---|---|
| hello | client | protocol, robot, joints, token |
| welcome | server | token, protocol, realtime, period, limit, start, and all that a state has |
| command | client | session, sequence, sees, known, period, velocity, acceleration, torque, position, fallback, phase |
| state | server | session, sequence, answers, state, sensed, time, fallen, fall, counts, server, notes, after, held |
| refused | server | reason, text; and what is refused: token, session, or answers |
| bye | client | session |

`answers` is the sequence number of the last command that was obeyed; `sees` the sequence number of the state that a
command was computed for; `known` how many notes of the plant the client has. A session is 16 random bytes that only its
client and the server know.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgpack
import numpy as np
from numpy.typing import NDArray

from poise.plants.remote.address import LARGEST

Array = NDArray[np.float64]
Message = dict[str, Any]

#: Changes whenever a message changes its meaning.
PROTOCOL = 1
#: Without a command for so long (s) a robot holds, and without a state a controller sees the last one again: the link
#: is lost. In this time a deviation of the balance doubles (a body on its ankles falls with 3 to 4 per second).
LIMIT = 0.2
#: Longest that a command may hold (s): a simulation in lock-step makes so many steps before it listens again.
LONGEST = 1.0
#: Sequence numbers are below this: a thousand a second for longer than any machine runs.
MANY = 2**62


class MalformedError(ValueError):
    """A message that is not one of ours; `name` is what it is counted as."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def packed(message: Mapping[str, Any]) -> bytes:
    """The bytes of a message."""
    data: bytes = msgpack.packb(message)
    return data


def unpacked(frames: list[bytes]) -> Message:
    """The message of some frames, which must be one, small, and a map with a kind."""
    if sum(map(len, frames)) > LARGEST:
        raise MalformedError("oversized message")
    if len(frames) != 1:
        raise MalformedError("malformed message")
    try:
        message = msgpack.unpackb(frames[0])
    except Exception:  # whatever the bytes are, they are not ours
        raise MalformedError("malformed message") from None
    if not isinstance(message, dict) or not isinstance(message.get("kind"), str):
        raise MalformedError("malformed message")
    return message


def doubles(values: Any) -> bytes | None:
    """Numbers as bytes, exact to the last bit; None stays None."""
    return None if values is None else np.ascontiguousarray(values, dtype="<f8").tobytes()


def array(message: Mapping[str, Any], name: str, size: int | None) -> Array:
    """So many finite numbers of a message (None: as many as there are), or a MalformedError."""
    data = message.get(name)
    if not isinstance(data, bytes) or len(data) % 8 or (size is not None and len(data) != 8 * size):
        raise MalformedError("malformed message")
    values = np.frombuffer(data, dtype="<f8").astype(np.float64)
    if not np.isfinite(values).all():
        raise MalformedError("message not finite")
    return values


def maybe(message: Mapping[str, Any], name: str, size: int) -> Array | None:
    """The same, or None where there are none."""
    return None if message.get(name) is None else array(message, name, size)


def number(message: Mapping[str, Any], name: str) -> float:
    """A finite number of a message, or a MalformedError."""
    value = message.get(name)
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value):
        raise MalformedError("malformed message")
    return float(value)


def whole(message: Mapping[str, Any], name: str) -> int:
    """A whole number, zero or more, or a MalformedError."""
    value = message.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < MANY:
        raise MalformedError("malformed message")
    return value


def text(message: Mapping[str, Any], name: str) -> str:
    """Words of a message, on one line, or a MalformedError."""
    value = message.get(name)
    if not isinstance(value, str):
        raise MalformedError("malformed message")
    return " ".join(value.split())


def names(message: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A list of words, or a MalformedError."""
    value = message.get(name)
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise MalformedError("malformed message")
    return tuple(value)


def counted(message: Mapping[str, Any], name: str) -> Counter[str]:
    """Counts by name, or a MalformedError."""
    value = message.get(name)
    if not isinstance(value, dict) or not all(isinstance(word, str) for word in value):
        raise MalformedError("malformed message")
    return Counter({word: whole(value, word) for word in value})
