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
from poise.studio.controls import MAX_UPLOAD_BYTES
from poise.studio.http_security import to_json

if TYPE_CHECKING:
    from websockets.asyncio.server import ServerConnection


class FileStore(Protocol):
    """Files that can be downloaded."""

    def path(self, name: str) -> Path:
        """Where the file of exactly this name lies; raises a PoiseError if there is none."""
        ...


class HubInterface(Protocol):
    """What pages hear and to whom they speak. Only `upload` and `file_to_save` block, in a thread."""

    @property
    def hello_version(self) -> int:
        """Grows whenever `hello` has something new to say."""
        ...

    @property
    def viewer_port(self) -> int:
        """Of viser, on loopback."""
        ...

    @property
    def output(self) -> FileStore: ...

    def hello(self) -> dict[str, Any]: ...

    def frame(self) -> dict[str, Any] | None:
        """The latest state of the simulation; its "number" grows."""
        ...

    def messages(self, since: int) -> list[dict[str, Any]]:
        """What was said after message number `since`, the oldest first."""
        ...

    def handle_command(self, name: str, value: Any) -> None:
        """What a page asks for; returns at once and never raises."""
        ...

    def set_page_count(self, count: int) -> None:
        """How many pages are connected now."""
        ...

    def upload(self, control: str, filename: str, data: bytes) -> str:
        """Takes a file; "" or one line that says what is wrong with it."""
        ...

    def file_to_save(self, control: str) -> tuple[str, str]:
        """Name and text of the file that a save control offers."""
        ...


# -- What a page may ask for, and how each wish must look ------------------------------------------------------------


#: Slow motion: real time, a half, a quarter, a tenth.
TIME_SCALES = (1, 0.5, 0.25, 0.1)
#: Longest name of a scene, robot, control, file; the file systems' own limit.
MAX_NAME_LENGTH = 255
#: Nobody holds so many keys, and no pad has so many buttons.
MAX_INPUTS = 64


def parse_command(text: str | bytes) -> tuple[str, Any] | str:
    """Name and value of a command of a page, or one line that says why it is none.

    Args:
        text: JSON, `{"command": name, "value": value}`.

    Example:
        >>> parse_command('{"command": "time_scale", "value": 0.5}')
        ('pace', 0.5)
        >>> parse_command('{"command": "stick", "value": [2, 0, 0]}')
        "'stick' cannot be [2, 0, 0]; expected forward, left and turn, each between -1 and 1"
    """
    try:
        command = json.loads(text, parse_constant=_reject_constant)
    except (ValueError, RecursionError):
        return "the page sent something that is not JSON; reload it"
    name = command.get("command") if isinstance(command, dict) else None
    if not isinstance(name, str) or name not in COMMANDS:
        return f"the page asked for {str(name)[:40]!r}; expected one of {', '.join(COMMANDS)}; reload it"
    is_valid, expected = COMMANDS[name]
    value = command.get("value")
    return (name, value) if is_valid(value) else f"'{name}' cannot be {str(value)[:60]}; expected {expected}"


def _reject_constant(constant: str) -> float:
    raise ValueError(constant)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MAX_NAME_LENGTH


def _is_null(value: object) -> bool:
    return value is None


def _is_bool(value: object) -> bool:
    return isinstance(value, bool)


