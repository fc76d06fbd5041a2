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
from poise.parsing import format_value
from poise.plants.control_loop import Plant
from poise.plants.plant_errors import PlantError, require_positive
from poise.plants.remote.protocol import (
    PROTOCOL,
    TIMEOUT,
    MalformedError,
    Message,
    Report,
    StateDecoder,
    check_address,
    command_message,
    decode,
    decode_report,
    encode,
    open_socket,
    read_number,
    read_text,
)
from poise.robots import Robot, State
from poise.state import SensorReadings

#: Seconds between two attempts to join.
RETRY_INTERVAL = 0.1
#: Messages that are looked at before the loop goes on, whatever else arrives.
MAX_MESSAGES = 1000
#: Refusals that do not change by waiting.
PERMANENT_REFUSALS = ("robot", "protocol")


class ClientConnection:
    """Sends without waiting, listens until a deadline, and joins a session; what goes wrong is counted, never raised.

    Args:
        address: of the server.
        robot: that it must serve.
        on_message: called with each message that is not about joining.

    Attributes:
        session: what the server calls us; empty while we have not joined.
        closed_reason: why the server will not have us any more; empty as long as it may.
        counts: what went wrong, by name.
    """

    def __init__(self, address: str, robot: Robot, on_message: Callable[[Message], None]) -> None:
        self.address, self.robot = check_address(address), robot
        self.session, self.closed_reason = b"", ""
        self.counts: Counter[str] = Counter()
        self._on_message, self._token, self._next_hello, self._refused = on_message, b"", -math.inf, ""
        self._socket = open_socket(zmq.DEALER, self.address)
        self._socket.setsockopt(zmq.IMMEDIATE, 1)  # nothing is kept for a server that is away: it would be old
        self._socket.connect(self.address)

    def join(self, connect_timeout: float) -> None:
        """Joins a session, or raises a PlantError that says why not, after so many seconds at most."""
        end = time.monotonic() + connect_timeout
        self.listen(lambda: end, lambda: bool(self.session or self.closed_reason))
        if self.session:
            return
        why = self.closed_reason or self._refused
        self.close()
        if why:
            raise PlantError(f"'{self.address}': {why}", "robot" if self.closed_reason else "address")
        advice = f"is 'poise serve --robot {self.robot.name} --address {self.address}' running?"
        raise PlantError(f"nothing answers at '{self.address}' within {connect_timeout:g} s; {advice}", "address")

    def send(self, message: Message | bytes) -> bool:
        """Sends at once or not at all; says whether it did."""
        data = message if isinstance(message, bytes) else encode(message)
        try:
            self._socket.send(data, zmq.NOBLOCK)
        except zmq.ZMQError:
            self.counts["message not sent"] += 1
            return False
        return True

    def listen(self, deadline: Callable[[], float], is_enough: Callable[[], bool]) -> bool:
        """Takes what arrives until it is enough, or until a deadline on the monotonic clock; says whether it was.

        Both may change with what arrives.
        """
        while True:
            self._receive()
            if is_enough():
                return True
            left = deadline() - time.monotonic()
            if left <= 0.0:
                return False
            if not self.session and not self.closed_reason:
                self._hello()
                left = min(left, RETRY_INTERVAL)
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
        self.session, self.closed_reason = b"", "closed"

    def _hello(self) -> None:
        now = time.monotonic()
        if now < self._next_hello:
            return
        self._next_hello = now + RETRY_INTERVAL
        self._token = self._token or secrets.token_bytes(16)
        joints = [joint.name for joint in self.robot.joints]
        hello: dict[str, Any] = {"kind": "hello", "protocol": PROTOCOL, "robot": self.robot.name, "joints": joints}
        try:
            self._socket.send(encode({**hello, "token": self._token}), zmq.NOBLOCK)
        except zmq.ZMQError:
            return  # there is no connection yet

    def _receive(self) -> None:
        for _ in range(MAX_MESSAGES):
            try:
                frames = self._socket.recv_multipart(zmq.NOBLOCK)
            except zmq.ZMQError:
                return
            try:
                self._dispatch(decode(frames))
            except MalformedError as error:
                self.counts[error.name] += 1

    def _dispatch(self, message: Message) -> None:
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
            self._on_message(message)

    def _welcome(self, message: Message) -> None:
        name = message.get("session")
        if self.session or not self._token or message.get("token") != self._token:
            return  # an answer to a hello that was answered before
        if message.get("protocol") != PROTOCOL or not isinstance(name, bytes) or len(name) != 16:
            raise MalformedError("malformed message")
        self._on_message(message)
        self.session, self._token = name, b""

    def _refusal(self, message: Message) -> None:
        reason, words = read_text(message, "reason"), read_text(message, "text")[:300]
        if "token" in message:
            if not self.session and message["token"] == self._token:
                self._refused = words
                self.closed_reason = words if reason in PERMANENT_REFUSALS else ""
        elif reason == "malformed":
            self._on_message(message)
        elif not self.session or message.get("session") != self.session:
            return  # of a session that we have left ourselves
        elif reason == "superseded":
            self.counts["session taken over"] += 1
            self.session, self.closed_reason = b"", "another client took over"
        else:  # the server has begun anew and does not know us
            self.counts["session lost"] += 1
            self.session = b""


