"""The process between clients and shield: sockets, checks and answers, apart from the control loop.

Whatever clients send is received, decoded and checked here. Only valid wishes, at most one per client and turn, reach
the process that controls the robot; if this one fails, the wishes expire and the robot stands in its rest posture.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import signal
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from poise.errors import PoiseError
from poise.extras import msgpack, require, websockets, zmq
from poise.plants import PlantError, open_socket
from poise.shield.answers import HeldWish, SolutionRows, WishLimit, explain_held
from poise.shield.wishes import Wish, WishError

#: Largest message that is decoded (bytes): a wish for all joints of a humanoid has some 2 kB.
MAX_MESSAGE_SIZE = 64 * 1024
#: Time between two turns (s): in each, the newest message of each client is read.
TURN = 0.002
#: Largest number of messages that are taken from a socket in a turn, and of clients at the web socket.
MAX_MESSAGES, MAX_CLIENTS = 100, 16
#: Origins of web pages that may connect: pages of this machine. Programs send no origin.
LOCAL_ORIGIN = re.compile(r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?")
#: Niceness of the process, where the system has it: the control loop goes first.
NICENESS = 5


class ReportMessage(NamedTuple):
    """What the control process sends: a report, held wishes, and from time to time the rows that hold them."""

    report: dict[str, Any]
    held: tuple[HeldWish, ...]
    rows: SolutionRows | None


@dataclass(frozen=True)
class GatewayOptions:
    """Addresses and vocabulary of a gateway.

    Attributes:
        host, port, web_port: where to listen: ZeroMQ at `port`, web socket at `web_port`; 0: any free port.
        joints: joints that may be wished, each with its part: "left arm", "right arm" or "head".
        sides: sides of the hands.
        silence: time after which a wish expires (s).
        any_origin: whether web pages of other machines may connect.
    """

    host: str
    port: int
    web_port: int
    joints: dict[str, str]
    sides: tuple[str, ...]
    silence: float
    any_origin: bool = False


class WishReceiver:
    """Decodes and checks messages, and answers each with one: what is granted, or in one line why it is refused.

    Each arm, the head and the velocity have one client at a time, until it is silent.

    Args:
        joints: joints that may be wished, with their parts.
        sides: sides of the hands.
        silence: time after which another client may take over, and a wish counts as late (s).

    Attributes:
        counts: number of accepted and refused messages, by reason.
    """

    def __init__(self, joints: Mapping[str, str], sides: Collection[str], silence: float) -> None:
        self._joints, self._sides, self._silence = joints, sides, silence
        self.counts: Counter[str] = Counter()
        self._report = ReportMessage({"time": 0.0, "wishes": {}, "limits": []}, (), None)
        self._limits: list[WishLimit] = []
        self._holders: dict[str, tuple[object, float]] = {}

    @property
    def time(self) -> float:
        """Time of the robot in the last report (s)."""
        return float(self._report.report["time"])

    def update(self, message: ReportMessage) -> None:
        """Take a report of the control process."""
        self._report = message
        if message.rows is not None:
            self._limits = explain_held(message.held, message.rows.solution())

    def read(self, data: bytes | str, client: object) -> tuple[Wish | None, dict[str, Any]]:
        """Return the wish of a message, None if it is refused, and the answer. Never raises.

        Args:
            data: msgpack as bytes, or JSON as text.
            client: who sent it.
        """
        sequence: Any = None
        try:
            message = decode(data)
            sequence = message.get("sequence")
            if sequence is not None and (isinstance(sequence, bool) or not isinstance(sequence, int)):
                sequence = None
                raise WishError("sequence is not a whole number; count your messages, or leave it out")
            wish = Wish.parse(message, self._joints, self._sides)
            if wish.time is not None and self.time - wish.time > self._silence:
                late = self.time - wish.time
                raise LateError(f"late: the wish is {late:.2f} s old; expected at most {self._silence:g} s")
            self._hold(wish, client)
        except PoiseError as error:
            self.counts[type(error).__name__ if type(error) is not WishError else "invalid"] += 1
            return None, {"kind": "refused", "sequence": sequence, "time": self.time, "text": str(error)}
        except Exception as error:  # a message that breaks the checks is refused like any other
            self.counts["invalid"] += 1
            text = f"invalid message: {type(error).__name__}"
            return None, {"kind": "refused", "sequence": sequence, "time": self.time, "text": text}
        self.counts["accepted"] += 1
        return wish, {"kind": "answer", "sequence": sequence, **self._answer()}

    def _answer(self) -> dict[str, Any]:
        """Return the report; a wish that is held since the last explanation is being examined."""
        report, held = self._report, {each.wish: each for each in self._report.held}
        limits = [limit for limit in self._limits if limit.wish in held]
        for name in held.keys() - {limit.wish for limit in limits}:
            limits.append(WishLimit(name, "", "being examined", held[name].distance, held[name].unit))
        return {**report.report, "limits": [*report.report["limits"], *(limit.message() for limit in limits)]}

    def _hold(self, wish: Wish, client: object) -> None:
        """Give the parts of a wish to a client; raise a `HeldError` if another client has one of them."""
        parts = [self._joints[name] for name in wish.joints] + [f"{side} arm" for side in wish.hands]
        parts += ["head"] * (wish.gaze is not None) + ["velocity"] * (wish.velocity is not None)
        now = self.time
        for part in parts:
            holder, since = self._holders.get(part, (client, now))
            if holder != client and now - since <= self._silence:
                raise HeldError(f"another client has the {part}; wait until it is silent for {self._silence:g} s")
        self._holders.update(dict.fromkeys(parts, (client, now)))


class LateError(WishError):
    """A wish that was made too long ago."""


class HeldError(WishError):
    """A wish for a part that another client has."""


class UnreadableError(WishError):
    """Bytes that are no message."""


def decode(data: bytes | str) -> Mapping[str, Any]:
    """Return the map of a message in msgpack (bytes) or JSON (text); raise an `UnreadableError` otherwise."""
    if len(data) > MAX_MESSAGE_SIZE:
        raise UnreadableError(f"message of {len(data)} bytes; expected at most {MAX_MESSAGE_SIZE}")
    try:
        message = json.loads(data) if isinstance(data, str) else msgpack.unpackb(data)
    except Exception:  # any failure means that it is not a message
        kind = "JSON" if isinstance(data, str) else "msgpack"
        raise UnreadableError(f"not a message; expected a map in {kind}") from None
    if not isinstance(message, dict) or not all(isinstance(key, str) for key in message):
        raise UnreadableError("not a message; expected a map of names to wishes")
    if message.get("kind", "wish") != "wish":
        raise UnreadableError("kind is not 'wish'; leave it out")
    return message


# -- The process -----------------------------------------------------------------------------------------------------


def main(connection: Connection, options: GatewayOptions) -> None:
    """Main function of the process: serve clients until the connection to the control process closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the control process, which closes the connection
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    logging.getLogger("websockets").setLevel(logging.CRITICAL)  # a refused connection is no error of ours
    with suppress(EOFError, OSError):
        try:
            require("zmq", "msgpack", "websockets")
            asyncio.run(Gateway(connection, options).run())
        except PoiseError as error:
            connection.send(("failed", str(error)))


