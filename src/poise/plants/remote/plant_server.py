"""`PlantServer`, which lets another process command a plant: its socket, sessions, and the hold without commands."""

from __future__ import annotations

import math
import os
import secrets
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from poise.arrays import Array
from poise.control import Command, DampedHold
from poise.extras import zmq
from poise.parsing import PLANT_ADDRESS
from poise.plants.control_loop import Plant
from poise.plants.plant_errors import PlantError, require_positive
from poise.plants.remote.protocol import (
    PROTOCOL,
    TIMEOUT,
    MalformedError,
    Message,
    check_address,
    decode,
    decode_command,
    encode,
    open_socket,
    protocol_mismatch,
    read_integer,
    read_names,
    read_text,
    report_message,
    resample_command,
    state_message,
)
from poise.robots import Robot, State
from poise.state import Snapshot

#: Number of ended sessions that are remembered, to tell their late commands from those of unknown clients.
REMEMBERED_SESSIONS = 32


class Session:
    """Session of one client at a time, identified by a random name that only the client receives.

    Args:
        robot: the served robot.
        timeout: seconds without a message after which another client may take over.

    Attributes:
        name: name of the session; empty if there is no client.
        peer: connection of the client's last message.
        last_command: sequence number of the last executed command.
        notes_received: number of notes that the client has received.
    """

    def __init__(self, robot: Robot, timeout: float) -> None:
        self.robot, self.timeout = robot, timeout
        self.name, self.peer, self.last_command, self.notes_received = b"", b"", 0, 0
        self._token = b""
        self._last_activity = 0.0
        self._ended: deque[bytes] = deque(maxlen=REMEMBERED_SESSIONS)

    def refusal(self, hello: Mapping[str, Any]) -> tuple[str, str] | None:
        """Return why a client is refused, as a reason and a sentence; None if it is accepted."""
        if hello.get("protocol") != PROTOCOL:
            return "protocol", protocol_mismatch(PROTOCOL, str(hello.get("protocol"))[:20])
        robot, joints = read_text(hello, "robot")[:60], read_names(hello, "joints")
        server_joints = tuple(joint.name for joint in self.robot.joints)
        if robot != self.robot.name:
            return (
                "robot",
                f"the server has '{self.robot.name}', not '{robot}'; load the same robot on both sides",
            )
        if joints != server_joints:
            counts = f"{len(joints)} on the client, {len(server_joints)} on the server"
            return "robot", f"the joints of '{robot}' differ ({counts}); load the same robot on both sides"
        if self.name and hello.get("token") != self._token and time.monotonic() - self._last_activity <= self.timeout:
            return "busy", "another client commands this robot; wait until it disconnects"
        return None

    def begin(self, peer: bytes, token: Any) -> None:
        """Start a session for a client; a repeated request with the same token continues the session."""
        if not self.name or token != self._token:
            self.end()
            self.name, self._token, self.last_command, self.notes_received = secrets.token_bytes(16), token, 0, 0
        self.note_activity(peer)

    def end(self) -> None:
        """End the session."""
        if self.name:
            self._ended.append(self.name)
        self.name, self.peer, self._token = b"", b"", b""

    def note_activity(self, peer: bytes) -> None:
        """Record a message of the client, possibly on a new connection."""
        self.peer, self._last_activity = peer, time.monotonic()

    def status_of(self, message: Message) -> str:
        """Classify the session of a message: '' for this session, else 'superseded' or 'unknown'."""
        session = message.get("session")
        if self.name and session == self.name:
            return ""
        return "superseded" if session in self._ended else "unknown"


# -- Hold without commands -------------------------------------------------------------------------------------------


