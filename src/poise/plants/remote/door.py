"""Door: the server's end of the socket."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import zmq
from zmq.utils.monitor import recv_monitor_message

from poise.plants.errors import PlantError
from poise.plants.remote.address import checked, socket
from poise.plants.remote.messages import MalformedError, Message, packed, unpacked

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
        address = checked(address, anywhere)
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
            event = recv_monitor_message(self._monitor)["event"]
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
            if recv_monitor_message(self._monitor)["event"] == zmq.EVENT_CLOSED:
                break
        self._shut()

    def _shut(self) -> None:
        self._socket.disable_monitor()
        self._monitor.close(linger=0)
        self._socket.close(linger=0)
