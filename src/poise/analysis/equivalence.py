"""Equivalence testing: whether two motions of the same subjects agree, by paired tests on their differences.

Notation: d_1 ... d_n are the differences of n subjects in one quantity, m their mean, s their standard deviation,
e = s / sqrt(n) the standard error, ±b the equivalence bounds, F the cumulative distribution function of Student's t
with n - 1 degrees of freedom, a the significance level.

[Schuirmann1987] D. J. Schuirmann. *A comparison of the two one-sided tests procedure and the power approach for
assessing the equivalence of average bioavailability.* Journal of Pharmacokinetics and Biopharmaceutics, 1987.
[Holm1979] S. Holm. *A simple sequentially rejective multiple test procedure.* Scandinavian Journal of Statistics, 1979.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.errors import GaitError
from poise.extras import scipy

EquivalenceVerdict = Literal["equivalent", "not shown", "different", "cannot be judged"]

#: Equivalence bounds of ranges of motion, degrees: the usual difference between gait laboratories.
EQUIVALENCE_BOUND = 5.0
#: Significance level of each test, as in [Boukheddimi2019].
ALPHA = 0.05
#: Smallest number of subjects for which the Shapiro-Wilk test is defined.
FEWEST_PEOPLE = 3
#: Standard deviations below this share of the bound are rounding errors.
ROUNDING = 1e-9

EQUIVALENCE_REMARK = (
    "A t-test that does not reject does not show equality: with few people, or people who differ much, it rejects "
    "nothing, and with many it rejects differences too small to matter. Equivalence is shown by two one-sided tests "
    "(TOST): the motions are equivalent if the 90 % confidence interval of the mean difference lies within the bounds. "
    "The verdict is based on this interval; the other tests are given for information."
)


@dataclass(frozen=True)
class PairedTest:
    """Results of the tests on one quantity. A result that cannot be computed is None, and `remark` gives the reason.

    Attributes:
        name: name of the quantity.
        people: n, the number of subjects with a known difference.
        mean, deviation: m and s, in the unit of the differences; s is None for a single subject.
        normality: p of the Shapiro-Wilk test; below a the differences are not normally distributed.
        student: p of the paired t-test (null hypothesis: the mean difference is zero).
        wilcoxon: p of the signed-rank test of the same hypothesis, only if the differences are not normal.
        tost: p of the two one-sided tests (null hypothesis: the mean difference is not within the bounds).
        interval: confidence interval of the mean difference at level 1 - 2a (90 %).
        bonferroni, holm: `tost` corrected for the number of tests made together.
        verdict: "equivalent" if the interval lies within the bounds, "different" if it lies outside them, "not shown"
            if it crosses one, "cannot be judged" if there is no interval.
        remark: explanation for the reader, "" if there is none.
    """

    name: str
    people: int
    mean: float | None
    deviation: float | None
    normality: float | None
    student: float | None
    wilcoxon: float | None
    tost: float | None
    interval: tuple[float, float] | None
    bonferroni: float | None
    holm: float | None
    verdict: EquivalenceVerdict
    remark: str


def paired_tests(
    differences: ArrayLike, names: Sequence[str], bound: float = EQUIVALENCE_BOUND, alpha: float = ALPHA
) -> tuple[PairedTest, ...]:
    """Test the differences of n subjects in k quantities, for example ranges of motion, simulated minus measured.

        TOST [Schuirmann1987]:  p = max(1 - F((m + b) / e), F((m - b) / e)),   p < a  <=>  [m ∓ F⁻¹(1-a) e] within ±b

    Args:
        differences: (n, k), degrees by default; NaN for unknown values.
        names: names of the k quantities.
        bound: b, in the unit of the differences.
        alpha: a, between 0 and 0.5.

    >>> tests = paired_tests([[0.1], [-0.4], [0.6], [0.2]], ["right_knee_flexion"])
    >>> tests[0].verdict, [round(end, 2) for end in tests[0].interval]
    ('equivalent', [-0.36, 0.61])
    """
    x = np.asarray(differences, dtype=np.float64)
    if x.ndim != 2 or x.shape[1] != len(names):
        raise GaitError(f"differences of shape {x.shape} for {len(names)} names; expected (people, {len(names)})")
    if not (bound > 0.0 and 0.0 < alpha < 0.5):
        raise GaitError(f"bound {bound} and alpha {alpha}; expected a bound above zero and an alpha between 0 and 0.5")
    tests = [_paired_test(name, x[:, k], bound, alpha) for k, name in enumerate(names)]
    uncorrected = [test.tost for test in tests]
    return tuple(
        replace(test, bonferroni=bonferroni_p, holm=holm_p)
        for test, bonferroni_p, holm_p in zip(tests, bonferroni(uncorrected), holm(uncorrected), strict=True)
    )


def bonferroni(probabilities: Sequence[float | None]) -> tuple[float | None, ...]:
    """Bonferroni correction ``min(1, k p)`` of k tests; a test that could not be made (None) still counts in k.

    >>> bonferroni([0.01, 0.6])
    (0.02, 1.0)
    """
    k = len(probabilities)
    return tuple(None if p is None else min(1.0, k * p) for p in probabilities)


def holm(probabilities: Sequence[float | None]) -> tuple[float | None, ...]:
    """Holm correction [Holm1979]: for p in ascending order, ``p'_i = max over j <= i of min(1, (k - j + 1) p_j)``.

    It controls the same family-wise error as `bonferroni` and is at least as powerful. A test that could not be made
    (None) still counts in k.

    >>> holm([0.01, 0.04, 0.03])
    (0.03, 0.06, 0.06)
    """
    k = len(probabilities)
    p = np.array([1.0 if each is None else each for each in probabilities])
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(k)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, (k - np.arange(k)) * p[order]))
    return tuple(
        None if original is None else float(corrected)
        for original, corrected in zip(probabilities, adjusted, strict=True)
    )


def _paired_test(name: str, differences: Array, b: float, alpha: float) -> PairedTest:
    d = differences[np.isfinite(differences)]
    n = len(d)
    unknown = f"{len(differences) - n} of {len(differences)} people have no value; " if n < len(differences) else ""
    if n < 2:
        m = float(d[0]) if n else None
        remark = "no values to test" if m is None else f"one person, {_bound_text(m, b)}: a test needs two or more"
        return _test_without_verdict(name, n, m, None, unknown + remark)
    m, s = float(d.mean()), float(d.std(ddof=1))
    if s <= ROUNDING * b:
        remark = f"all {n} differences are the same, {_bound_text(m, b)}: no variance to test"
        return _test_without_verdict(name, n, m, s, unknown + remark)
    e = s / math.sqrt(n)
    normality = float(scipy.stats.shapiro(d).pvalue) if n >= FEWEST_PEOPLE else None
    student = float(2.0 * scipy.stats.t.sf(abs(m) / e, n - 1))
    not_normal = normality is not None and normality < alpha
    wilcoxon = float(scipy.stats.wilcoxon(d).pvalue) if not_normal else None
    tost = float(max(scipy.stats.t.sf((m + b) / e, n - 1), scipy.stats.t.cdf((m - b) / e, n - 1)))
    half = float(scipy.stats.t.ppf(1.0 - alpha, n - 1)) * e
    low, high = m - half, m + half
    verdict: EquivalenceVerdict = "equivalent" if tost < alpha else "different" if low > b or high < -b else "not shown"
    remark = "two people: normality cannot be tested, and the interval is wide" if n < FEWEST_PEOPLE else ""
    remark = "not normal: see Wilcoxon's test as well as Student's" if not_normal else remark
    return PairedTest(
        name,
        n,
        m,
        s,
        normality,
        student,
        wilcoxon,
        tost,
        (low, high),
        None,
        None,
        verdict,
        (unknown + remark).strip("; "),
    )


def _test_without_verdict(name: str, n: int, m: float | None, s: float | None, remark: str) -> PairedTest:
    return PairedTest(name, n, m, s, None, None, None, None, None, None, None, "cannot be judged", remark)


def _bound_text(m: float, b: float) -> str:
    return f"{m:+.2f} and {'within' if abs(m) < b else 'outside'} ±{b:g}"
