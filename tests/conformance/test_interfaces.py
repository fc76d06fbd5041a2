"""Every behavior, controller, plant, solver and device implements its interface; minimal custom ones are accepted."""

import importlib
import inspect
import pkgutil
import types
import typing
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

import poise
from plant_servers import serve_plant
from poise import behaviors, solvers, tasks
from poise.control import Command, Controller, PositionController, TorqueController
from poise.devices import Device, GoalOperator, Operator, RandomDevice, Script
from poise.hierarchy import Behavior, ComposedBehavior, FunctionBehavior, Hierarchy, Level
from poise.inference import InferredSegment, InferredStack, InferredTask
from poise.interface import Interface
from poise.plans import OperatorCommand, Workspace
from poise.plants import IdealPlant, MujocoPlant, Plant, PositionServos, RemotePlant
from poise.robots import Robot, State
from poise.shield import BalanceShield
from poise.solvers import Lexicographic, Solver
from poise.state import Snapshot
from poise.studio.operator_input import PageOperator

INTERFACES = (Behavior, Controller, Plant, Solver, Device)


@cache
def robot() -> Robot:
    return poise.load_robot("mighty")


@cache
def start() -> State:
    return robot().stance("standing")


@cache
def hierarchy() -> Hierarchy:
    return Hierarchy(levels=[Level("posture", [tasks.Posture(start())])])


def stack() -> InferredStack:
    com = InferredTask("center of mass", "CenterOfMass", target=tuple(start().center_of_mass))
    return InferredStack("mighty", (InferredSegment(0.0, 1.0, ("left foot", "right foot"), (com,)),))


def remote() -> Iterator[Plant]:
    with serve_plant(IdealPlant(start())) as server, RemotePlant(server.address, robot()) as plant:
        yield plant


#: An object of each class of the package, or a generator of it.
EXAMPLES: dict[str, Callable[[], Any]] = {
    "Hierarchy": hierarchy,
    "FunctionBehavior": lambda: FunctionBehavior(lambda snapshot: hierarchy()),
    "Reach": lambda: behaviors.Reach(poise.load_robot("g1")),
    "Stand": lambda: behaviors.Stand(robot()),
    "Squat": lambda: behaviors.Squat(robot()),
    "Walk": lambda: behaviors.Walk(robot()),
    "Navigate": lambda: behaviors.Navigate(robot(), RandomDevice()),
    "ZmpBalance": lambda: behaviors.ZmpBalance(robot()),
    "LiveSquat": lambda: behaviors.LiveSquat(robot()),
    "BalanceShield": lambda: BalanceShield(robot()),
    "StackBehavior": lambda: stack().behavior(robot()),
    "ComposedBehavior": lambda: ComposedBehavior(behaviors.Stand(robot())),
    "KinematicController": lambda: poise.KinematicController(hierarchy()),
    "TorqueController": lambda: TorqueController(behaviors.Stand(robot())),
    "PositionController": lambda: PositionController(hierarchy()),
    "IdealPlant": lambda: IdealPlant(start()),
    "MujocoPlant": lambda: MujocoPlant(start()),
    "RemotePlant": remote,
    "Lexicographic": solvers.Lexicographic,
    "Weighted": solvers.Weighted,
    "NullSpace": solvers.NullSpace,
    "Cascade": solvers.Cascade,
    "Script": lambda: Script([{"time": 0, "mode": "trunk", "input": [1, 0, 0, 0, 0, 0]}]),
    "RandomDevice": RandomDevice,
    "GoalOperator": lambda: GoalOperator([], Workspace.of(robot())),
    "Operator": Operator,
    "PageOperator": PageOperator,
}
#: Made from a measured walk, from a file, by a page of the studio, or with a joystick: signatures only.
OTHERS = {"GaitTracking", "OpenLoopController", "_ExchangeableHierarchy", "Joystick", "HierarchyController"}


@pytest.fixture(params=EXAMPLES)
def example(request: pytest.FixtureRequest) -> Iterator[Any]:
    instance = EXAMPLES[request.param]()
    if isinstance(instance, types.GeneratorType):
        yield from instance
    else:
        yield instance


def subclasses(kind: type) -> Iterator[type]:
    for child in kind.__subclasses__():  # type: ignore[var-annotated]
        yield child
        yield from subclasses(child)