class CommandTimeoutHold:
    """Commands that hold a robot in place: zero velocity for servos, torques of a `DampedHold` for motors.

    The hold starts with the first `command` after `release`. If a part touches down later, for example a swing foot,
    the hold starts again with this contact.

    Args:
        robot: the robot.
        period: time between two commands (s).
    """

    def __init__(self, robot: Robot, period: float) -> None:
        self._snapshot, self._period = Snapshot(robot), period
        self._limit, self._torque = np.array(robot.limits.torque), np.zeros(len(robot.joints))
        self._hold: DampedHold | None = None
        self._uses_torque = True

    def release(self, command: Command) -> None:
        """End the hold because a command has arrived; the next hold uses torques if this command has torques."""
        self._hold, self._uses_torque = None, command.torque is not None
        if command.torque is not None:
            self._torque = command.torque

    def command(self, state: State, reason: str) -> Command:
        """Return the hold command for a state. Never raises."""
        torque = self._torques(state) if self._uses_torque else None
        # Without an acceleration an ideal plant stops immediately, and servos use only the velocity.
        return Command(np.zeros(len(state.v)), None, torque, self._period, fallback=reason)

    def _torques(self, state: State) -> Array:
        """Return hold torques within their limits (N m); the previous torques if they cannot be computed."""
        try:
            snapshot = self._snapshot.at(state)
            if self._hold is None or not set(state.contacts) <= {part.frame for part in self._hold.forces.contacts}:
                self._hold = DampedHold(snapshot, (), self._period)
            torque = np.clip(self._hold.torque(state), -self._limit, self._limit)
        except Exception:  # the only fallback left is the previous torque
            return self._torque
        if np.isfinite(torque).all():
            self._torque = torque
        return self._torque


# -- Server socket ---------------------------------------------------------------------------------------------------


#: Longest time that closing waits for the system to release the address (s); usually it takes a millisecond.
CLOSE_TIMEOUT = 1.0
#: Largest number of messages processed per tick, so that a flood of messages cannot delay the robot.
MAX_MESSAGES = 100


class ServerSocket:
    """Listens at an address and answers each peer on its own connection; invalid messages are counted and dropped.

    Args:
        address: address to bind; port 0 for any free port.
        allow_remote: whether the address may be reachable from other machines.
        counts: counter of errors.

    Attributes:
        address: the bound address.
    """

    def __init__(self, address: str, allow_remote: bool, counts: Counter[str]) -> None:
        address = check_address(address, allow_remote)
        self._counts = counts
        self._socket = open_socket(zmq.ROUTER, address)
        self._monitor = self._socket.get_monitor_socket(zmq.EVENT_DISCONNECTED | zmq.EVENT_CLOSED)
        try:
            self._socket.bind(address)
        except zmq.ZMQError as error:
            self._close_sockets()
            reason = os.strerror(error.errno or 0)
            raise PlantError(f"cannot listen at '{address}': {reason}; use another address", "address") from None
        self.address = self._socket.getsockopt_string(zmq.LAST_ENDPOINT)

    def wait(self, milliseconds: int) -> bool:
        """Wait for a message for at most this time (ms); return whether one arrived."""
        return bool(self._socket.poll(milliseconds))

    def messages(self) -> Iterator[tuple[bytes, Message]]:
        """Yield the messages that have arrived, each with its peer."""
        while self._monitor.poll(0):
            event = zmq.utils.monitor.recv_monitor_message(self._monitor)["event"]
            self._counts["connection ended"] += event == zmq.EVENT_DISCONNECTED
        for _ in range(MAX_MESSAGES):
            try:
                peer, *frames = self._socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            try:
                message = decode(frames)
            except MalformedError as error:
                self._counts[error.name] += 1
            else:
                yield peer, message

    def answer(self, peer: bytes, message: dict[str, Any]) -> None:
        """Send a message without waiting; it is dropped and counted if that fails."""
        try:
            self._socket.send_multipart([peer, encode(message)], zmq.NOBLOCK)
        except zmq.ZMQError:  # the peer is gone
            self._counts["answer not sent"] += 1

    def close(self) -> None:
        """Release the address; after the return another socket can bind it."""
        if self._socket.closed:
            return
        self._socket.unbind(self.address)
        end = time.monotonic() + CLOSE_TIMEOUT
        while self._monitor.poll(max(0, round(1e3 * (end - time.monotonic())))):
            if zmq.utils.monitor.recv_monitor_message(self._monitor)["event"] == zmq.EVENT_CLOSED:
                break
        self._close_sockets()

    def _close_sockets(self) -> None:
        self._socket.disable_monitor()
        self._monitor.close(linger=0)
        self._socket.close(linger=0)


