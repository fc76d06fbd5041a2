"""The mapping assistant recognises labels by set, name and place, and says how sure it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from poise import human
from poise.human.marker_mapping import DOUBTFUL, SURE, MarkerMapping, find_sides, propose_markers
from poise.human.sample_trials import sample_trial

#: A laboratory's own names for landmarks, none of them in a marker set of the library.
OWN_NAMES = {
    "asis": "IliacAnt", "psis": "IliacPost", "lateral_knee": "KneeLateral", "medial_knee": "KneeMedial",
    "lateral_ankle": "MalLat", "medial_ankle": "MalMed", "heel_back": "Calcaneus", "first_metatarsal_head": "Met1",
    "fifth_metatarsal_head": "Met5", "acromion": "Acromion", "greater_trochanter": "Trochanter",
}  # fmt: skip


@pytest.fixture(scope="module")
def walk() -> human.Trial:
    trial, _ = sample_trial(cycles=1, marker_set="skin49", plates=False)
    return trial


def renamed(trial: human.Trial, names: dict[str, str]) -> human.Trial:
    """Keep the markers on some landmarks, and give them other names: a side and a word."""
    markers = human.load_marker_set("skin49").markers
    kept, labels = [], []
    for k, label in enumerate(trial.labels):
        side, _, place = (markers[label].landmark or "").partition("_")
        if place in names:
            kept.append(k)
            labels.append(f"{side.capitalize()}_{names[place]}")
    return trial.replace(labels=tuple(labels), positions=trial.positions[:, kept])


def exact(mapping: MarkerMapping, names: dict[str, str], least: float) -> tuple[int, int]:
    """Return how many proposals of at least a confidence are the right landmark, and their number."""
    meant = {
        f"{side.capitalize()}_{word}": f"{side}_{place}" for place, word in names.items() for side in ("left", "right")
    }
    rows = [each for each in mapping.proposals if each.confidence >= least]
    return sum(each.landmark == meant[each.label] for each in rows), len(rows)


def test_labels_of_a_known_set_are_sure(walk: human.Trial) -> None:
    mapping = propose_markers(walk)
    assert mapping.sets[0].marker_set.name == "skin49"
    assert mapping.sets[0].score == 1.0
    markers = human.load_marker_set("skin49").markers
    assert all(each.landmark == markers[each.label].landmark for each in mapping.proposals)
    assert all(each.sureness == "sure" for each in mapping.proposals)


def test_names_and_places_together_give_the_landmarks_of_a_strange_set(walk: human.Trial) -> None:
    mapping = propose_markers(renamed(walk, OWN_NAMES))
    right, count = exact(mapping, OWN_NAMES, 0.0)
    assert right == count == 2 * len(OWN_NAMES)
    assert mapping.usable
    assert min(each.confidence for each in mapping.proposals) >= 0.5


def test_places_alone_are_less_sure_and_mostly_right(walk: human.Trial) -> None:
    hidden = {place: f"Q{k:02d}x" for k, place in enumerate(OWN_NAMES)}
    mapping = propose_markers(renamed(walk, hidden))
    assert all(each.confidence < SURE for each in mapping.proposals)
    right, count = exact(mapping, hidden, 0.5)
    assert count >= 4
    assert right >= 0.75 * count
    segment = {}
    for marker in human.load_marker_set("skin49").markers.values():
        side, _, place = (marker.landmark or "").partition("_")
        segment[f"{side.capitalize()}_{hidden.get(place, '')}"] = marker.segment
    likely = [each for each in mapping.proposals if each.confidence >= DOUBTFUL]
    assert np.mean([each.segment == segment[each.label] for each in likely]) > 0.8


def test_a_name_that_contradicts_its_place_is_not_sure(walk: human.Trial) -> None:
    swapped = {**OWN_NAMES, "heel_back": "IliacAnt", "asis": "Calcaneus"}
    mapping = propose_markers(renamed(walk, swapped))
    doubtful = [each for each in mapping.proposals if each.label.endswith(("IliacAnt", "Calcaneus"))]
    assert all(each.confidence < 0.7 for each in doubtful)


def test_a_marker_anywhere_moves_with_its_segment(walk: human.Trial) -> None:
    trial = renamed(walk, OWN_NAMES)
    knee, ankle, hip = (
        trial.marker(f"Left_{OWN_NAMES[word]}") for word in ("lateral_knee", "lateral_ankle", "greater_trochanter")
    )
    outward = np.array([0.0, 0.06, 0.0])
    extra = {"Zulu": 0.4 * hip + 0.6 * knee + outward, "Yankee": 0.5 * knee + 0.5 * ankle + outward}
    trial = trial.replace(
        labels=(*trial.labels, *extra),
        positions=np.concatenate([trial.positions, np.stack(list(extra.values()), 1)], 1),
    )
    found = {each.label: each for each in propose_markers(trial).proposals}
    assert found["Zulu"].segment == "left_thigh"
    assert found["Yankee"].segment == "left_shank"
    assert found["Zulu"].sureness != "sure"


def test_the_written_set_fits_the_trial(walk: human.Trial, tmp_path: Path) -> None:
    trial = renamed(walk, OWN_NAMES)
    path = propose_markers(trial).save(tmp_path / "own.toml")
    matched = human.match_markers(trial, path)
    assert not matched.unknown_labels
    assert matched.marker_set.name == "own"
    assert all(matched.markers[f"Left_{word}"].landmark == f"left_{place}" for place, word in OWN_NAMES.items())


def test_without_sides_and_motion_only_names_count() -> None:
    points = np.random.default_rng(4).uniform(0.0, 1.0, (20, 12, 3))
    labels = tuple(f"P{k}" for k in range(12))
    mapping = propose_markers(human.Trial("cloud", 100.0, np.arange(20) / 100.0, labels, points))
    assert not mapping.usable
    assert any("names only" in note for note in mapping.notes)
    assert "too few likely markers" in mapping.text()
    assert all(line.startswith("#") for line in mapping.toml("x").splitlines() if '"P1' in line)


@pytest.mark.parametrize(
    ("labels", "sides"),
    [
        (["LKNE", "RKNE", "C7"], {"LKNE": "left", "RKNE": "right"}),
        (["L.Heel", "r.Heel", "Sacral"], {"L.Heel": "left", "r.Heel": "right"}),
        (["KneeLeft", "KneeRight"], {"KneeLeft": "left", "KneeRight": "right"}),
        (["CLAV", "RBAK", "T10"], {}),
        (["Anna:LASI", "Anna:RASI"], {"Anna:LASI": "left", "Anna:RASI": "right"}),
    ],
)
def test_sides_are_found_by_partners(labels: list[str], sides: dict[str, str]) -> None:
    assert find_sides(labels) == sides


@pytest.mark.parametrize("name", ["cgm2", "rajagopal", "opencap", "opencap_augmented", "halpe26"])
def test_a_walk_with_the_labels_of_a_set_is_recognised(name: str) -> None:
    marker_set = human.load_marker_set(name)
    labels = [label for label in marker_set.markers if label not in marker_set.optional]
    best = human.score_marker_sets(labels)[0]
    assert best.marker_set.name == name
    assert best.score == 1.0
    assert best.missing == 0


@pytest.mark.slow
@pytest.mark.parametrize(("name", "tolerance"), [("cgm2", 4.0), ("rajagopal", 4.0), ("opencap", 4.0), ("halpe26", 6.0)])
def test_synthetic_walks_with_the_new_sets_keep_their_knee_angles(name: str, tolerance: float) -> None:
    walk, static = sample_trial(cycles=1, marker_set=name, plates=False, noise=0.0)
    other, other_static = sample_trial(cycles=1, marker_set="skin49", plates=False, noise=0.0)
    knee, exact_knee = (
        np.degrees(human.fit(a, b).angles()["left_knee_flexion"]) for a, b in ((walk, static), (other, other_static))
    )
    assert np.sqrt(np.mean((knee - exact_knee) ** 2)) < tolerance