@cache
def classes_of_the_package() -> dict[str, type]:
    """All classes of Poise that inherit from an interface."""
    for module in pkgutil.walk_packages(poise.__path__, "poise."):
        if not module.name.startswith("poise.__main__"):
            importlib.import_module(module.name)
    found = {each for kind in INTERFACES for each in subclasses(kind)}
    return {each.__name__: each for each in found if each.__module__.startswith("poise.")}


def interface_of(kind: type) -> type[Interface]:
    (found,) = (each for each in INTERFACES if issubclass(kind, each))
    return found


def has_type(value: object, hint: Any) -> bool:
    """Return whether a value has a type; elements of containers are not checked."""
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        return any(has_type(value, each) for each in typing.get_args(hint))
    if hint is None or hint is type(None):
        return value is None
    kind = typing.get_origin(hint) or hint
    return isinstance(value, (int, float)) and not isinstance(value, bool) if kind is float else isinstance(value, kind)


def test_every_class_of_the_package_is_checked_here() -> None:
    assert set(classes_of_the_package()) == {*EXAMPLES, *OTHERS}


def test_all_declared_members_are_there_and_of_the_declared_types(example: Any) -> None:
    kind = interface_of(type(example))
    assert kind.adapt(example) is example
    hints = typing.get_type_hints(kind)
    for name in kind.members():
        value, declared = getattr(example, name), inspect.getattr_static(kind, name, None)
        if isinstance(declared, property):
            assert has_type(value, typing.get_type_hints(declared.fget)["return"]), name
        elif name in hints:
            assert has_type(value, hints[name]), f"{name} is {value!r}; declared as {hints[name]}"
        else:
            assert callable(value), name


def test_methods_take_the_declared_arguments() -> None:
    for kind in classes_of_the_package().values():
        base = interface_of(kind)
        for name in (*base.members(), "__call__"):
            if inspect.isfunction(vars(base).get(name)):
                declared, implemented = (
                    list(inspect.signature(getattr(each, name)).parameters) for each in (base, kind)
                )
                assert implemented == declared, f"{kind.__name__}.{name}"


def test_methods_without_arguments_return_the_declared_types() -> None:
    for make in (EXAMPLES["IdealPlant"], EXAMPLES["MujocoPlant"], remote):
        instance = make()
        plant: Any = next(instance) if isinstance(instance, types.GeneratorType) else instance
        plant.apply(Command(np.zeros(robot().model.nv), None, np.zeros(len(robot().joints)), 0.005))
        plant.advance()
        assert plant.truth().time == plant.state().time == plant.time == 0.005
        torque = plant.joint_torques()
        assert torque is None or torque.shape == (len(robot().joints),)


# -- custom implementations --------------------------------------------------------------------------------------------


class AlternatingBehavior(Behavior):
    def __init__(self, *hierarchies: Hierarchy) -> None:
        self.hierarchies = hierarchies

    def __call__(self, snapshot: Snapshot) -> Hierarchy:
        return self.hierarchies[int(10.0 * snapshot.time) % 2]


class MotionlessPlant(Plant):
    def __init__(self, start: State) -> None:
        self.robot, self._state, self._period = start.robot, start, 0.0

    def state(self) -> State:
        return self._state

    def apply(self, command: Command) -> None:
        self._period = command.period

    def advance(self) -> None:
        self._state = self._state.replace(time=self._state.time + self._period)


def test_a_custom_behavior_and_a_custom_plant_run_and_are_recorded() -> None:
    other = Hierarchy(levels=[Level("other", [tasks.Posture(start())])])
    controller = poise.KinematicController(AlternatingBehavior(hierarchy(), other))
    with MotionlessPlant(start()) as plant:
        recording = poise.record(controller, plant, seconds=0.2)
    assert recording.samples == 40
    assert recording.provenance["plant"] == "MotionlessPlant"
    assert set(recording.levels()) == {"posture", "other"}
    assert np.array_equal(recording["q"][-1], start().q)
    assert plant.truth() is plant.state()
    assert plant.time == pytest.approx(start().time + 0.2)
    assert not plant.fallen


def test_a_custom_plant_is_served_to_another_process() -> None:
    with serve_plant(MotionlessPlant(start())) as server, RemotePlant(server.address, robot()) as plant:
        recording = poise.record(poise.KinematicController(hierarchy()), plant, seconds=0.05)
    assert recording.samples == 10
    assert plant.readings() is None


