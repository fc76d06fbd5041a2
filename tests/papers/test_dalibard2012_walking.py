"""[Dalibard2012] sections III.B.4, III.C, IV.B and VI: weights, the state machine, the sinusoid, styles on a NAO."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from poise import constraints, tasks
from poise.behaviors import Walk, WalkSettings
from poise.behaviors.walk_tasks import WEIGHTS
from poise.control.torque_control import planned_contacts
from poise.plans import STYLES, CenterState, FootstepPlan, GaitPhase, SinusoidReference, Style
from poise.plans.footstep_plan import CenterCommand
from robot_states import installed_robot
from walk_trials import WalkTrial

pytestmark = pytest.mark.needs_models

ROBOTS = pytest.mark.parametrize("name", ["g1", "talos"])
#: Control of the center of mass as in the paper: no preview, and no step adaptation.
PAPER = WalkSettings(com_reference="sinusoid", adapt_steps=False)
#: The balance parameters of section IV.B, which the paper leaves to the user: tuned by hand.
BALANCE = {"single_support": 0.3, "double_support": 0.3, "step_length": 0.1, "sway_phase": -0.3}


# -- section III.B.4: weights ------------------------------------------------------------------------------------------


def test_weights_are_those_of_the_paper() -> None:
    """Support feet 100; center of mass and swinging foot 10; chest 1; rest configuration 0.1."""
    walk = Walk(installed_robot("g1"), steps=2)
    levels = {level.name: level for level in walk.task_set.hierarchies["left"].levels}
    high = walk.body.com_height
    assert walk.weights == pytest.approx([*WEIGHTS[:3], *(weight * high**2 for weight in WEIGHTS[3:])], rel=1e-3)
    weights = dict(zip(levels, WEIGHTS, strict=True))
    assert [weights[name] for name in ("contact", "balance", "swing", "chest", "style")] == [100, 10, 10, 1, 0.1]
    kinds = {
        "contact": constraints.RigidContact,
        "balance": tasks.CenterOfMass,
        "swing": tasks.Pose,
        "chest": tasks.Orientation,
        "style": tasks.Posture,
    }
    for name, kind in kinds.items():
        assert any(isinstance(task, kind) for task in levels[name].tasks)
    assert weights["posture"] <= weights["style"], "the task that determines the rest is the last"


def test_the_weights_of_the_user_are_those_of_angular_momentum_and_torque() -> None:
    walk = Walk(installed_robot("g1"), Style(angular_momentum_weight=2.0, torque_weight=3.0), steps=2)
    (style,) = (level for level in walk.task_set.hierarchies["left"].levels if level.name == "style")
    weights = {type(task): task.weight for task in style.tasks if isinstance(task.weight, tasks.TunableWeight)}
    assert {tasks.AngularMomentum, tasks.JointTorque} <= weights.keys()
    assert all((np.asarray(weight) > 0.0).any() for weight in weights.values())


# -- section III.C: the state machine ----------------------------------------------------------------------------------


@cache
def run_walk(name: str) -> tuple[WalkTrial, dict[str, list[np.ndarray]]]:
    """Six steps, and the positions of each foot in single support."""
    trial = WalkTrial(Walk(installed_robot(name), steps=6))
    places: dict[str, list[np.ndarray]] = {}

    def record_feet() -> None:
        phase = trial.walk.phase()
        if phase.kind == "single":
            foot = trial.walk.robot.foot(phase.support.side)
            place = trial.plant.truth().pose(foot).act(foot.sole.center)
            places.setdefault(f"{foot.side} {phase.steps}", []).append(place)

    while not trial.plant.fallen and trial.walk.phase().steps < 6:
        trial.run(0.1, record_feet)
    return trial.run_to_stop(), places


@ROBOTS
def test_a_walk_visits_three_states_in_the_right_order(name: str) -> None:
    trial, _ = run_walk(name)
    states = [state for state in trial.phase_names if state.endswith("support")]
    assert set(states) == {"left support", "right support", "double support"}
    single = states[::2]
    assert set(states[1::2]) == {"double support"}, "between two single supports there is a double one"
    assert all(a != b for a, b in pairwise(single)), "feet alternate"
    assert len(single) == 6
    assert trial.stands


@ROBOTS
def test_a_foot_that_supports_stays(name: str) -> None:
    _, places = run_walk(name)
    assert len(places) == 6
    for positions in places.values():
        assert np.linalg.norm(np.ptp(np.array(positions), axis=0)) < 0.02


def test_only_feet_that_stand_have_forces() -> None:
    walk = Walk(installed_robot("g1"), steps=2)
    standing = {
        name: {contact.frame.side for contact in planned_contacts(hierarchy)}  # type: ignore[attr-defined]
        for name, hierarchy in walk.task_set.hierarchies.items()
    }
    expected = {"both": {"left", "right"}, "left": {"right"}, "right": {"left"}}
    assert standing == expected | {f"recover {name}": feet for name, feet in expected.items()}


# -- sections III.C and IV.B: the center of mass -----------------------------------------------------------------------


def balanced_style(name: str, style: Style) -> Style:
    """The style with the sway that a pendulum would have."""
    walk = Walk(installed_robot(name), style.replace(**BALANCE))
    return style.replace(
        **BALANCE, sway=SinusoidReference.balanced_amplitude(walk.footstep_plan) / walk.body.leg_length
    )


def test_with_the_sinusoid_the_center_of_mass_sways_once_a_cycle() -> None:
    trial = WalkTrial(Walk(installed_robot("nao"), "neutral", steps=12, settings=PAPER))
    sway: list[float] = []
    trial.run(1.8)  # standing, start and two steps
    trial.run(2.0, lambda: sway.append(trial.plant.truth().center_of_mass[1]))
    assert not trial.plant.fallen
    cycle = 2.0 * trial.walk.footstep_plan.gait.timing.step
    time = trial.controller.period * np.arange(len(sway))
    powers = {share: sine_amplitude(np.array(sway), time, share * cycle) for share in (0.25, 0.5, 1.0, 2.0)}
    assert max(powers, key=powers.__getitem__) == 1.0
    # By eq. (8) the CoM follows a sine of rate Ω with the amplitude divided by 1 + Ω²/λ.
    lag = 1.0 + (2.0 * math.pi / cycle) ** 2 / SinusoidReference(0.0).gain
    expected = trial.walk.style.sway * trial.walk.body.leg_length / lag
    assert powers[1.0] == pytest.approx(expected, rel=0.4), "a law without preview lags behind"


def sine_amplitude(values: np.ndarray, time: np.ndarray, period: float) -> float:
    """Amplitude of the sine of that period which fits best, beside a straight line."""
    columns = [np.sin(2 * np.pi * time / period), np.cos(2 * np.pi * time / period), np.ones_like(time), time]
    found = np.linalg.lstsq(np.stack(columns, axis=1), values, rcond=None)[0]
    return float(np.hypot(found[0], found[1]))


def test_steps_without_a_motion_of_the_center_of_mass_soon_end_in_a_fall() -> None:
    """Section IV.B: "after one or two steps". True for G1; NAO and Talos do not fall with steps this short."""
    style = balanced_style("g1", STYLES["neutral"])
    still = WalkTrial(Walk(installed_robot("g1"), style.replace(sway=0.0), steps=8, settings=PAPER)).run_to_stop()
    assert still.plant.fallen
    assert still.walk.phase().steps <= 3
    swaying = WalkTrial(Walk(installed_robot("g1"), style, steps=8, settings=PAPER)).run_to_stop()
    assert swaying.plant.fall == ""
    assert swaying.walk.phase().steps == 8


# -- section VI: styles on a NAO ---------------------------------------------------------------------------------------


SLOW_STYLES = [pytest.param(style, marks=pytest.mark.slow) for style in ("relaxed", "proud", "sad")]


@pytest.mark.parametrize("style", ["neutral", "cautious", *SLOW_STYLES])
def test_a_nao_walks_for_ten_seconds_with_the_reference_of_the_paper_and_its_defaults(style: str) -> None:
    """Section IV.B leaves sway, durations and step length to the user; the defaults are those of the repair."""
    walk = Walk(installed_robot("nao"), style, steps=40, settings=WalkSettings(com_reference="sinusoid"))
    assert any(line.startswith("sway ") for line in walk.default_changes)
    trial = WalkTrial(walk)
    trial.run(10.0)
    assert trial.plant.fall == ""
    step_count = trial.walk.phase().steps
    assert step_count > 15
    ahead = trial.plant.truth().center_of_mass[0] - trial.plant.start.center_of_mass[0]
    assert ahead == pytest.approx(step_count * walk.footstep_plan.gait.step_geometry.forward, rel=0.2)


@pytest.mark.parametrize("style", ["relaxed", pytest.param("sad", marks=pytest.mark.slow)])
def test_a_nao_walks_in_these_styles_with_the_dcm_reference(style: str) -> None:
    trial = WalkTrial(Walk(installed_robot("nao"), style, steps=6)).run_to_stop()
    assert trial.plant.fall == ""
    assert trial.stands


# -- necessary parts ---------------------------------------------------------------------------------------------------


class OpenLoopReference:
    """The planned ZMP, independent of the state of the body."""

    def command(self, plan: FootstepPlan, phase: GaitPhase, time: float, now: CenterState) -> CenterCommand:
        xi, z = plan.dcm_reference(phase, phase.elapsed(time))
        return CenterCommand(z, xi)


class OpenLoopWalk(Walk):
    """A walk without DCM feedback."""

    @property
    def center_reference(self) -> OpenLoopReference:
        return OpenLoopReference()


@pytest.mark.parametrize("name", ["g1", pytest.param("talos", marks=pytest.mark.slow)])
def test_without_dcm_feedback_it_falls(name: str) -> None:
    """z = z_ref: errors grow as e^{ωt}, even on flat ground without disturbances."""
    trial = WalkTrial(
        OpenLoopWalk(installed_robot(name), steps=12, settings=WalkSettings(adapt_steps=False))
    ).run_to_stop()
    assert trial.plant.fallen
    assert trial.walk.phase().steps < 8


@pytest.mark.parametrize("name", ["g1", pytest.param("talos", marks=pytest.mark.slow)])
def test_too_little_dcm_feedback_lets_errors_accumulate(name: str) -> None:
    """k = 0: z = z_ref + (ξ - ξ_ref) keeps the error constant; k = 4 reduces it. Step adaptation is off.

    A step with rolling feet adds less than a millimeter, as much as ξ deviates within a step: hence sixteen steps.
    """
    constant, undone = (
        np.abs(
            WalkTrial(Walk(installed_robot(name), steps=16, settings=WalkSettings(dcm_gain=k, adapt_steps=False)))
            .run_to_stop(longest=20.0)
            .errors
        )
        for k in (0.0, 4.0)
    )
    assert undone.max() < 0.03
    assert undone[-1] < 0.003
    assert constant[-1] > 5.0 * undone.max(), "or it has fallen already"
    assert constant[-1] > 1.5 * constant[len(constant) // 2], "and it keeps growing"
