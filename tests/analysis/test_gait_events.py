"""Initial contacts and toe-offs are those of synthetic gaits and of laboratories."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from poise.analysis import (
    EVENT_RULE,
    GaitEvent,
    belt_speed,
    events_from_markers,
    events_from_plates,
    walking_direction,
)
from poise.errors import GaitError
from shared_data import require_data
from synthetic_gaits import STANCE_SHARE, STRIDE_TIME, WALKING_SPEED, SyntheticGait

SIDES = ("left", "right")


def event_times(events: tuple[GaitEvent, ...], side: str, kind: str) -> list[float]:
    return [event.time for event in events if event.side == side and event.kind == kind]


def events_of(gait: SyntheticGait, direction: Any = None) -> tuple[GaitEvent, ...]:
    return events_from_markers(gait.time, gait.heel, gait.toe, gait.pelvis, direction)


@pytest.mark.parametrize("rate", [60.0, 100.0, 200.0])
@pytest.mark.parametrize("angle", [0.0, 2.0, -1.5])
def test_initial_contacts_and_toe_offs_are_found_within_a_frame_in_any_walking_direction(
    rate: float, angle: float
) -> None:
    gait = SyntheticGait(rate=rate, angle=angle)
    events = events_of(gait)
    for side in SIDES:
        assert event_times(events, side, "initial_contact") == pytest.approx(
            gait.initial_contacts(side), abs=1.5 / rate
        )
        assert event_times(events, side, "toe_off") == pytest.approx(gait.toe_offs(side), abs=1.5 / rate)


def test_the_rule_of_zeni_is_sixty_milliseconds_early_on_a_synthetic_gait() -> None:
    gait = SyntheticGait()
    lead = (gait.heel["right"] - gait.pelvis) @ gait.direction
    plain = gait.time[np.argmax(lead)]
    assert np.abs(gait.initial_contacts("right") - plain).min() == pytest.approx(0.06, abs=0.011)


def test_on_a_treadmill_the_feet_give_the_direction_and_the_belt_its_speed() -> None:
    gait = SyntheticGait(angle=0.7, treadmill=True)
    d = walking_direction(gait.pelvis, gait.heel, gait.toe)
    assert d == pytest.approx(gait.direction, abs=1e-6)
    assert belt_speed(gait.time, gait.toe, d) == pytest.approx(WALKING_SPEED, rel=0.02)
    events = events_of(gait)
    for side in SIDES:
        assert event_times(events, side, "initial_contact") == pytest.approx(gait.initial_contacts(side), abs=0.015)
        assert event_times(events, side, "toe_off") == pytest.approx(gait.toe_offs(side), abs=0.015)


def test_overground_walking_has_no_belt_speed() -> None:
    gait = SyntheticGait()
    assert belt_speed(gait.time, gait.toe, gait.direction) == 0.0


def test_the_noise_of_markers_moves_events_by_a_few_frames_at_most() -> None:
    gait, random = SyntheticGait(), np.random.default_rng(3)
    heel, toe = (
        {side: p + random.normal(0.0, 0.001, p.shape) for side, p in each.items()} for each in (gait.heel, gait.toe)
    )
    events = events_from_markers(gait.time, heel, toe, gait.pelvis)
    for side in SIDES:
        assert event_times(events, side, "initial_contact") == pytest.approx(gait.initial_contacts(side), abs=0.03)
        assert event_times(events, side, "toe_off") == pytest.approx(gait.toe_offs(side), abs=0.03)


def test_a_file_of_one_stride_begins_and_ends_with_an_initial_contact() -> None:
    whole = SyntheticGait(seconds=1.1, start=1.1)  # from one initial contact of the right heel to the next
    strikes = event_times(events_of(whole), "right", "initial_contact")
    assert strikes == pytest.approx([1.1, 2.2], abs=0.025)  # the last stance is not in the file


def test_no_event_is_set_where_its_marker_is_not_visible() -> None:
    gait = SyntheticGait()
    first = gait.initial_contacts("right")[0]
    hidden = np.abs(gait.time - first) < 0.03
    gait.heel["right"][hidden] = np.nan
    strikes = event_times(events_of(gait), "right", "initial_contact")
    assert all(np.abs(strikes - first) > 0.02)
    assert len(strikes) >= len(gait.initial_contacts("right")) - 1


def test_the_error_names_a_marker_that_is_never_visible() -> None:
    gait = SyntheticGait()
    gait.heel["left"][:] = np.nan
    with pytest.raises(GaitError, match="left heel is not visible") as caught:
        events_of(gait)
    assert caught.value.missing == ("the left heel",)


def test_a_vertical_direction_and_a_pelvis_of_another_length_are_refused() -> None:
    gait = SyntheticGait()
    with pytest.raises(GaitError, match="horizontal part"):
        events_of(gait, direction=(0.0, 0.0, 1.0))
    with pytest.raises(GaitError, match="shape"):
        events_from_markers(gait.time, gait.heel, gait.toe, gait.pelvis[:5])


def test_plates_give_the_events_of_complete_and_of_truncated_stances() -> None:
    time = np.arange(0.0, 3.0, 0.01)
    right = np.where(((time > 0.495) & (time < 1.195)) | (time > 2.495), 700.0, 3.0)
    left = np.where((time < 0.295) | ((time > 1.495) & (time < 1.535)), 650.0, 0.0)  # the second is the plate ringing
    events = events_from_plates(time, {"right": right, "left": left})
    assert event_times(events, "right", "initial_contact") == pytest.approx([0.5, 2.5])
    assert event_times(events, "right", "toe_off") == pytest.approx([1.2])
    assert (event_times(events, "left", "initial_contact"), event_times(events, "left", "toe_off")) == (
        [],
        pytest.approx([0.3]),
    )  # type: ignore[comparison-overlap]


def test_the_rule_that_is_published_names_its_numbers() -> None:
    assert "30 ms" in EVENT_RULE
    assert "0.5 m/s" in EVENT_RULE


def test_in_two_measured_walks_events_are_those_of_the_laboratory_within_frames() -> None:
    """Bars: mean within 20 ms, deviation within 30 ms. Measured: initial contacts -4 ± 20 ms, toe-offs 11 ± 19 ms."""
    ezc3d = pytest.importorskip("ezc3d")
    files = [require_data(f"mocap/pig_{name.lower()}/PiG_Motion-FlatFoot-{name}.c3d") for name in ("One", "Hole")]
    differences: dict[str, list[float]] = {"initial_contact": [], "toe_off": []}
    for path in files:
        file = ezc3d.c3d(str(path))
        labels, event = file["parameters"]["POINT"]["LABELS"]["value"], file["parameters"]["EVENT"]
        points = file["data"]["points"][:3].transpose(2, 1, 0) / 1000.0
        header = file["header"]["points"]
        time = (np.arange(len(points)) + header["first_frame"]) / header["frame_rate"]
        marker = {label: points[:, labels.index(label)] for label in
                  ("LHEE", "RHEE", "LTOE", "RTOE", "LASI", "RASI", "LPSI", "RPSI")}  # fmt: skip
        pelvis = sum(marker[label] for label in ("LASI", "RASI", "LPSI", "RPSI")) / 4.0
        heel, toe = ({side: marker[side[0].upper() + word] for side in SIDES} for word in ("HEE", "TOE"))
        events = events_from_markers(time, heel, toe, pelvis)  # type: ignore[arg-type]
        moments = np.asarray(event["TIMES"]["value"])[1]
        for when, side, name in zip(moments, event["CONTEXTS"]["value"], event["LABELS"]["value"], strict=True):
            kind = "initial_contact" if "Strike" in name else "toe_off"
            near = [t - when for t in event_times(events, side.lower(), kind) if abs(t - when) < 0.15]
            differences[kind] += near
    for kind, errors in differences.items():
        print(f"{kind}: {1000 * np.mean(errors):.0f} ± {1000 * np.std(errors, ddof=1):.0f} ms, {len(errors)} events")
        assert len(errors) >= 7
        assert abs(np.mean(errors)) < 0.020
        assert np.std(errors, ddof=1) < 0.030


def test_stance_of_a_synthetic_gait_is_the_specified_one() -> None:
    gait = SyntheticGait()
    events = events_of(gait)
    strike = event_times(events, "right", "initial_contact")[0]
    off = next(t for t in event_times(events, "right", "toe_off") if t > strike)
    assert off - strike == pytest.approx(STANCE_SHARE * STRIDE_TIME, abs=0.02)
