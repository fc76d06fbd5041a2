"""HTTP access control, and responses with security headers.

A studio bound to loopback is reached by the user of this machine, and by every web page that this user has open: a page
of a stranger may send requests to `127.0.0.1`, and may even bear its name by pointing the stranger's own domain there
(DNS rebinding). So the `Host` of a request must be a name of loopback with our port, and an `Origin`, which browsers
send along with every websocket, must be ours.

A studio bound elsewhere is reached by the whole network. There a token opens it: `/?token=...` leaves a cookie, and
without the cookie nothing is answered but one line.
"""

from __future__ import annotations

import hmac
import importlib.util
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from poise.errors import UsageError
from poise.extras import require, websockets
from poise.files import json_ready
from poise.parsing import is_loopback

if TYPE_CHECKING:
    from websockets.http11 import Response

#: Names of loopback that a browser may write into `Host`.
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")

HeaderLookup = Callable[[str], Sequence[str]]  # all values of a header by its name


def bracket_ipv6(host: str) -> str:
    """A host as it stands in an address: numbers of IPv6 in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


@dataclass(frozen=True)
class AccessControl:
    """Decides on requests by their headers alone.

    Args:
        host: what the studio is bound to.
        port: the port it is bound to.
        token: what opens it; "" if nothing is needed, which is right on loopback only.

    Example:
        >>> access = AccessControl("127.0.0.1", 8080)
        >>> access.request_error(lambda name: ["evil.example:8080"] if name == "Host" else [])[:26]
        "'evil.example:8080' is not"
    """

    host: str
    port: int
    token: str = ""

    @property
    def cookie(self) -> str:
        """Name of the cookie. Browsers share cookies among the ports of a host, so it bears ours."""
        return f"poise_studio_{self.port}"

    def request_error(self, header: HeaderLookup) -> str:
        """Why a request is refused, in one line; "" if it is not."""
        hosts = [value.lower() for value in header("Host")]
        if len(hosts) != 1 or not re.fullmatch(r"[a-z0-9._\-]+(:\d+)?|\[[0-9a-f:.]+\](:\d+)?", hosts[0]):
            return "the request does not name the host it wants; use a web browser"
        if is_loopback(self.host) and hosts[0] not in self._allowed_hosts():
            return f"'{hosts[0]}' is not a name of this studio; open http://{bracket_ipv6(self.host)}:{self.port}/"
        origins = [value.lower() for value in header("Origin")]
        if any(origin not in (f"http://{hosts[0]}", f"https://{hosts[0]}") for origin in origins):
            return "the request comes from a page of another site; open the studio's own page"
        return ""

    def token_matches(self, token: str) -> bool:
        """True for our token. The time this takes does not tell how much of it was right."""
        return bool(self.token) and hmac.compare_digest(token.encode(errors="replace"), self.token.encode())

    def authentication_error(self, header: HeaderLookup) -> str:
        """Why a request without our token is refused, in one line; "" if it has the cookie or needs none."""
        if not self.token or any(self.token_matches(value) for value in self._cookie_values(header)):
            return ""
        return "this studio needs its token; open the address with '?token=' that it printed when it started"

    def _allowed_hosts(self) -> list[str]:
        names = [*LOOPBACK_NAMES, bracket_ipv6(self.host.lower())]
        # Browsers leave the port of http out.
        return [f"{name}:{self.port}" for name in names] + (names if self.port == 80 else [])

    def _cookie_values(self, header: HeaderLookup) -> list[str]:
        pairs = [part.strip().partition("=") for value in header("Cookie") for part in value.split(";")]
        return [value for name, _, value in pairs if name == self.cookie]


# -- Answers over HTTP -----------------------------------------------------------------------------------------------


#: The shell page and everything it needs.
PAGE_FOLDER = Path(__file__).parent / "page"
#: viser's built client, inside its package: not part of what viser promises, so pinned in pyproject.toml.
VISER_CLIENT = Path("client/build/index.html")

CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
#: What is downloaded is never shown as a page of ours.
DOWNLOAD_TYPE = "application/octet-stream"


def page_files() -> dict[str, bytes]:
    """Content of the shell page's files by name. Only these names are served, so no path leads elsewhere."""
    return {path.name: path.read_bytes() for path in sorted(PAGE_FOLDER.iterdir()) if path.suffix in CONTENT_TYPES}


def viser_client() -> bytes:
    """viser's built client: one HTML file with everything in it."""
    require("viser")
    spec = importlib.util.find_spec("viser")
    path = Path((spec and spec.origin) or "viser").parent / VISER_CLIENT
    if not path.is_file():
        raise UsageError(
            f"viser has no '{VISER_CLIENT.as_posix()}' in its package; "
            "expected viser 1.1: pip install 'viser>=1.1,<1.2'"
        )
    return path.read_bytes()


def response(body: bytes, content_type: str, policy: str, status: HTTPStatus = HTTPStatus.OK, **extra: str) -> Response:
    """An answer that no other site may read or frame, that is taken for nothing but its `content_type`, and not kept.

    Args:
        policy: Content-Security-Policy: what this document may load.
        extra: further headers, with `_` for `-`.
    """
    headers = websockets.datastructures.Headers(
        {
            "Content-Type": content_type,
            "Content-Length": str(len(body)),
            "Content-Security-Policy": policy,
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "SAMEORIGIN",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Connection": "close",
            **{name.replace("_", "-"): value for name, value in extra.items()},
        }
    )
    return websockets.http11.Response(status.value, status.phrase, headers, body)


def text_response(text: str, status: HTTPStatus, **extra: str) -> Response:
    """One line of text."""
    return response(f"poise studio: {text}\n".encode(), "text/plain; charset=utf-8", policy(), status, **extra)


def file_response(name: str, body: bytes) -> Response:
    """A file that the browser stores under `name`."""
    disposition = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
    return response(body, DOWNLOAD_TYPE, policy() + "; sandbox", Content_Disposition=disposition)


def policy(*rules: str) -> str:
    """A Content-Security-Policy: nothing but what `rules` allow; frames only of our own pages."""
    return "; ".join(["default-src 'none'", *rules, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'self'"])


def page_policy(host: str) -> str:
    """Of the shell page: its own files, its own websockets, viser's client in a frame."""
    same_origin = "'self'"
    # Older browsers do not take the websockets of a page for its own.
    sockets = f"connect-src {same_origin} ws://{host} wss://{host}"
    return policy(
        f"script-src {same_origin}",
        f"style-src {same_origin}",
        f"img-src {same_origin} data:",
        f"frame-src {same_origin}",
        sockets,
    )


def viser_policy(host: str) -> str:
    """Of viser's client: one file that unpacks and evaluates itself and starts workers; but no outside address."""
    return policy(
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob: data:",
        "worker-src 'self' blob: data:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' blob: data:",
        "font-src 'self' data:",
        f"connect-src 'self' blob: data: ws://{host} wss://{host}",
    )


def to_json(value: object) -> str:
    """JSON that every browser reads: numbers that are not finite become null."""
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"))
    except ValueError:
        return json.dumps(json_ready(value), separators=(",", ":"))
