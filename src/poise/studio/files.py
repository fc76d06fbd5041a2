"""Answers over HTTP: the shell page, viser's client, files to download; each with the headers that fence it in."""

from __future__ import annotations

import importlib.util
import json
from http import HTTPStatus
from pathlib import Path
from urllib.parse import quote

from websockets.datastructures import Headers
from websockets.http11 import Response

from poise.errors import UsageError

#: The shell page and everything it needs.
PAGE = Path(__file__).parent / "page"
#: viser's built client, inside its package: not part of what viser promises, so pinned in pyproject.toml.
CLIENT = Path("client/build/index.html")

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
#: What is downloaded is never shown as a page of ours.
DOWNLOAD = "application/octet-stream"


def page_files() -> dict[str, bytes]:
    """Content of the shell page's files by name. Only these names are served, so no path leads elsewhere."""
    return {path.name: path.read_bytes() for path in sorted(PAGE.iterdir()) if path.suffix in KINDS}


def viser_client() -> bytes:
    """viser's built client: one HTML file with everything in it."""
    found = importlib.util.find_spec("viser")
    if found is None or found.origin is None:
        raise UsageError("the studio needs viser, which is not installed; install it with: pip install 'poise[studio]'")
    path = Path(found.origin).parent / CLIENT
    if not path.is_file():
        raise UsageError(
            f"viser has no '{CLIENT.as_posix()}' in its package; expected viser 1.1: pip install 'viser>=1.1,<1.2'"
        )
    return path.read_bytes()


def answer(body: bytes, kind: str, policy: str, status: HTTPStatus = HTTPStatus.OK, **more: str) -> Response:
    """An answer that no other site may read or frame, that is taken for nothing but its `kind`, and not kept.

    Args:
        policy: Content-Security-Policy: what this document may load.
        more: further headers, with `_` for `-`.
    """
    headers = Headers(
        {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Content-Security-Policy": policy,
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "SAMEORIGIN",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Connection": "close",
            **{name.replace("_", "-"): value for name, value in more.items()},
        }
    )
    return Response(status.value, status.phrase, headers, body)


def line(text: str, status: HTTPStatus, **more: str) -> Response:
    """One line of text."""
    return answer(f"poise studio: {text}\n".encode(), "text/plain; charset=utf-8", policy(), status, **more)


def download(name: str, body: bytes) -> Response:
    """A file that the browser stores under `name`."""
    where = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
    return answer(body, DOWNLOAD, policy() + "; sandbox", Content_Disposition=where)


def policy(*rules: str) -> str:
    """A Content-Security-Policy: nothing but what `rules` allow; frames only of our own pages."""
    return "; ".join(["default-src 'none'", *rules, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'self'"])


def page_policy(host: str) -> str:
    """Of the shell page: its own files, its own websockets, viser's client in a frame."""
    own = "'self'"
    # Older browsers do not take the websockets of a page for its own.
    sockets = f"connect-src {own} ws://{host} wss://{host}"
    return policy(f"script-src {own}", f"style-src {own}", f"img-src {own} data:", f"frame-src {own}", sockets)


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


def as_text(value: object) -> str:
    """JSON that every browser reads: numbers that are not finite become null."""
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"))
    except ValueError:
        return json.dumps(_finite(json.loads(json.dumps(value))), separators=(",", ":"))


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not abs(value) < float("inf") else value
