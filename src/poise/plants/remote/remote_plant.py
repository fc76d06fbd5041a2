"""RemotePlant: a plant that moves in another process, and the connection to its server."""

from __future__ import annotations

import math
import secrets
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from poise.control import Command
from poise.extras import zmq
from poise.parsing import brief
from poise.plants.control_loop import Plant
from poise.plants.plant_errors import PlantError, positive
from poise.plants.remote.protocol import (
    LIMIT,
    PROTOCOL,
    MalformedError,
    Message,
    Reader,
    Report,
    checked_address,
    command_message,
    number,
    packed,
    report_of,
    socket,
    text,
    unpacked,
)
from poise.robots import Robot, State
from poise.state import Sensed

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
        self.address, self.robot = checked_address(address), robot
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


# -- RemotePlant: a plant that moves in another process --------------------------------------------------------------


#: A state this much before its time (s) is on time: rounding of clocks that count differently.
ROUNDING = 1e-9


class RemotePlant(Plant):
    """A plant for the control loop whose robot, or simulation, is served by a `PlantServer` elsewhere.

    In lock-step `advance` sends the command and waits for the state that follows. In real time `apply` sends the
    command, and `advance` waits until a period has passed on the robot's own clock. Once built, nothing raises: without
    a state for `limit` seconds the last one is used again, which `counts["no state"]` tells; from then on `advance`
    waits no longer than a period, and goes on as soon as the link is back.

    Args:
        address: of the server, like ``tcp://127.0.0.1:5560``.
        robot: the same as there.
        limit: how long to wait for a state (s).
        patience: how long to wait for the server to let us in (s).

    Raises:
        PlantError: if nobody answers, or the server moves another robot, speaks another protocol, or is busy.

    >>> with RemotePlant("tcp://127.0.0.1:5560", robot) as plant:
    ...     recording = poise.record(controller, plant, seconds=3.0)
    """

    def __init__(self, address: str, robot: Robot, *, limit: float = LIMIT, patience: float = 5.0) -> None:
        if not isinstance(robot, Robot):
            raise PlantError(f"RemotePlant.robot is {brief(robot)}; expected a Robot, e.g. load_robot('g1')", "robot")
        self.robot = robot
        self.limit, self.patience = positive(limit, "RemotePlant.limit", "s"), positive(patience, "patience", "s")
        self.notes: list[str] = []
        self.realtime = False
        self._reader = Reader(robot)
        self._report: Report
        self._state: State
        self._sensed: Sensed | None
        self._period, self._due = 0.0, 0.0
        self._told = 0  # notes of the server that we have
        self._command: Command | None = None
        self._sequence, self._sees = 0, 0
        self._open: bytes | None = None  # a command in lock-step that was not answered yet
        self._sent = self._heard = -math.inf
        self._link = Link(address, robot, self._take)
        self._link.join(self.patience)

    # -- what can be seen ------------------------------------------------------------------------------------------

    def state(self) -> State:
        """The last state that arrived."""
        return self._state

    def sensed(self) -> Sensed | None:
        """What the sensors said with it; None if the served plant has none."""
        return self._sensed

    def truth(self) -> State:
        """How the robot really is, where the served plant knows; else the state."""
        return self._state if self._sensed is None else self._sensed.truth

    @property
    def time(self) -> float:
        """Of the served plant, when the last state arrived (s)."""
        return self._report.time

    @property
    def fallen(self) -> bool:
        """Whether the robot ever fell, as far as the served plant knows."""
        return self._report.fallen

    @property
    def fall(self) -> str:  # type: ignore[override]  # as it was last reported
        """When and how, in a sentence; empty if it did not."""
        return self._report.fall

    @property
    def held(self) -> bool:
        """Whether the server held the robot because our commands were missing."""
        return self._report.held

    @property
    def linked(self) -> bool:
        """Whether a state arrived within the limit."""
        return time.monotonic() - self._heard <= self.limit

    @property
    def counts(self) -> Counter[str]:  # type: ignore[override]  # of both sides
        """How often what went wrong: in the served plant, on this side of the link, and on the ``server: ...``'s."""
        there = Counter({f"server: {name}": count for name, count in self._report.server.items()})
        return self._report.counts + self._link.counts + there

    # -- what it does ----------------------------------------------------------------------------------------------

    def apply(self, command: Command) -> None:
        """What to do until the next command."""
        self._command = command
        if self.realtime:
            self._sequence += 1
            if self._link.session:
                self._link.send(self._message(command))

    def advance(self) -> None:
        """Lets the command's period pass."""
        if self.realtime:
            self._pass()
        elif self._command is not None:
            self._step(self._command)

    def close(self) -> None:
        """Leaves the robot; it holds."""
        self._link.close()

    def _step(self, command: Command) -> None:
        """Lock-step: one command, one answer."""
        now, wait = time.monotonic(), self.limit
        if self._open is None:
            self._sequence += 1
            self._open = self._message(command)
            self._sent = now
            self._link.send(self._open)
        else:  # the last one is still on its way or lost; to send others would make them late
            self._link.counts["command dropped"] += 1
            wait = command.period
            if now - self._sent > self.limit and self._link.session:
                self._sent = now
                self._link.send(self._open)  # the server obeys a number only once
        if not self._link.listen(lambda: now + wait, lambda: self._open is None):
            self._missed()

    def _pass(self) -> None:
        """Real time: until a period has passed there, on average."""
        period = self._period if self._command is None else self._command.period
        before, start = self._state, time.monotonic()
        # What is late by less than half a period is made up for; where it is more, the count begins anew.
        if not 0.0 <= before.time - self._due < max(0.5 * period, self._period) - ROUNDING:
            self._due = before.time
        self._due += period
        latest = start + self.limit + period

        def deadline() -> float:
            return min(max(self._heard + self.limit, start + period), latest)

        def enough() -> bool:
            return self._state is not before and self._state.time >= self._due - ROUNDING

        if not self._link.listen(deadline, enough):
            self._missed()

    def _missed(self) -> None:
        counts = self._link.counts
        counts["no state"] += 1
        if counts["no state"] == 1:
            self.notes.append(f"no state: none arrived for {self.limit:g} s; the last one was used again")
        if self._link.ended and not counts["link ended"]:
            counts["link ended"] += 1
            self.notes.append(f"link ended: {self._link.ended}")

    # -- messages --------------------------------------------------------------------------------------------------

    def _message(self, command: Command) -> bytes:
        head = {"kind": "command", "session": self._link.session, "sequence": self._sequence, "sees": self._sees}
        return packed({**head, "known": self._told, **command_message(command)})

    def _take(self, message: Message) -> None:
        """A state, a welcome, which is one too, or a refusal of a command."""
        if message["kind"] == "refused":
            self._link.counts["command refused"] += 1
            if message.get("answers") == self._sequence:
                self._open = None
            return
        report = report_of(message, self._reader)
        if message["kind"] == "welcome":
            self._begin(message, report)
        elif report.sequence <= self._sees:
            return  # the answer to a question that was asked twice
        elif report.answers == self._sequence:
            self._open = None
        self._report, self._state, self._sensed, self._sees = report, report.state, report.sensed, report.sequence
        self._heard = time.monotonic()
        if report.after == self._told:
            self.notes += report.notes
            self._told += len(report.notes)

    def _begin(self, message: Message, report: Report) -> None:
        """A session begins: the first one, or one with a server that has begun anew."""
        period, start = number(message, "period"), self._reader.state(message.get("start"))
        if not period > 0.0:
            raise MalformedError("malformed message")
        self._period, self.start, self.realtime = period, start, message.get("realtime") is True
        self._sequence, self._told, self._open, self._due = 0, 0, None, report.state.time
