"""Measures and tables of reproductions: the same rules apply to the simulated motion and to its reference."""

import json
from copy import copy
from dataclasses import replace

import numpy as np
import pinocchio
import pytest
import scipy.stats

from poise.analysis import EVENT_RULE, TABLE_I_JOINTS
from poise.errors import GaitError
from poise.human import BEST, PAPER
from poise.human.gait.contact_schedule import single_support_mask, stance_mask, support_trajectory
from poise.human.gait.reproduction import SIX_KEYS, TRACK
from poise.human.gait.variant_comparison import (
    VariantComparison,
    compare_variants,
    comparison_table,
    range_of_motion_table,
)
from poise.robots import GRAVITY
from sample_walks import reproduce_sample, sample_quality, sample_walk

PEOPLE = ("right", "left")


def test_the_curves_are_those_of_the_motion() -> None:
    measures, reproduction = sample_quality(BEST), reproduce_sample(BEST)
    knee = sample_walk().robot.joint("right_knee_flexion").q
    k = TABLE_I_JOINTS.index("right_knee_flexion")
    assert measures.curves[0, k] == pytest.approx(np.degrees(reproduction.q[0, knee]))
    assert measures.ranges[k] == pytest.approx(np.degrees(np.ptp(reproduction.q[:, knee])), abs=0.3)
    assert measures.reference_curves.shape == (101, 12)
    assert measures.worst_joint[1] == measures.differences[TABLE_I_JOINTS.index(measures.worst_joint[0])]


def test_the_zero_moment_point_is_where_the_wrench_of_the_ground_has_no_horizontal_moment() -> None:
    """Against inverse dynamics: the wrench that the base needs."""
    robot, cycle = sample_walk().robot, sample_walk().cycle()
    time = np.linspace(cycle.initial_contact, cycle.end, 7)
    q, v, a = (np.array(part) for part in zip(*(sample_walk().sample(float(t)) for t in time), strict=True))
    found = support_trajectory(sample_walk(), cycle, time, q, v, a, ground=0.02).zmp
    model = robot.model.copy()
    model.gravity.linear = np.array([0.0, 0.0, -GRAVITY])
    model.armature = np.zeros(model.nv)
    data = model.createData()
    for k in range(len(time)):
        base = pinocchio.rnea(model, data, q[k], v[k], a[k])[:6]
        pinocchio.forwardKinematics(model, data, q[k])
        wrench = data.oMi[1].act(pinocchio.Force(base))
        f, n = wrench.linear, wrench.angular  # about the origin of the world
        expected = np.array([0.02 * f[0] - n[1], 0.02 * f[1] + n[0]]) / f[2]
        assert found[k] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("side", PEOPLE)
def test_the_stance_of_a_foot_follows_from_the_phases(side: str) -> None:
    cycle = sample_walk().cycle(side)  # type: ignore[arg-type]
    other = "left" if side == "right" else "right"
    middles = np.array([(phase.begin + phase.end) / 2.0 for phase in cycle.phases])
    assert stance_mask(cycle, side, middles).tolist() == [True, True, True, False]  # type: ignore[arg-type]
    assert stance_mask(cycle, other, middles).tolist() == [True, False, True, True]  # type: ignore[arg-type]
    assert single_support_mask(cycle, side, middles).tolist() == [False, True, False, False]  # type: ignore[arg-type]


def test_the_support_is_the_hull_of_the_soles_that_stand() -> None:
    cycle = sample_walk().cycle()
    time = np.array([(phase.begin + phase.end) / 2.0 for phase in cycle.phases])
    q, v, a = (np.array(part) for part in zip(*(sample_walk().sample(float(t)) for t in time), strict=True))
    support_polygons = support_trajectory(sample_walk(), cycle, time, q, v, a, ground=0.0).support_polygons

    def area(hull: np.ndarray) -> float:
        x, y = hull.T
        return 0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))

    single = [area(support_polygons[k]) for k in (1, 3)]
    assert 0.01 < min(single) <= max(single) < 0.025
    assert min(area(support_polygons[0]), area(support_polygons[2])) > 2.0 * max(single)


def test_the_reference_is_evaluated_by_the_same_rules() -> None:
    for variant in (PAPER, BEST, TRACK):
        measures = sample_quality(variant)
        assert measures.reference_zmp_inside == sample_quality(TRACK).reference_zmp_inside
        assert measures.reference_penetration < 0.5
        assert measures.reference_foot_slide < 10.0
    assert sample_quality(TRACK).zmp_inside == pytest.approx(sample_quality(TRACK).reference_zmp_inside, abs=0.05)
    assert sample_quality(TRACK).foot_slide == pytest.approx(sample_quality(TRACK).reference_foot_slide, abs=1.0)


