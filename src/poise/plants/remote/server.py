"""PlantServer: lets another process command a plant."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter

from poise.plants.errors import positive
from poise.plants.loop import Plant
from poise.plants.remote.address import ADDRESS
from poise.plants.remote.commands import command_of, in_steps
from poise.plants.remote.door import Door
from poise.plants.remote.hold import Hold
from poise.plants.remote.messages import LIMIT, PROTOCOL, MalformedError, Message, whole
from poise.plants.remote.reports import report_message
from poise.plants.remote.session import Session
from poise.plants.remote.states import state_message

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
        self.plant, self.realtime = plant, bool(realtime)
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
        start = getattr(self.plant, "start", None) or self.plant.state()
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
