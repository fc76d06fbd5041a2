"""`Client`: sends wishes to a shield from another program, and returns what became of them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from poise.extras import msgpack, zmq
from poise.plants import check_address, open_socket
from poise.shield.wishes import WishError

#: Address at which `poise shield` listens by default.
SHIELD_ADDRESS = "tcp://127.0.0.1:5570"


@dataclass(frozen=True)
class Answer:
    """Answer of a shield to a message.

    Attributes:
        accepted: whether the wishes were taken; if not, `text` says why.
        text: reason of a refusal, one line; else empty.
        time: time of the robot (s).
        wishes: by name, {"state": "met", "moving" or "limited", "error": ..., "unit": ...}.
        limits: why wishes are not met: {"wish", "level", "limit", "amount", "unit"}.
        loads: loads in the hands, announced or estimated (kg), by side.
    """

    accepted: bool
    text: str = ""
    time: float | None = None
    wishes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    limits: Sequence[Mapping[str, Any]] = ()
    loads: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        if not self.accepted:
            return f"refused: {self.text}"
        lines = [f"{name}: {each['state']}, {each['error']:.3g} {each['unit']}" for name, each in self.wishes.items()]
        lines += [
            f"  {each['wish']}: {each['limit']} (level {each['level']}), {each['amount']:.3g} {each['unit']}"
            for each in self.limits
        ]
        return "\n".join(lines) or "no wish"


class Client:
    """Client of a `ShieldServer` or of ``poise shield``. A wish holds for 0.2 s: repeat it as long as it is meant.

    Args:
        address: address of the shield.
        timeout: longest wait for an answer (s).

    >>> with Client() as client:
    ...     answer = client.wish(joints={"left_elbow_joint": 0.5}, velocity=(0.3, 0.0, 0.0))
    ...     print(answer)
    """

    def __init__(self, address: str = SHIELD_ADDRESS, timeout: float = 0.2) -> None:
        self._address, self._timeout = check_address(address), float(timeout)
        self._socket = open_socket(zmq.DEALER, self._address)
        self._socket.connect(self._address)
        self._sequence, self._time = 0, None

    def wish(
        self,
        joints: Mapping[str, float] | None = None,
        hands: Mapping[str, Mapping[str, Any]] | None = None,
        gaze: Sequence[float] | None = None,
        velocity: Sequence[float] | None = None,
    ) -> Answer:
        """Send wishes and return the answer.

        Args:
            joints: angles of joints of arms and head by name (rad).
            hands: by side: {"position": (x, y, z), "orientation": (x, y, z, w), "frame": "world" or "body"}; position
                in m, the rest optional.
            gaze: point of the world to look at (m).
            velocity: of the walk: forward (m/s), to the left (m/s), turning (rad/s).

        Raises:
            WishError: the wish cannot be sent, e.g. because a value is no number.
        """
        wishes = {"joints": joints, "hands": hands, "gaze": gaze, "velocity": velocity}
        self._sequence += 1
        message = {"kind": "wish", "sequence": self._sequence, "time": self._time, **plain(wishes)}
        try:
            self._socket.send(msgpack.packb(message), zmq.NOBLOCK)
        except zmq.ZMQError:
            return Answer(False, f"'{self._address}' cannot be reached; is 'poise shield' running?")
        except (TypeError, ValueError, OverflowError) as error:
            raise WishError(f"the wish cannot be sent: {error}; give numbers by name") from None
        return self._receive()

    def close(self) -> None:
        """Close the connection; the wishes expire."""
        self._socket.close(linger=0)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _receive(self) -> Answer:
        """Return the answer to the last message."""
        end = time.monotonic() + self._timeout
        while (left := end - time.monotonic()) > 0.0:
            if not self._socket.poll(max(1, round(1e3 * left))):
                break
            reply = msgpack.unpackb(self._socket.recv())
            self._time = reply.get("time", self._time)
            if reply.get("sequence") in (self._sequence, None):
                return Answer(
                    reply["kind"] == "answer",
                    reply.get("text", ""),
                    reply.get("time"),
                    reply.get("wishes", {}),
                    reply.get("limits", ()),
                    reply.get("loads", {}),
                )
        # Without an answer the clock of the robot is unknown; the next wish is not late because of this.
        self._time = None
        return Answer(False, f"no answer from '{self._address}' within {self._timeout:g} s; is 'poise shield' running?")


def plain(values: Any) -> Any:
    """Return maps, sequences and arrays as maps, lists and floats; other values unchanged."""
    if isinstance(values, Mapping):
        return {str(key): plain(value) for key, value in values.items()}
    if isinstance(values, str) or values is None:
        return values
    if isinstance(values, (list, tuple)) or hasattr(values, "tolist"):
        entries = values.tolist() if hasattr(values, "tolist") else values
        return [plain(entry) for entry in entries] if isinstance(entries, (list, tuple)) else entries
    return values
