"""Visibility of a person in a trial: the frames in which pelvis and legs are seen, and those of each joint.

Where too few markers are visible there is no posture to find. Frames before the person is in view and after it has left
are cut off; in gaps between them angles, moments and events are absent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from poise.arrays import Array, Mask
from poise.human.fitting.calibration import MarkerTrajectories
from poise.human.trial import Trial, TrialError
from poise.robots import SIDES, Robot

#: Fewest visible markers with which the posture of pelvis and leg is determined: three points fix the pelvis, and two
#: the plane of a leg, as required of a marker set.
FEWEST_PELVIS_MARKERS, FEWEST_LEG_MARKERS = 3, 2
LEG_SEGMENTS = ("thigh", "shank", "foot", "toes")
#: Links, any marker of which determines a joint: those that it moves directly or next.
LINKS_OF_JOINTS = {
    "hip": ("thigh", "shank", "foot"), "knee": ("shank", "foot"), "ankle": ("foot", "toes"), "toes": ("toes", "foot"),
    "shoulder": ("upper_arm", "forearm"), "elbow": ("forearm", "hand"), "forearm": ("forearm", "hand"),
    "wrist": ("hand", "fingers"), "fingers": ("hand", "fingers"), "lumbar": ("torso",), "neck": ("head",),
}  # fmt: skip


def seen_frames(trajectories: MarkerTrajectories) -> Mask:
    """Return the frames in which the posture of pelvis and both legs is determined (n)."""
    visible = np.asarray(np.isfinite(trajectories.positions).all(axis=2))
    links = [marker.segment for marker in trajectories.markers]
    seen = _count(visible, links, ("pelvis",)) >= FEWEST_PELVIS_MARKERS
    for side in SIDES:
        seen &= _count(visible, links, [f"{side}_{part}" for part in LEG_SEGMENTS]) >= FEWEST_LEG_MARKERS
    return np.asarray(seen)


def cut_to_seen(trial: Trial, trajectories: MarkerTrajectories) -> tuple[Trial, float]:
    """Cut off the frames before the person is in view and after it has left; also return the time of the first (s)."""
    seen = np.flatnonzero(seen_frames(trajectories))
    if not len(seen):
        raise TrialError(
            f"{trial.path}: no frame shows {FEWEST_PELVIS_MARKERS} markers on the pelvis and {FEWEST_LEG_MARKERS} on "
            "each leg at the same time",
            path=trial.path,
        )
    first, last = int(seen[0]), int(seen[-1])
    if first == 0 and last == len(trial.time) - 1:
        return trial, 0.0
    begin, end = float(trial.time[first]), float(trial.time[last])
    note = (
        f"Pelvis and legs are in view from {begin:.2f} to {end:.2f} s only; the other frames are left out, and times "
        f"count from {begin:.2f} s on."
    )
    cut = trial.cut(begin, end)
    return cut.replace(notes=(*trial.notes, note)), begin


def observed_joints(robot: Robot, links: Sequence[str], visible: Mask) -> Mapping[str, Mask]:
    """Return for each joint the frames in which markers determine its angle (n).

    Args:
        robot: the human model.
        links: link of each of M markers.
        visible: mask of the visible markers (n x M).
    """
    pelvis = _count(visible, links, ("pelvis",)) >= min(FEWEST_PELVIS_MARKERS, list(links).count("pelvis"))
    masks: dict[str, Mask] = {}
    for joint in robot.joints:
        side, _, rest = joint.name.partition("_")
        name = rest if side in SIDES else joint.name
        parts = LINKS_OF_JOINTS[name.split("_", 1)[0]]
        needed = [f"{side}_{part}" for part in parts] if side in SIDES else list(parts)
        worn = any(link in needed for link in links)
        # A joint without any marker is not observed in any frame; its angle is that of the rest posture.
        masks[joint.name] = np.asarray(pelvis & (_count(visible, links, needed) > 0)) if worn else np.zeros_like(pelvis)
    return masks


def _count(visible: Mask, links: Sequence[str], wanted: Sequence[str]) -> Array:
    return np.asarray(visible[:, [link in wanted for link in links]].sum(axis=1))
