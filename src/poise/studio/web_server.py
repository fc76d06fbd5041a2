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
from poise.studio import http_security
from poise.studio.http_security import AccessControl, bracket_ipv6
from poise.studio.page_session import HubInterface, PageSessions, receive_upload

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection
    from websockets.asyncio.server import ServerConnection
    from websockets.http11 import Request, Response
    from websockets.typing import Subprotocol

#: Bytes that viser may have sent and we not yet read. It joins poses that wait into the latest ones, but only while
#: they are still its own. Thirty poses a second of sixty links are 85 kB, so this is well below a second.
VISER_BUFFER = 32 * 1024
#: Beginning of the subprotocol by which viser's client tells its version.
VISER_SUBPROTOCOL = "viser-v"


async def proxy_to_viser(page: ServerConnection, port: int) -> None:
    """Joins a page to viser on `port` until one of them leaves.

    Nothing more is read from viser before the page's browser has taken what was read before (it answers a ping that
    follows), so that a slow page lags behind by little, and slows down nobody else.
    """
    with suppress(OSError, websockets.exceptions.WebSocketException):
        async with _connect_viser(page, port) as viser_connection:
            forwarders = [
                asyncio.create_task(_forward_to_viser(page, viser_connection)),
                asyncio.create_task(_forward_to_page(viser_connection, page)),
            ]
            try:
                await asyncio.wait(forwarders, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for forwarder in forwarders:
                    forwarder.cancel()
                await asyncio.gather(*forwarders, return_exceptions=True)


async def _forward_to_viser(page: ServerConnection, viser_connection: ClientConnection) -> None:
    async for message in page:
        await viser_connection.send(message)


async def _forward_to_page(viser_connection: ClientConnection, page: ServerConnection) -> None:
    async for message in viser_connection:
        await page.send(message)
        await (await page.ping())


@asynccontextmanager
async def _connect_viser(page: ServerConnection, port: int) -> AsyncIterator[ClientConnection]:
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setblocking(False)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, VISER_BUFFER)
    try:
        await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
    except OSError:
        sock.close()
        raise
    # A mesh is one message and may be of any size. No pings: viser is on this machine, and both ends close at once.
    async with websockets.asyncio.client.connect(
        f"ws://127.0.0.1:{port}",
        sock=sock,
        subprotocols=[page.subprotocol] if page.subprotocol else None,
        compression=None,
        max_size=None,
        max_queue=1,
        ping_interval=None,
        proxy=None,
    ) as viser_connection:
        yield viser_connection


# -- The studio's server ---------------------------------------------------------------------------------------------


#: Seconds for a whole answer: a film of half a gigabyte at one megabyte a second.
RESPONSE_TIMEOUT = 600.0
#: Seconds that a page has to take leave when the server stops.
CLOSE_TIMEOUT = 2.0
#: Bytes of one message of a page. viser's client sends cameras and clicks, ours commands and pieces of files.
MAX_MESSAGE_BYTES = 1 << 20
#: Bytes of a token: not to be guessed.
TOKEN_BYTES = 16

# Port scanners and browsers that change their mind are nothing to report.
_silent_logger = logging.getLogger("poise.studio.web_server")
_silent_logger.setLevel(logging.CRITICAL + 1)


