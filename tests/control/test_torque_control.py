"""TorqueController: physics constraints that it adds, planned contacts, and changes of hierarchy."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from example_hierarchies import SwitchBehavior
from standing_hierarchies import feet, standing

from poise import constraints, tasks
from poise.control import TorqueController
from poise.control.torque_control import physics_tasks, planned_contacts
from poise.errors import PoiseError, SolverError
from poise.hierarchy import Hierarchy, Level, solve_pose
from poise.plants import IdealPlant, steps
from poise.robots import State, load_robot
from poise.solvers import Weighted
from poise.state import Contact, Snapshot
from robot_states import installed_robot, not_none

ROBOT = installed_robot("g1")
START = ROBOT.stance("standing")
LEFT, RIGHT = feet(ROBOT)


def names(hierarchy: Hierarchy, contacts: tuple[Contact, ...] = ()) -> list[str]:
    return [type(task).__name__ for task in physics_tasks(hierarchy, ROBOT, contacts or planned_contacts(hierarchy))]


# -- physics constraints -----------------------------------------------------------------------------------------------


def test_physics_is_the_equation_of_motion_torque_limits_and_cones() -> None:
    assert names(standing(START)) == ["EquationOfMotion", "TorqueLimit", *["WrenchCone", "NormalForces"] * 2]


def test_cones_follow_the_way_in_which_forces_are_written() -> None:
    expected = {
        "wrench": ["WrenchCone", "NormalForces"],
        "vertices": ["FrictionCone", "NormalForces"],
        "normals": ["PlanarContact", "WrenchCone", "NormalForces"],
    }
    for forces, cones in expected.items():
        contact = Contact(ROBOT.foot("left"), forces=forces)  # type: ignore[arg-type]
        assert names(Hierarchy(levels=[Level("contact", [constraints.RigidContact(contact)])]))[2:] == cones


def test_constraints_in_the_hierarchy_are_not_added_again() -> None:
    own = standing(START).with_level(Level("motion", [constraints.EquationOfMotion()]), before="contact")
    assert names(own)[0] == "TorqueLimit"
    cone = standing(START).replace(always=[constraints.WrenchCone(LEFT), constraints.NormalForces(LEFT)])
    assert names(cone) == ["EquationOfMotion", "TorqueLimit", "WrenchCone", "NormalForces"], "of the right foot"
    alone = standing(START).replace(always=[constraints.WrenchCone(LEFT)])
    assert names(alone)[2:] == ["NormalForces", "WrenchCone", "NormalForces"], "its normal forces are still positive"


def test_torque_limits_of_some_joints_do_not_replace_those_of_all() -> None:
    some = standing(START).replace(always=[constraints.TorqueLimit(ROBOT, ROBOT.joints[:1], scale=0.5)])
    assert names(some)[:2] == ["EquationOfMotion", "TorqueLimit"]


def test_physics_is_the_top_level_and_is_merged_with_always_for_a_weighted_solver() -> None:
    strict = not_none(TorqueController(standing(START)).step(START).solution).program
    assert strict.names == ("physics", "always", "contact", "balance", "chest", "posture")
    weighted = not_none(TorqueController(standing(START), solver=Weighted()).step(START).solution).program
    assert weighted.names == ("always", "contact", "balance", "chest", "posture")
    assert [rows.name for rows in weighted.levels[0]][:2] == ["equation of motion", "torque limit"]
    assert weighted.levels[0][-1].name == "joint range"


# -- contacts ----------------------------------------------------------------------------------------------------------


def test_a_contact_in_several_tasks_is_planned_once() -> None:
    more = Level("forces", [tasks.ForceDistribution([LEFT, ROBOT.foot("right")]), tasks.CenterOfPressure(LEFT)])
    assert planned_contacts(standing(START).with_level(more)) == (LEFT, RIGHT)


def test_two_contacts_of_one_name_must_be_the_same() -> None:
    rough = tasks.CenterOfPressure(Contact(ROBOT.foot("left"), friction=0.9))
    with pytest.raises(PoiseError, match="two different contacts are named 'left_sole'; build one Contact"):
        TorqueController(standing(START).with_level(Level("pressure", [rough]))).step(START)
    heel = Contact(ROBOT.foot("left"), 0.5 * ROBOT.foot("left").corners, name="left heel")
    both = standing(START).with_level(Level("pressure", [tasks.CenterOfPressure(heel)]))
    assert [contact.name for contact in planned_contacts(both)] == ["left_sole", "right_sole", "left heel"]


def test_a_body_in_the_air_falls_freely() -> None:
    air = START.replace(contacts=())
    command = TorqueController(Hierarchy(levels=[Level("posture", [tasks.Posture(START)])])).step(air)
    assert not_none(command.forces).names == ()
    snapshot = Snapshot(ROBOT).at(air)
    falling = snapshot.center_of_mass_jacobian @ not_none(command.acceleration) + snapshot.center_of_mass_drift
    assert falling == pytest.approx([0.0, 0.0, -9.81])


# -- changes -----------------------------------------------------------------------------------------------------------


def test_an_unloaded_contact_is_removed_and_added_without_a_jump() -> None:
    """Leaning over the left foot, from two feet to one and back, on an ideal robot."""
    above = START.pose(LEFT.frame).act(ROBOT.foot("left").sole.center)[:2]
    lean = Hierarchy(
        [constraints.JointRange(ROBOT)],
        [
            Level("feet", [tasks.HoldPose(foot, at=START) for foot in ROBOT.feet]),
            Level("balance", [tasks.CenterOfMass(above, axes="xy")]),
            Level("posture", [tasks.Posture(START)]),
        ],
    )
    start = solve_pose(lean, START).state.replace(contacts=ROBOT.feet)
    unloaded = Level("unloaded", [tasks.ForceDistribution(feet(ROBOT), (1.0, 0.0))])
    two, one = standing(start), standing(start, [LEFT])
    hierarchies = (two, two.with_level(unloaded), one, two)

    def behavior(snapshot: Snapshot) -> Hierarchy:
        return hierarchies[int(snapshot.time / 0.25 + 1e-6)]

    found = list(steps(TorqueController(behavior, ramp=0.2), IdealPlant(start), 1.0))
    assert not any(step.command.fallback for step in found)
    bearing = [not_none(step.command.forces)["right_sole"][2] for step in found]
    assert bearing[0] > 30.0
    assert bearing[249] == pytest.approx(0.0, abs=1e-6)
    assert not_none(found[300].command.forces).names == ("left_sole",)
    assert bearing[-1] > 30.0
    torques = np.array([step.command.torque for step in found])
    assert np.abs(np.diff(torques, axis=0)).max() < 0.01 * ROBOT.limits.torque.max()


def test_a_change_that_fails_leaves_the_old_hierarchy_and_its_contacts() -> None:
    wrong = standing(START, [LEFT]).with_tasks("posture", tasks.Posture([0.1]))
    old = standing(START)

    def behavior(snapshot: Snapshot) -> Hierarchy:
        return wrong if 0.02 <= snapshot.time < 0.04 else old

    found = list(steps(TorqueController(behavior), IdealPlant(START), 0.06))
    held = [bool(step.command.fallback) for step in found]
    assert held == [False] * 10 + [True] * 10 + [False] * 10
    assert "1 angles for 29 joints" in found[10].command.fallback
    assert not_none(found[-1].command.forces).names == ("left_sole", "right_sole")


def test_without_a_ramp_the_new_hierarchy_applies_at_once() -> None:
    lower = standing(START).with_tasks("balance", tasks.CenterOfMass(START.center_of_mass - 0.01))
    found = list(
        steps(TorqueController(SwitchBehavior(standing(START), lower, 0.01), ramp=0.0), IdealPlant(START), 0.02)
    )
    expected = TorqueController(lower).step(found[5].state)
    assert found[5].command.torque == pytest.approx(expected.torque, abs=1e-6)


def test_a_controller_serves_another_robot_after_the_first() -> None:
    def behavior(snapshot: Snapshot) -> Hierarchy:
        return standing(snapshot.robot.stance("standing"))

    controller = TorqueController(behavior)
    for name in ("g1", "talos", "g1"):
        start = installed_robot(name).stance("standing")
        command = controller.step(start)
        assert len(not_none(command.torque)) == len(start.robot.joints)
        assert not_none(command.forces).total == pytest.approx([0.0, 0.0, 9.81 * start.robot.mass])


def test_a_robot_without_stances_or_feet_is_moved_too(root: Path) -> None:
    robot = load_robot(root / "examples/biped.urdf")
    start = State(robot, robot.rest)
    controller = TorqueController(Hierarchy(levels=[Level("posture", [tasks.Posture(start)])]))
    assert controller.step(start).fallback == ""
    assert np.isfinite(not_none(controller.step(None).torque)).all()


# -- errors ------------------------------------------------------------------------------------------------------------

WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "no behavior": (lambda: TorqueController("stand"), "behavior is 'stand'; expected a Hierarchy"),  # type: ignore[arg-type]
    "no solver": (lambda: TorqueController(standing(START), solver="fast"), "solver is 'fast'; expected one of"),  # type: ignore[arg-type]
    "no time": (lambda: TorqueController(standing(START), period=0.0), "period is 0.0; expected positive"),
    "a ramp of NaN": (lambda: TorqueController(standing(START), ramp=float("nan")), "ramp is nan; expected seconds"),
    "lost in the past": (lambda: TorqueController(standing(START), lost_after=-1.0), "lost_after is -1.0; expected"),
    "a word of patience": (lambda: TorqueController(standing(START), lost_after="long"), "lost_after is 'long'"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("case", WRONG)
def test_invalid_arguments_of_a_controller_are_refused_at_construction(case: str) -> None:
    build, words = WRONG[case]
    with pytest.raises((PoiseError, SolverError), match=words) as caught:
        build()
    assert "\n" not in str(caught.value)


def test_an_invalid_first_state_is_refused() -> None:
    with pytest.raises(PoiseError, match="the first state is None; expected a State"):
        TorqueController(standing(START)).step(None)
    with pytest.raises(PoiseError, match=r"the first state is array.*; expected a State") as caught:
        TorqueController(standing(START)).step(START.q)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_a_hierarchy_for_another_robot_is_refused_at_the_first_step() -> None:
    with pytest.raises(PoiseError, match="the hierarchy is made for talos, the state is of g1"):
        TorqueController(standing(installed_robot("talos").stance("standing"))).step(START)
