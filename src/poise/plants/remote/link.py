"""Link: the client's end of the socket, which is joined once and joins again by itself."""

from __future__ import annotations

import math
import secrets
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import zmq

from poise.plants.errors import PlantError
from poise.plants.remote.address import checked, socket
from poise.plants.remote.messages import PROTOCOL, MalformedError, Message, packed, text, unpacked
from poise.robots import Robot

#: Seconds between two attempts to join.
AGAIN = 0.1
#: Messages that are looked at before the loop goes on, whatever else arrives.
MOST = 1000
#: Refusals that do not change by waiting.
FINAL = ("robot", "protocol")


class Link:
    """Sends without waiting, listens until a deadline, and joins a session; what goes wrong is counted, never raised.

    Args:
        address: of the server.
        robot: that it must serve.
        take: called with each message that is not about joining.

    Attributes:
        session: what the server calls us; empty while we have not joined.
        ended: why the server will not have us any more; empty as long as it may.
        counts: what went wrong, by name.
    """

    def __init__(self, address: str, robot: Robot, take: Callable[[Message], None]) -> None:
        self.address, self.robot = checked(address), robot
        self.session, self.ended = b"", ""
        self.counts: Counter[str] = Counter()
        self._take, self._token, self._next, self._refused = take, b"", -math.inf, ""
        self._socket = socket(zmq.DEALER, self.address)
        self._socket.setsockopt(zmq.IMMEDIATE, 1)  # nothing is kept for a server that is away: it would be old
        self._socket.connect(self.address)

    def join(self, patience: float) -> None:
        """Joins a session, or raises a PlantError that says why not, after so many seconds at most."""
        end = time.monotonic() + patience
        self.listen(lambda: end, lambda: bool(self.session or self.ended))
        if self.session:
            return
        why = self.ended or self._refused
        self.close()
        if why:
            raise PlantError(f"'{self.address}': {why}", "robot" if self.ended else "address")
        advice = f"is 'poise serve --robot {self.robot.name} --address {self.address}' running?"
        raise PlantError(f"nothing answers at '{self.address}' within {patience:g} s; {advice}", "address")

    def send(self, message: Message | bytes) -> bool:
        """Sends at once or not at all; says whether it did."""
        data = message if isinstance(message, bytes) else packed(message)
        try:
            self._socket.send(data, zmq.NOBLOCK)
        except zmq.ZMQError:
            self.counts["message not sent"] += 1
            return False
        return True

    def listen(self, deadline: Callable[[], float], enough: Callable[[], bool]) -> bool:
        """Takes what arrives until it is enough, or until a deadline on the monotonic clock; says whether it was.

        Both may change with what arrives.
        """
        while True:
            self._hear()
            if enough():
                return True
            left = deadline() - time.monotonic()
            if left <= 0.0:
                return False
            if not self.session and not self.ended:
                self._hello()
                left = min(left, AGAIN)
            if self._socket.closed:
                time.sleep(left)
            else:
                self._socket.poll(math.ceil(1e3 * left))

    def close(self) -> None:
        """Says goodbye, so that the next client need not wait."""
        if self._socket.closed:
            return
        if self.session:
            self.send({"kind": "bye", "session": self.session})
        self._socket.close(linger=100)  # ms for the last word
        self.session, self.ended = b"", "closed"

    def _hello(self) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + AGAIN
        self._token = self._token or secrets.token_bytes(16)
        joints = [joint.name for joint in self.robot.joints]
        hello: dict[str, Any] = {"kind": "hello", "protocol": PROTOCOL, "robot": self.robot.name, "joints": joints}
        try:
            self._socket.send(packed({**hello, "token": self._token}), zmq.NOBLOCK)
        except zmq.ZMQError:
            return  # there is no connection yet

    def _hear(self) -> None:
        for _ in range(MOST):
            try:
                frames = self._socket.recv_multipart(zmq.NOBLOCK)
            except zmq.ZMQError:
                return
            try:
                self._sort(unpacked(frames))
            except MalformedError as error:
                self.counts[error.name] += 1

    def _sort(self, message: Message) -> None:
        kind = message["kind"]
        if kind == "refused":
            self._refusal(message)
        elif kind == "welcome":
            self._welcome(message)
        elif kind != "state":
            raise MalformedError("malformed message")
        elif not self.session or message.get("session") != self.session:
            self.counts["state of an old session"] += 1
        else:
            self._take(message)

    def _welcome(self, message: Message) -> None:
        name = message.get("session")
        if self.session or not self._token or message.get("token") != self._token:
            return  # an answer to a hello that was answered before
        if message.get("protocol") != PROTOCOL or not isinstance(name, bytes) or len(name) != 16:
            raise MalformedError("malformed message")
        self._take(message)
        self.session, self._token = name, b""

    def _refusal(self, message: Message) -> None:
        reason, words = text(message, "reason"), text(message, "text")[:300]
        if "token" in message:
            if not self.session and message["token"] == self._token:
                self._refused = words
                self.ended = words if reason in FINAL else ""
        elif reason == "malformed":
            self._take(message)
        elif not self.session or message.get("session") != self.session:
            return  # of a session that we have left ourselves
        elif reason == "superseded":
            self.counts["session taken over"] += 1
            self.session, self.ended = b"", "another client took over"
        else:  # the server has begun anew and does not know us
            self.counts["session lost"] += 1
            self.session = b""