class Gateway:
    """Listens at both sockets and passes wishes on.

    Args:
        connection: to the control process.
        options: addresses and vocabulary.
    """

    def __init__(self, connection: Connection, options: GatewayOptions) -> None:
        self._connection, self._options = connection, options
        self.receiver = WishReceiver(options.joints, options.sides, options.silence)
        self._closed = asyncio.Event()
        self._web_clients = 0

    async def run(self) -> None:
        """Serve until the control process closes the connection."""
        options, loop = self._options, asyncio.get_running_loop()
        socket = open_socket(zmq.ROUTER, f"tcp://{options.host}:{options.port}")
        try:
            with listening_at(f"tcp://{options.host}:{options.port}"):
                socket.bind(f"tcp://{options.host}:{options.port}")
            address = socket.getsockopt_string(zmq.LAST_ENDPOINT)
            origins = None if options.any_origin else [None, LOCAL_ORIGIN]
            web_port = options.web_port
            with listening_at(f"ws://{options.host}:{web_port}"):
                server = await websockets.asyncio.server.serve(
                    self._serve_page,
                    options.host.strip("[]"),
                    web_port,
                    origins=origins,
                    max_size=16 * MAX_MESSAGE_SIZE,
                    max_queue=8,
                    compression=None,
                )
            port = next(iter(server.sockets)).getsockname()[1]
            self._connection.send(("ready", address, f"ws://{options.host}:{port}"))
            loop.add_reader(self._connection.fileno(), self._read_reports)
            turns = asyncio.create_task(self._serve_socket(socket))
            await self._closed.wait()
            turns.cancel()
            server.close()
        finally:
            socket.close(linger=0)

    def _read_reports(self) -> None:
        try:
            while self._connection.poll():
                message = self._connection.recv()
                if message is None:
                    raise EOFError
                self.receiver.update(message)
        except (EOFError, OSError):
            asyncio.get_running_loop().remove_reader(self._connection.fileno())
            self._closed.set()

    def _handle(self, data: bytes | str, client: object) -> dict[str, Any]:
        wish, answer = self.receiver.read(data, client)
        if wish is not None:
            try:
                self._connection.send(("wish", wish))
            except OSError:
                self._closed.set()
        return answer

    async def _serve_socket(self, socket: Any) -> None:
        """Answer the newest message of each client, turn by turn; the ones before it are superseded."""
        while True:
            newest: dict[bytes, list[bytes]] = {}
            for _ in range(MAX_MESSAGES):
                try:
                    peer, *frames = socket.recv_multipart(zmq.NOBLOCK)
                except zmq.Again:
                    break
                self.receiver.counts["superseded"] += peer in newest
                newest[peer] = frames
            for peer, frames in newest.items():
                answer = self._handle(frames[0] if len(frames) == 1 else b"", peer)
                with suppress(zmq.ZMQError):  # the peer is gone
                    socket.send_multipart([peer, msgpack.packb(answer)], zmq.NOBLOCK)
            await asyncio.sleep(TURN)

    async def _serve_page(self, page: Any) -> None:
        """Answer the messages of one web socket."""
        if self._web_clients >= MAX_CLIENTS:
            await page.close(1013, "too many clients")
            return
        self._web_clients += 1
        try:
            async for data in page:
                answer = self._handle(data, page.id)
                await page.send(json.dumps(answer) if isinstance(data, str) else msgpack.packb(answer))
                await asyncio.sleep(0.5 * TURN)  # a flood waits in the system, not here
        except websockets.exceptions.ConnectionClosed:
            pass
        finally:
            self._web_clients -= 1


@contextmanager
def listening_at(address: str) -> Iterator[None]:
    """Turn a failure to listen at an address into a `PlantError` of one line."""
    try:
        yield
    except (OSError, zmq.ZMQError) as error:
        reason = os.strerror(error.errno or 0)
        raise PlantError(f"cannot listen at '{address}': {reason}; use another port", "port") from None
