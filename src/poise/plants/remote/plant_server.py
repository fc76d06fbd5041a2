"""PlantServer: lets another process command a plant; its socket, sessions, and the hold without commands."""

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
from poise.plants.control_loop import Plant
from poise.plants.plant_errors import PlantError, require_positive
from poise.plants.remote.protocol import (
    ADDRESS,
    PROTOCOL,
    TIMEOUT,
    MalformedError,
    Message,
    check_address,
    decode,
    decode_command,
    encode,
    open_socket,
    read_integer,
    read_names,
    read_text,
    report_message,
    resample_command,
    state_message,
)
from poise.robots import Robot, State
from poise.state import Snapshot

#: Sessions that are remembered after their end, so that a late command of one can be told from a stranger's.
REMEMBERED_SESSIONS = 32


class Session:
    """One client at a time, known by a word that only it was told.

    Args:
        robot: what is served.
        timeout: seconds of silence after which another client may take over.

    Attributes:
        name: of the session; empty when nobody commands.
        peer: the connection on which its client spoke last.
        last_command: number of the last command that was obeyed.
        notes_received: how many notes the client has.
    """

    def __init__(self, robot: Robot, timeout: float) -> None:
        self.robot, self.timeout = robot, timeout
        self.name, self.peer, self.last_command, self.notes_received = b"", b"", 0, 0
        self._token = b""
        self._last_activity = 0.0
        self._ended: deque[bytes] = deque(maxlen=REMEMBERED_SESSIONS)

    def refusal(self, hello: Mapping[str, Any]) -> tuple[str, str] | None:
        """Why a client cannot be let in, as a reason and a sentence; None if it can."""
        if hello.get("protocol") != PROTOCOL:
            given = str(hello.get("protocol"))[:20]
            return (
                "protocol",
                f"the server speaks protocol {PROTOCOL}, not {given}; use one version of Poise on both sides",
            )
        robot, joints = read_text(hello, "robot")[:60], read_names(hello, "joints")
        ours = tuple(joint.name for joint in self.robot.joints)
        if robot != self.robot.name:
            return "robot", f"the server moves '{self.robot.name}', not '{robot}'; load the same robot on both sides"
        if joints != ours:
            return "robot", f"the server's '{robot}' has {len(ours)} joints, not these {len(joints)}, or others"
        if self.name and hello.get("token") != self._token and time.monotonic() - self._last_activity <= self.timeout:
            return "busy", "another client commands this robot; wait until it is done"
        return None

    def begin(self, peer: bytes, token: Any) -> None:
        """Lets a client in; one that asks twice stays in its session."""
        if not self.name or token != self._token:
            self.end()
            self.name, self._token, self.last_command, self.notes_received = secrets.token_bytes(16), token, 0, 0
        self.note_activity(peer)

    def end(self) -> None:
        """Nobody commands any more."""
        if self.name:
            self._ended.append(self.name)
        self.name, self.peer, self._token = b"", b"", b""

    def note_activity(self, peer: bytes) -> None:
        """Its client spoke, maybe on a new connection."""
        self.peer, self._last_activity = peer, time.monotonic()

    def status_of(self, message: Message) -> str:
        """What a message is that claims a session: '' if it is this one's, else 'superseded' or 'unknown'."""
        session = message.get("session")
        if self.name and session == self.name:
            return ""
        return "superseded" if session in self._ended else "unknown"


# -- Hold: what a robot does while nobody commands it ----------------------------------------------------------------


class CommandTimeoutHold:
    """Commands that keep a robot where it is: no velocity for servos, torques of a `DampedHold` for motors.

    It begins with the first command after `release`. A part that touches down later, such as a foot that was in the
    air, is taken in: the hold then begins anew with it.

    Args:
        robot: to hold.
        period: seconds between two commands.
    """

    def __init__(self, robot: Robot, period: float) -> None:
        self._snapshot, self._period = Snapshot(robot), period
        self._limit, self._torque = np.array(robot.limits.torque), np.zeros(len(robot.joints))
        self._hold: DampedHold | None = None
        self._uses_torque = True

    def release(self, command: Command) -> None:
        """Somebody commands again; whether with torques tells what the next hold needs."""
        self._hold, self._uses_torque = None, command.torque is not None
        if command.torque is not None:
            self._torque = command.torque

    def command(self, state: State, reason: str) -> Command:
        """The command for a state. Never raises."""
        still = np.zeros(len(state.v))
        # Without an acceleration an ideal plant stops at once, and servos look at nothing but the velocity.
        return Command(still, None, self._torques(state) if self._uses_torque else None, self._period, fallback=reason)

    def _torques(self, state: State) -> Array:
        """Torques within their limits; those before where none are to be had."""
        try:
            snapshot = self._snapshot.at(state)
            if self._hold is None or not set(state.contacts) <= {part.frame for part in self._hold.forces.contacts}:
                self._hold = DampedHold(snapshot, (), self._period)
            torque = np.clip(self._hold.torque(state), -self._limit, self._limit)
        except Exception:  # there is nothing left to fall back to but what was
            return self._torque
        if np.isfinite(torque).all():
            self._torque = torque
        return self._torque


# -- Door: the server's end of the socket ----------------------------------------------------------------------------


#: Longest that closing waits for the system to free the address (s); it takes a millisecond.
CLOSE_TIMEOUT = 1.0
#: Messages that are looked at in one turn, so that a flood of them cannot keep the robot waiting.
MAX_MESSAGES = 100