# -- RemotePlant: a plant that moves in another process --------------------------------------------------------------


#: A state this much before its time (s) is on time: rounding of clocks that count differently.
TIME_TOLERANCE = 1e-9


class RemotePlant(Plant):
    """A plant for the control loop whose robot, or simulation, is served by a `PlantServer` elsewhere.

    In lock-step `advance` sends the command and waits for the state that follows. In real time `apply` sends the
    command, and `advance` waits until a period has passed on the robot's own clock. Once built, nothing raises: without
    a state for `timeout` seconds the last one is used again, which `counts["no state"]` tells; from then on `advance`
    waits no longer than a period, and goes on as soon as the link is back.

    Args:
        address: of the server, like ``tcp://127.0.0.1:5560``.
        robot: the same as there.
        timeout: how long to wait for a state (s).
        connect_timeout: how long to wait for the server to let us in (s).

    Raises:
        PlantError: if nobody answers, or the server moves another robot, speaks another protocol, or is busy.

    >>> with RemotePlant("tcp://127.0.0.1:5560", robot) as plant:
    ...     recording = poise.record(controller, plant, seconds=3.0)
    """

    def __init__(self, address: str, robot: Robot, *, timeout: float = TIMEOUT, connect_timeout: float = 5.0) -> None:
        if not isinstance(robot, Robot):
            raise PlantError(
                f"RemotePlant.robot is {format_value(robot)}; expected a Robot, e.g. load_robot('g1')", "robot"
            )
        self.robot = robot
        self.timeout, self.connect_timeout = (
            require_positive(timeout, "RemotePlant.timeout", "s"),
            require_positive(connect_timeout, "RemotePlant.connect_timeout", "s"),
        )
        self.notes: list[str] = []
        self.realtime = False
        self._decoder = StateDecoder(robot)
        self._report: Report
        self._state: State
        self._readings: SensorReadings | None
        self._period, self._due = 0.0, 0.0
        self._notes_received = 0  # notes of the server that we have
        self._command: Command | None = None
        self._sequence, self._state_sequence = 0, 0
        self._pending_command: bytes | None = None  # a command in lock-step that was not answered yet
        self._sent_time = self._received_time = -math.inf
        self._connection = ClientConnection(address, robot, self._handle)
        self._connection.join(self.connect_timeout)

    # -- what can be seen ------------------------------------------------------------------------------------------

    def state(self) -> State:
        """The last state that arrived."""
        return self._state

    def readings(self) -> SensorReadings | None:
        """What the sensors said with it; None if the served plant has none."""
        return self._readings

    def truth(self) -> State:
        """How the robot really is, where the served plant knows; else the state."""
        return self._state if self._readings is None else self._readings.truth

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
    def timed_out(self) -> bool:
        """Whether the server held the robot because our commands were missing."""
        return self._report.timed_out

    @property
    def connected(self) -> bool:
        """Whether a state arrived within the limit."""
        return time.monotonic() - self._received_time <= self.timeout

    @property
    def counts(self) -> Counter[str]:  # type: ignore[override]  # of both sides
        """How often what went wrong: in the served plant, on this side of the link, and on the ``server: ...``'s."""
        server_counts = Counter({f"server: {name}": count for name, count in self._report.server_counts.items()})
        return self._report.counts + self._connection.counts + server_counts

    # -- what it does ----------------------------------------------------------------------------------------------

    def apply(self, command: Command) -> None:
        """What to do until the next command."""
        self._command = command
        if self.realtime:
            self._sequence += 1
            if self._connection.session:
                self._connection.send(self._message(command))

    def advance(self) -> None:
        """Lets the command's period pass."""
        if self.realtime:
            self._advance_realtime()
        elif self._command is not None:
            self._advance_lockstep(self._command)

    def close(self) -> None:
        """Leaves the robot; it holds."""
        self._connection.close()

    def _advance_lockstep(self, command: Command) -> None:
        """Lock-step: one command, one answer."""
        now, wait = time.monotonic(), self.timeout
        if self._pending_command is None:
            self._sequence += 1
            self._pending_command = self._message(command)
            self._sent_time = now
            self._connection.send(self._pending_command)
        else:  # the last one is still on its way or lost; to send others would make them late
            self._connection.counts["command dropped"] += 1
            wait = command.period
            if now - self._sent_time > self.timeout and self._connection.session:
                self._sent_time = now
                self._connection.send(self._pending_command)  # the server obeys a number only once
        if not self._connection.listen(lambda: now + wait, lambda: self._pending_command is None):
            self._count_missing_state()

    def _advance_realtime(self) -> None:
        """Real time: until a period has passed there, on average."""
        period = self._period if self._command is None else self._command.period
        before, start = self._state, time.monotonic()
        # What is late by less than half a period is made up for; where it is more, the count begins anew.
        if not 0.0 <= before.time - self._due < max(0.5 * period, self._period) - TIME_TOLERANCE:
            self._due = before.time
        self._due += period
        latest = start + self.timeout + period

        def deadline() -> float:
            return min(max(self._received_time + self.timeout, start + period), latest)

        def is_enough() -> bool:
            return self._state is not before and self._state.time >= self._due - TIME_TOLERANCE

        if not self._connection.listen(deadline, is_enough):
            self._count_missing_state()

    def _count_missing_state(self) -> None:
        counts = self._connection.counts
        counts["no state"] += 1
        if counts["no state"] == 1:
            self.notes.append(f"no state: none arrived for {self.timeout:g} s; the last one was used again")
        if self._connection.closed_reason and not counts["link ended"]:
            counts["link ended"] += 1
            self.notes.append(f"link ended: {self._connection.closed_reason}")

    # -- messages --------------------------------------------------------------------------------------------------

    def _message(self, command: Command) -> bytes:
        head = {
            "kind": "command",
            "session": self._connection.session,
            "sequence": self._sequence,
            "sees": self._state_sequence,
        }
        return encode({**head, "known": self._notes_received, **command_message(command)})

    def _handle(self, message: Message) -> None:
        """A state, a welcome, which is one too, or a refusal of a command."""
        if message["kind"] == "refused":
            self._connection.counts["command refused"] += 1
            if message.get("answers") == self._sequence:
                self._pending_command = None
            return
        report = decode_report(message, self._decoder)
        if message["kind"] == "welcome":
            self._begin(message, report)
        elif report.sequence <= self._state_sequence:
            return  # the answer to a question that was asked twice
        elif report.last_command == self._sequence:
            self._pending_command = None
        self._report, self._state, self._readings, self._state_sequence = (
            report,
            report.state,
            report.readings,
            report.sequence,
        )
        self._received_time = time.monotonic()
        if report.notes_offset == self._notes_received:
            self.notes += report.notes
            self._notes_received += len(report.notes)

    def _begin(self, message: Message, report: Report) -> None:
        """A session begins: the first one, or one with a server that has begun anew."""
        period, start = read_number(message, "period"), self._decoder.state(message.get("start"))
        if not period > 0.0:
            raise MalformedError("malformed message")
        self._period, self.start, self.realtime = period, start, message.get("realtime") is True
        self._sequence, self._notes_received, self._pending_command, self._due = 0, 0, None, report.state.time
