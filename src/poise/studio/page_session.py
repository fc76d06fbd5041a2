"""Websocket sessions of pages: commands that a page sends, data that it receives, files that it uploads."""

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
        """Return the path of the file of this name; raise PoiseError if there is none."""
        ...


class HubInterface(Protocol):
    """Interface between pages and the studio. Only `upload` and `file_to_save` may block; they run in a thread."""

    @property
    def hello_version(self) -> int:
        """Increases whenever `hello` changes."""
        ...

    @property
    def viewer_port(self) -> int:
        """Port of viser on loopback."""
        ...

    @property
    def output(self) -> FileStore:
        """Files for download."""
        ...

    def hello(self) -> dict[str, Any]:
        """Return what a page needs to draw itself: scenes, robots, controls and files."""
        ...

    def frame(self) -> dict[str, Any] | None:
        """Return the latest data of the simulation; each new frame has another "number"."""
        ...

    def messages(self, since: int) -> list[dict[str, Any]]:
        """Return the messages after number `since`, oldest first."""
        ...

    def handle_command(self, name: str, value: Any) -> None:
        """Execute a command of a page; return at once and never raise."""
        ...

    def set_page_count(self, count: int) -> None:
        """Set the number of connected pages."""
        ...

    def upload(self, control: str, filename: str, data: bytes) -> str:
        """Receive a file; return "" or one line that says what is wrong with it."""
        ...

    def file_to_save(self, control: str) -> tuple[str, str]:
        """Return name and text of the file of a save control."""
        ...


# -- Commands of a page and their validation -------------------------------------------------------------------------


#: Simulated time per real time: real time, a half, a quarter, a tenth.
TIME_SCALES = (1, 0.5, 0.25, 0.1)
#: Played time per real time of a replay, which may also be faster.
REPLAY_SPEEDS = (4, 2, *TIME_SCALES)
#: Longest name of a scene, robot, control or file (characters); the limit of common file systems.
MAX_NAME_LENGTH = 255
#: Largest number of keys, axes or buttons in a message.
MAX_INPUTS = 64


def parse_command(text: str | bytes) -> tuple[str, Any] | str:
    """Parse and validate a command of a page; return its name and value, or one line that says what is wrong.

    Args:
        text: JSON, `{"command": name, "value": value}`.

    Example:
        >>> parse_command('{"command": "time_scale", "value": 0.5}')
        ('time_scale', 0.5)
        >>> parse_command('{"command": "stick", "value": [2, 0, 0]}')
        "'stick' cannot be [2, 0, 0]; expected forward, left and turn, each between -1 and 1"
    """
    try:
        command = json.loads(text, parse_constant=_reject_constant)
    except (ValueError, RecursionError):
        return "the page sent a message that is not JSON; reload the page"
    name = command.get("command") if isinstance(command, dict) else None
    if not isinstance(name, str) or name not in COMMANDS:
        return (
            f"the page sent unknown command {str(name)[:40]!r}; expected one of {', '.join(COMMANDS)}; reload the page"
        )
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


def _is_replay_speed(value: object) -> bool:
    return is_number(value) and value in REPLAY_SPEEDS


def _is_control(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and _is_name(value[0])


def _is_replay(value: Any) -> bool:
    return value is None or (isinstance(value, dict) and _is_name(value.get("file")) and is_number(value.get("time")))


def _is_export(value: Any) -> bool:
    return isinstance(value, dict) and _is_name(value.get("file")) and _is_name(value.get("format"))


#: Commands by name: the check of the value, and a description of valid values for error messages.
COMMANDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "keep_alive": (_is_null, "nothing"),
    "stick": (_is_stick, "forward, left and turn, each between -1 and 1"),
    "operator_input": (
        _is_operator_input,
        "keys, a gamepad (standard, axes, buttons) or null, and six axes between -1 and 1; or null",
    ),
    "play": (_is_bool, "true or false"),
    "time_scale": (_is_time_scale, f"one of {', '.join(map(str, TIME_SCALES))}"),
    "reset": (_is_null, "nothing"),
    "undo": (_is_null, "nothing"),
    "scene": (_is_name, "the name of a scene"),
    "robot": (_is_name, "the name of a robot"),
    "record": (_is_bool, "true or false"),
    "limb": (_is_name, "the name of a limb"),
    "control": (_is_control, "the name of a control and its value"),
    "replay": (_is_replay, "a file and a time, or null"),
    "loop": (_is_bool, "true or false"),
    "replay_speed": (_is_replay_speed, f"one of {', '.join(map(str, REPLAY_SPEEDS))}"),
    "export": (_is_export, "a file and a format"),
    "cancel_job": (_is_name, "the name of an export or of the fit"),
}

