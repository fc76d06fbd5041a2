"""Mean places of markers on the body, and those of landmarks on a standing figure, to recognise markers by geometry."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cache

import numpy as np

from poise.arrays import Array
from poise.human.markers import landmark_links, normalized_label
from poise.human.sample_trials import marker_positions, standing_posture
from poise.human.trial import Trial
from poise.robots import SIDES, BodyShape, Side, landmarks, load_robot

#: Height of the figure, m; trials are scaled to it.
STANDING_HEIGHT = 1.75
#: Heights of people that are tried if too few markers are known by their names, m.
HEIGHTS = np.arange(1.0, 2.11, 0.05)
#: Smallest number of known landmarks that determine scale and position, and their smallest extent upwards, m.
FEWEST_ANCHORS, ANCHOR_EXTENT = 4, 0.4
#: Shortest distance that shows where a person walks to, m.
WALKING_DISTANCE = 0.5
#: Distance beyond which a marker counts as being on no landmark, m.
FAR = 0.12
#: Mean distance from landmarks above which markers are not those of a standing figure, m.
MAX_MISFIT = 0.10

#: Height of the lowest markers above the floor, those on heels and toes, m.
FLOOR_MARKER = 0.03
ARM_PARTS = ("lateral_el", "medial_el", "radial", "ulnar", "second_k", "fifth_k", "middle")
#: Landmarks of arms, whose places depend on the posture.
ARM_LANDMARKS = tuple(f"{side}_{part}" for side in SIDES for part in ARM_PARTS)


@cache
def landmark_places() -> Mapping[str, Array]:
    """Return the places of all landmarks on a standing figure, m: forward, left, up from the floor below the pelvis."""
    robot = load_robot("human", height=STANDING_HEIGHT, mass=70.0)
    known = landmarks(BodyShape.of(STANDING_HEIGHT, 70.0, "male"))
    names = list(landmark_links())
    places = marker_positions(robot, standing_posture(robot)[None], [known[name] for name in names])[0]
    return dict(zip(names, places, strict=True))


def body_places(trial: Trial, sides: Mapping[str, Side]) -> dict[str, Array]:
    """Return the mean place of each marker in axes that go with the body: forward, left, up (m).

    Left is the mean direction from the right markers to their left partners; without such pairs it is that of a person
    who walks forward. Empty if there is neither.
    """
    index = {normalized_label(label): k for k, label in enumerate(trial.labels)}
    pairs = []
    for label, side in sides.items():
        if side == "left":
            partner = next((index[word] for word in _mirrored(label) if word in index), None)
            if partner is not None:
                pairs.append((trial.labels.index(label), partner))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # frames without any marker
        if pairs:
            left, right = (trial.positions[:, [pair[k] for pair in pairs]] for k in (0, 1))
            across = np.nanmean(left - right, axis=1)
            middle = np.nanmean(0.5 * (left + right), axis=1)
        else:
            middle = np.nanmedian(trial.positions, axis=1)
            across = np.tile(_left_of_walking(middle), (len(middle), 1))
    across[:, 2] = 0.0
    width = np.linalg.norm(across, axis=1)
    frames = np.flatnonzero(np.isfinite(width) & (width > 0.02) & np.isfinite(middle).all(axis=1))
    if not len(frames):
        return {}
    y = across[frames] / width[frames, None]
    axes = np.stack(
        [np.column_stack([y[:, 1], -y[:, 0], np.zeros(len(y))]), y, np.tile([0.0, 0.0, 1.0], (len(y), 1))], 1
    )
    # Horizontally from the middle of the pairs, vertically from the lowest markers.
    relative = trial.positions[frames] - middle[frames, None] * np.array([1.0, 1.0, 0.0])
    local = np.einsum("nij,nmj->nmi", axes, relative)
    places = {}
    for k, label in enumerate(trial.labels):
        seen = local[np.isfinite(local[:, k]).all(axis=1), k]
        if len(seen):
            places[label] = np.array([*np.mean(seen[:, :2], axis=0), np.median(seen[:, 2])])
    mirror = np.array([1.0, -1.0, 1.0])
    for i, j in pairs:  # a trial may hold more of the swing of one leg than of the other; bodies are nearly symmetric
        one, two = trial.labels[i], trial.labels[j]
        if one in places and two in places:
            places[one] = 0.5 * (places[one] + mirror * places[two])
            places[two] = mirror * places[one]
    return places


def _left_of_walking(middle: Array) -> Array:
    """Return the direction to the left of the motion of a point (n x 3), (3,); zero if it moves too little."""
    seen = middle[np.isfinite(middle).all(axis=1)]
    forward = seen[-1, :2] - seen[0, :2] if len(seen) else np.zeros(2)
    return np.array([-forward[1], forward[0], 0.0]) if np.linalg.norm(forward) > WALKING_DISTANCE else np.zeros(3)


def _mirrored(label: str) -> list[str]:
    """Return the names that the right partner of a left label may have, normalised."""
    word = normalized_label(label)
    found = [word.replace("left", "right")] if "left" in word else []
    return found + [word[:k] + "r" + word[k + 1 :] for k, letter in enumerate(word) if letter == "l"]


def fit_to_figure(
    places: Mapping[str, Array], anchors: Mapping[str, str], sides: Mapping[str, Side]
) -> dict[str, Array] | None:
    """Scale and move the places of markers onto the standing figure (m); None if they do not fit it.

    Args:
        places: of markers, see `body_places`.
        anchors: landmark of labels that are known by their names.
        sides: of labels.
    """
    if not places:
        return None
    figure = landmark_places()
    names = [label for label in anchors if label in places and not anchors[label].startswith(ARM_LANDMARKS)]
    if len(names) >= FEWEST_ANCHORS:
        own = np.array([places[label] for label in names])
        target = np.array([figure[anchors[label]] for label in names])
        if np.ptp(target[:, 2]) >= ANCHOR_EXTENT:
            centered, wanted = own - own.mean(axis=0), target - target.mean(axis=0)
            scale = float((centered * wanted).sum() / (centered**2).sum())
            offset = np.median(target - scale * own, axis=0)
            return {label: scale * place + offset for label, place in places.items()}
    labels = list(places)
    own = np.array([places[label] for label in labels])
    floor = float(own[:, 2].min())
    by_side = {
        side: np.array([p for name, p in figure.items() if _side_of(name) == side and not name.endswith("_center")])
        for side in (*SIDES, None)
    }
    if not sides:  # any landmark may be meant
        by_side[None] = np.vstack(list(by_side.values()))
    best, misfit = None, np.inf
    for height in HEIGHTS:
        scale = STANDING_HEIGHT / height
        for forward in np.arange(-0.15, 0.16, 0.03):
            moved = scale * own + np.array([forward, 0.0, FLOOR_MARKER - scale * floor])
            distances = [
                min(FAR, float(np.linalg.norm(by_side[sides.get(label)] - place, axis=1).min()))
                for label, place in zip(labels, moved, strict=True)
            ]
            if np.mean(distances) < misfit:
                best, misfit = dict(zip(labels, moved, strict=True)), float(np.mean(distances))
    return best if misfit < MAX_MISFIT else None


def _side_of(name: str) -> Side | None:
    return next((side for side in SIDES if name.startswith(side)), None)