def _is_stick(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(is_number(part) and abs(part) <= 1 for part in value)


def _is_operator_input(value: Any) -> bool:
    if value is None:
        return True
    if not (isinstance(value, dict) and value.keys() == {"keys", "gamepad", "axes"}):
        return False
    key_codes, gamepad, axes = value["keys"], value["gamepad"], value["axes"]
    return (
        isinstance(key_codes, list) and len(key_codes) <= MAX_INPUTS and all(map(_is_name, key_codes))
        and isinstance(axes, list) and len(axes) == 6 and all(is_number(part) and abs(part) <= 1 for part in axes)
        and (gamepad is None or _is_gamepad(gamepad))
    )  # fmt: skip


def _is_gamepad(value: Any) -> bool:
    if not (isinstance(value, dict) and value.keys() == {"standard", "axes", "buttons"}):
        return False
    lists = value["axes"], value["buttons"]
    return isinstance(value["standard"], bool) and all(
        isinstance(values, list) and len(values) <= MAX_INPUTS and all(map(is_number, values)) for values in lists
    )


def _is_time_scale(value: object) -> bool:
    return is_number(value) and value in TIME_SCALES


def _is_control(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and _is_name(value[0])


def _is_replay(value: Any) -> bool:
    return value is None or (isinstance(value, dict) and _is_name(value.get("file")) and is_number(value.get("time")))


def _is_export(value: Any) -> bool:
    return isinstance(value, dict) and _is_name(value.get("file")) and _is_name(value.get("format"))


#: Every command: what its value must be, and the same in words.
COMMANDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "keep_alive": (_is_null, "nothing"),
    "stick": (_is_stick, "forward, left and turn, each between -1 and 1"),
    "operator_input": (
        _is_operator_input,
        "keys, a gamepad (standard, axes, buttons) or null, and six axes between -1 and 1; or null for nothing",
    ),
    "play": (_is_bool, "true or false"),
    "time_scale": (_is_time_scale, f"one of {', '.join(map(str, TIME_SCALES))}"),
    "reset": (_is_null, "nothing"),
    "scene": (_is_name, "the name of a scene"),
    "robot": (_is_name, "the name of a robot"),
    "record": (_is_bool, "true or false"),
    "limb": (_is_name, "the name of a limb"),
    "control": (_is_control, "the name of a control and its value"),
    "replay": (_is_replay, "a file and a time, or null"),
    "export": (_is_export, "a file and a format"),
}

# -- The conversation with a page: what it hears, what it asks for ---------------------------------------------------


#: Seconds between two looks at the hub. Twenty frames a second are as many as an eye follows in numbers and plots.
POLL_PERIOD = 0.05


class PageSessions:
    """Talks with all pages that are open.

    Each page has its own teller, so that one that reads slowly holds up nobody. A teller sends a frame only once the
    page's browser has taken the one before (it answers a ping that follows the frame), and then sends the latest: what
    a page has missed is never sent. Messages that another page has shown before are marked as "already_shown".
    """

    def __init__(self, hub: HubInterface) -> None:
        self._hub = hub
        self._pages: set[ServerConnection] = set()
        self._last_shared_message = -1  # number of the last message that some page has been told

    async def serve_page(self, page: ServerConnection) -> None:
        """Talks with one page until it leaves."""
        self._pages.add(page)
        self._hub.set_page_count(len(self._pages))
        sender = asyncio.create_task(self._send_updates(page))
        try:
            with suppress(websockets.exceptions.ConnectionClosed):
                async for text in page:
                    command = parse_command(text)
                    if isinstance(command, str):
                        await page.send(to_json({"message": {"number": 0, "kind": "error", "text": command}}))
                    else:
                        self._hub.handle_command(*command)
        finally:
            sender.cancel()
            await asyncio.gather(sender, return_exceptions=True)
            self._pages.discard(page)
            self._hub.set_page_count(len(self._pages))

    async def _send_updates(self, page: ServerConnection) -> None:
        last_hello, last_message, last_frame = -1, -1, -1  # numbers of the last hello, message and frame
        shared_before = self._last_shared_message
        with suppress(websockets.exceptions.ConnectionClosed):
            while True:
                if (number := self._hub.hello_version) != last_hello:
                    last_hello = number
                    await page.send(to_json({"hello": self._hub.hello()}))
                for message in self._hub.messages(last_message):
                    last_message = max(last_message, int(message["number"]))
                    self._last_shared_message = max(self._last_shared_message, last_message)
                    await page.send(to_json({"message": {**message, "already_shown": last_message <= shared_before}}))
                frame = self._hub.frame()
                if frame is not None and frame["number"] != last_frame:
                    last_frame = frame["number"]
                    await page.send(to_json({"frame": frame}))
                    await (await page.ping())
                await asyncio.sleep(POLL_PERIOD)


# -- Takes a file from a page ----------------------------------------------------------------------------------------


#: Seconds that a page may take for one piece: a phone on a poor network manages 64 kB.
CHUNK_TIMEOUT = 30.0
#: Seconds in which a page that was told so stops sending.
CLOSE_TIMEOUT = 2.0


async def receive_upload(page: ServerConnection, hub: HubInterface, control: str, filename: str) -> None:
    """Receives one file and tells the page in one line what was wrong with it; "" if nothing was.

    The page sends pieces as binary messages, then one text message; it hears `{"error": "..."}`. A file that grows too
    large is refused at the piece that was one too many: nothing of it is kept.
    """
    with suppress(websockets.exceptions.ConnectionClosed, TimeoutError):
        error = await _receive_file(page, hub, control, filename)
        await page.send(to_json({"error": error}))
        async with asyncio.timeout(CLOSE_TIMEOUT):  # closed with pieces unread, the line would be lost on its way
            async for _ in page:
                pass


async def _receive_file(page: ServerConnection, hub: HubInterface, control: str, filename: str) -> str:
    upload_controls = {each["name"]: each for each in hub.hello()["controls"] if each["kind"] == "upload"}
    if control not in upload_controls:
        return f"nothing here takes a file under the name '{control[:40]}'; reload the page"
    if not 0 < len(filename) <= MAX_NAME_LENGTH or any(letter in filename for letter in "/\\\0"):
        return f"'{filename[:40]}' is no name of a file; rename it"
    max_bytes = int(upload_controls[control].get("max_bytes", MAX_UPLOAD_BYTES))
    data = bytearray()
    while True:
        try:
            chunk = await asyncio.wait_for(page.recv(), CHUNK_TIMEOUT)
        except TimeoutError:
            return f"'{filename}' did not arrive; nothing was heard for {CHUNK_TIMEOUT:g} s; try again"
        if isinstance(chunk, str):
            return await asyncio.to_thread(hub.upload, control, filename, bytes(data))
        data += chunk
        if len(data) > max_bytes:
            return f"'{filename}' is too large: this takes at most {max_bytes / 1000:g} kB; choose a smaller file"
