"""Terrain and objects: friction on slopes, and positions of stairs, boxes, walls and tables."""

import math

import numpy as np
import pytest

from poise.errors import UsageError
from poise.plants import (
    FlatTerrain,
    MujocoPlant,
    Plate,
    PositionServos,
    RoughTerrain,
    Slope,
    SolidBox,
    Stairs,
    Table,
    Terrain,
    Wall,
    parse_terrain,
)
from poise.robots import library_names
from robot_states import installed_robot
from simulated_robots import airborne_state, biped, run_standing, run_torques, torque_command

NOWHERE = np.full((2, 2), 1e9)


def top(ground: Terrain, x: float, y: float, seed: int = 0) -> float:
    """Height of plane and boxes at a place."""
    n, o = ground.plane.rotation[:, 2], ground.plane.translation
    heights = [o[2] - (n[0] * (x - o[0]) + n[1] * (y - o[1])) / n[2]]
    for box in ground.boxes(seed, NOWHERE):
        middle, half = np.asarray(box.position), np.asarray(box.size) / 2
        if abs(x - middle[0]) <= half[0] and abs(y - middle[1]) <= half[1]:
            heights.append(middle[2] + half[2])
    return max(heights)


# -- kinds of ground ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ground", [FlatTerrain(), Slope(7.0), Slope(-7.0), Stairs(0.1, 0.3, 4), Stairs(-0.15, 0.25, 3)]
)
def test_elevation_is_the_height_of_the_built_ground(ground: Terrain) -> None:
    for x in np.random.default_rng(1).uniform(-2.0, 3.0, 50):
        assert ground.elevation(x, 0.1) == pytest.approx(top(ground, x, 0.1), abs=1e-9)
    assert ground.elevation(0.0, 0.0) == 0.0


def test_a_positive_slope_rises_ahead() -> None:
    assert Slope(10.0).elevation(1.0, 0.0) == pytest.approx(math.tan(math.radians(10.0)))


def test_uneven_ground_has_boxes_up_to_its_height_and_is_decided_by_the_seed() -> None:
    tops = [2 * np.asarray(box.position)[2] for box in RoughTerrain(0.04).boxes(3, NOWHERE)]
    assert 0.0 < min(tops) < 0.002
    assert 0.038 < max(tops) <= 0.04
    assert [2 * np.asarray(box.position)[2] for box in RoughTerrain(0.04).boxes(3, NOWHERE)] == tops
    assert [2 * np.asarray(box.position)[2] for box in RoughTerrain(0.04, seed=3).boxes(8, NOWHERE)] == tops
    assert [2 * np.asarray(box.position)[2] for box in RoughTerrain(0.04).boxes(4, NOWHERE)] != tops


def test_uneven_ground_is_level_under_the_feet() -> None:
    plant = MujocoPlant(biped(), ground=RoughTerrain(0.05))
    assert plant.model.ngeom > 400
    run_standing(plant, 0.2)
    truth = plant.truth()
    for foot in plant.robot.feet:
        assert truth.pose(foot).translation == pytest.approx(plant.start.pose(foot).translation, abs=1e-3)
    away = biped().stance("standing")
    q = away.q.copy()
    q[:2] += [2.0, -1.0]
    moved = MujocoPlant(away.replace(q=q), ground=RoughTerrain(0.05))
    assert moved.readings().forces.total[2] == pytest.approx(9.81 * biped().mass, rel=1e-3)


class ThinTile(FlatTerrain):
    """A floor with one tile under the robot, two millimeters thick."""

    thickness = 0.002

    def boxes(self, seed: int, flat_region: np.ndarray) -> list[SolidBox]:
        return [SolidBox((0.0, 0.0, 0.5 * self.thickness), (1.0, 1.0, self.thickness))]


def landing(ground: Terrain, height: float) -> tuple[float, float]:
    """Largest force of a contact (N) and lowest sole (m) of a robot that lands at 3 m/s from a height of its soles."""
    start = airborne_state(biped(), height)
    v = np.zeros(biped().model.nv)
    v[2] = -3.0
    plant = MujocoPlant(start.replace(v=v), ground=ground)
    forces, heights = [], []
    for _ in range(50):
        plant.apply(torque_command(biped(), period=0.001))
        plant.advance()
        rows = plant.data.efc_force[plant.data.nefc - 3 * plant.data.ncon :]
        forces.append(np.abs(rows).max(initial=0.0))
        heights += [plant.truth().pose(foot).act(corner)[2] for foot in biped().feet for corner in foot.corners]
    return max(forces), min(heights)


