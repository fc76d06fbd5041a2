"""Web server of the studio: pages, live data, the 3D view and files, all on one port.

    /               page of the studio           /page/NAME       its scripts and styles
    /viser/         viser's client               /vws             websocket, forwarded to viser
    /live           websocket, `PageSessions`    /upload/CONTROL  websocket, `receive_upload`
    /files/NAME     file of the output folder    /save/CONTROL    file of a save control

Requests for any other path get an error, and no other files are read from disk.
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

#: Receive buffer of the connection to viser (bytes). viser replaces poses that wait by newer ones, but only before it
#: has sent them, so a small buffer limits the lag. Poses of sixty links at 30 Hz are 85 kB/s: the lag is below 0.5 s.
VISER_BUFFER = 32 * 1024
#: Prefix of the subprotocol by which viser's client sends its version.
VISER_SUBPROTOCOL = "viser-v"


async def proxy_to_viser(page: ServerConnection, port: int) -> None:
    """Forward messages between a page and viser on `port` until one of them disconnects.

    The next message is read from viser only after the browser has answered a ping that follows the previous one, so a
    slow page lags only a little, and does not slow down other pages.
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
    # A mesh is one message and may have any size. No pings: viser is on this machine, and a closed end shows at once.
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


# -- Server ----------------------------------------------------------------------------------------------------------


#: Time limit for a whole response (s): a video of 0.5 GB at 1 MB/s.
RESPONSE_TIMEOUT = 600.0
#: Time for a page to close its connection when the server stops (s).
CLOSE_TIMEOUT = 2.0
#: Largest message of a page (bytes): cameras and clicks of viser's client, commands, and chunks of uploads.
MAX_MESSAGE_BYTES = 1 << 20
#: Length of a token (bytes): too long to be guessed.
TOKEN_BYTES = 16

# Port scanners and browsers that abort requests are not worth a log entry.
_silent_logger = logging.getLogger("poise.studio.web_server")
_silent_logger.setLevel(logging.CRITICAL + 1)


class Server:
    """Web server of a hub, in a separate thread.

    Args:
        hub: hub to serve.
        host: address to bind to.
        port: port to bind to; 0: any free one.
        token: secret that pages must present; "": none; None: no token on loopback, else a random one.

    Attributes:
        access: access control, with host, port and token.

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
        """Address of the page, with the token if there is one."""
        any_interface = self.access.host in ("", "0.0.0.0", "::")
        host = bracket_ipv6(socket.gethostname() if any_interface else self.access.host)
        return f"http://{host}:{self.port}/" + (f"?token={self.access.token}" if self.access.token else "")

    def start(self) -> None:
        """Start the server; return when pages can connect."""
        self._thread.start()
        self._ready.wait()

    def stop(self) -> None:
        """Close all connections and the server. Can be called repeatedly and from any thread."""
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
        """Return the HTTP response to a request, or None to accept a websocket."""
        header = request.headers.get_all
        if error := self.access.request_error(header):
            return http_security.text_response(error, HTTPStatus.FORBIDDEN)
        address = urlsplit(request.path)
        if (
            address.path == "/"
            and (tokens := parse_qs(address.query).get("token"))
            and self.access.token_matches(tokens[0])
        ):
            # Lax: the link may be opened from another site. HttpOnly: no script needs the cookie.
            cookie = f"{self.access.cookie}={self.access.token}; Path=/; HttpOnly; SameSite=Lax"
            return http_security.text_response("token accepted", HTTPStatus.SEE_OTHER, Location="/", Set_Cookie=cookie)
        if error := self.access.authentication_error(header):
            return http_security.text_response(error, HTTPStatus.FORBIDDEN)
        route, _, name = address.path.removeprefix("/").partition("/")
        if "websocket" in request.headers.get("Upgrade", "").lower():
            is_known_socket = (route in ("vws", "live") and not name) or (route == "upload" and name)
            return (
                None
                if is_known_socket
                else http_security.text_response(
                    "unknown websocket; expected /live, /vws or /upload/CONTROL", HTTPStatus.NOT_FOUND
                )
            )
        connection.close_timeout = RESPONSE_TIMEOUT  # a large file is still being sent after the last write
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
                return http_security.text_response(f"'{name[:60]}' cannot be downloaded: {error}", HTTPStatus.NOT_FOUND)
        return http_security.text_response("page not found; open /", HTTPStatus.NOT_FOUND)

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
    """Return a listening socket; raise UsageError if the address cannot be bound."""
    if not 0 <= port <= 65535:
        raise UsageError(f"{port} is not a valid port; expected 0 to 65535")
    try:
        addresses = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = addresses[0]
        # With the protocol given, asyncio sends small messages at once (TCP_NODELAY); else they would wait 40 ms.
        sock = socket.socket(family, kind, protocol)
        try:
            if os.name == "posix":  # on Windows this option would let two studios share a port
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
            raise UsageError(f"'{host}' is not an address of this machine; expected e.g. 127.0.0.1") from None
        problem = f"port {port} of '{host}' is in use, perhaps by another studio"
        raise UsageError(f"{problem}; close it, or choose another port: --port {port + 1}") from None


def _select_subprotocol(connection: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    """Return the subprotocol by which viser's client sends its version; it expects the same one back."""
    return next((protocol for protocol in offered if protocol.startswith(VISER_SUBPROTOCOL)), None)
