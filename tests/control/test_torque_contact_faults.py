"""Unexpected contacts: missing in the measured state, lost or gained in physics."""

import numpy as np
import pytest
from standing_trials import BEGIN, ROBOTS, StandingTrial, View, is_fault_time, standing_state

from poise.plants import MujocoPlant, Plate
from robot_states import installed_robot, not_none


@ROBOTS
@pytest.mark.parametrize("lost", ["one foot", "both feet"])
def test_a_short_loss_of_a_contact_causes_no_fallback(name: str, lost: str) -> None:
    start = standing_state(name)
    left = start.robot.feet[:1] if lost == "one foot" else ()
    view: View = lambda s: s.replace(contacts=left) if is_fault_time(s.time, BEGIN + 0.02) else s  # noqa: E731
    trial = StandingTrial(start, view=view, seconds=2.0)
    assert trial.fallbacks() == {}
    assert trial.stands()


@ROBOTS
@pytest.mark.parametrize("missing", ["one foot", "both feet"])
def test_a_contact_that_is_lost_unannounced_is_named(name: str, missing: str) -> None:
    """The state lacks a planned contact: after a delay no force is planned there, until the contact is back."""
    start = standing_state(name)
    left = start.robot.feet[:1] if missing == "one foot" else ()
    view: View = lambda s: s.replace(contacts=left) if is_fault_time(s.time, BEGIN + 0.06) else s  # noqa: E731
    trial = StandingTrial(start, view=view, seconds=1.5, lost_after=0.03)
    words = ", ".join(foot.name for foot in start.robot.feet if foot not in left)
    (reason, count), *others = trial.fallbacks().items()
    assert reason == f"contact lost: {words}"
    assert 10 <= count <= 16, "30 ms later than it began"
    assert not others
    lost = next(step.command for step in trial.steps if step.command.fallback)
    assert not_none(lost.forces)["right_sole" if name == "g1" else "right_sole_link"] == pytest.approx(0.0, abs=1e-9)
    assert trial.stands(tolerance=0.01)


@ROBOTS
def test_permanently_lost_contacts_leave_finite_commands_and_are_reported(name: str) -> None:
    """A robot without measured contacts cannot stand; the commands must report the loss."""
    trial = StandingTrial(
        standing_state(name), view=lambda s: s.replace(contacts=()) if s.time >= BEGIN else s, seconds=0.8
    )
    assert {reason.partition(":")[0] for reason in trial.fallbacks()} == {"contact lost"}


@ROBOTS
def test_a_foot_that_loses_its_ground_lands_on_the_ground_below(name: str) -> None:
    """Both feet stand on plates of a centimetre; the right one vanishes."""
    robot = installed_robot(name)
    q = robot.stance("standing").q.copy()
    q[2] += 0.01
    start = robot.stance("standing").replace(q=q)
    middles = [start.pose(foot).act(foot.sole.center) for foot in robot.feet]
    plates = [Plate(middle, (0, 0, 1), size=(0.4, 0.16)) for middle in middles]
    plant = MujocoPlant(start, objects=plates)

    def world(time: float) -> None:
        if time >= BEGIN:
            plant.model.geom_contype[plant.model.geom("object 1").id] = 0

    trial = StandingTrial(start, plant=plant, world=world, seconds=2.5)
    assert any(len(step.state.contacts) < 2 for step in trial.steps if step.state.time > BEGIN), "it was in the air"
    assert trial.steps[-1].state.contacts == robot.feet
    assert trial.stands(tolerance=0.01)


@ROBOTS
@pytest.mark.parametrize("report", [True, False], ids=["reported", "not reported"])
def test_an_unexpected_contact_causes_no_fall(name: str, report: bool) -> None:
    """A plate presses on a hand from below, measured or not; no force is planned there."""
    start = standing_state(name)
    hand = start.robot.hand("left")
    plate = Plate.at_frame(start, hand, normal=(0, 0, 1), size=(0.1, 0.1))
    plant = MujocoPlant(
        start, objects=[Plate(np.asarray(plate.position) + np.array([0, 0, 0.003]), (0, 0, 1), (0.1, 0.1))]
    )
    geom = plant.model.geom("object 0").id
    kind = int(plant.model.geom_contype[geom])

    def world(time: float) -> None:
        plant.model.geom_contype[geom] = kind if time >= BEGIN else 0

    view: View = lambda s: s if report else s.replace(contacts=start.robot.feet)  # noqa: E731
    trial = StandingTrial(start, view=view, plant=plant, world=world, seconds=1.5)
    assert any(hand in step.state.contacts for step in trial.steps), "the contact had an effect"
    assert trial.fallbacks() == {}
    assert trial.stands(tolerance=0.01)
