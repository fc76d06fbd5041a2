"""Who may come in.

A studio bound to loopback is reached by the user of this machine, and by every web page that this user has open: a page
of a stranger may send requests to `127.0.0.1`, and may even bear its name by pointing the stranger's own domain there
(DNS rebinding). So the `Host` of a request must be a name of loopback with our port, and an `Origin`, which browsers
send along with every websocket, must be ours.

A studio bound elsewhere is reached by the whole network. There a token opens it: `/?token=...` leaves a cookie, and
without the cookie nothing is answered but one line.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

#: Names of loopback that a browser may write into `Host`.
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")

Header = Callable[[str], Sequence[str]]  # all values of a header by its name


def is_loopback(host: str) -> bool:
    """True if only this machine can reach what is bound to `host`; an empty host binds to everything.

    Example:
        >>> is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
        (True, True, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def bracketed(host: str) -> str:
    """A host as it stands in an address: numbers of IPv6 in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


@dataclass(frozen=True)
class Gate:
    """Decides on requests by their headers alone.

    Args:
        host: what the studio is bound to.
        port: the port it is bound to.
        token: what opens it; "" if nothing is needed, which is right on loopback only.

    Example:
        >>> Gate("127.0.0.1", 8080).refusal(lambda name: ["evil.example:8080"] if name == "Host" else [])[:26]
        "'evil.example:8080' is not"
    """

    host: str
    port: int
    token: str = ""

    @property
    def cookie(self) -> str:
        """Name of the cookie. Browsers share cookies among the ports of a host, so it bears ours."""
        return f"poise_studio_{self.port}"

    def refusal(self, header: Header) -> str:
        """Why a request is refused, in one line; "" if it is not."""
        hosts = [value.lower() for value in header("Host")]
        if len(hosts) != 1 or not re.fullmatch(r"[a-z0-9._\-]+(:\d+)?|\[[0-9a-f:.]+\](:\d+)?", hosts[0]):
            return "the request does not name the host it wants; use a web browser"
        if is_loopback(self.host) and hosts[0] not in self._names():
            return f"'{hosts[0]}' is not a name of this studio; open http://{bracketed(self.host)}:{self.port}/"
        origins = [value.lower() for value in header("Origin")]
        if any(origin not in (f"http://{hosts[0]}", f"https://{hosts[0]}") for origin in origins):
            return "the request comes from a page of another site; open the studio's own page"
        return ""

    def opens(self, token: str) -> bool:
        """True for our token. The time this takes does not tell how much of it was right."""
        return bool(self.token) and hmac.compare_digest(token.encode(errors="replace"), self.token.encode())

    def stranger(self, header: Header) -> str:
        """Why a request without our token is refused, in one line; "" if it has the cookie or needs none."""
        if not self.token or any(self.opens(value) for value in self._cookies(header)):
            return ""
        return "this studio needs its token; open the address with '?token=' that it printed when it started"

    def _names(self) -> list[str]:
        names = [*LOOPBACK, bracketed(self.host.lower())]
        # Browsers leave the port of http out.
        return [f"{name}:{self.port}" for name in names] + (names if self.port == 80 else [])

    def _cookies(self, header: Header) -> list[str]:
        pairs = [part.strip().partition("=") for value in header("Cookie") for part in value.split(";")]
        return [value for name, _, value in pairs if name == self.cookie]