def test_a_hard_landing_on_a_thin_tile_is_like_one_on_the_floor() -> None:
    floor, tile = landing(FlatTerrain(), 0.002), landing(ThinTile(), 0.002 + ThinTile.thickness)
    assert floor[0] > 1000.0
    assert tile[0] == pytest.approx(floor[0], rel=0.05)
    assert tile[1] - ThinTile.thickness == pytest.approx(floor[1], abs=2e-4)


def test_the_tiles_of_the_simulation_reach_far_below_the_floor_and_those_of_pictures_end_on_it() -> None:
    plant = MujocoPlant(biped(), ground=RoughTerrain(0.03))
    tiles = plant.environment.ground
    for i, tile in enumerate(tiles):
        geom = plant.model.geom(f"ground {i}")
        assert geom.pos[2] - geom.size[2] == pytest.approx(-0.5)
        assert geom.pos[2] + geom.size[2] == pytest.approx(np.asarray(tile.position)[2] + np.asarray(tile.size)[2] / 2)
        assert np.asarray(tile.position)[2] - np.asarray(tile.size)[2] / 2 == pytest.approx(0.0, abs=1e-12)


@pytest.mark.needs_models
@pytest.mark.parametrize("name", library_names())
@pytest.mark.parametrize("degrees", [8.0, -5.0])
def test_a_robot_is_set_down_on_a_slope_and_stands_there(name: str, degrees: float) -> None:
    robot = installed_robot(name)
    plant = MujocoPlant(robot, ground=Slope(degrees))
    normal = Slope(degrees).plane.rotation[:, 2]
    for foot in robot.feet:
        pose = plant.start.pose(foot)
        assert pose.rotation[:, 2] == pytest.approx(normal, abs=1e-6)
        assert float(normal @ pose.translation) == pytest.approx(0.0, abs=1e-6)
    middle = np.mean([plant.start.pose(foot).act(foot.sole.center) for foot in robot.feet], axis=0)
    assert plant.start.center_of_mass[:2] == pytest.approx(middle[:2], abs=1e-4)
    run_standing(plant, 0.5)
    weight = 9.81 * robot.mass
    assert plant.readings().forces.total == pytest.approx([0.0, 0.0, weight], abs=0.005 * weight)
    assert not plant.fallen


def test_a_start_on_the_slope_is_not_changed() -> None:
    first = MujocoPlant(biped(), ground=Slope(6.0))
    again = MujocoPlant(first.start, ground=Slope(6.0))
    assert again.start is first.start


@pytest.mark.parametrize(("degrees", "friction"), [(10.0, 0.1), (15.0, 0.2)])
def test_without_enough_friction_it_slides_down_as_a_block_does(degrees: float, friction: float) -> None:
    """``g (sin(angle) - friction cos(angle))`` along the slope."""
    plant = MujocoPlant(biped(), ground=Slope(degrees), friction=friction, actuators=PositionServos(), period=5e-4)
    states = run_torques(plant, 0.2)
    angle = math.radians(degrees)
    along = np.array([math.cos(angle), 0.0, math.sin(angle)])
    speed = -along @ (states[-1].center_of_mass - states[-21].center_of_mass) / (states[-1].time - states[-21].time)
    middle = (states[-1].time + states[-21].time) / 2
    expected = 9.81 * (math.sin(angle) - friction * math.cos(angle)) * middle
    assert speed == pytest.approx(expected, rel=0.05)


# -- objects -----------------------------------------------------------------------------------------------------------


