"""Normative bands have the values of their sources, are smooth and periodic, and have the signs of the human model."""

from __future__ import annotations

import numpy as np
import pytest

from poise.analysis import normative_band, normative_joints
from poise.analysis.gait_curves import normative_datasets
from poise.errors import GaitError
from shared_data import require_data

EVERY = [(joint, source) for source in normative_datasets() for joint in normative_joints(source)]


@pytest.mark.parametrize(("joint", "source"), EVERY)
def test_a_normative_band_has_a_mean_and_a_deviation_at_each_per_cent(joint: str, source: str) -> None:
    own = normative_band(joint, dataset=source)
    assert own.mean.shape == own.deviation.shape == (101,)
    assert np.isfinite(own.mean).all()
    assert (own.deviation > 0.0).all()
    assert own.source == normative_datasets()[source]


@pytest.mark.parametrize(("joint", "source"), EVERY)
def test_a_normative_band_is_periodic_and_smooth(joint: str, source: str) -> None:
    own, h = normative_band(joint, dataset=source), 1e-4
    assert own.mean[0] == pytest.approx(own.mean[-1])
    assert own.at(np.linspace(0.0, 1.0, 101)) == pytest.approx(own.mean)
    assert own.at([0.3, 1.3, -0.7]) == pytest.approx(np.full(3, float(own.at(0.3))))
    before, at, after = own.at([-h, 0.0, h])
    assert abs(after - 2 * at + before) < 0.1 * h  # a kink would leave a share of h


def test_a_normative_band_has_the_values_of_its_table() -> None:
    knee = np.degrees(normative_band("right_knee_flexion").mean)
    assert knee[10:100:10] == pytest.approx([17.5, 18.5, 10.6, 4.8, 6.7, 26.2, 63.8, 66.0, 32.5])
    assert knee[0] == pytest.approx((4.0 + 0.4) / 2)


def test_ranges_of_motion_are_near_those_of_the_people_that_were_measured() -> None:
    """The range of a mean is a little smaller than the mean of ranges: hip 45.0, knee 70.2, ankle 35.2 degrees."""
    for joint, people in [("hip_flexion", 45.0), ("knee_flexion", 70.2), ("ankle_dorsiflexion", 35.2)]:
        assert people - 3.0 < np.degrees(normative_band(joint).range_of_motion) < people


def test_signs_are_those_of_the_body() -> None:
    angle = {joint: np.degrees(normative_band(f"right_{joint}").mean) for joint in
             ("hip_flexion", "hip_adduction", "knee_flexion", "ankle_dorsiflexion")}  # fmt: skip
    assert angle["hip_flexion"][0] > 15.0 > 0.0 > angle["hip_flexion"][50]  # in front at initial contact, behind later
    assert angle["knee_flexion"].argmax() in range(70, 80)
    assert angle["hip_adduction"][20] > 0.0 > angle["hip_adduction"][70]  # the pelvis drops on the other side
    assert angle["ankle_dorsiflexion"].argmax() in range(45, 55)
    back, pelvis = normative_band("lumbar_rotation").mean, normative_band("pelvis_rotation").mean
    assert np.corrcoef(back, pelvis)[0, 1] < 0.0  # shoulders turn against the pelvis


def test_the_pelvis_of_all_sources_is_that_of_the_spines() -> None:
    """Their zeros differ by 15 degrees; relative to the body's zero they agree within the deviation of one person."""
    for joint in ("pelvis_tilt", "hip_flexion"):
        means = [np.degrees(normative_band(joint, dataset=source).mean.mean()) for source in normative_datasets()]
        assert np.ptp(means) < 2.5


def test_the_other_leg_is_half_a_cycle_later() -> None:
    own, other = normative_band("left_knee_flexion"), normative_band("left_knee_flexion", cycle="right")
    assert other.mean[:51] == pytest.approx(own.mean[50:])
    assert other.deviation[:51] == pytest.approx(own.deviation[50:])
    assert normative_band("right_knee_flexion").mean == pytest.approx(own.mean)


def test_the_back_is_mirrored_in_the_cycle_of_the_left_foot() -> None:
    for joint in ("lumbar_bending", "lumbar_rotation"):
        assert normative_band(joint, cycle="left").mean == pytest.approx(-normative_band(joint).mean)
    assert normative_band("lumbar_extension", cycle="left").mean == pytest.approx(
        normative_band("lumbar_extension").mean
    )


def test_an_unknown_joint_is_refused_with_similar_names() -> None:
    with pytest.raises(GaitError, match="did you mean 'knee_flexion'") as caught:
        normative_band("left_knee_flexon")
    assert caught.value.near[0] == "knee_flexion"
    with pytest.raises(GaitError, match="adults, cgm23, children"):
        normative_band("hip_flexion", dataset="robots")


def test_ten_points_hold_the_curves_that_were_measured_at_each_per_cent() -> None:
    """Bars: 1.5 degrees root mean square and 4.5 at worst, which is at 0 and 100 %, where strides do not close."""
    table = np.genfromtxt(require_data("gait/adult_gait_measured5_mean_sd_101.csv"), delimiter=",", names=True)
    columns = {"knee_flexion": "knee_angle", "ankle_dorsiflexion": "ankle_angle", "hip_adduction": "hip_adduction"}
    for joint, column in columns.items():
        error = np.degrees(normative_band(joint).mean) - table[f"{column}_mean"]
        assert np.sqrt(np.mean(error**2)) < 1.5
        assert np.abs(error).max() < 4.5
