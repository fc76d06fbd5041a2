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
from poise.plants.plant_errors import PlantError, positive
from poise.plants.remote.protocol import (
    ADDRESS,
    LIMIT,
    PROTOCOL,
    MalformedError,
    Message,
    checked_address,
    command_of,
    in_steps,
    names,
    packed,
    report_message,
    socket,
    state_message,
    text,
    unpacked,
    whole,
)
from poise.robots import Robot, State
from poise.state import Snapshot

#: Sessions that are remembered after their end, so that a late command of one can be told from a stranger's.
REMEMBERED = 32


class Session:
    """One client at a time, known by a word that only it was told.

    Args:
        robot: what is served.
        kept: seconds of silence after which another client may take over.

    Attributes:
        name: of the session; empty when nobody commands.
        peer: the connection on which its client spoke last.
        done: number of the last command that was obeyed.
        known: how many notes the client has.
    """

    def __init__(self, robot: Robot, kept: float) -> None:
        self.robot, self.kept = robot, kept
        self.name, self.peer, self.done, self.known = b"", b"", 0, 0
        self._token = b""
        self._heard = 0.0
        self._ended: deque[bytes] = deque(maxlen=REMEMBERED)

    def refusal(self, hello: Mapping[str, Any]) -> tuple[str, str] | None:
        """Why a client cannot be let in, as a reason and a sentence; None if it can."""
        if hello.get("protocol") != PROTOCOL:
            given = str(hello.get("protocol"))[:20]
            return (
                "protocol",
                f"the server speaks protocol {PROTOCOL}, not {given}; use one version of Poise on both sides",
            )
        robot, joints = text(hello, "robot")[:60], names(hello, "joints")
        ours = tuple(joint.name for joint in self.robot.joints)
        if robot != self.robot.name:
            return "robot", f"the server moves '{self.robot.name}', not '{robot}'; load the same robot on both sides"
        if joints != ours:
            return "robot", f"the server's '{robot}' has {len(ours)} joints, not these {len(joints)}, or others"
        if self.name and hello.get("token") != self._token and time.monotonic() - self._heard <= self.kept:
            return "busy", "another client commands this robot; wait until it is done"
        return None

    def begin(self, peer: bytes, token: Any) -> None:
        """Lets a client in; one that asks twice stays in its session."""
        if not self.name or token != self._token:
            self.end()
            self.name, self._token, self.done, self.known = secrets.token_bytes(16), token, 0, 0
        self.heard(peer)

    def end(self) -> None:
        """Nobody commands any more."""
        if self.name:
            self._ended.append(self.name)
        self.name, self.peer, self._token = b"", b"", b""

    def heard(self, peer: bytes) -> None:
        """Its client spoke, maybe on a new connection."""
        self.peer, self._heard = peer, time.monotonic()

    def stranger(self, message: Message) -> str:
        """What a message is that claims a session: '' if it is this one's, else 'superseded' or 'unknown'."""
        claimed = message.get("session")
        if self.name and claimed == self.name:
            return ""
        return "superseded" if claimed in self._ended else "unknown"


# -- Hold: what a robot does while nobody commands it ----------------------------------------------------------------


class Hold:
    """Commands that keep a robot where it is: no velocity for servos, torques of a `DampedHold` for motors.

    It begins with the first command after `let_go`. A part that touches down later, such as a foot that was in the
    air, is taken in: the hold then begins anew with it.

    Args:
        robot: to hold.
        period: seconds between two commands.
    """

    def __init__(self, robot: Robot, period: float) -> None:
        self._snapshot, self._period = Snapshot(robot), period
        self._limit, self._torque = np.array(robot.limits.torque), np.zeros(len(robot.joints))
        self._hold: DampedHold | None = None
        self._wanted = True

    def let_go(self, command: Command) -> None:
        """Somebody commands again; whether with torques tells what the next hold needs."""
        self._hold, self._wanted = None, command.torque is not None
        if command.torque is not None:
            self._torque = command.torque

    def command(self, state: State, reason: str) -> Command:
        """The command for a state. Never raises."""
        still = np.zeros(len(state.v))
        # Without an acceleration an ideal plant stops at once, and servos look at nothing but the velocity.
        return Command(still, None, self._torques(state) if self._wanted else None, self._period, fallback=reason)

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
CLOSING = 1.0
#: Messages that are looked at in one turn, so that a flood of them cannot keep the robot waiting.
MOST = 100


