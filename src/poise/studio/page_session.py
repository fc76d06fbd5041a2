"""Websocket session of a page: commands it may send, data it receives, files it uploads."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from poise.extras import websockets
from poise.parsing import is_number
from poise.studio.controls import MOST_BYTES
from poise.studio.http_security import as_text

if TYPE_CHECKING:
    from websockets.asyncio.server import ServerConnection


class Shelf(Protocol):
    """Files that can be downloaded."""

    def path(self, name: str) -> Path:
        """Where the file of exactly this name lies; raises a PoiseError if there is none."""
        ...


class Hub(Protocol):
    """What pages hear and to whom they speak. Nothing here blocks but `upload` and `saved`, which run in a thread."""

    @property
    def hello_number(self) -> int:
        """Grows whenever `hello` has something new to say."""
        ...

    @property
    def viewer_port(self) -> int:
        """Of viser, on loopback."""
        ...

    @property
    def output(self) -> Shelf: ...

    def hello(self) -> dict[str, Any]: ...

    def frame(self) -> dict[str, Any] | None:
        """The latest state of the simulation; its "number" grows."""
        ...

    def messages(self, since: int) -> list[dict[str, Any]]:
        """What was said after message number `since`, the oldest first."""
        ...

    def do(self, name: str, value: Any) -> None:
        """What a page asks for; returns at once and never raises."""
        ...

    def pages(self, count: int) -> None:
        """How many pages are connected now."""
        ...

    def upload(self, control: str, filename: str, data: bytes) -> str:
        """Takes a file; "" or one line that says what is wrong with it."""
        ...

    def saved(self, control: str) -> tuple[str, str]:
        """Name and text of the file that a save control offers."""
        ...


# -- What a page may ask for, and how each wish must look ------------------------------------------------------------


#: Slow motion: real time, a half, a quarter, a tenth.
PACES = (1, 0.5, 0.25, 0.1)
#: Longest name of a scene, robot, control, file; the file systems' own limit.
LONGEST = 255
#: Nobody holds so many keys, and no pad has so many buttons.
MANY = 64


def wish(text: str | bytes) -> tuple[str, Any] | str:
    """Name and value of a command of a page, or one line that says why it is none.

    Args:
        text: JSON, `{"do": name, "with": value}`.

    Example:
        >>> wish('{"do": "pace", "with": 0.5}')
        ('pace', 0.5)
        >>> wish('{"do": "stick", "with": [2, 0, 0]}')
        "'stick' cannot be [2, 0, 0]; expected forward, left and turn, each between -1 and 1"
    """
    try:
        given = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return "the page sent something that is not JSON; reload it"
    name = given.get("do") if isinstance(given, dict) else None
    if not isinstance(name, str) or name not in COMMANDS:
        return f"the page asked for {str(name)[:40]!r}; expected one of {', '.join(COMMANDS)}; reload it"
    fits, expected = COMMANDS[name]
    value = given.get("with")
    return (name, value) if fits(value) else f"'{name}' cannot be {str(value)[:60]}; expected {expected}"


def _refuse(constant: str) -> float:
    raise ValueError(constant)


def _name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST


def _nothing(value: object) -> bool:
    return value is None


def _switch(value: object) -> bool:
    return isinstance(value, bool)


def _stick(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(is_number(part) and abs(part) <= 1 for part in value)


def _hands(value: Any) -> bool:
    if value is None:
        return True
    if not (isinstance(value, dict) and value.keys() == {"keys", "pad", "axes"}):
        return False
    keys, pad, axes = value["keys"], value["pad"], value["axes"]
    return (
        isinstance(keys, list) and len(keys) <= MANY and all(map(_name, keys))
        and isinstance(axes, list) and len(axes) == 6 and all(is_number(part) and abs(part) <= 1 for part in axes)
        and (pad is None or _pad(pad))
    )  # fmt: skip


def _pad(value: Any) -> bool:
    if not (isinstance(value, dict) and value.keys() == {"standard", "axes", "buttons"}):
        return False
    lists = value["axes"], value["buttons"]
    return isinstance(value["standard"], bool) and all(
        isinstance(given, list) and len(given) <= MANY and all(map(is_number, given)) for given in lists
    )


def _pace(value: object) -> bool:
    return is_number(value) and value in PACES


def _control(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and _name(value[0])


def _replay(value: Any) -> bool:
    return value is None or (isinstance(value, dict) and _name(value.get("file")) and is_number(value.get("time")))


def _export(value: Any) -> bool:
    return isinstance(value, dict) and _name(value.get("file")) and _name(value.get("format"))


#: Every command: what its value must be, and the same in words.
COMMANDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "alive": (_nothing, "nothing"),
    "stick": (_stick, "forward, left and turn, each between -1 and 1"),
    "hands": (
        _hands,
        "keys, a pad (standard, axes, buttons) or null, and six axes between -1 and 1; or null for nothing",
    ),
    "play": (_switch, "true or false"),
    "pace": (_pace, f"one of {', '.join(map(str, PACES))}"),
    "reset": (_nothing, "nothing"),
    "scene": (_name, "the name of a scene"),
    "robot": (_name, "the name of a robot"),
    "record": (_switch, "true or false"),
    "limb": (_name, "the name of a limb"),
    "control": (_control, "the name of a control and its value"),
    "replay": (_replay, "a file and a time, or null"),
    "export": (_export, "a file and a format"),
}

# -- The conversation with a page: what it hears, what it asks for ---------------------------------------------------


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
            with suppress(websockets.exceptions.ConnectionClosed):
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
        with suppress(websockets.exceptions.ConnectionClosed):
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


# -- Takes a file from a page ----------------------------------------------------------------------------------------


#: Seconds that a page may take for one piece: a phone on a poor network manages 64 kB.
PATIENCE = 30.0
#: Seconds in which a page that was told so stops sending.
LEAVE = 2.0


async def take(page: ServerConnection, hub: Hub, control: str, filename: str) -> None:
    """Receives one file and tells the page in one line what was wrong with it; "" if nothing was.

    The page sends pieces as binary messages, then one text message; it hears `{"error": "..."}`. A file that grows too
    large is refused at the piece that was one too many: nothing of it is kept.
    """
    with suppress(websockets.exceptions.ConnectionClosed, TimeoutError):
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