def sample_comparison() -> VariantComparison:
    return compare_variants([sample_quality(variant, side) for side in PEOPLE for variant in (PAPER, BEST, SIX_KEYS)])


def test_a_study_groups_by_variant_and_notes_the_rules() -> None:
    found = sample_comparison()
    assert [each.variant for each in found.results] == [PAPER, BEST, SIX_KEYS]
    assert found.people == ("sample", "sample")
    assert EVENT_RULE in found.notes
    assert any("does not show equality" in note for note in found.notes)
    assert any("between 1 person: 2 of sample" in note for note in found.notes)
    best = found.result("best")
    assert best.differences.shape == (2, 12)
    assert best.beyond_bound == 0
    assert abs(best.worst_difference[0]) == np.abs(best.differences).max()
    assert [test.name for test in best.tests] == list(TABLE_I_JOINTS)
    assert best.mean_difference < found.result(PAPER).mean_difference
    assert best.smallest("zmp_inside") <= best.mean("zmp_inside") <= best.largest("zmp_inside")
    with pytest.raises(GaitError, match="it has paper, best"):
        found.result("worst")


def test_curves_of_left_cycles_also_begin_with_the_right_initial_contact() -> None:
    """The sample walks the same on both sides: its two cycles must have one mean and next to no deviation."""
    left, right = (compare_variants([sample_quality(TRACK, side)]).results[0].reference_curves.mean for side in PEOPLE)
    assert left == pytest.approx(right, abs=3.0)
    assert np.median(np.abs(left - right)) < 1.0
    both = compare_variants([sample_quality(TRACK, side) for side in PEOPLE]).results[0]
    assert both.reference_curves.mean == pytest.approx((left + right) / 2.0)


def test_walks_of_one_person_are_averaged_before_the_tests() -> None:
    """Three walks of two people: the tests are those of two values, and that of the first person is a mean."""
    one, two = (sample_quality(PAPER, side) for side in PEOPLE)
    reference = copy(one.reproduction.reference)
    reference.name = "another person"
    other = replace(one, reproduction=replace(one.reproduction, reference=reference))
    found = compare_variants([one, two, other]).results[0]
    assert found.people == ("sample", "another person")
    assert found.differences.shape == (3, 12)
    means = np.array([(one.differences + two.differences) / 2.0, other.differences])
    for k, test in enumerate(found.tests):
        assert test.people == 2
        assert test.student == pytest.approx(scipy.stats.ttest_1samp(means[:, k], 0.0).pvalue)
    assert found.curves.count == 2


def test_the_tables_hold_every_variant_and_every_rotation() -> None:
    found = sample_comparison()
    lines = comparison_table(found).splitlines()
    assert [line.split("  ")[0] for line in lines[1:]] == ["paper", "best", "interpolation, six keys", "measured"]
    table = range_of_motion_table(found.result(BEST))
    assert len(table.splitlines()) == 2 + 12
    assert "Right knee flexion" in table
    assert all(len(line) < 180 for line in str(found).split("\n\n")[0].splitlines())


def test_the_summary_is_plain_data_with_the_same_values() -> None:
    found = sample_comparison()
    facts = json.loads(json.dumps(found.summary()))
    best = facts["variants"]["best"]
    assert best["worst_difference"] == pytest.approx(found.result(BEST).worst_difference[0])
    assert best["zmp_inside"]["worst"] == pytest.approx(found.result(BEST).smallest("zmp_inside"))
    assert list(best["ranges_of_motion"]) == list(TABLE_I_JOINTS)
    assert np.array(best["differences"]).shape == (2, 12)


def test_one_person_can_be_tabled_but_not_tested() -> None:
    alone = compare_variants([reproduce_sample(BEST)])
    assert {test.verdict for test in alone.results[0].tests} == {"cannot be judged"}
    text = str(alone)
    assert "1 walk; equivalence cannot be judged" in text
    measured = alone.results[0].reference_ranges[0, TABLE_I_JOINTS.index("left_knee_flexion")]
    assert (
        next(line for line in text.splitlines() if line.startswith("Left knee flexion")).split()[3] == f"{measured:.1f}"
    )


def test_a_study_without_reproductions_is_refused() -> None:
    with pytest.raises(GaitError, match="no reproductions given"):
        compare_variants([])


def test_variants_with_different_gains_are_distinguished() -> None:
    stiff = replace(BEST, name="stiff", gain=40.0)
    found = compare_variants([sample_quality(BEST), sample_quality(stiff)])
    assert [each.variant.name for each in found.results] == ["best", "stiff"]
