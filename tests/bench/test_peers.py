"""Whole steps are measured in turns, checked by their errors, and returned as plain data. Times are not tested here."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchmarks.peers.kinematics import BARS, measure, table
from benchmarks.peers.problems import KinematicsProblem
from benchmarks.peers.processes import PEERS, PeerError

GOOD = {"hand": 1e-3, "feet": 1e-6, "feet_rotation": 1e-6, "center_of_mass": 1e-5}


class FakePeer:
    """Peer with constant step times that records its calls."""

    version = "1.0"

    def __init__(self, name: str, microseconds: float, errors: dict[str, float] | None = None) -> None:
        self.name, self.microseconds = name, microseconds
        self.errors = GOOD if errors is None else errors
        self.calls: list[str] = []

    def run_steps(self, steps: int) -> tuple[list[float], dict[str, float]]:
        self.calls.append(self.name)
        return [self.microseconds] * steps, self.errors


class PeerWithParts(FakePeer):
    def parts(self, steps: int) -> dict[str, list[float]]:
        return {"pinocchio": [10.0] * steps, "assembly": [5.0] * steps, "solve": [25.0] * steps}


class CrashingPeer(FakePeer):
    """Peer that crashes in its third chunk."""

    def run_steps(self, steps: int) -> tuple[list[float], dict[str, float]]:
        if len(self.calls) == 2:
            raise PeerError("mink stopped: out of memory")
        return super().run_steps(steps)


@pytest.fixture
def result() -> dict[str, Any]:
    contenders = [
        PeerWithParts("poise", 40.0),
        FakePeer("pink", 200.0),
        CrashingPeer("mink", 150.0),
        FakePeer("placo", 20.0),
    ]
    return measure(contenders, rounds=4, steps=10, skipped={"tsid": "no wheel"})


def test_the_result_is_plain_data(result: dict[str, Any]) -> None:
    assert json.loads(json.dumps(result, allow_nan=False)) == result


def test_the_ratio_is_the_step_time_of_a_peer_over_that_of_poise(result: dict[str, Any]) -> None:
    assert result["contenders"]["pink"]["ratio"] == {"median": 5.0, "low": 5.0, "high": 5.0, "p99": 5.0}
    assert result["contenders"]["placo"]["ratio"]["median"] == 0.5
    assert result["contenders"]["poise"]["ratio"] is None


def test_the_bars_compare_medians_and_list_missing_measurements(result: dict[str, Any]) -> None:
    assert result["bars"]["pink"] == {"bar": 4.0, "measured": 5.0, "passed": True}
    assert result["bars"]["mink"] == {"bar": 3.0, "measured": None, "passed": None}
    assert result["bars"]["placo"] == {"bar": 1.0, "measured": 0.5, "passed": False}
    assert not result["passed"]


def test_a_crashing_peer_is_skipped_with_its_reason_and_the_others_continue(result: dict[str, Any]) -> None:
    assert result["skipped"] == {"tsid": "no wheel", "mink": "mink stopped: out of memory"}
    assert set(result["contenders"]) == {"poise", "pink", "placo"}


def test_parts_are_reported_as_shares_of_their_sum(result: dict[str, Any]) -> None:
    parts = result["contenders"]["poise"]["parts"]
    assert {part: entry["share"] for part, entry in parts.items()} == {
        "pinocchio": 0.25,
        "assembly": 0.125,
        "solve": 0.625,
    }
    assert result["contenders"]["pink"]["parts"] == {}


def test_the_order_reverses_in_each_round_after_one_warm_up_round() -> None:
    log: list[str] = []
    contenders = [FakePeer("a", 1.0), FakePeer("b", 1.0)]
    for contender in contenders:
        contender.calls = log
    measure(contenders, rounds=3, steps=1)
    assert "".join(log) == "ab" + "ba" + "ab" + "ba"


def test_one_slow_round_moves_the_spread_and_the_maximum_but_not_the_median() -> None:
    class PeerWithSlowRound(FakePeer):
        def run_steps(self, steps: int) -> tuple[list[float], dict[str, float]]:
            microseconds, errors = super().run_steps(steps)
            return [9.0 * t for t in microseconds] if len(self.calls) == 3 else microseconds, errors

    result = measure([FakePeer("poise", 10.0), PeerWithSlowRound("pink", 50.0)], rounds=5, steps=4)
    entry = result["contenders"]["pink"]
    assert entry["ratio"]["median"] == entry["ratio"]["low"] == 5.0 < entry["ratio"]["high"]
    assert entry["microseconds"]["median"] == 50.0 < entry["microseconds"]["max"] == 450.0


@pytest.mark.parametrize("errors", [{**GOOD, "hand": 6e-3}, {**GOOD, "feet": float("nan")}, {"hand": 0.0}], ids=str)
def test_a_contender_with_large_errors_does_not_meet_the_tolerances(errors: dict[str, float]) -> None:
    result = measure([FakePeer("poise", 1.0), FakePeer("pink", 9.0, errors)], rounds=1, steps=2)
    assert [entry["within_tolerance"] for entry in result["contenders"].values()] == [True, False]
    assert "pink does NOT meet the tolerances" in table(result)
    json.dumps(result, allow_nan=False)


def test_no_bar_is_met_by_being_fast_and_wrong() -> None:
    result = measure([FakePeer("poise", 1.0, {**GOOD, "hand": 1.0}), FakePeer("pink", 9.0)], rounds=1, steps=2)
    assert result["bars"]["pink"]["passed"] is False


def test_the_reported_errors_are_the_worst_of_all_rounds() -> None:
    class ImprovingPeer(FakePeer):
        def run_steps(self, steps: int) -> tuple[list[float], dict[str, float]]:
            microseconds, errors = super().run_steps(steps)
            return microseconds, {**errors, "hand": 1e-3 / len(self.calls)}

    assert measure([ImprovingPeer("pink", 1.0)], rounds=3, steps=1)["contenders"]["pink"]["errors"]["hand"] == 5e-4


def test_the_table_has_a_line_for_every_contender(result: dict[str, Any]) -> None:
    text = table(result)
    assert all(line == line.rstrip() and len(line) <= 132 for line in text.splitlines())
    for words in (
        "pink at least 4 times poise: 5.00, met",
        "0.50, NOT met",
        "skipped: mink (mink stopped",
        "solve 62% (25.0)",
    ):
        assert words in text
    assert "not all bars are met" in text


def test_without_poise_there_are_times_but_no_ratios() -> None:
    result = measure([FakePeer("pink", 200.0), FakePeer("placo", 20.0)], rounds=2, steps=2)
    assert all(entry["ratio"] is None for entry in result["contenders"].values())
    assert "200.0" in table(result)


def test_the_target_starts_at_the_hand_and_stays_within_reach() -> None:
    assert KinematicsProblem.offset(0) == (0.0, 0.0, 0.0)
    for step in range(5000):
        assert max(abs(x) for x in KinematicsProblem.offset(step)) <= 2.0 * KinematicsProblem.AMPLITUDE
        speed = [
            abs(a - b) / KinematicsProblem.PERIOD
            for a, b in zip(KinematicsProblem.offset(step + 1), KinematicsProblem.offset(step), strict=True)
        ]
        assert max(speed) <= KinematicsProblem.AMPLITUDE * max(KinematicsProblem.FREQUENCIES) + 1e-9


def test_every_bar_has_its_peer() -> None:
    assert set(BARS) == {peer.name for peer in PEERS}
