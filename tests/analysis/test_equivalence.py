"""Equivalence is shown by an interval within the bounds, never by a test that does not reject."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from scipy import stats

from poise.analysis import EQUIVALENCE_REMARK, paired_tests
from poise.analysis.equivalence import bonferroni, holm
from poise.errors import GaitError
from robot_states import not_none

SAMPLE = [-2.1, 0.4, -1.3, 0.9, -3.0, -0.2, 1.1, -1.8, -0.6]


def test_student_and_shapiro_are_those_of_scipy() -> None:
    (test,) = paired_tests(np.array(SAMPLE)[:, None], ["knee"])
    assert test.student == pytest.approx(stats.ttest_rel(SAMPLE, np.zeros(9)).pvalue)
    assert test.normality == pytest.approx(stats.shapiro(SAMPLE).pvalue)
    assert (test.people, test.mean, test.deviation) == (  # type: ignore[comparison-overlap]
        9,
        pytest.approx(np.mean(SAMPLE)),
        pytest.approx(np.std(SAMPLE, ddof=1)),
    )
    assert test.wilcoxon is None


def test_two_one_sided_tests_are_two_tests_of_scipy() -> None:
    (test,) = paired_tests(np.array(SAMPLE)[:, None], ["knee"], bound=1.5)
    above = stats.ttest_1samp(SAMPLE, -1.5, alternative="greater").pvalue
    below = stats.ttest_1samp(SAMPLE, 1.5, alternative="less").pvalue
    assert test.tost == pytest.approx(max(above, below))
    interval = stats.ttest_1samp(SAMPLE, 0.0).confidence_interval(0.90)
    assert test.interval == pytest.approx((interval.low, interval.high))


def test_four_differences_worked_by_hand() -> None:
    """d = 1, 2, 3, 4: m = 2.5, s = sqrt(5/3), e = 0.6455, t(3; 0.95) = 2.3534: 2.5 ± 1.519."""
    (test,) = paired_tests([[1.0], [2.0], [3.0], [4.0]], ["knee"])
    assert test.interval == pytest.approx((0.981, 4.019), abs=5e-4)
    # (2.5 - 5) / 0.6455 = -3.873; with 3 degrees of freedom F(t) = 1/2 + (x / (1 + x²) + atan x) / π, x = t / sqrt 3.
    x = -2.5 / math.sqrt(5 / 12) / math.sqrt(3)
    assert test.tost == pytest.approx(0.5 + (x / (1 + x * x) + math.atan(x)) / math.pi)
    assert test.verdict == "equivalent"


@pytest.mark.parametrize(
    ("center", "verdict"), [(0.0, "equivalent"), (4.9, "not shown"), (-9.0, "different"), (9.0, "different")]
)
def test_the_verdict_follows_from_the_interval(center: float, verdict: str) -> None:
    (test,) = paired_tests(center + np.array([[-1.0], [0.5], [1.2], [-0.7]]), ["knee"])
    assert test.verdict == verdict
    low, high = not_none(test.interval)
    assert (not_none(test.tost) < 0.05) == (low > -5.0 and high < 5.0)


def test_a_t_test_that_does_not_reject_shows_nothing() -> None:
    """Two scattered subjects: the t-test finds no difference, yet equivalence is not shown."""
    (test,) = paired_tests([[-20.0], [24.0], [1.0]], ["knee"])
    assert not_none(test.student) > 0.05
    assert test.verdict == "not shown"
    assert "does not show equality" in EQUIVALENCE_REMARK


def test_a_t_test_may_reject_a_difference_too_small_to_matter() -> None:
    (test,) = paired_tests([[0.50], [0.52], [0.47], [0.51]], ["knee"])
    assert not_none(test.student) < 0.001
    assert test.verdict == "equivalent"


def test_wilcoxon_stands_beside_student_where_the_differences_are_not_normal() -> None:
    odd = np.array([0.1, 0.2, 0.15, 0.12, 0.18, 0.11, 0.16, 30.0])
    (test,) = paired_tests(odd[:, None], ["knee"])
    assert not_none(test.normality) < 0.05
    assert test.wilcoxon == pytest.approx(stats.wilcoxon(odd).pvalue)
    assert "not normal" in test.remark


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([], "no values to test"),
        ([3.0], r"one person, \+3.00 and within ±5"),
        ([7.0], "outside ±5"),
        ([0.0, 0.0, 0.0], r"all 3 differences are the same, \+0.00 and within"),
        ([6.0, 6.0 + 1e-13, 6.0], "all 3 differences are the same"),
        ([np.nan, 1.0], "1 of 2 people have no value; one person"),
    ],
)
def test_a_quantity_that_cannot_be_tested_has_a_remark_with_the_reason(values: list[float], words: str) -> None:
    (test,) = paired_tests(np.array(values, dtype=float).reshape(-1, 1), ["knee"])
    assert test.verdict == "cannot be judged"
    assert (test.tost, test.interval, test.holm, test.student) == (None, None, None, None)
    assert re.search(words, test.remark)


@pytest.mark.filterwarnings("error")
def test_two_people_have_an_interval_and_a_warning() -> None:
    (test,) = paired_tests([[0.1], [0.3]], ["knee"])
    assert test.normality is None
    assert test.interval == pytest.approx((0.2 - 0.631375, 0.2 + 0.631375), abs=1e-5)  # t(1; 0.95) = 6.31375, e = 0.1
    assert "two people" in test.remark


def test_corrections_are_those_worked_by_hand() -> None:
    p = [0.01, 0.04, 0.03, None]
    assert bonferroni(p) == pytest.approx((0.04, 0.16, 0.12, None))
    assert holm(p) == pytest.approx((0.04, 0.09, 0.09, None))


def test_holm_rejects_every_hypothesis_that_bonferroni_rejects() -> None:
    random = np.random.default_rng(5)
    for _ in range(100):
        p = random.uniform(0.0, 0.05, 12).tolist()
        assert all(not_none(h) <= not_none(b) + 1e-15 for h, b in zip(holm(p), bonferroni(p), strict=True))
        assert min(map(not_none, holm(p))) == pytest.approx(min(map(not_none, bonferroni(p))))


def test_twelve_tests_are_corrected_together() -> None:
    random = np.random.default_rng(1)
    tests = paired_tests(random.normal(1.0, 2.0, (12, 12)), [f"joint {k}" for k in range(12)])
    assert [test.bonferroni for test in tests] == pytest.approx([min(1.0, 12 * not_none(test.tost)) for test in tests])
    assert [test.holm for test in tests] == pytest.approx(list(holm([test.tost for test in tests])))


@pytest.mark.parametrize("people", [5, 12])
def test_at_the_bound_equivalence_is_found_as_often_as_alpha_allows(people: int) -> None:
    """2000 studies of a true difference of just 5 degrees: 5 % ± 1.5 % (three deviations) find it equivalent."""
    random = np.random.default_rng(people)
    studies = random.normal(5.0, 1.5, (people, 2000))
    tests = paired_tests(studies, [str(k) for k in range(2000)])
    share = np.mean([test.verdict == "equivalent" for test in tests])
    assert share == pytest.approx(0.05, abs=0.015)


def test_a_wrong_shape_or_bound_is_refused() -> None:
    with pytest.raises(GaitError, match=r"expected \(people, 2\)"):
        paired_tests([[1.0], [2.0]], ["a", "b"])
    with pytest.raises(GaitError, match="bound above zero"):
        paired_tests([[1.0], [2.0]], ["a"], bound=0.0)
