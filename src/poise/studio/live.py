"""The conversation with a page: what it hears, what it asks for."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from poise.studio.commands import wish
from poise.studio.files import as_text
from poise.studio.served import Hub

#: Seconds between two looks at the hub. Twenty frames a second are as many as an eye follows in numbers and plots.
PERIOD = 0.05


class Live:
    """Talks with all pages that are open.

    Each page has its own teller, so that one that reads slowly holds up nobody. A teller sends a frame only once the
    page's browser has taken the one before (it answers a ping that follows the frame), and then sends the latest: what
    a page has missed is never sent. Messages that another page has shown before are marked as "old".
    """

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._open: set[ServerConnection] = set()
        self._heard = -1  # number of the last message that some page has been told

    async def converse(self, page: ServerConnection) -> None:
        """Talks with one page until it leaves."""
        self._open.add(page)
        self._hub.pages(len(self._open))
        teller = asyncio.create_task(self._tell(page))
        try:
            with suppress(ConnectionClosed):
                async for text in page:
                    wanted = wish(text)
                    if isinstance(wanted, str):
                        await page.send(as_text({"message": {"number": 0, "kind": "error", "text": wanted}}))
                    else:
                        self._hub.do(*wanted)
        finally:
            teller.cancel()
            await asyncio.gather(teller, return_exceptions=True)
            self._open.discard(page)
            self._hub.pages(len(self._open))

    async def _tell(self, page: ServerConnection) -> None:
        told, said, shown = -1, -1, -1  # numbers of the last hello, message and frame
        heard = self._heard
        with suppress(ConnectionClosed):
            while True:
                if (number := self._hub.hello_number) != told:
                    told = number
                    await page.send(as_text({"hello": self._hub.hello()}))
                for message in self._hub.messages(said):
                    said = max(said, int(message["number"]))
                    self._heard = max(self._heard, said)
                    await page.send(as_text({"message": {**message, "old": said <= heard}}))
                frame = self._hub.frame()
                if frame is not None and frame["number"] != shown:
                    shown = frame["number"]
                    await page.send(as_text({"frame": frame}))
                    await (await page.ping())
                await asyncio.sleep(PERIOD)