def test_an_object_that_does_not_inherit_keeps_its_members_and_gets_the_defaults() -> None:
    class WallPlant:
        robot, fall = robot(), "it is a wall"

        def state(self) -> State:
            return start()

        def apply(self, command: Command) -> None: ...

        def advance(self) -> None: ...

    wall = Plant.adapt(WallPlant())
    assert isinstance(wall, Plant)
    assert (type(wall).__name__, wall.fall, wall.fallen) == ("WallPlant", "it is a wall", True)
    assert (wall.state(), wall.truth(), wall.readings(), wall.notes) == (start(), start(), None, ())
    recording = poise.record(poise.KinematicController(hierarchy()), WallPlant(), seconds=0.01)  # type: ignore[arg-type]
    assert recording.provenance["plant"] == "WallPlant"


def test_members_of_an_adapted_object_may_change() -> None:
    class CountingDevice:
        def __init__(self) -> None:
            self.finished = False

        def read(self, time: float) -> OperatorCommand:
            self.finished = time > 1.0
            return OperatorCommand()

    counter = CountingDevice()
    device = Device.adapt(counter)
    assert (device.finished, device.seconds) == (False, None)
    device.read(2.0)
    assert device.finished


def test_a_function_is_a_behavior_and_may_take_the_place_of_another() -> None:
    controller = poise.KinematicController(lambda snapshot: hierarchy())
    assert isinstance(controller.behavior, FunctionBehavior)
    assert controller.step(start()).phase == ""
    controller.behavior = behaviors.Reach(poise.load_robot("g1"))
    assert controller.step(controller.behavior.start).phase == "IP1"


def test_a_missing_member_is_named_in_one_line() -> None:
    class IncompletePlant(Plant):
        def state(self) -> State:
            return start()

        def apply(self, command: Command) -> None: ...

    class PlantWithoutRobot(MotionlessPlant):
        def __init__(self) -> None: ...

    class PlantWithoutState:
        robot = robot()

    controller = poise.KinematicController(hierarchy())
    with pytest.raises(TypeError, match="advance"):
        IncompletePlant()  # type: ignore[abstract]
    for plant, missing in (
        (PlantWithoutRobot(), "PlantWithoutRobot has no 'robot'"),
        (PlantWithoutState(), "PlantWithoutState has no 'advance'"),
    ):
        with pytest.raises(poise.PoiseError, match=missing) as caught:
            poise.record(controller, plant, 0.1)  # type: ignore[arg-type]
        assert "expected a Plant, which needs advance, apply, robot, state" in str(caught.value)
        assert "\n" not in str(caught.value)
    with pytest.raises(poise.PoiseError, match="object has no 'period'; expected a Controller"):
        poise.record(object(), IdealPlant(start()), 0.1)  # type: ignore[arg-type]
    with pytest.raises(poise.PoiseError, match="object has no 'read'; expected a Device"):
        behaviors.Navigate(robot(), object())  # type: ignore[arg-type]
    with pytest.raises(poise.PoiseError, match="has no 'solve'"):
        poise.KinematicController(hierarchy(), solver=5)  # type: ignore[arg-type]


def test_a_solver_without_memory_needs_one_method() -> None:
    class MinimalSolver:
        def solve(self, program: solvers.Program) -> solvers.Solution:
            return Lexicographic().solve(program)

    one, other = (poise.KinematicController(hierarchy(), solver) for solver in (MinimalSolver(), None))  # type: ignore[arg-type]
    assert np.allclose(one.step(start()).velocity, other.step(start()).velocity, atol=1e-12)


def test_a_behavior_without_observation_costs_no_second_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    states: list[State] = []
    controller = PositionController(hierarchy())
    controller.step(start())
    monkeypatch.setattr(Snapshot, "at", lambda self, state, at=Snapshot.at: states.append(state) or at(self, state))  # type: ignore[func-returns-value]
    controller.step(start())
    assert len(states) == 1


def test_servos_exert_torques_without_a_torque_command() -> None:
    plant = MujocoPlant(start(), actuators=PositionServos())
    poise.record(PositionController(hierarchy()), plant, seconds=0.05)
    assert np.abs(plant.joint_torques()).max() > 0.1


def test_torque_controllers_are_recorded_as_of_acceleration_order() -> None:
    recording = poise.record(TorqueController(behaviors.Stand(robot())), MujocoPlant(start()), seconds=0.01)
    assert recording.provenance["controller"]["order"] == "acceleration"
