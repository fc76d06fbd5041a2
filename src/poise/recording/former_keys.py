"""Former keys of recordings: channels and provenance of files written before format 3.

Provenance and measured channels are renamed on loading. Channels of levels and tasks keep their keys, since a user may
have chosen the same names; a recording finds them by their current keys, too (`former_keys`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import product
from typing import Any

from poise.parsing import rename_former_keys
from poise.recording.channel import NAMED_PREFIXES, ChannelHeader

#: Current beginnings of the keys and labels of channels by their former beginnings. The first that matches applies.
FORMER_CHANNELS: dict[str, str] = {
    "force_point": "contact_point",
    "plate/force_point": "plate/contact_point",
    "sensed/force_point": "measured/contact_point",
    "sensed/positions": "measured/joint_positions",
    "sensed/rates": "measured/joint_velocities",
    "sensed": "measured",
}

#: Current keys of the provenance by their former keys.
FORMER_PROVENANCE: dict[str, str] = {
    "begin": "squat_begin",
    "breakdown": "faults",
    "carry": "carried_mass",
    "ended": "outcome",
    "guide": "operator",
    "lead": "torque_feedforward",
    "mass error": "mass_error",
    "order": "task_order",
    "parts": "load_arguments",
}

#: The same for keys whose value is a text; with a table as value they mean something else and are kept.
FORMER_PROVENANCE_TEXTS: dict[str, str] = {
    "regulation": "zmp_regulation",
    "world": "terrain",
}

#: Current kinds of gait events by their former kinds: the last of the three entries of each event of a measured motion.
FORMER_EVENT_KINDS: dict[str, str] = {"strike": "initial_contact", "off": "toe_off"}

#: Current keys of a marker of a measured motion by their former keys.
FORMER_MARKER_KEYS: dict[str, str] = {"place": "location"}

#: Current keys of the motion segments of a guided motion (``segments``) by their former keys, and their outcomes.
FORMER_SEGMENT_KEYS: dict[str, str] = {
    "lifted": "foot_in_air",
    "planned": "planned_paths",
    "seconds": "duration",
    "step": "swing_foot",
}
FORMER_OUTCOMES: dict[str, str] = {"caught": "capture step", "held": "stopped", "kept": "recentered"}


def rename_provenance(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return a provenance with current keys and values; a fact keeps its former key if the current one is taken.

    >>> rename_provenance({"robot": "g1", "ended": "finished"})
    {'robot': 'g1', 'outcome': 'finished'}
    """
    texts = {old: new for old, new in FORMER_PROVENANCE_TEXTS.items() if isinstance(facts.get(old), str)}
    former = {**FORMER_PROVENANCE, **texts}
    renamed = rename_former_keys(facts, {old: new for old, new in former.items() if new not in facts})
    if isinstance(renamed.get("events"), list):
        renamed["events"] = [_rename_event(event) for event in renamed["events"]]
    if isinstance(renamed.get("markers"), dict):
        renamed["markers"] = {label: _rename_marker(marker) for label, marker in renamed["markers"].items()}
    if isinstance(renamed.get("segments"), list):
        renamed["segments"] = [_rename_segment(each) for each in renamed["segments"]]
    return renamed


def _rename_event(event: Any) -> Any:
    match event:
        case [time, side, str() as kind]:
            return [time, side, FORMER_EVENT_KINDS.get(kind, kind)]
    return event


def _rename_marker(marker: Any) -> Any:
    if not isinstance(marker, dict):
        return marker
    return rename_former_keys(marker, {old: new for old, new in FORMER_MARKER_KEYS.items() if new not in marker})


def _rename_segment(segment: Any) -> Any:
    if not isinstance(segment, dict):  # the reader reports it
        return segment
    former = {old: new for old, new in FORMER_SEGMENT_KEYS.items() if new not in segment}
    renamed = rename_former_keys(segment, former)
    outcome = renamed.get("outcome")
    return {**renamed, "outcome": FORMER_OUTCOMES.get(outcome, outcome)} if isinstance(outcome, str) else renamed


def rename_channels(headers: Sequence[ChannelHeader]) -> tuple[ChannelHeader, ...]:
    """Return the headers of the channels of a file with current keys and labels; a key stays if the other is taken."""
    keys = {header.key for header in headers}
    return tuple(_rename_channel(header, keys) for header in headers)


def _rename_channel(header: ChannelHeader, taken: Collection[str]) -> ChannelHeader:
    key = _rename_beginning(header.key)
    if key == header.key or key in taken:
        return header
    return header._replace(key=key, label=_rename_beginning(header.label))


def _rename_beginning(name: str) -> str:
    for old, new in FORMER_CHANNELS.items():
        if f"{name}/".startswith(f"{old}/"):
            return new + name[len(old) :]
    return name


# -- Levels and tasks ------------------------------------------------------------------------------------------------


#: Levels and tasks of the motions of earlier versions, as words of keys, and their current words.
FORMER_LEVELS = {"center": "balance", "comfort": "joint_comfort", "feet": "contact", "spin": "angular_momentum"}
FORMER_TASKS = {
    "height": "center_of_mass_height",
    "left_grip": "left_hand_orientation",
    "lifted_foot": "swing_foot",
    "lifted_sole": "swing_foot_orientation",
    "little_torque": "joint_torque",
    "middle_of_the_chest": "chest_orientation",
    "right_grip": "right_hand_orientation",
    "spin": "angular_momentum",
    "swing": "swing_foot",
}


def former_keys(key: str) -> list[str]:
    """Return the keys that a channel of a level or task, or a column of it, has in recordings of earlier versions.

    >>> former_keys("slack/joint_comfort")
    ['slack/comfort']
    """
    prefix, *words = key.split("/")
    kind, depth = NAMED_PREFIXES.get(prefix, ("", 0))
    if kind != "level":
        return []
    tables = (FORMER_LEVELS, FORMER_TASKS)[:depth]
    choices = [
        [word, *(former for former, name in table.items() if name == word)]
        for word, table in zip(words, tables, strict=False)
    ]
    column = words[len(choices) :]
    return ["/".join((prefix, *names, *column)) for names in product(*choices)][1:]
