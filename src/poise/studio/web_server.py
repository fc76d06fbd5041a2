"""Web server of the studio: pages, live data, the 3D view and files, all on one port.

    /               the shell page             /page/NAME      its files
    /viser/         viser's client             /vws            websocket, handed on to viser
    /live           websocket, see `live`      /upload/CONTROL websocket, see `upload`
    /files/NAME     a file of the output       /save/CONTROL   what a save control offers

Nothing else is answered, and of the disk nothing else is read.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import secrets
import socket
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urlsplit

from poise.errors import PoiseError, UsageError
from poise.extras import websockets
from poise.parsing import is_loopback
from poise.studio import http_security as files
from poise.studio.http_security import Gate, bracketed
from poise.studio.page_session import Hub, Live, take

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection
    from websockets.asyncio.server import ServerConnection
    from websockets.http11 import Request, Response
    from websockets.typing import Subprotocol

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
    with suppress(OSError, websockets.exceptions.WebSocketException):
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
    async with websockets.asyncio.client.connect(
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


# -- The studio's server ---------------------------------------------------------------------------------------------


#: Seconds for a whole answer: a film of half a gigabyte at one megabyte a second.
LONGEST_ANSWER = 600.0
#: Seconds that a page has to take leave when the server stops.
LEAVE = 2.0
#: Bytes of one message of a page. viser's client sends cameras and clicks, ours commands and pieces of files.
MESSAGE = 1 << 20
#: Bytes of a token: not to be guessed.
TOKEN = 16

# Port scanners and browsers that change their mind are nothing to report.
_quiet = logging.getLogger("poise.studio.web_server")
_quiet.setLevel(logging.CRITICAL + 1)


class Server:
    """Serves a hub to web browsers, from a thread of its own.

    Args:
        hub: who answers.
        host: what to bind to; elsewhere than on loopback a token is needed, and made if none is given.
        port: 0 for any free one.
        token: what opens the studio; None: none on loopback.

    Example: `server = Server(hub, "127.0.0.1", 8080); server.start(); print(server.url)`
    """

    def __init__(self, hub: Hub, host: str, port: int, token: str | None = None) -> None:
        self._hub = hub
        self._live = Live(hub)
        self._page = files.page_files()
        self._viser = files.viser_client()
        self._socket = _bound(host, port)
        token = (secrets.token_urlsafe(TOKEN) if not is_loopback(host) else "") if token is None else token
        self.gate = Gate(host, self._socket.getsockname()[1], token)
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="studio server", daemon=True)
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._leave: asyncio.Event | None = None

    @property
    def port(self) -> int:
        return self.gate.port

    @property
    def url(self) -> str:
        """The address to open, with the token if there is one."""
        everywhere = self.gate.host in ("", "0.0.0.0", "::")
        host = bracketed(socket.gethostname() if everywhere else self.gate.host)
        return f"http://{host}:{self.port}/" + (f"?token={self.gate.token}" if self.gate.token else "")

    def start(self) -> None:
        """Returns once pages can connect."""
        self._thread.start()
        self._ready.wait()

    def stop(self) -> None:
        """Takes leave of all pages. Can be called more than once, and from any thread."""
        if self._loop is not None and self._leave is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._leave.set)
            self._thread.join(2 * LEAVE)
        self._socket.close()

    async def _serve(self) -> None:
        self._loop, self._leave = asyncio.get_running_loop(), asyncio.Event()
        async with websockets.asyncio.server.serve(
            self._talk,
            sock=self._socket,
            process_request=self._answer,
            select_subprotocol=_subprotocol,
            compression=None,
            max_size=MESSAGE,
            open_timeout=LONGEST_ANSWER,
            close_timeout=LEAVE,
            server_header=None,
            logger=_quiet,
        ):
            self._ready.set()
            await self._leave.wait()

    async def _answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """An answer over HTTP, or None for a websocket that may be opened."""
        header = request.headers.get_all
        if refusal := self.gate.refusal(header):
            return files.line(refusal, HTTPStatus.FORBIDDEN)
        address = urlsplit(request.path)
        if address.path == "/" and (tokens := parse_qs(address.query).get("token")) and self.gate.opens(tokens[0]):
            # Lax, because the link may be followed from another site; HttpOnly, because no script needs it.
            cookie = f"{self.gate.cookie}={self.gate.token}; Path=/; HttpOnly; SameSite=Lax"
            return files.line("come in", HTTPStatus.SEE_OTHER, Location="/", Set_Cookie=cookie)
        if refusal := self.gate.stranger(header):
            return files.line(refusal, HTTPStatus.FORBIDDEN)
        room, _, name = address.path.removeprefix("/").partition("/")
        if "websocket" in request.headers.get("Upgrade", "").lower():
            known = (room in ("vws", "live") and not name) or (room == "upload" and name)
            return None if known else files.line("there is no such websocket", HTTPStatus.NOT_FOUND)
        connection.close_timeout = LONGEST_ANSWER  # what is left of a large file after the last write
        return await self._file(room, unquote(name), request.headers["Host"])

    async def _file(self, room: str, name: str, host: str) -> Response:
        if room in ("", "page"):
            name = name or "index.html"
            kind = files.KINDS.get(os.path.splitext(name)[1], "")
            if name in self._page and (room == "page" or name == "index.html"):
                return files.answer(self._page[name], kind, files.page_policy(host))
        elif room == "viser" and not name:
            return files.answer(self._viser, files.KINDS[".html"], files.viser_policy(host))
        elif room in ("files", "save"):
            try:
                return files.download(*await asyncio.to_thread(self._offered, room, name))
            except (PoiseError, LookupError, OSError) as error:
                return files.line(f"there is no '{name[:60]}' to download ({error})", HTTPStatus.NOT_FOUND)
        return files.line("there is no such page; open /", HTTPStatus.NOT_FOUND)

    def _offered(self, room: str, name: str) -> tuple[str, bytes]:
        if room == "files":
            return name, self._hub.output.path(name).read_bytes()
        filename, text = self._hub.saved(name)
        return filename, text.encode()

    async def _talk(self, connection: ServerConnection) -> None:
        assert connection.request is not None
        address = urlsplit(connection.request.path)
        room, _, name = address.path.removeprefix("/").partition("/")
        if room == "vws":
            await pump(connection, self._hub.viewer_port)
        elif room == "live":
            await self._live.converse(connection)
        else:
            await take(connection, self._hub, unquote(name), parse_qs(address.query).get("name", [""])[0])


def _bound(host: str, port: int) -> socket.socket:
    """A socket that listens; raises one clear line otherwise."""
    if not 0 <= port <= 65535:
        raise UsageError(f"{port} is no port; expected 0 to 65535")
    try:
        known = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, where = known[0]
        # With its protocol named, asyncio lets small messages out at once; they would wait 40 ms for company otherwise.
        bound = socket.socket(family, kind, protocol)
        try:
            if os.name == "posix":  # elsewhere this would let two studios share a port
                bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(where)
            bound.listen()
        except BaseException:
            bound.close()
            raise
        return bound
    except PermissionError:
        raise UsageError(f"port {port} is reserved for the system; choose one above 1023: --port 8080") from None
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise UsageError(f"'{host}' is no address of this machine; expected e.g. 127.0.0.1") from None
        whose = f"port {port} of '{host}' is taken, perhaps by another studio"
        raise UsageError(f"{whose}; close it, or choose another port: --port {port + 1}") from None


def _subprotocol(connection: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    """viser's client tells its version as a subprotocol, and wants to hear it again."""
    return next((one for one in offered if one.startswith(VERSION)), None)
