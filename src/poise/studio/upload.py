"""Takes a file from a page, and no more of it than its control allows."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from poise.studio.commands import LONGEST
from poise.studio.controls import MOST_BYTES
from poise.studio.files import as_text
from poise.studio.served import Hub

#: Seconds that a page may take for one piece: a phone on a poor network manages 64 kB.
PATIENCE = 30.0
#: Seconds in which a page that was told so stops sending.
LEAVE = 2.0


async def take(page: ServerConnection, hub: Hub, control: str, filename: str) -> None:
    """Receives one file and tells the page in one line what was wrong with it; "" if nothing was.

    The page sends pieces as binary messages, then one text message; it hears `{"error": "..."}`. A file that grows too
    large is refused at the piece that was one too many: nothing of it is kept.
    """
    with suppress(ConnectionClosed, TimeoutError):
        error = await _taken(page, hub, control, filename)
        await page.send(as_text({"error": error}))
        async with asyncio.timeout(LEAVE):  # closed with pieces unread, the line would be lost on its way
            async for _ in page:
                pass


async def _taken(page: ServerConnection, hub: Hub, control: str, filename: str) -> str:
    known = {known["name"]: known for known in hub.hello()["controls"] if known["kind"] == "upload"}
    if control not in known:
        return f"nothing here takes a file under the name '{control[:40]}'; reload the page"
    if not 0 < len(filename) <= LONGEST or any(letter in filename for letter in "/\\\0"):
        return f"'{filename[:40]}' is no name of a file; rename it"
    most = int(known[control].get("most", MOST_BYTES))
    data = bytearray()
    while True:
        try:
            piece = await asyncio.wait_for(page.recv(), PATIENCE)
        except TimeoutError:
            return f"'{filename}' did not arrive; nothing was heard for {PATIENCE:g} s; try again"
        if isinstance(piece, str):
            return await asyncio.to_thread(hub.upload, control, filename, bytes(data))
        data += piece
        if len(data) > most:
            return f"'{filename}' is too large: this takes at most {most / 1000:g} kB; choose a smaller file"
