"""Addresses, and sockets that keep to their limits."""

from __future__ import annotations

import ipaddress
import re
from typing import Any

import zmq

from poise.plants.errors import PlantError

#: Where a plant is served unless told otherwise.
ADDRESS = "tcp://127.0.0.1:5560"
#: Largest message that is looked at, bytes: twenty times what a humanoid's state takes.
LARGEST = 64 * 1024
#: Larger messages than this libzmq does not even receive: it closes the connection. It lies above `LARGEST`, so that
#: what is merely too large can be counted.
WALL = 16 * LARGEST
#: Messages that wait in a socket, and bytes in the buffers of the system below it: about as many states or commands as
#: are made in the 0.2 s after which they are of no use.
WAITING, BUFFER = 50, 64 * 1024


def checked(address: Any, anywhere: bool = True) -> str:
    """An address of the form ``tcp://HOST:PORT`` or ``ipc://PATH``, or a PlantError.

    Args:
        address: port 0 stands for any that is free; localhost for 127.0.0.1.
        anywhere: whether the host may be another than this machine's loopback.
    """
    text = address.replace("//localhost:", "//127.0.0.1:") if isinstance(address, str) else repr(address)
    if re.fullmatch(r"ipc://[^\s]+", text):
        return text
    found = re.fullmatch(r"tcp://(\[[0-9a-fA-F:.]+\]|[\w.*-]+):(\d{1,5})", text)
    if not found or int(found[2]) > 65535:
        raise PlantError(f"'{text}' is no address; expected tcp://HOST:PORT, like {ADDRESS}", "address")
    if not anywhere and not is_loopback(found[1]):
        raise PlantError(
            f"'{text}' can be reached from other machines, and whoever reaches it moves the robot; "
            f"if that is meant, say so: beyond_loopback=True, or 'poise serve --bind {found[1]}'",
            "address",
        )
    return text


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def at_host(address: str, host: str) -> str:
    """The same address at another host."""
    return re.sub(r"^tcp://.*:(\d+)$", rf"tcp://{host}:\1", checked(address))


def socket(kind: int, address: str) -> zmq.Socket[bytes]:
    """A socket for an address, which never waits when it is closed and keeps only what is still of use."""
    made: zmq.Socket[bytes] = zmq.Context.instance().socket(kind)
    made.setsockopt(zmq.LINGER, 0)
    made.setsockopt(zmq.MAXMSGSIZE, WALL)
    made.setsockopt(zmq.IPV6, int("[" in address))
    for option in (zmq.SNDHWM, zmq.RCVHWM):
        made.setsockopt(option, WAITING)
    for option in (zmq.SNDBUF, zmq.RCVBUF):
        made.setsockopt(option, BUFFER)
    # A link that is cut without a word is noticed and made anew; on a good one this is a few bytes a second.
    made.setsockopt(zmq.HEARTBEAT_IVL, 1000)
    made.setsockopt(zmq.HEARTBEAT_TIMEOUT, 3000)
    made.setsockopt(zmq.RECONNECT_IVL, 20)
    made.setsockopt(zmq.RECONNECT_IVL_MAX, 500)
    return made
