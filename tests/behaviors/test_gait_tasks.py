"""Common parts of gaits: a balance level with bounds derived from the body, and a clock that counts every tick once."""

import math

import numpy as np
import pytest

from poise.behaviors import UprightSettings
from poise.behaviors.gait_tasks import TickClock, balance_tasks
from poise.state import Snapshot
from poise.tasks import Decay
from robot_states import installed_robot


def test_a_tick_at_the_same_time_counts_once_and_periods_stay_sensible() -> None:
    clock = TickClock(0.002)
    assert clock.tick(1.0)
    assert (clock.time, clock.period) == (1.0, 0.002)
    assert not clock.tick(1.0)
    assert not clock.tick(0.5)
    assert clock.tick(1.005)
    assert clock.period == pytest.approx(0.005)
    assert clock.tick(3.0)
    assert clock.period == 0.02
    assert clock.tick(math.nextafter(3.0, 4.0))
    assert clock.period == 1e-4


def test_a_body_at_rest_on_its_target_has_no_error_and_one_beside_it_that_distance() -> None:
    start = installed_robot("g1").stance("standing")
    c, settings = np.array(start.center_of_mass), UprightSettings()
    aside = c - (0.01, 0.02, 0.0)
    level = balance_tasks(start.robot, float(c[2]), settings, aside, c, Decay(settings.com_gain))
    snapshot = Snapshot(start.robot).at(start)
    assert [task.name for task in level] == ["center of mass", "height of the center of mass", "angular momentum"]
    place, height, spin = (task.value(snapshot) for task in level)  # type: ignore[attr-defined]
    assert np.abs(place) == pytest.approx([0.01, 0.02])
    assert height == pytest.approx([0.0], abs=1e-12)
    assert spin == pytest.approx(np.zeros(3), abs=1e-9)