class Server:
    """Serves a hub to web browsers, from a thread of its own.

    Args:
        hub: who answers.
        host: what to bind to; elsewhere than on loopback a token is needed, and made if none is given.
        port: 0 for any free one.
        token: what opens the studio; None: none on loopback.

    Example: `server = Server(hub, "127.0.0.1", 8080); server.start(); print(server.url)`
    """

    def __init__(self, hub: HubInterface, host: str, port: int, token: str | None = None) -> None:
        self._hub = hub
        self._sessions = PageSessions(hub)
        self._page_files = http_security.page_files()
        self._viser_page = http_security.viser_client()
        self._socket = _bind(host, port)
        token = (secrets.token_urlsafe(TOKEN_BYTES) if not is_loopback(host) else "") if token is None else token
        self.access = AccessControl(host, self._socket.getsockname()[1], token)
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="studio server", daemon=True)
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop_event: asyncio.Event | None = None

    @property
    def port(self) -> int:
        return self.access.port

    @property
    def url(self) -> str:
        """The address to open, with the token if there is one."""
        any_interface = self.access.host in ("", "0.0.0.0", "::")
        host = bracket_ipv6(socket.gethostname() if any_interface else self.access.host)
        return f"http://{host}:{self.port}/" + (f"?token={self.access.token}" if self.access.token else "")

    def start(self) -> None:
        """Returns once pages can connect."""
        self._thread.start()
        self._ready.wait()

    def stop(self) -> None:
        """Takes leave of all pages. Can be called more than once, and from any thread."""
        if self._loop is not None and self._stop_event is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop_event.set)
            self._thread.join(2 * CLOSE_TIMEOUT)
        self._socket.close()

    async def _serve(self) -> None:
        self._loop, self._stop_event = asyncio.get_running_loop(), asyncio.Event()
        async with websockets.asyncio.server.serve(
            self._serve_websocket,
            sock=self._socket,
            process_request=self._respond,
            select_subprotocol=_select_subprotocol,
            compression=None,
            max_size=MAX_MESSAGE_BYTES,
            open_timeout=RESPONSE_TIMEOUT,
            close_timeout=CLOSE_TIMEOUT,
            server_header=None,
            logger=_silent_logger,
        ):
            self._ready.set()
            await self._stop_event.wait()

    async def _respond(self, connection: ServerConnection, request: Request) -> Response | None:
        """An answer over HTTP, or None for a websocket that may be opened."""
        header = request.headers.get_all
        if error := self.access.request_error(header):
            return http_security.text_response(error, HTTPStatus.FORBIDDEN)
        address = urlsplit(request.path)
        if (
            address.path == "/"
            and (tokens := parse_qs(address.query).get("token"))
            and self.access.token_matches(tokens[0])
        ):
            # Lax, because the link may be followed from another site; HttpOnly, because no script needs it.
            cookie = f"{self.access.cookie}={self.access.token}; Path=/; HttpOnly; SameSite=Lax"
            return http_security.text_response("come in", HTTPStatus.SEE_OTHER, Location="/", Set_Cookie=cookie)
        if error := self.access.authentication_error(header):
            return http_security.text_response(error, HTTPStatus.FORBIDDEN)
        route, _, name = address.path.removeprefix("/").partition("/")
        if "websocket" in request.headers.get("Upgrade", "").lower():
            is_known_socket = (route in ("vws", "live") and not name) or (route == "upload" and name)
            return (
                None
                if is_known_socket
                else http_security.text_response("there is no such websocket", HTTPStatus.NOT_FOUND)
            )
        connection.close_timeout = RESPONSE_TIMEOUT  # what is left of a large file after the last write
        return await self._file_response(route, unquote(name), request.headers["Host"])

    async def _file_response(self, route: str, name: str, host: str) -> Response:
        if route in ("", "page"):
            name = name or "index.html"
            content_type = http_security.CONTENT_TYPES.get(os.path.splitext(name)[1], "")
            if name in self._page_files and (route == "page" or name == "index.html"):
                return http_security.response(self._page_files[name], content_type, http_security.page_policy(host))
        elif route == "viser" and not name:
            return http_security.response(
                self._viser_page, http_security.CONTENT_TYPES[".html"], http_security.viser_policy(host)
            )
        elif route in ("files", "save"):
            try:
                return http_security.file_response(*await asyncio.to_thread(self._read_download, route, name))
            except (PoiseError, LookupError, OSError) as error:
                return http_security.text_response(
                    f"there is no '{name[:60]}' to download ({error})", HTTPStatus.NOT_FOUND
                )
        return http_security.text_response("there is no such page; open /", HTTPStatus.NOT_FOUND)

    def _read_download(self, route: str, name: str) -> tuple[str, bytes]:
        if route == "files":
            return name, self._hub.output.path(name).read_bytes()
        filename, text = self._hub.file_to_save(name)
        return filename, text.encode()

    async def _serve_websocket(self, connection: ServerConnection) -> None:
        assert connection.request is not None
        address = urlsplit(connection.request.path)
        route, _, name = address.path.removeprefix("/").partition("/")
        if route == "vws":
            await proxy_to_viser(connection, self._hub.viewer_port)
        elif route == "live":
            await self._sessions.serve_page(connection)
        else:
            await receive_upload(connection, self._hub, unquote(name), parse_qs(address.query).get("name", [""])[0])


def _bind(host: str, port: int) -> socket.socket:
    """A socket that listens; raises one clear line otherwise."""
    if not 0 <= port <= 65535:
        raise UsageError(f"{port} is no port; expected 0 to 65535")
    try:
        addresses = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = addresses[0]
        # With its protocol named, asyncio lets small messages out at once; they would wait 40 ms for company otherwise.
        sock = socket.socket(family, kind, protocol)
        try:
            if os.name == "posix":  # elsewhere this would let two studios share a port
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(address)
            sock.listen()
        except BaseException:
            sock.close()
            raise
        return sock
    except PermissionError:
        raise UsageError(f"port {port} is reserved for the system; choose one above 1023: --port 8080") from None
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise UsageError(f"'{host}' is no address of this machine; expected e.g. 127.0.0.1") from None
        problem = f"port {port} of '{host}' is taken, perhaps by another studio"
        raise UsageError(f"{problem}; close it, or choose another port: --port {port + 1}") from None


def _select_subprotocol(connection: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    """viser's client tells its version as a subprotocol, and wants to hear it again."""
    return next((protocol for protocol in offered if protocol.startswith(VISER_SUBPROTOCOL)), None)