class ServerSocket:
    """Listens at an address, and answers each peer on its own connection; what is no message is counted and dropped.

    Args:
        address: port 0 for any free one.
        allow_remote: whether it may be reached from other machines.
        counts: where to count.

    Attributes:
        address: where it listens.
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
            why = os.strerror(error.errno or 0)
            raise PlantError(f"cannot listen at '{address}': {why}; choose another", "address") from None
        self.address = self._socket.getsockopt_string(zmq.LAST_ENDPOINT)

    def wait(self, milliseconds: int) -> bool:
        """Until something arrives, but no longer; says whether it did."""
        return bool(self._socket.poll(milliseconds))

    def messages(self) -> Iterator[tuple[bytes, Message]]:
        """What has arrived, and from which peer."""
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
        """Sends at once or not at all."""
        try:
            self._socket.send_multipart([peer, encode(message)], zmq.NOBLOCK)
        except zmq.ZMQError:  # it does not listen any more
            self._counts["answer not sent"] += 1

    def close(self) -> None:
        """Gives the address back; when this returns, another may have it."""
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


# -- PlantServer: lets another process command a plant ---------------------------------------------------------------


#: In lock-step a client may think for so long (s) before another may take its place: binding a large hierarchy takes
#: half a second.
SESSION_TIMEOUT = 2.0
#: A simulation that is behind the clock by less than this (s) catches up; by more, it lets the time go.
MAX_LAG = 0.1


class PlantServer:
    """Serves a plant to one client at a time, in lock-step or in real time.

    In lock-step the plant moves only when it is told, one command at a time: the motion is that of a local plant to the
    last bit, and without commands time stands still. In real time it moves by its own clock; without a command for
    `timeout` seconds it is held (see `CommandTimeoutHold`), until commands come again. Malformed, oversized
    and late messages, and those of strangers, are refused and counted; they change nothing.

    Args:
        plant: any plant.
        address: where to listen; port 0 for any free one, see `self.address`.
        realtime: whether the plant moves by the clock.
        period: of the plant's steps in real time (s).
        timeout: how long the last command holds (s).
        allow_remote: must be said to listen where other machines can reach it. Nothing is encrypted, and whoever
            reaches it can command the robot.

    Attributes:
        address: where it listens.
        counts: commands that were obeyed, and what was refused, by name.
        timed_out: whether the robot is held because commands are missing.

    >>> with PlantServer(poise.MujocoPlant(robot), realtime=True) as server:
    ...     server.serve()
    """

    def __init__(
        self,
        plant: Plant,
        address: str = ADDRESS,
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
        self._sequence = 0  # of states
        self._last_command_time = -math.inf  # when the last command came
        self._stop_event = threading.Event()
        self._server_socket = ServerSocket(address, allow_remote, self.counts)
        self.address = self._server_socket.address

    def serve(self, seconds: float | None = None) -> Counter[str]:
        """Serves for some seconds, or until `stop` is called or an exception such as KeyboardInterrupt ends it."""
        end = math.inf if seconds is None else time.monotonic() + seconds
        due = time.monotonic()
        while not self._stop_event.is_set() and time.monotonic() < end:
            if self.realtime:
                self._receive()
                self._tick()
                due = self._sleep_until(due)
            elif self._server_socket.wait(50):  # ms, so that a stop is noticed
                self._receive()
        return self.counts

    def stop(self) -> None:
        """Ends `serve`, from any thread."""
        self._stop_event.set()

    def close(self) -> None:
        """Gives the address back; when this returns, another server can have it."""
        self._server_socket.close()

    def __enter__(self) -> PlantServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- what is heard ---------------------------------------------------------------------------------------------

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
            refused = {"kind": "refused", "reason": status, "text": "this session is over, or never was"}
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
        facts = {"protocol": PROTOCOL, "realtime": self.realtime, "period": self.period, "limit": self.timeout}
        self._server_socket.answer(
            peer, {**self._state_message(), "kind": "welcome", "token": token, **facts, "start": state_message(start)}
        )

    def _command(self, peer: bytes, message: Message) -> None:
        session, sequence = self._session, read_integer(message, "sequence")
        if sequence <= session.last_command:
            self.counts["late command"] += 1
            if (
                sequence == session.last_command and not self.realtime
            ):  # its answer was lost: once more, but not obeyed twice
                self._server_socket.answer(peer, self._state_message())
            return
        late = self._sequence - read_integer(message, "sees") > self.timeout / self.period
        if self.realtime and late:
            self.counts["late command"] += 1
            return
        try:
            command, notes_received = decode_command(message, self.plant.robot), read_integer(message, "known")
        except MalformedError as error:
            self.counts[error.name] += 1
            refused = {"kind": "refused", "reason": "malformed", "text": error.name, "answers": sequence}
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

    # -- what it does ----------------------------------------------------------------------------------------------

    def _tick(self) -> None:
        """One step by the clock, told to the client if there is one."""
        if time.monotonic() - self._last_command_time > self.timeout:
            if not self.timed_out:
                self.timed_out = True
                self.counts["held"] += 1
            self.plant.apply(self._hold.command(self.plant.state(), f"hold: no command for {self.timeout:g} s"))
        self.plant.advance()
        self._sequence += 1
        if self._session.name:
            self._server_socket.answer(self._session.peer, self._state_message())

    def _sleep_until(self, due: float) -> float:
        """Sleeps until the next step is due, and returns when that is."""
        due += self.period
        now = time.monotonic()
        if now < due:
            time.sleep(due - now)
        elif now - due > MAX_LAG:
            self.counts["clock let go"] += 1
            return now
        return due

    def _state_message(self) -> Message:
        session = self._session
        head = {"kind": "state", "session": session.name, "sequence": self._sequence, "answers": session.last_command}
        return {
            **head,
            **report_message(self.plant, session.notes_received),
            "server": dict(self.counts),
            "held": self.timed_out,
        }
