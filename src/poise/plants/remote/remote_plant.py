"""`RemotePlant`, a plant that runs in another process, and the connection to its server."""

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
    protocol_mismatch,
    read_number,
    read_text,
)
from poise.robots import Robot, State
from poise.state import SensorReadings

#: Seconds between two attempts to join a session.
RETRY_INTERVAL = 0.1
#: Largest number of messages processed per call, so that the loop always continues.
MAX_MESSAGES = 1000
#: Reasons of refusal that are not retried.
PERMANENT_REFUSALS = ("robot", "protocol")


class ClientConnection:
    """Connection to a server: joins a session, sends without waiting, and receives until a deadline.

    Errors are counted, not raised; only `join` raises.

    Args:
        address: address of the server.
        robot: the robot that the server must have.
        on_message: called with each welcome and state message, and with each refusal of a command.

    Attributes:
        session: name of the session; empty before joining.
        closed_reason: why the connection ended for good; empty while it can be used or retried.
        counts: number of errors by name.
    """

    def __init__(self, address: str, robot: Robot, on_message: Callable[[Message], None]) -> None:
        self.address, self.robot = check_address(address), robot
        self.session, self.closed_reason = b"", ""
        self.counts: Counter[str] = Counter()
        self._on_message, self._token, self._next_hello, self._refused = on_message, b"", -math.inf, ""
        self._socket = open_socket(zmq.DEALER, self.address)
        self._socket.setsockopt(zmq.IMMEDIATE, 1)  # do not queue messages while disconnected: they would be outdated
        self._socket.connect(self.address)

    def join(self, connect_timeout: float) -> None:
        """Join a session within a timeout (s); raise `PlantError` with the reason if that fails."""
        end = time.monotonic() + connect_timeout
        self.listen(lambda: end, lambda: bool(self.session or self.closed_reason))
        if self.session:
            return
        reason = self.closed_reason or self._refused
        self.close()
        if reason:
            raise PlantError(f"'{self.address}': {reason}", "robot" if self.closed_reason else "address")
        advice = f"is 'poise serve --robot {self.robot.name} --address {self.address}' running?"
        raise PlantError(f"no answer from '{self.address}' within {connect_timeout:g} s; {advice}", "address")

    def send(self, message: Message | bytes) -> bool:
        """Send a message without waiting; return whether it was sent."""
        data = message if isinstance(message, bytes) else encode(message)
        try:
            self._socket.send(data, zmq.NOBLOCK)
        except zmq.ZMQError:
            self.counts["message not sent"] += 1
            return False
        return True

    def listen(self, deadline: Callable[[], float], is_enough: Callable[[], bool]) -> bool:
        """Process messages until `is_enough()` or until the deadline (s, monotonic clock); return whether it is enough.

        Both functions are called again after each message. If there is no session, joining is attempted.
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
        """End the session, so that the next client need not wait, and close the socket."""
        if self._socket.closed:
            return
        if self.session:
            self.send({"kind": "bye", "session": self.session})
        self._socket.close(linger=100)  # ms, to send the last message
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
            return  # not connected yet

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
            return  # repeated answer to an earlier hello
        if message.get("protocol") != PROTOCOL:
            self.closed_reason = protocol_mismatch(str(message.get("protocol"))[:20], PROTOCOL)
            return
        if not isinstance(name, bytes) or len(name) != 16:
            raise MalformedError("malformed message")
        self._on_message(message)
        self.session, self._token = name, b""

    def _refusal(self, message: Message) -> None:
        reason, text = read_text(message, "reason"), read_text(message, "text")[:300]
        if "token" in message:
            if not self.session and message["token"] == self._token:
                self._refused = text
                self.closed_reason = text if reason in PERMANENT_REFUSALS else ""
        elif reason == "malformed":
            self._on_message(message)
        elif not self.session or message.get("session") != self.session:
            return  # refusal of a session that this client has already left
        elif reason == "superseded":
            self.counts["session taken over"] += 1
            self.session, self.closed_reason = b"", "another client took over"
        else:  # the server was restarted and does not know the session
            self.counts["session lost"] += 1
            self.session = b""


# -- RemotePlant -----------------------------------------------------------------------------------------------------


#: Tolerance for times of states (s), for rounding of clocks with different periods.
TIME_TOLERANCE = 1e-9


class RemotePlant(Plant):
    """A plant whose robot or simulation is served by a `PlantServer` in another process.

    In lock-step `advance` sends the command and waits for the next state. In real time `apply` sends the command, and
    `advance` waits until a period has passed on the robot's clock. No method raises after construction: without a state
    for `timeout` seconds the last state is used again and counted in `counts["no state"]`; then `advance` waits at most
    one period, and continues normally as soon as the connection is restored.

    Args:
        address: address of the server, for example ``tcp://127.0.0.1:5560``.
        robot: the same robot as that of the server.
        timeout: longest wait for a state (s).
        connect_timeout: longest wait for a session (s).

    Raises:
        PlantError: if there is no answer, or if the server has another robot, another protocol, or another client.

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
        self._notes_received = 0  # number of notes received from the server
        self._command: Command | None = None
        self._sequence, self._state_sequence = 0, 0
        self._pending_command: bytes | None = None  # unanswered command in lock-step
        self._sent_time = self._received_time = -math.inf
        self._connection = ClientConnection(address, robot, self._handle)
        self._connection.join(self.connect_timeout)

    # -- observation -----------------------------------------------------------------------------------------------

    def state(self) -> State:
        """Return the last received state."""
        return self._state

    def readings(self) -> SensorReadings | None:
        """Return the sensor readings of the state; None if the served plant has none."""
        return self._readings

    def truth(self) -> State:
        """Return the true state if the served plant has sensor readings; else the measured state."""
        return self._state if self._readings is None else self._readings.truth

    @property
    def time(self) -> float:
        """Time of the served plant in its last message (s)."""
        return self._report.time

    @property
    def fallen(self) -> bool:
        """True after the first fall reported by the served plant."""
        return self._report.fallen

    @property
    def fall(self) -> str:  # type: ignore[override]  # a property, not an attribute
        """Time and cause of the first fall, one sentence; empty: no fall."""
        return self._report.fall

    @property
    def timed_out(self) -> bool:
        """Whether the server holds the robot because commands are missing, as last reported."""
        return self._report.timed_out

    @property
    def connected(self) -> bool:
        """Whether a state arrived within the last `timeout` seconds."""
        return time.monotonic() - self._received_time <= self.timeout

    @property
    def counts(self) -> Counter[str]:  # type: ignore[override]  # a property, not an attribute
        """Number of errors by name: in the served plant, in this client, and in the server (``server: ...``)."""
        server_counts = Counter({f"server: {name}": count for name, count in self._report.server_counts.items()})
        return self._report.counts + self._connection.counts + server_counts

    # -- commands --------------------------------------------------------------------------------------------------

    def apply(self, command: Command) -> None:
        """Set the command, valid until the next one; in real time it is sent immediately."""
        self._command = command
        if self.realtime:
            self._sequence += 1
            if self._connection.session:
                self._connection.send(self._message(command))

    def advance(self) -> None:
        """Advance by the period of the command."""
        if self.realtime:
            self._advance_realtime()
        elif self._command is not None:
            self._advance_lockstep(self._command)

    def close(self) -> None:
        """End the session; in real time the server then holds the robot."""
        self._connection.close()

    def _advance_lockstep(self, command: Command) -> None:
        """Advance in lock-step: send one command and wait for its answer."""
        now, wait = time.monotonic(), self.timeout
        if self._pending_command is None:
            self._sequence += 1
            self._pending_command = self._message(command)
            self._sent_time = now
            self._connection.send(self._pending_command)
        else:  # the last command is delayed or lost; further commands would be late, too
            self._connection.counts["command dropped"] += 1
            wait = command.period
            if now - self._sent_time > self.timeout and self._connection.session:
                self._sent_time = now
                self._connection.send(self._pending_command)  # the server executes a sequence number only once
        if not self._connection.listen(lambda: now + wait, lambda: self._pending_command is None):
            self._count_missing_state()

    def _advance_realtime(self) -> None:
        """Advance in real time: wait until a period has passed on the robot's clock, on average."""
        period = self._period if self._command is None else self._command.period
        before, start = self._state, time.monotonic()
        # A delay below half a period is compensated in the next call; a larger one restarts the schedule.
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
            self.notes.append(f"no state: none arrived for {self.timeout:g} s; the last state was used again")
        if self._connection.closed_reason and not counts["connection ended"]:
            counts["connection ended"] += 1
            self.notes.append(f"connection ended: {self._connection.closed_reason}")

    # -- messages --------------------------------------------------------------------------------------------------

    def _message(self, command: Command) -> bytes:
        head = {
            "kind": "command",
            "session": self._connection.session,
            "sequence": self._sequence,
            "state_sequence": self._state_sequence,
            "notes_received": self._notes_received,
        }
        return encode({**head, **command_message(command)})

    def _handle(self, message: Message) -> None:
        """Process a state, a welcome message (which contains a state), or the refusal of a command."""
        if message["kind"] == "refused":
            self._connection.counts["command refused"] += 1
            if message.get("sequence") == self._sequence:
                self._pending_command = None
            return
        report = decode_report(message, self._decoder)
        if message["kind"] == "welcome":
            self._begin(message, report)
        elif report.sequence <= self._state_sequence:
            return  # repeated answer
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
        """Start a session: the first one, or a new one after a restart of the server."""
        period, start = read_number(message, "period"), self._decoder.state(message.get("start"))
        if not period > 0.0:
            raise MalformedError("malformed message")
        self._period, self.start, self.realtime = period, start, message.get("realtime") is True
        self._sequence, self._notes_received, self._pending_command, self._due = 0, 0, None, report.state.time
