"""Channels that Poise itself names, and what they hold: a file in which they hold something else is not one of ours."""

from __future__ import annotations

from collections.abc import Iterable

from poise.errors import RecordingError
from poise.recording.channel import Channel, Kind

#: Kind of each, and whether it has columns; a name that ends with a slash stands for all that begin so.
_KNOWN: dict[str, tuple[Kind, bool]] = {
    **dict.fromkeys(("q", "v", "center_of_mass", "error/", "force/", "force_point/", "true/"), ("number", True)),
    **dict.fromkeys(("command/velocity", "command/acceleration", "command/torque"), ("number", True)),
    **dict.fromkeys(("control/milliseconds", "solver/milliseconds", "solver/iterations"), ("number", False)),
    **dict.fromkeys(("error_norm/", "slack/", "active_count/", "command/nonfinite"), ("number", False)),
    "joint_limit/margin": ("number", False),
    "active/": ("code", True),
    **dict.fromkeys(("solver/status", "control/fallback", "contacts", "phase", "joint_limit/nearest"), ("text", False)),
}
#: Channels that are of no use without another.
_TOGETHER = {"joint_limit/margin": "joint_limit/nearest"}


def check_known(channels: Iterable[Channel]) -> None:
    """Raises a RecordingError for a channel that has one of our names and not what belongs there."""
    names = []
    for channel in channels:
        names.append(channel.name)
        first = channel.name.partition("/")[0] + "/"
        kind, columns = _KNOWN.get(channel.name) or _KNOWN.get(first) or (channel.header.kind, bool(channel.labels))
        if (channel.header.kind, bool(channel.labels)) != (kind, columns):
            expected = f"{kind}s {'in labelled columns' if columns else 'one per sample'}"
            raise RecordingError(f"channel {channel.name!r} holds {channel.header.kind}s; expected {expected}")
    for name, other in _TOGETHER.items():
        if name in names and other not in names:
            raise RecordingError(f"channel {name!r} is there without {other!r}; expected both")
