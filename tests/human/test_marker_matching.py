"""Labels of a trial are matched with markers; unknown labels are listed with similar markers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from marker_files import PERSON, standing

from poise import human


def trial(*labels: str) -> human.Trial:
    positions = np.random.default_rng(0).standard_normal((3, len(labels), 3))
    return human.Trial("made.c3d", 100.0, np.arange(3) / 100.0, labels, positions)


def trial_with_labels(**names: str) -> human.Trial:
    return trial(*(names.get(label, label) for label in PERSON))


@pytest.mark.parametrize("name", ["plug_in_gait", "opensim41", "skin49"])
def test_the_set_that_fits_best_is_found_and_complete(name: str) -> None:
    marker_set = human.marker_sets()[name]
    labels = [label for label in marker_set.markers if label not in marker_set.optional]
    matched = human.match_markers(trial(*labels))
    assert matched.marker_set is marker_set
    assert (list(matched.markers), matched.unknown_labels, matched.missing_markers, matched.remarks) == (
        labels,
        {},
        (),
        (),
    )


@pytest.mark.parametrize("change", [str.lower, "Anna:{}".format, lambda label: f"{label[0]}_{label[1:]}"])
def test_prefixes_letter_case_and_separators_do_not_count(change: object) -> None:
    labels = [change(label) for label in PERSON]  # type: ignore[operator]
    matched = human.match_markers(trial(*labels))
    assert [marker.label for marker in matched.markers.values()] == list(PERSON)
    assert list(matched.markers) == labels


def test_an_unknown_label_is_listed_with_a_similar_marker() -> None:
    matched = human.match_markers(trial_with_labels(LFHD="LFHEAD", RTOE="XYZW"), "plug_in_gait")
    assert matched.unknown_labels["LFHEAD"][0] == "LFHD"
    assert "LFHD" in matched.missing_markers
    assert matched.unknown_labels["XYZW"] == ()
    assert any("LFHEAD: not in plug_in_gait; did you mean LFHD" in remark for remark in matched.remarks)


def test_a_matched_marker_is_not_suggested_again() -> None:
    assert "LASI" not in human.match_markers(trial(*PERSON, "LASIS")).unknown_labels["LASIS"]


def test_lower_body_files_are_matched_without_the_upper_body() -> None:
    legs = [label for label in PERSON if label[1:] in ("ASI", "PSI", "THI", "KNE", "TIB", "ANK", "HEE", "TOE")]
    matched = human.match_markers(trial(*legs))
    assert matched.marker_set.name == "plug_in_gait"
    assert len(matched.markers) == 16
    assert "C7" in matched.missing_markers
    assert "SACR" not in matched.missing_markers


def test_of_two_labels_for_one_marker_the_exact_one_counts() -> None:
    matched = human.match_markers(trial("lasi", *PERSON))
    assert "LASI" in matched.markers
    assert "lasi" in matched.unknown_labels


def test_of_two_people_with_one_label_the_one_with_more_samples_is_used() -> None:
    both = trial(*(f"{subject}:{label}" for subject in ("Anna", "Bert") for label in PERSON))
    positions = both.positions.copy()
    positions[1:, : len(PERSON)] = np.nan
    matched = human.match_markers(both.replace(positions=positions))
    assert {label.split(":")[0] for label in matched.markers} == {"Bert"}


def test_a_marker_that_is_never_visible_is_missing() -> None:
    positions = standing(3)
    positions[:, list(PERSON).index("RTHI")] = np.nan
    matched = human.match_markers(human.Trial("made", 100.0, np.arange(3) / 100.0, tuple(PERSON), positions))
    assert matched.missing_markers == ("RTHI",)
    assert "RTHI" not in matched.markers


@pytest.mark.parametrize(
    ("lost", "words"),
    [
        (("LASI", "RASI"), "2 on the pelvis"),
        (("LTHI", "LKNE", "LTIB", "LANK", "LHEE"), "1 on the left leg"),
        (tuple(PERSON), "0 on the pelvis"),
    ],
)
def test_too_few_markers_for_a_body_are_refused_with_their_number(lost: tuple[str, ...], words: str) -> None:
    names = {label: f"{i}??" for i, label in enumerate(lost)}
    with pytest.raises(human.TrialError, match=words) as caught:
        human.match_markers(trial_with_labels(**names))
    assert "\n" not in str(caught.value)
    assert "made.c3d" in str(caught.value)
    assert "expected 3 on the pelvis and 2 on each leg" in str(caught.value)


def test_labels_that_nearly_fit_are_offered_when_too_few_are_found() -> None:
    with pytest.raises(human.TrialError, match=r"LASIX for LASI\?"):
        human.match_markers(trial_with_labels(LASI="LASIX", RASI="RASIX"), "plug_in_gait")


def test_a_user_defined_set_is_loaded_by_its_path(tmp_path: Path) -> None:
    lines = [
        'SAC = "sacrum"',
        '"{S}HIP" = "{side}_asis"',
        '"{S}K" = "{side}_lateral_knee"',
        '"{S}A" = "{side}_lateral_ankle"',
    ]
    (tmp_path / "own.toml").write_text("[markers]\n" + "\n".join(lines))
    matched = human.match_markers(trial("SAC", "LHIP", "RHIP", "LK", "RK", "LA", "RA"), tmp_path / "own.toml")
    assert (matched.marker_set.name, len(matched.markers), matched.missing_markers) == ("own", 7, ())
