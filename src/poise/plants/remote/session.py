"""Session: who commands a served plant, and which commands are new."""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Mapping
from typing import Any

from poise.plants.remote.messages import PROTOCOL, Message, names, text
from poise.robots import Robot

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
