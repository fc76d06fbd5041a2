"""The receiver answers every message with one answer, and lets only valid, timely wishes of one client through."""

import json
from collections.abc import Callable
from typing import Any

import msgpack
import numpy as np
import pytest

from poise.shield.answers import HeldWish, ShieldReport, SolutionRows, WishLimit, WishResult
from poise.shield.gateway import MAX_MESSAGE_SIZE, ReportMessage, WishReceiver
from poise.solvers import Lexicographic, Program, Rows

JOINTS = {"left_elbow": "left arm", "right_elbow": "right arm", "neck": "head"}
SILENCE = 0.2


def receiver(time: float = 0.0) -> WishReceiver:
    each = WishReceiver(JOINTS, ("left", "right"), SILENCE)
    move_clock(each, time)
    return each


def move_clock(each: WishReceiver, time: float) -> None:
    each.update(ReportMessage(ShieldReport(time).message(), (), None))


@pytest.mark.parametrize("encode", [json.dumps, msgpack.packb], ids=["json", "msgpack"])
def test_a_wish_in_either_encoding_is_taken_and_answered(encode: Callable[[Any], Any]) -> None:
    wish, answer = receiver(3.0).read(encode({"joints": {"left_elbow": 0.5}, "sequence": 4, "time": 2.9}), "a")
    assert wish is not None
    assert dict(wish.joints) == {"left_elbow": 0.5}
    assert (answer["kind"], answer["sequence"], answer["time"]) == ("answer", 4, 3.0)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not a message"),
        ("", "not a message"),
        ("{", "not a message"),
        ("[1, 2]", "expected a map"),
        ("[" * 60000, "not a message"),
        ('{"joints": {"left_elbow": NaN}}', "finite number"),
        ('{"joints": {"left_elbow": 1e999}}', "finite number"),
        ('{"joints": {"left_elbow": ' + "9" * 5000 + "}}", "not a message"),
        ('{"sequence": "one"}', "whole number"),
        ('{"kind": "command"}', "kind is not"),
        (msgpack.packb({1: 2}), "not a message"),
        (msgpack.packb({"joints": {"left_elbow": float("inf")}}), "finite number"),
        (bytes(MAX_MESSAGE_SIZE + 1), "expected at most"),
        ("x" * (MAX_MESSAGE_SIZE + 1), "expected at most"),
    ],
)
def test_a_hostile_message_is_refused_in_one_line(data: bytes | str, words: str) -> None:
    each = receiver()
    wish, answer = each.read(data, "a")
    assert wish is None
    assert answer["kind"] == "refused"
    assert words in answer["text"]
    assert "\n" not in answer["text"]
    assert each.counts["accepted"] == 0


def test_random_bytes_never_pass_nor_raise() -> None:
    random, each = np.random.default_rng(0), receiver()
    valid = msgpack.packb({"joints": {"left_elbow": 0.5}, "gaze": [1.0, 2.0, 3.0]})
    for _ in range(500):
        damaged = bytearray(valid)
        for place in random.integers(0, len(valid), 3):
            damaged[place] = random.integers(256)
        wish, answer = each.read(bytes(damaged), "a")
        if wish is None:
            assert answer["kind"] == "refused"
        else:
            values = [*wish.joints.values(), *([] if wish.gaze is None else wish.gaze)]
            assert all(abs(value) <= 1000.0 for value in values)
        assert each.read(random.bytes(int(random.integers(1, 200))), "a")[0] is None


def test_a_late_wish_is_refused() -> None:
    each = receiver(10.0)
    assert each.read(json.dumps({"gaze": [1, 0, 1], "time": 9.9}), "a")[0] is not None
    wish, answer = each.read(json.dumps({"gaze": [1, 0, 1], "time": 9.7}), "a")
    assert wish is None
    assert answer["text"].startswith("late: the wish is 0.30 s old")


def test_an_arm_has_one_client_until_it_is_silent() -> None:
    each, elbow = receiver(1.0), json.dumps({"joints": {"left_elbow": 0.5}})
    assert each.read(elbow, "a")[0] is not None
    refused, answer = each.read(json.dumps({"hands": {"left": {"position": [0, 0, 1]}}}), "b")
    assert refused is None
    assert "another client has the left arm" in answer["text"]
    assert each.read(json.dumps({"joints": {"right_elbow": 0.5}}), "b")[0] is not None
    move_clock(each, 1.0 + SILENCE + 0.01)
    assert each.read(elbow, "b")[0] is not None
    assert each.read(elbow, "a")[0] is None


def test_an_answer_names_the_rows_that_hold_a_wish() -> None:
    limit = Rows.bounds([-1.0, -1.0], [0.5, 0.5], name="joint range", labels=("shoulder", "elbow"))
    wished = Rows([[0.0, 1.0]], 2.0, 2.0, name="joints", unit="rad", labels=("elbow",))
    solution = Lexicographic().solve(Program([limit, wished], names=("always", "wished joints")))
    held = (HeldWish("left_elbow", 0.3, "rad", (2,)),)
    report = ShieldReport(
        5.0,
        (WishResult("left_elbow", "limited", 0.4, "rad"),),
        (WishLimit("left_elbow", "shield", "joint range", 0.1, "rad"),),
        held,
    )
    each = receiver()
    each.update(ReportMessage(report.message(), held, None))
    _, answer = each.read("{}", "a")
    assert [entry["limit"] for entry in answer["limits"]] == ["joint range", "being examined"]
    each.update(ReportMessage(report.message(), held, SolutionRows.of(solution)))
    _, answer = each.read("{}", "a")
    assert answer["limits"][1] == {
        "wish": "left_elbow",
        "level": "always",
        "limit": "joint range[elbow] at its upper bound",
        "amount": 0.3,
        "unit": "rad",
    }
