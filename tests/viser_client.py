"""Client of viser without a browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socket import SHUT_RDWR
from typing import Any

import msgspec
import zstandard
from websockets.sync.client import connect
from websockets.sync.connection import Connection
from websockets.typing import Origin, Subprotocol

PROTOCOL = Subprotocol("viser-v1.1.1")
CAMERA = {
    "type": "ViewerCameraMessage", "wxyz": [1.0, 0.0, 0.0, 0.0], "position": [3.0, 0.0, 1.0], "fov": 0.6, "near": 0.01,
    "far": 100.0, "image_height": 700, "image_width": 900, "look_at": [0.0, 0.0, 0.6], "up_direction": [0.0, 0.0, 1.0],
}  # fmt: skip


@contextmanager
def client(port: int, origin: Origin | None = None, greets: bool = True) -> Iterator[Connection]:
    """Open a connection and send the camera pose, as browsers do first."""
    with connect(
        f"ws://127.0.0.1:{port}",
        subprotocols=[PROTOCOL],
        origin=origin,
        compression=None,
        max_size=None,
        proxy=None,
    ) as connection:
        if greets:
            send_message(connection, **CAMERA)
        yield connection
        with suppress(OSError):
            connection.socket.shutdown(SHUT_RDWR)  # without a closing handshake, which a busy server would delay


def send_message(connection: Connection, **message: Any) -> None:
    connection.send(msgspec.msgpack.encode(message))


def drag(connection: Connection, name: str, phase: str, **more: Any) -> None:
    """One message of a drag: "DragStart", "Update" with a position, or "DragEnd"."""
    if phase == "Update":
        more.setdefault("wxyz", [1.0, 0.0, 0.0, 0.0])
    send_message(connection, type=f"TransformControls{phase}Message", name=name, owner="", **more)


def receive_until(connection: Connection, name: str) -> list[list[dict[str, Any]]]:
    """Receive batches of messages up to the one that adds the scene node of this name; return the messages of each."""
    batches = []
    while True:
        data = connection.recv()
        assert isinstance(data, bytes)
        compressed = int.from_bytes(data[8:16], "little")
        batch = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(data[16 : 16 + compressed]))
        batches.append([message for message in batch["messages"] if message.get("name") != name])
        if len(batches[-1]) < len(batch["messages"]):
            return batches
