"""Marker sets of the library are consistent, and those of users are checked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from poise import human
from poise.human.markers import landmark_links, normalized_label, segments
from poise.robots import BodyShape, landmarks

SETS = sorted(human.marker_sets())


def write_marker_set(tmp_path: Path, text: str) -> Path:
    (tmp_path / "own.toml").write_text(text)
    return tmp_path / "own.toml"


@pytest.mark.parametrize(("name", "count"), [("plug_in_gait", 35), ("opensim41", 41), ("skin49", 49)])
def test_the_library_has_the_sets_with_their_numbers_of_markers(name: str, count: int) -> None:
    marker_set = human.load_marker_set(name)
    assert marker_set is human.marker_sets()[name]
    assert (marker_set.name, len(marker_set.markers) - len(marker_set.optional)) == (name, count)


@pytest.mark.parametrize("name", SETS)
def test_every_marker_is_on_a_link_of_the_body_that_carries_its_landmark(name: str) -> None:
    places = landmarks(BodyShape.of(1.6, 60.0, "female"))
    for label, marker in human.marker_sets()[name].markers.items():
        assert marker.label == label
        assert marker.segment in segments()
        assert marker.weight > 0.0
        assert marker.landmark is None or places[marker.landmark][0] == marker.segment


def test_the_page_on_people_lists_all_landmarks() -> None:
    page = (Path(__file__).parents[2] / "docs" / "human.md").read_text(encoding="utf-8")
    table = page.partition("| part | landmarks |")[2].partition("\n\n")[0]
    names = {name.removeprefix("left_").removeprefix("right_") for name in landmarks(BodyShape.of(1.7))}
    assert set(re.findall(r"`(\w+)`", table)) == names


@pytest.mark.parametrize("name", SETS)
def test_left_and_right_mirror_each_other(name: str) -> None:
    found = {(m.landmark, m.segment) for m in human.marker_sets()[name].markers.values()}
    swapped = {
        tuple(w and w.replace("left", "*").replace("right", "left").replace("*", "right") for w in p) for p in found
    }
    assert found == swapped


@pytest.mark.parametrize("name", SETS)
def test_no_two_markers_of_one_rank_are_on_one_landmark(name: str) -> None:
    marker_set = human.marker_sets()[name]
    used = [m.landmark for m in marker_set.markers.values() if m.landmark and m.label not in marker_set.optional]
    assert len(used) == len(set(used))


def test_weights_follow_from_the_segment() -> None:
    markers = human.load_marker_set("plug_in_gait").markers
    weights = [markers[label].weight for label in ("LASI", "LTHI", "RTOE", "C7", "LFHD", "RELB", "LFIN")]
    assert weights == [5.0, 1.0, 1.0, 0.5, 0.5, 0.3, 0.3]


def test_labels_are_compared_without_subject_case_and_separators() -> None:
    assert {normalized_label(word) for word in ("R.ASIS", "r_asis", "Anna:RASIS", " R ASIS ", "R-asis")} == {"rasis"}


def test_a_user_defined_set_is_read_with_one_entry_for_both_sides(tmp_path: Path) -> None:
    text = """
    description = "mine"
    [markers]
    SACR = "sacrum"
    "{S}HIP" = "{side}_asis"
    "{S}TH1" = { segment = "{side}_thigh", weight = 0.25 }
    [optional]
    "{S}KM" = { landmark = "{side}_medial_knee" }
    """
    marker_set = human.load_marker_set(write_marker_set(tmp_path, text))
    assert (marker_set.name, marker_set.description, marker_set.optional) == ("own", "mine", {"LKM", "RKM"})  # type: ignore[comparison-overlap]
    assert marker_set.markers["RHIP"] == human.Marker("RHIP", "right_asis", "pelvis", 5.0)
    assert marker_set.markers["LTH1"] == human.Marker("LTH1", None, "left_thigh", 0.25)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("not toml", "not a TOML file"),
        ("[markers]", r"no \[markers\]; expected lines such as"),
        ("markers = 3", r"\[markers\] is 3"),
        ("[makers]\nA = 'sacrum'", "no key 'makers'; did you mean 'markers'"),
        ("[markers]\nA = 'left_asi'", "A: no landmark 'left_asi'; did you mean 'left_asis'"),
        ("[markers]\nA = 3", "A is 3; expected a landmark"),
        ("[markers]\nA = {}", "expected a landmark or a table"),
        ("[markers]\nA = { segment = 'left_thig' }", "no segment 'left_thig'; did you mean 'left_thigh'"),
        ("[markers]\nA = { weight = 2.0 }", "no segment 'None'"),
        ("[markers]\nA = { segmnt = 'torso' }", "no key 'segmnt'; did you mean 'segment'"),
        ("[markers]\nA = { landmark = 'c7', segment = 'head' }", "c7 is on torso, not on head"),
        ("[markers]\nA = { landmark = 'c7', weight = -1 }", "weight is -1"),
        ("[markers]\nA = { landmark = 'c7', weight = true }", "weight is True"),
        ("[markers]\nA = 'c7'\na = 't10'", "'a' occurs twice"),
        ("name = 3\n[markers]\nA = 'c7'", "name is 3; expected a text"),
        ("[markers]\nA = { landmark = ['c7'] }", "no landmark"),
        ("[markers]\nA = { segment = ['torso'] }", "no segment"),
    ],
)
def test_an_invalid_set_is_refused_in_one_line(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(human.TrialError, match=words) as caught:
        human.load_marker_set(write_marker_set(tmp_path, text))
    assert "\n" not in str(caught.value)
    assert "own.toml" in str(caught.value)


def test_a_name_that_is_no_set_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(human.TrialError, match="available: cgm2, halpe26, helen_hayes, opencap, ") as caught:
        human.load_marker_set("plugin_gait")
    assert caught.value.near == ("plug_in_gait",)
    with pytest.raises(human.TrialError, match="cannot be read"):
        human.load_marker_set(tmp_path / "none.toml")


def test_every_landmark_of_the_body_can_be_named() -> None:
    assert dict(landmark_links()) == {
        name: link for name, (link, _) in landmarks(BodyShape.of(1.9, 90.0, "male")).items()
    }
