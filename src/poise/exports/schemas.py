"""What the messages of an exported log look like, in JSON Schema; the names of Foxglove's are those it knows."""

from __future__ import annotations

from typing import Any

from poise.recording.channel import Channel

Schema = dict[str, Any]


def _object(title: str, **properties: Schema) -> Schema:
    return {"title": title, "type": "object", "properties": properties}


NUMBER: Schema = {"type": "number"}
TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer", "minimum": 0}
TIME = _object("time", sec=WHOLE, nsec={**WHOLE, "maximum": 999_999_999})
VECTOR = _object("foxglove.Vector3", x=NUMBER, y=NUMBER, z=NUMBER)
QUATERNION = _object("foxglove.Quaternion", x=NUMBER, y=NUMBER, z=NUMBER, w=NUMBER)
#: From the child's coordinates to the parent's, in m.
FRAME_TRANSFORM = _object(
    "foxglove.FrameTransform",
    timestamp=TIME,
    parent_frame_id=TEXT,
    child_frame_id=TEXT,
    translation=VECTOR,
    rotation=QUATERNION,
)
FRAME_TRANSFORMS = _object("foxglove.FrameTransforms", transforms={"type": "array", "items": FRAME_TRANSFORM})
#: In rad, rad/s and N m, or m, m/s and N of a joint that slides.
JOINT_STATE = _object("foxglove.JointState", name=TEXT, position=NUMBER, velocity=NUMBER, effort=NUMBER)
JOINT_STATES = _object("foxglove.JointStates", timestamp=TIME, joints={"type": "array", "items": JOINT_STATE})


def channel_schema(channel: Channel) -> Schema:
    """One property per column, described by its unit; ``value`` for a channel of single values."""
    kind = TEXT if channel.header.kind == "text" else NUMBER
    labels = channel.labels or ("value",)
    described = {
        label: {**kind, **({"description": unit} if unit else {})}
        for label, unit in zip(labels, channel.units, strict=True)
    }
    return _object(f"poise.{channel.name}", **described)
