"""Carries messages between a page and viser, which listens on loopback and asks nobody who he is."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import WebSocketException

#: Bytes that viser may have sent and we not yet read. It joins poses that wait into the latest ones, but only while
#: they are still its own. Thirty poses a second of sixty links are 85 kB, so this is well below a second.
WAITING = 32 * 1024
#: Beginning of the subprotocol by which viser's client tells its version.
VERSION = "viser-v"


async def pump(page: ServerConnection, port: int) -> None:
    """Joins a page to viser on `port` until one of them leaves.

    Nothing more is read from viser before the page's browser has taken what was read before (it answers a ping that
    follows), so that a slow page lags behind by little, and slows down nobody else.
    """
    with suppress(OSError, WebSocketException):
        async with _viewer(page, port) as viewer:
            carriers = [asyncio.create_task(_ask(page, viewer)), asyncio.create_task(_show(viewer, page))]
            try:
                await asyncio.wait(carriers, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for carrier in carriers:
                    carrier.cancel()
                await asyncio.gather(*carriers, return_exceptions=True)


async def _ask(page: ServerConnection, viewer: ClientConnection) -> None:
    async for message in page:
        await viewer.send(message)


async def _show(viewer: ClientConnection, page: ServerConnection) -> None:
    async for message in viewer:
        await page.send(message)
        await (await page.ping())


@asynccontextmanager
async def _viewer(page: ServerConnection, port: int) -> AsyncIterator[ClientConnection]:
    near = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    near.setblocking(False)
    near.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, WAITING)
    try:
        await asyncio.get_running_loop().sock_connect(near, ("127.0.0.1", port))
    except OSError:
        near.close()
        raise
    # A mesh is one message and may be of any size. No pings: viser is on this machine, and both ends close at once.
    async with connect(
        f"ws://127.0.0.1:{port}",
        sock=near,
        subprotocols=[page.subprotocol] if page.subprotocol else None,
        compression=None,
        max_size=None,
        max_queue=1,
        ping_interval=None,
        proxy=None,
    ) as viewer:
        yield viewer