# -- Sessions --------------------------------------------------------------------------------------------------------


#: Seconds between two updates of a page: the eye follows no more than 20 Hz in numbers and plots.
POLL_PERIOD = 0.05


class PageSessions:
    """Sessions of all open pages.

    Each page has its own sender task, so a slow page does not delay others. The task sends the latest frame, and the
    next one only after the browser has answered a ping that follows the frame; frames in between are dropped. Messages
    that were sent to a page before this one connected are marked as "already_shown".

    Args:
        hub: source of the data and receiver of the commands.
    """

    def __init__(self, hub: HubInterface) -> None:
        self._hub = hub
        self._pages: set[ServerConnection] = set()
        self._last_shared_message = -1  # number of the last message that was sent to any page

    async def serve_page(self, page: ServerConnection) -> None:
        """Serve one page until it disconnects."""
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


# -- Uploads ---------------------------------------------------------------------------------------------------------


#: Time limit for one chunk of a file (s): a phone on a slow network sends 64 kB in that time.
CHUNK_TIMEOUT = 30.0
#: Time for a page to stop sending after it has received an error (s).
CLOSE_TIMEOUT = 2.0


async def receive_upload(page: ServerConnection, hub: HubInterface, control: str, filename: str) -> None:
    """Receive one file from a page, pass it to `HubInterface.upload`, and reply with the error.

    The page sends chunks as binary messages, then one text message; the reply is `{"error": "..."}`, with "" on
    success. A file is refused at the first chunk that exceeds the size limit, and its data are discarded.

    Args:
        page: websocket of the upload.
        hub: receiver of the file.
        control: name of the upload control.
        filename: name of the file, as the user calls it.
    """
    with suppress(websockets.exceptions.ConnectionClosed, TimeoutError):
        error = await _receive_file(page, hub, control, filename)
        await page.send(to_json({"error": error}))
        async with asyncio.timeout(CLOSE_TIMEOUT):  # closing with unread chunks would lose the reply on its way
            async for _ in page:
                pass


async def _receive_file(page: ServerConnection, hub: HubInterface, control: str, filename: str) -> str:
    upload_controls = {each["name"]: each for each in hub.hello()["controls"] if each["kind"] == "upload"}
    if control not in upload_controls:
        return f"this scene has no upload '{control[:40]}'; reload the page"
    if not 0 < len(filename) <= MAX_NAME_LENGTH or any(letter in filename for letter in "/\\\0"):
        return f"'{filename[:40]}' is not a valid file name; rename the file"
    accepted = str(upload_controls[control].get("accept", "")).split(",")
    if not filename.lower().endswith(tuple(accepted)):
        return f"'{filename}' does not end in {' or '.join(accepted)}; choose another file"
    max_bytes = int(upload_controls[control].get("max_bytes", MAX_UPLOAD_BYTES))
    data = bytearray()
    while True:
        try:
            chunk = await asyncio.wait_for(page.recv(), CHUNK_TIMEOUT)
        except TimeoutError:
            return f"'{filename}' did not arrive: no data for {CHUNK_TIMEOUT:g} s; try again"
        if isinstance(chunk, str):
            return await asyncio.to_thread(hub.upload, control, filename, bytes(data))
        data += chunk
        if len(data) > max_bytes:
            return f"'{filename}' is too large: the limit is {max_bytes / 1000:g} kB; choose a smaller file"