class Door:
    """Listens at an address, and answers each peer on its own connection; what is no message is counted and dropped.

    Args:
        address: port 0 for any free one.
        anywhere: whether it may be reached from other machines.
        counts: where to count.

    Attributes:
        address: where it listens.
    """

    def __init__(self, address: str, anywhere: bool, counts: Counter[str]) -> None:
        address = checked_address(address, anywhere)
        self._counts = counts
        self._socket = socket(zmq.ROUTER, address)
        self._monitor = self._socket.get_monitor_socket(zmq.EVENT_DISCONNECTED | zmq.EVENT_CLOSED)
        try:
            self._socket.bind(address)
        except zmq.ZMQError as error:
            self._shut()
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
        for _ in range(MOST):
            try:
                peer, *frames = self._socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            try:
                message = unpacked(frames)
            except MalformedError as error:
                self._counts[error.name] += 1
            else:
                yield peer, message

    def answer(self, peer: bytes, message: dict[str, Any]) -> None:
        """Sends at once or not at all."""
        try:
            self._socket.send_multipart([peer, packed(message)], zmq.NOBLOCK)
        except zmq.ZMQError:  # it does not listen any more
            self._counts["answer not sent"] += 1

    def close(self) -> None:
        """Gives the address back; when this returns, another may have it."""
        if self._socket.closed:
            return
        self._socket.unbind(self.address)
        end = time.monotonic() + CLOSING
        while self._monitor.poll(max(0, round(1e3 * (end - time.monotonic())))):
            if zmq.utils.monitor.recv_monitor_message(self._monitor)["event"] == zmq.EVENT_CLOSED:
                break
        self._shut()

    def _shut(self) -> None:
        self._socket.disable_monitor()
        self._monitor.close(linger=0)
        self._socket.close(linger=0)


# -- PlantServer: lets another process command a plant ---------------------------------------------------------------


#: In lock-step a client may think for so long (s) before another may take its place: binding a large hierarchy takes
#: half a second.
KEPT = 2.0
#: A simulation that is behind the clock by less than this (s) catches up; by more, it lets the time go.
BEHIND = 0.1


