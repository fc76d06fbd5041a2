"""What the server asks of whoever stands behind it: the hub of the studio, or a stand-in of the same shape."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol


class Shelf(Protocol):
    """Files that can be downloaded."""

    def path(self, name: str) -> Path:
        """Where the file of exactly this name lies; raises a PoiseError if there is none."""
        ...


class Hub(Protocol):
    """What pages hear and to whom they speak. Nothing here blocks but `upload` and `saved`, which run in a thread."""

    @property
    def hello_number(self) -> int:
        """Grows whenever `hello` has something new to say."""
        ...

    @property
    def viewer_port(self) -> int:
        """Of viser, on loopback."""
        ...

    @property
    def output(self) -> Shelf: ...

    def hello(self) -> dict[str, Any]: ...

    def frame(self) -> dict[str, Any] | None:
        """The latest state of the simulation; its "number" grows."""
        ...

    def messages(self, since: int) -> list[dict[str, Any]]:
        """What was said after message number `since`, the oldest first."""
        ...

    def do(self, name: str, value: Any) -> None:
        """What a page asks for; returns at once and never raises."""
        ...

    def pages(self, count: int) -> None:
        """How many pages are connected now."""
        ...

    def upload(self, control: str, filename: str, data: bytes) -> str:
        """Takes a file; "" or one line that says what is wrong with it."""
        ...

    def saved(self, control: str) -> tuple[str, str]:
        """Name and text of the file that a save control offers."""
        ...
