"""Comparison of the walk of a person with that of a robot, as in [Saab2012]."""

from __future__ import annotations

import numpy as np
import pytest
from torque_trials import known_motion

from poise.analysis import anatomical_walk, compare_strides
from poise.errors import GaitError
from poise.human import Torques, compare_walks, compute_torques, human_anatomical_walk
from poise.recording import Channel, Recording
from poise.robots import SIDES


@pytest.fixture(scope="module")
def torques() -> Torques:
    return compute_torques(known_motion())


def replace_channels(recording: Recording, **values: np.ndarray) -> Recording:
    """The same recording with other values in some channels."""
    channels = []
    for name, own in recording.channels.items():
        new_values = values.get(name.replace("/", "_"))
        channels.append(own if new_values is None else Channel(name, own.units, new_values, own.labels or None))
    return Recording(channels, recording.provenance, recording.robot)


def test_strides_go_from_initial_contact_to_initial_contact(torques: Torques) -> None:
    strides = human_anatomical_walk(torques)
    contact_times = {
        side: [e.time for e in torques.trial.events if e.side == side and e.kind == "initial_contact"] for side in SIDES
    }
    assert len(strides.cycles) == sum(len(times) - 1 for times in contact_times.values())
    for cycle in strides.cycles:
        assert min(abs(cycle.initial_contact - time) for time in contact_times[cycle.side]) < 0.021
        assert min(abs(cycle.end - time) for time in contact_times[cycle.side]) < 0.021
    assert strides.stance == pytest.approx(62.0, abs=1.5)


def test_left_and_right_torques_agree(torques: Torques) -> None:
    """The sample walk is the same on both sides, half a cycle apart; the middle of the body is mirrored."""
    strides = human_anatomical_walk(torques)
    left = next(k for k, cycle in enumerate(strides.cycles) if cycle.side == "left")
    right = next(k for k, cycle in enumerate(strides.cycles) if cycle.side == "right")
    for rotation in ("hip adduction", "knee flexion", "lumbar bending", "lumbar rotation", "neck rotation"):
        curves = strides.curves("torque", rotation).values
        assert np.corrcoef(curves[left], curves[right])[0, 1] > 0.97, rotation


def test_a_walk_agrees_with_itself_in_everything(torques: Torques) -> None:
    strides = human_anatomical_walk(torques)
    found = compare_strides(strides, strides)
    assert len(found.rows) == 12
    assert found.effort_overlap == pytest.approx(1.0)
    assert found.rank_correlation == pytest.approx(1.0)
    assert found.jerk[0] == pytest.approx(found.jerk[1])
    for row in found.rows:
        assert row.torque.correlation == pytest.approx(1.0)
        assert row.torque.error == pytest.approx(0.0, abs=1e-12)
        assert row.scaled.peak_ratio == pytest.approx(1.0)
    assert found.back[0] > found.neck[0] > 0.0  # falling from the abdomen to the head, as in the paper


def test_a_recording_of_the_same_walk_gives_the_same_strides(torques: Torques) -> None:
    recording = torques.recording()
    found = compare_walks(torques, recording)
    for row in found.rows:
        assert row.torque.correlation > 0.97, row.degree_of_freedom
        assert row.torque.peak_ratio == pytest.approx(1.0, abs=0.1)
    assert found.effort_overlap > 0.97


def test_twice_the_torque_is_twice_the_peak_with_the_same_shape_and_order(torques: Torques) -> None:
    recording = torques.recording()
    double = replace_channels(recording, command_torque=2.0 * recording["command/torque"])
    one, two = (anatomical_walk(each, torques.robot) for each in (double, recording))
    found = compare_strides(one, two)
    for row in found.rows:
        assert row.torque.correlation == pytest.approx(1.0)
        assert row.torque.peak_ratio == pytest.approx(2.0)
        assert row.effort[0] == pytest.approx(row.effort[1])
        assert row.smoothness[0].jerk == pytest.approx(row.smoothness[1].jerk)


def test_sudden_peaks_show_in_jerk_and_crest_and_a_filter_takes_them_away(torques: Torques) -> None:
    recording = torques.recording()
    rough = recording["command/torque"].copy()
    for k in range(25, len(rough), 37):
        rough[k] += 40.0
    spiked = replace_channels(recording, command_torque=rough)
    found = compare_walks(torques, spiked, torques.robot)
    assert found.jerk[0] < found.jerk[1] - 1.0
    assert found.crest_factor[0] > found.crest_factor[1]
    smooth = compare_walks(torques, spiked, torques.robot, cutoff=6.0)
    assert smooth.jerk[0] > found.jerk[0] + 1.0


def test_torques_that_are_not_known_are_left_out(torques: Torques) -> None:
    """With one step on a plate, one leg has torques in stance and both have torques in swing."""
    walk = known_motion()
    some = human_anatomical_walk(compute_torques(walk.on(walk.trial.plates[2])))
    whole = human_anatomical_walk(torques)
    for rotation in ("ankle dorsiflexion", "hip adduction"):
        mean = some.curves("torque", rotation).mean
        assert np.isfinite(mean[5:-5]).all()
        assert np.corrcoef(mean[5:-5], whole.curves("torque", rotation).mean[5:-5])[0, 1] > 0.98


def test_a_recording_without_torques_or_strides_is_refused(torques: Torques) -> None:
    recording = torques.recording()
    bare = Recording([c for n, c in recording.channels.items() if "torque" not in n], robot=torques.robot)
    with pytest.raises(GaitError, match="no torques were recorded"):
        compare_walks(torques, bare)
    short = Recording([Channel(n, c.units, c.values[:50], c.labels or None) for n, c in recording.channels.items()])
    with pytest.raises(GaitError, match="give a longer walk"):
        compare_walks(torques, short, torques.robot)
