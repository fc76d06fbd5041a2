"""HTTP access control, and HTTP responses with security headers.

A studio bound to loopback can be reached by the user of the machine, and by every web page that the user has open: a
page of another site can send requests to `127.0.0.1`, and can even use the studio's host name if its domain resolves to
127.0.0.1 (DNS rebinding). Therefore the `Host` header of a request must be a loopback name with the studio's port, and
an `Origin` header, which browsers send with every websocket, must be the studio's own.

A studio bound to another address can be reached from the network. It requires a token: `/?token=...` sets a cookie;
requests without that cookie get a one-line error.
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

#: Loopback names that a browser may send as `Host`.
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")

HeaderLookup = Callable[[str], Sequence[str]]  # all values of a header by its name


def bracket_ipv6(host: str) -> str:
    """Return a host as written in a URL: IPv6 addresses in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


@dataclass(frozen=True)
class AccessControl:
    """Access control of requests by their headers.

    Args:
        host: address that the studio is bound to.
        port: port that the studio is bound to.
        token: secret that requests must present; "": no token required, which is safe on loopback only.

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
        """Name of the cookie. It contains the port, since browsers share cookies among the ports of a host."""
        return f"poise_studio_{self.port}"

    def request_error(self, header: HeaderLookup) -> str:
        """Return the reason why `Host` or `Origin` of a request is refused, in one line; "" if it is accepted."""
        hosts = [value.lower() for value in header("Host")]
        if len(hosts) != 1 or not re.fullmatch(r"[a-z0-9._\-]+(:\d+)?|\[[0-9a-f:.]+\](:\d+)?", hosts[0]):
            return "the request has no valid Host header; use a web browser"
        if is_loopback(self.host) and hosts[0] not in self._allowed_hosts():
            return f"'{hosts[0]}' is not the address of this studio; open http://{bracket_ipv6(self.host)}:{self.port}/"
        origins = [value.lower() for value in header("Origin")]
        if any(origin not in (f"http://{hosts[0]}", f"https://{hosts[0]}") for origin in origins):
            return "the request comes from another site; open the page of the studio"
        return ""

    def token_matches(self, token: str) -> bool:
        """Return whether `token` is the studio's, in constant time: the duration reveals nothing about the token."""
        return bool(self.token) and hmac.compare_digest(token.encode(errors="replace"), self.token.encode())

    def authentication_error(self, header: HeaderLookup) -> str:
        """Return the reason why a request without the cookie is refused; "" if it has the cookie or needs none."""
        if not self.token or any(self.token_matches(value) for value in self._cookie_values(header)):
            return ""
        return "this studio requires a token; open the address with '?token=' that it printed at start"

    def _allowed_hosts(self) -> list[str]:
        names = [*LOOPBACK_NAMES, bracket_ipv6(self.host.lower())]
        # Browsers omit the default port of http.
        return [f"{name}:{self.port}" for name in names] + (names if self.port == 80 else [])

    def _cookie_values(self, header: HeaderLookup) -> list[str]:
        pairs = [part.strip().partition("=") for value in header("Cookie") for part in value.split(";")]
        return [value for name, _, value in pairs if name == self.cookie]


# -- HTTP responses --------------------------------------------------------------------------------------------------


#: Folder of the studio's page and its scripts and styles.
PAGE_FOLDER = Path(__file__).parent / "page"
#: Built client inside the viser package. It is not part of viser's public API, so viser is pinned in pyproject.toml.
VISER_CLIENT = Path("client/build/index.html")

CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
#: Content type of downloads: browsers store them and never render them as a page of the studio.
DOWNLOAD_TYPE = "application/octet-stream"


def page_files() -> dict[str, bytes]:
    """Return the files of the studio's page by name. Only these names are served, so no path leads outside."""
    return {path.name: path.read_bytes() for path in sorted(PAGE_FOLDER.iterdir()) if path.suffix in CONTENT_TYPES}


def viser_client() -> bytes:
    """Return viser's built client: a single self-contained HTML file."""
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
    """Build a response that other sites cannot read or frame, and that browsers neither cache nor sniff.

    Args:
        body: content.
        content_type: MIME type; the browser must not guess another one.
        policy: Content-Security-Policy: what this document may load.
        status: HTTP status.
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
    """Build a response with one line of plain text."""
    return response(f"poise studio: {text}\n".encode(), "text/plain; charset=utf-8", policy(), status, **extra)


def file_response(name: str, body: bytes) -> Response:
    """Build a response that the browser downloads as a file called `name`."""
    disposition = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
    return response(body, DOWNLOAD_TYPE, policy() + "; sandbox", Content_Disposition=disposition)


def policy(*rules: str) -> str:
    """Return a Content-Security-Policy that allows only `rules`, and framing only by the studio's own pages."""
    return "; ".join(["default-src 'none'", *rules, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'self'"])


def page_policy(host: str) -> str:
    """Return the policy of the studio's page: its own files and websockets, and viser's client in a frame."""
    same_origin = "'self'"
    # In older browsers 'self' does not include websockets of the same host.
    sockets = f"connect-src {same_origin} ws://{host} wss://{host}"
    return policy(
        f"script-src {same_origin}",
        f"style-src {same_origin}",
        f"img-src {same_origin} data:",
        f"frame-src {same_origin}",
        sockets,
    )


def viser_policy(host: str) -> str:
    """Return the policy of viser's client.

    The client is one file that unpacks and evaluates itself and starts workers; it may not load from other hosts.
    """
    return policy(
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob: data:",
        "worker-src 'self' blob: data:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' blob: data:",
        "font-src 'self' data:",
        f"connect-src 'self' blob: data: ws://{host} wss://{host}",
    )


def to_json(value: object) -> str:
    """Encode a value as strict JSON; numbers that are not finite become null, as browsers reject NaN."""
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"))
    except ValueError:
        return json.dumps(json_ready(value), separators=(",", ":"))