def test_a_plate_is_a_box_behind_its_face() -> None:
    normal = np.array([0.3, -0.5, 0.8])
    plate = Plate((1.0, 2.0, 0.5), normal, size=(0.4, 0.2), thickness=0.1)
    box, n = plate.box, normal / np.linalg.norm(normal)
    assert box.rotation[:, 2] == pytest.approx(n)
    assert box.rotation[2, 0] == pytest.approx(0.0)  # its first edge is horizontal
    assert np.asarray(box.position) + 0.05 * n == pytest.approx([1.0, 2.0, 0.5])
    assert tuple(np.asarray(box.size)) == (0.4, 0.2, 0.1)
    assert Table((0, 0, 0.8)).box.rotation == pytest.approx(np.eye(3))
    assert Wall((1, 0, 1), (-2, 0, 0)).box.rotation[:, 2] == pytest.approx([-1.0, 0.0, 0.0])


def test_a_foot_on_a_plate_has_the_contact_force_of_a_foot_on_the_ground() -> None:
    """The ground is a centimeter below the left foot, which stands on a plate."""
    robot = biped()
    start = robot.stance("standing")
    q = start.q.copy()
    q[2] += 0.01
    start = start.replace(q=q)
    plates = [Plate.at_frame(start, foot, thickness=0.008) for foot in robot.feet]
    forces = MujocoPlant(start, objects=plates).readings().forces
    assert forces.total == pytest.approx([0.0, 0.0, 9.81 * robot.mass], rel=1e-3, abs=1e-6)
    assert forces["left_sole"][2] == pytest.approx(forces["right_sole"][2], rel=1e-3)


def test_a_hand_pressed_on_a_wall_is_pushed_back_along_its_normal() -> None:
    """The hand of the biped is on its head; a wall stops the robot, which moves towards it."""
    robot = biped()
    hand = robot.hand("left")
    start = robot.stance("standing")
    q, v = start.q.copy(), np.zeros(robot.model.nv)
    q[2] += 2.0
    v[0] = 0.5
    start = start.replace(q=q, v=v, contacts=())
    wall = Wall(Plate.at_frame(start, hand, (-1, 0, 0)).position, (-1, 0, 0), friction=0.0)
    plant = MujocoPlant(start, objects=[wall])
    run_torques(plant, 0.01)
    force = plant.readings().forces[hand.name]
    assert force[0] < -10.0
    assert force[1:3] == pytest.approx([0.0, 0.0], abs=1e-3 * abs(force[0]))
    assert plant.state().contacts == (hand,)
    # The ball touches at its radius from the frame, so a force along x turns about y and z only by how deep it is in.
    assert np.abs(force[3:]).max() < 1e-5


def test_things_have_their_own_friction() -> None:
    plant = MujocoPlant(
        biped(), friction=0.7, objects=[Table((1, 0, 0.5), friction=0.2), SolidBox((2, 0, 0.5), (1, 1, 1))]
    )
    assert [plant.model.geom(f"object {i}").friction[0] for i in range(2)] == [0.2, 0.7]
    assert plant.model.geom("ground").friction[0] == 0.7


def test_touching_a_table_is_no_fall() -> None:
    robot = biped()
    start = robot.stance("standing")
    seat = SolidBox((0.0, 0.0, start.q[2] - 0.2), (0.05, 0.05, 0.05))
    plant = MujocoPlant(robot, objects=[seat])
    run_standing(plant, 0.05)
    assert not plant.fallen


# -- parsing -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "ground"),
    [
        ("flat", FlatTerrain()),
        ("slope:5", Slope(5.0)),
        ("slope:-3.5", Slope(-3.5)),
        ("rough:0.02", RoughTerrain(0.02)),
        ("stairs:0.1,0.3,4", Stairs(0.1, 0.3, 4)),
    ],
)
def test_terrain_is_read_from_the_command_line(text: str, ground: Terrain) -> None:
    assert parse_terrain(text) == ground


@pytest.mark.parametrize(
    "text",
    [
        *("", "hill", "flat:1", "slope", "slope:", "slope:steep", "slope:nan", "slope:80", "rough:-1", "rough:0.1,0.2"),
        *("stairs:0.1,0.3", "stairs:0.1,0.3,2.5", "stairs:0.1,-0.3,2", "stairs:0.1,0.3,0", "stairs:0.1,0.3,inf"),
    ],
)
def test_bad_terrain_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(UsageError, match="terrain") as caught:
        parse_terrain(text)
    assert "\n" not in str(caught.value)
