"""RemotePlant: a plant that moves in another process."""

from __future__ import annotations

import math
import time
from collections import Counter

from poise.control import Command
from poise.plants.errors import PlantError, positive
from poise.plants.remote.commands import command_message
from poise.plants.remote.link import Link
from poise.plants.remote.messages import LIMIT, MalformedError, Message, number, packed
from poise.plants.remote.reports import Report, report_of
from poise.plants.remote.states import Reader
from poise.robots import Robot, State
from poise.state import Sensed
from poise.tasks.axes import shown

#: A state this much before its time (s) is on time: rounding of clocks that count differently.
ROUNDING = 1e-9


class RemotePlant:
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
            raise PlantError(f"RemotePlant.robot is {shown(robot)}; expected a Robot, e.g. load_robot('g1')", "robot")
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
    def fall(self) -> str:
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
    def counts(self) -> Counter[str]:
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

    def __enter__(self) -> RemotePlant:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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