# -- PlantServer -----------------------------------------------------------------------------------------------------


#: Seconds without a message after which another client may take over in lock-step: binding a large hierarchy takes half
#: a second.
SESSION_TIMEOUT = 2.0
#: A simulation that is late by less than this (s) catches up; if it is later, the lost time is skipped.
MAX_LAG = 0.1


class PlantServer:
    """Serves a plant to one client at a time, in lock-step or in real time.

    In lock-step the plant advances by one period per command: the motion is bit-identical to that of a local plant, and
    time does not advance without commands. In real time the plant advances with the clock; without a command for
    `timeout` seconds the robot is held (see `CommandTimeoutHold`) until the next command. Malformed, oversized and late
    messages, and messages of unknown clients, are refused and counted; they have no effect.

    Args:
        plant: any plant.
        address: address to bind; port 0 for any free port, see `self.address`.
        realtime: whether the plant advances with the clock.
        period: step of the plant in real time (s).
        timeout: time for which the last command is valid in real time (s).
        allow_remote: must be True to bind an address that other machines can reach. Connections are not encrypted, and
            every client that reaches the address can command the robot.

    Attributes:
        address: the bound address.
        counts: number of executed commands, and of refused messages, by name.
        timed_out: whether the robot is held because commands are missing.

    >>> with PlantServer(poise.MujocoPlant(robot), realtime=True) as server:
    ...     server.serve()
    """

    def __init__(
        self,
        plant: Plant,
        address: str = PLANT_ADDRESS,
        *,
        realtime: bool = False,
        period: float = 0.002,
        timeout: float = TIMEOUT,
        allow_remote: bool = False,
    ) -> None:
        self.plant, self.realtime = Plant.adapt(plant), bool(realtime)
        self.period, self.timeout = (
            require_positive(period, "PlantServer.period", "s"),
            require_positive(timeout, "PlantServer.timeout", "s"),
        )
        self.counts: Counter[str] = Counter()
        self.timed_out = False
        self._session = Session(plant.robot, self.timeout if self.realtime else SESSION_TIMEOUT)
        self._hold = CommandTimeoutHold(plant.robot, self.period)
        self._sequence = 0  # sequence number of states
        self._last_command_time = -math.inf  # arrival of the last command
        self._stop_event = threading.Event()
        self._server_socket = ServerSocket(address, allow_remote, self.counts)
        self.address = self._server_socket.address

    def serve(self, seconds: float | None = None) -> Counter[str]:
        """Serve for a number of seconds, or until `stop` is called or an exception (KeyboardInterrupt) is raised."""
        end = math.inf if seconds is None else time.monotonic() + seconds
        due = time.monotonic()
        while not self._stop_event.is_set() and time.monotonic() < end:
            if self.realtime:
                self._receive()
                self._tick()
                due = self._sleep_until(due)
            elif self._server_socket.wait(50):  # ms, so that `stop` takes effect soon
                self._receive()
        return self.counts

    def stop(self) -> None:
        """End `serve`; may be called from any thread."""
        self._stop_event.set()

    def close(self) -> None:
        """Release the address; after the return another server can bind it."""
        self._server_socket.close()

    def __enter__(self) -> PlantServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- messages --------------------------------------------------------------------------------------------------

    def _receive(self) -> None:
        for peer, message in self._server_socket.messages():
            try:
                self._handle(peer, message)
            except MalformedError as error:
                self.counts[error.name] += 1

    def _handle(self, peer: bytes, message: Message) -> None:
        if message["kind"] == "hello":
            self._welcome(peer, message)
        elif message["kind"] not in ("command", "bye"):
            raise MalformedError("malformed message")
        elif status := self._session.status_of(message):
            self.counts["command of an old session" if status == "superseded" else "command without a session"] += 1
            refused = {"kind": "refused", "reason": status, "text": "this session has ended or is unknown"}
            self._server_socket.answer(peer, {**refused, "session": message.get("session")})
        elif message["kind"] == "bye":
            self._session.end()
            self._last_command_time = -math.inf
        else:
            self._session.note_activity(peer)
            self._command(peer, message)

    def _welcome(self, peer: bytes, hello: Message) -> None:
        token = hello.get("token")
        if not isinstance(token, bytes) or len(token) != 16:
            raise MalformedError("malformed message")
        refusal = self._session.refusal(hello)
        if refusal is not None:
            self.counts[f"client refused: {refusal[0]}"] += 1
            self._server_socket.answer(
                peer, {"kind": "refused", "reason": refusal[0], "text": refusal[1], "token": token}
            )
            return
        self._session.begin(peer, token)
        start = self.plant.start or self.plant.state()
        settings = {"protocol": PROTOCOL, "realtime": self.realtime, "period": self.period, "timeout": self.timeout}
        welcome = {**self._state_message(), "kind": "welcome", "token": token, **settings}
        self._server_socket.answer(peer, {**welcome, "start": state_message(start)})

    def _command(self, peer: bytes, message: Message) -> None:
        session, sequence = self._session, read_integer(message, "sequence")
        if sequence <= session.last_command:
            self.counts["late command"] += 1
            # If the answer was lost, send it again, but do not execute the command twice.
            if sequence == session.last_command and not self.realtime:
                self._server_socket.answer(peer, self._state_message())
            return
        late = self._sequence - read_integer(message, "state_sequence") > self.timeout / self.period
        if self.realtime and late:
            self.counts["late command"] += 1
            return
        try:
            command, notes_received = decode_command(message, self.plant.robot), read_integer(message, "notes_received")
        except MalformedError as error:
            self.counts[error.name] += 1
            refused = {"kind": "refused", "reason": "malformed", "text": error.name, "sequence": sequence}
            self._server_socket.answer(peer, refused)
            return
        session.last_command, session.notes_received, self._last_command_time = (
            sequence,
            notes_received,
            time.monotonic(),
        )
        self._hold.release(command)
        self.timed_out = False
        self.counts["command"] += 1
        self.plant.apply(resample_command(command, self.period) if self.realtime else command)
        if not self.realtime:
            self.plant.advance()
            self._sequence += 1
            self._server_socket.answer(peer, self._state_message())

    # -- real time -------------------------------------------------------------------------------------------------

    def _tick(self) -> None:
        """Advance the plant by one step and send the state to the client, if any; hold the robot without commands."""
        if time.monotonic() - self._last_command_time > self.timeout:
            if not self.timed_out:
                self.timed_out = True
                self.counts["command timeout"] += 1
            self.plant.apply(self._hold.command(self.plant.state(), f"hold: no command for {self.timeout:g} s"))
        self.plant.advance()
        self._sequence += 1
        if self._session.name:
            self._server_socket.answer(self._session.peer, self._state_message())

    def _sleep_until(self, due: float) -> float:
        """Sleep until the next step is due, and return its time (s, monotonic clock)."""
        due += self.period
        now = time.monotonic()
        if now < due:
            time.sleep(due - now)
        elif now - due > MAX_LAG:
            self.counts["overrun"] += 1
            return now
        return due

    def _state_message(self) -> Message:
        session = self._session
        return {
            "kind": "state",
            "session": session.name,
            "sequence": self._sequence,
            "last_command": session.last_command,
            **report_message(self.plant, session.notes_received),
            "server_counts": dict(self.counts),
            "timed_out": self.timed_out,
        }
