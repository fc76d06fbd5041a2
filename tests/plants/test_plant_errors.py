"""Invalid arguments of plants raise an error at construction: one line with what was given and expected."""

# mypy: disable-error-code="arg-type, list-item"
# This file tests wrong arguments.

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from poise.errors import PoiseError
from poise.plants import (
    Load,
    ModelError,
    MujocoPlant,
    PlantError,
    Plate,
    PositionServos,
    Push,
    RoughTerrain,
    Sensors,
    Slope,
    SolidBox,
    Stairs,
    Table,
    Wall,
)
from poise.robots import Foot, Frame
from robot_states import installed_robot
from simulated_robots import biped

ROBOT = biped()
STRANGER = Frame("hand", 3, 2, "somebody else")

CASES: dict[str, tuple[Callable[[], Any], str]] = {
    "start": (lambda: MujocoPlant(5), "MujocoPlant starts from 5; expected a Robot or a State"),
    "ground": (lambda: MujocoPlant(ROBOT, ground="flat"), "ground is 'flat'; expected Flat"),
    "friction": (lambda: MujocoPlant(ROBOT, friction=-0.1), "friction is -0.1; expected a finite number from 0"),
    "friction nan": (lambda: MujocoPlant(ROBOT, friction=np.nan), "friction is nan"),
    "things": (lambda: MujocoPlant(ROBOT, objects=[1]), "objects is"),
    "pushes": (lambda: MujocoPlant(ROBOT, pushes="hard"), "pushes is 'hard'"),
    "push of another": (
        lambda: MujocoPlant(ROBOT, pushes=[Push((1, 0, 0), 1, 0, STRANGER)]),
        "belongs to somebody else",
    ),
    "loads": (lambda: MujocoPlant(ROBOT, loads=[5.0]), "loads is"),
    "load of another": (lambda: MujocoPlant(ROBOT, loads=[Load(STRANGER, 1.0)]), "belongs to somebody else"),
    "touching": (lambda: MujocoPlant(ROBOT, contact_frames=["knee"]), "contact_frames is"),
    "touching another": (lambda: MujocoPlant(ROBOT, contact_frames=[STRANGER]), "belongs to somebody else"),
    "actuators": (lambda: MujocoPlant(ROBOT, actuators=None), "actuators is None; expected TorqueMotors"),
    "sensors": (lambda: MujocoPlant(ROBOT, sensors=0.01), "sensors is 0.01; expected Sensors"),
    "model error": (lambda: MujocoPlant(ROBOT, model_error=0.1), "model_error is 0.1; expected ModelError"),
    "period": (lambda: MujocoPlant(ROBOT, period=0.0), "period is 0.0; expected a positive number of s"),
    "long period": (lambda: MujocoPlant(ROBOT, period=0.02), "period is 0.02 s; expected at most 0.005 s"),
    "seed": (lambda: MujocoPlant(ROBOT, seed=-1), "seed is -1; expected a whole number"),
    "fractional seed": (lambda: MujocoPlant(ROBOT, seed=0.5), "seed is 0.5; expected a whole number"),
    "visuals": (lambda: MujocoPlant(ROBOT, visuals="all"), "visuals is 'all'; expected True or False"),
    "delay": (lambda: MujocoPlant(ROBOT, sensors=Sensors(delay=0.0025)), "expected a multiple of the period"),
    "servo count": (
        lambda: MujocoPlant(ROBOT, actuators=PositionServos(stiffness=[100.0, 200.0])),
        "PositionServos.stiffness has shape (2,); expected one number or 10",
    ),
    "too steep": (lambda: Slope(60), "Slope.degrees is 60; expected a finite number from -45 up to 45"),
    "no number": (lambda: Slope("steep"), "Slope.degrees is 'steep'"),
    "true is no number": (lambda: Slope(True), "Slope.degrees is True"),
    "stairs": (lambda: Stairs(0.1, 0.3, 2.5), "Stairs.count is 2.5"),
    "run": (lambda: Stairs(0.1, 0.0, 2), "Stairs.run is 0.0"),
    "rough": (lambda: RoughTerrain(-0.1), "RoughTerrain.height is -0.1"),
    "noise": (lambda: Sensors(noise=-1.0), "Sensors.noise is -1.0"),
    "encoder": (lambda: Sensors(encoder_step=np.inf), "Sensors.encoder_step is inf"),
    "mass": (lambda: ModelError(mass=-1.0), "ModelError.mass is -1.0"),
    "damping": (lambda: ModelError(damping=-0.1), "ModelError.damping is -0.1"),
    "force": (lambda: Push((1, 2), 0.1, 0.0), "Push.force has shape (2,); expected 3 numbers in N"),
    "duration": (lambda: Push((1, 2, 3), -0.1, 0.0), "Push.duration is -0.1"),
    "push frame": (lambda: Push((1, 2, 3), 0.1, 0.0, "hand"), "Push.frame is 'hand'; expected e.g. robot.hand"),
    "load": (lambda: Load(ROBOT.foot("left"), 0.0), "Load.mass is 0.0; expected a positive number of kg"),
    "load frame": (lambda: Load("hand", 1.0), "Load.frame is 'hand'"),
    "string": (lambda: Load(ROBOT.foot("left"), 1.0, string_length=-0.1), "Load.string_length is -0.1"),
    "stiffness": (
        lambda: PositionServos(stiffness=-1.0),
        "PositionServos.stiffness is -1.0; expected positive numbers",
    ),
    "gains": (lambda: PositionServos(damping="much"), "PositionServos.damping is"),
    "box": (lambda: SolidBox((0, 0, 0), (1, 1, 0)), "SolidBox.size is (1, 1, 0); expected 3 positive lengths"),
    "turned box": (lambda: SolidBox((0, 0, 0), (1, 1, 1), np.ones((3, 3))), "SolidBox.rotation is not a rotation"),
    "plate": (lambda: Plate((0, 0, 0), (0, 0, 0)), "Plate.normal is (0, 0, 0); expected a direction"),
    "wall": (lambda: Wall((0, 0, 0), (0, 0, 1)), "Wall.normal is (0, 0, 1); expected a horizontal normal"),
    "table": (lambda: Table((0, 0, 0), (1, 0, 1)), "Table.normal is (1, 0, 1); expected (0, 0, 1)"),
    "slippery": (lambda: Table((0, 0, 0), friction=-1.0), "Table.friction is -1.0"),
    "no normal": (
        lambda: Plate.at_frame(ROBOT.stance("standing"), ROBOT.hand("left")),
        "has no normal; give its outward normal",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_refused_in_one_line(case: str) -> None:
    build, words = CASES[case]
    with pytest.raises(PlantError) as caught:
        build()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, PoiseError)
    assert caught.value.element


@pytest.mark.needs_models
def test_a_slope_that_a_robot_cannot_stand_on_is_refused() -> None:
    with pytest.raises(PlantError, match="romeo cannot stand on Slope"):
        MujocoPlant(installed_robot("romeo"), ground=Slope(45.0))


def test_for_a_robot_without_meshes_a_note_states_that_only_its_parts_collide() -> None:
    """A URDF without any shapes causes no note."""
    assert MujocoPlant(ROBOT).notes == []
    assert all(isinstance(part, Foot) for part in MujocoPlant(ROBOT).state().contacts)


def test_a_start_inside_the_ground_is_noted() -> None:
    start = ROBOT.stance("standing")
    q = start.q.copy()
    q[2] -= 0.03
    assert "the start penetrates ground or objects by 3.0 cm" in MujocoPlant(start.replace(q=q)).notes[0]