class PlantServer:
    """Serves a plant to one client at a time, in lock-step or in real time.

    In lock-step the plant moves only when it is told, one command at a time: the motion is that of a local plant to the
    last bit, and without commands time stands still. In real time it moves by its own clock; without a command for
    `limit` seconds it is held (see `Hold`), until commands come again. Malformed, oversized and late messages, and
    those of strangers, are refused and counted; they change nothing.

    Args:
        plant: any plant.
        address: where to listen; port 0 for any free one, see `self.address`.
        realtime: whether the plant moves by the clock.
        period: of the plant's steps in real time (s).
        limit: how long the last command holds (s).
        beyond_loopback: must be said to listen where other machines can reach it. Nothing is encrypted, and whoever
            reaches it can command the robot.

    Attributes:
        address: where it listens.
        counts: commands that were obeyed, and what was refused, by name.
        held: whether the robot is held because commands are missing.

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
        limit: float = LIMIT,
        beyond_loopback: bool = False,
    ) -> None:
        self.plant, self.realtime = Plant.of(plant), bool(realtime)
        self.period, self.limit = positive(period, "PlantServer.period", "s"), positive(limit, "PlantServer.limit", "s")
        self.counts: Counter[str] = Counter()
        self.held = False
        self._session = Session(plant.robot, self.limit if self.realtime else KEPT)
        self._hold = Hold(plant.robot, self.period)
        self._sequence = 0  # of states
        self._obeyed = -math.inf  # when the last command came
        self._over = threading.Event()
        self._door = Door(address, beyond_loopback, self.counts)
        self.address = self._door.address

    def serve(self, seconds: float | None = None) -> Counter[str]:
        """Serves for some seconds, or until `stop` is called or an exception such as KeyboardInterrupt ends it."""
        end = math.inf if seconds is None else time.monotonic() + seconds
        due = time.monotonic()
        while not self._over.is_set() and time.monotonic() < end:
            if self.realtime:
                self._hear()
                self._tick()
                due = self._rest(due)
            elif self._door.wait(50):  # ms, so that a stop is noticed
                self._hear()
        return self.counts

    def stop(self) -> None:
        """Ends `serve`, from any thread."""
        self._over.set()

    def close(self) -> None:
        """Gives the address back; when this returns, another server can have it."""
        self._door.close()

    def __enter__(self) -> PlantServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- what is heard ---------------------------------------------------------------------------------------------

    def _hear(self) -> None:
        for peer, message in self._door.messages():
            try:
                self._take(peer, message)
            except MalformedError as error:
                self.counts[error.name] += 1

    def _take(self, peer: bytes, message: Message) -> None:
        if message["kind"] == "hello":
            self._welcome(peer, message)
        elif message["kind"] not in ("command", "bye"):
            raise MalformedError("malformed message")
        elif stranger := self._session.stranger(message):
            self.counts["command of an old session" if stranger == "superseded" else "command without a session"] += 1
            refused = {"kind": "refused", "reason": stranger, "text": "this session is over, or never was"}
            self._door.answer(peer, {**refused, "session": message.get("session")})
        elif message["kind"] == "bye":
            self._session.end()
            self._obeyed = -math.inf
        else:
            self._session.heard(peer)
            self._command(peer, message)

    def _welcome(self, peer: bytes, hello: Message) -> None:
        token = hello.get("token")
        if not isinstance(token, bytes) or len(token) != 16:
            raise MalformedError("malformed message")
        refusal = self._session.refusal(hello)
        if refusal is not None:
            self.counts[f"client refused: {refusal[0]}"] += 1
            self._door.answer(peer, {"kind": "refused", "reason": refusal[0], "text": refusal[1], "token": token})
            return
        self._session.begin(peer, token)
        start = self.plant.start or self.plant.state()
        facts = {"protocol": PROTOCOL, "realtime": self.realtime, "period": self.period, "limit": self.limit}
        self._door.answer(
            peer, {**self._told(), "kind": "welcome", "token": token, **facts, "start": state_message(start)}
        )

    def _command(self, peer: bytes, message: Message) -> None:
        session, sequence = self._session, whole(message, "sequence")
        if sequence <= session.done:
            self.counts["late command"] += 1
            if sequence == session.done and not self.realtime:  # its answer was lost: once more, but not obeyed twice
                self._door.answer(peer, self._told())
            return
        late = self._sequence - whole(message, "sees") > self.limit / self.period
        if self.realtime and late:
            self.counts["late command"] += 1
            return
        try:
            command, known = command_of(message, self.plant.robot), whole(message, "known")
        except MalformedError as error:
            self.counts[error.name] += 1
            refused = {"kind": "refused", "reason": "malformed", "text": error.name, "answers": sequence}
            self._door.answer(peer, refused)
            return
        session.done, session.known, self._obeyed = sequence, known, time.monotonic()
        self._hold.let_go(command)
        self.held = False
        self.counts["command"] += 1
        self.plant.apply(in_steps(command, self.period) if self.realtime else command)
        if not self.realtime:
            self.plant.advance()
            self._sequence += 1
            self._door.answer(peer, self._told())

    # -- what it does ----------------------------------------------------------------------------------------------

    def _tick(self) -> None:
        """One step by the clock, told to the client if there is one."""
        if time.monotonic() - self._obeyed > self.limit:
            if not self.held:
                self.held = True
                self.counts["held"] += 1
            self.plant.apply(self._hold.command(self.plant.state(), f"hold: no command for {self.limit:g} s"))
        self.plant.advance()
        self._sequence += 1
        if self._session.name:
            self._door.answer(self._session.peer, self._told())

    def _rest(self, due: float) -> float:
        """Sleeps until the next step is due, and returns when that is."""
        due += self.period
        now = time.monotonic()
        if now < due:
            time.sleep(due - now)
        elif now - due > BEHIND:
            self.counts["clock let go"] += 1
            return now
        return due

    def _told(self) -> Message:
        session = self._session
        head = {"kind": "state", "session": session.name, "sequence": self._sequence, "answers": session.done}
        return {**head, **report_message(self.plant, session.known), "server": dict(self.counts), "held": self.held}
