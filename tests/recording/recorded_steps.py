"""Fake steps of a control loop for the recorder, of a robot with four joints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from poise.recording import Recording
from poise.solvers import Lexicographic, Program, Rows, Solution
from poise.state import ContactForces, Imu, SensorReadings

JOINTS = ("left_knee_joint", "right_knee_joint", "left_elbow_joint", "neck_slide_joint")
NQ, NV = 7 + len(JOINTS), 6 + len(JOINTS)
PERIOD = 0.005


class FakeJointModel:
    """Fake of a joint of a pinocchio model."""

    def __init__(self, name: str) -> None:
        self.name = name

    def shortname(self) -> str:
        return self.name


ROBOT: Any = SimpleNamespace(
    name="figure",
    source="made up for tests",
    load_arguments={},
    model=SimpleNamespace(
        nq=NQ,
        nv=NV,
        joints=[
            FakeJointModel("JointModelFreeFlyer"),
            *[FakeJointModel("JointModelRY")] * 3,
            FakeJointModel("JointModelPZ"),
        ],
    ),
    joints=tuple(SimpleNamespace(name=name, index=1 + i, q=7 + i, v=6 + i) for i, name in enumerate(JOINTS)),
    limits=SimpleNamespace(lower=np.array([-1.0, -1.0, -2.0, -0.1]), upper=np.array([1.0, 1.0, 2.0, 0.1])),
    mass=10.0,
    weight=98.1,
    feet=(SimpleNamespace(name="left_sole"), SimpleNamespace(name="right_sole")),
    hands=(),
)


@dataclass(frozen=True)
class FakeState:
    q: np.ndarray
    v: np.ndarray
    time: float
    contacts: tuple[Any, ...] = ROBOT.feet

    @property
    def center_of_mass(self) -> np.ndarray:
        return np.array([0.01 * self.time, 0.0, 0.7])


@dataclass(frozen=True)
class FakeErrors:
    tasks: tuple[tuple[str, str, str, tuple[str, ...]], ...]
    rows: tuple[np.ndarray, ...]

    def values(self, task: int) -> np.ndarray:
        return self.rows[task]

    def stacked_values(self) -> np.ndarray:
        return np.concatenate([np.zeros(0), *self.rows])


@dataclass(frozen=True)
class FakeCommand:
    velocity: np.ndarray
    acceleration: np.ndarray | None = None
    torque: np.ndarray | None = None
    solution: Solution | None = None
    fallback: str = ""
    errors: FakeErrors | None = None
    forces: ContactForces | None = None
    phase: str = ""


@dataclass(frozen=True)
class _Step:
    state: FakeState
    command: FakeCommand
    milliseconds: float = 0.25
    readings: SensorReadings | None = None
    servo_torques: np.ndarray | None = None


#: A `ControlStep` to the recorder, but not to a type checker.
FakeStep: Any = _Step

REACH = ("reach", "left_hand", "m", ("x", "y", "z"))
POSTURE = ("posture", "posture", "rad", JOINTS)


@dataclass
class Motion:
    """Motion of a knee that bends at its speed limit, with tasks that may change.

    Attributes:
        tasks: tasks of the errors.
        torque: whether commands have a torque.
    """

    tasks: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (REACH, POSTURE)
    torque: bool = False
    solver: Lexicographic = field(default_factory=Lexicographic)

    def step(self, i: int, **changes: Any) -> Any:
        time = i * PERIOD
        rng = np.random.default_rng(i)
        q = np.concatenate([rng.normal(size=3), [0.0, 0.0, 0.0, 1.0], [min(0.9, 0.2 * time), 0.0, 0.1, 0.0]])
        speed = Rows.bounds(np.full(NV, -1.0), np.full(NV, 1.0), name="joint speed", unit="rad/s", labels=velocities())
        levels: list[list[Rows]] = [[speed]]
        names = ["always"]
        for level, task, unit, labels in self.tasks:
            A = np.zeros((len(labels), NV))
            A[:, 6 : 6 + len(labels)] = np.eye(len(labels))[:, : len(JOINTS)]
            targets = np.linspace(2.0, 0.1, len(labels))
            rows = Rows(A, targets, targets, name=task, unit=f"{unit}/s", labels=labels)
            if level in names:
                levels[names.index(level)].append(rows)
            else:
                names.append(level)
                levels.append([rows])
        solution = self.solver.solve(Program(levels, names=names, variables=NV))
        errors = FakeErrors(self.tasks, tuple(rng.normal(size=len(task[3])) for task in self.tasks))
        command: dict[str, Any] = {"velocity": solution.x, "solution": solution, "errors": errors}
        if self.torque:
            command["torque"] = rng.normal(size=len(JOINTS))
        return FakeStep(FakeState(q, solution.x * 0.5, time), FakeCommand(**(command | changes)), 0.2 + 0.001 * i)

    def steps(self, count: int, start: int = 0) -> Iterator[Any]:
        return (self.step(i) for i in range(start, start + count))


def forces(seed: int, *names: str) -> ContactForces:
    """Return random forces at these contacts."""
    rng = np.random.default_rng(seed)
    return ContactForces(names, rng.normal(size=(len(names), 6)) + 50.0, rng.normal(size=(len(names), 3)))


def make_readings(seed: int, state: Any, *names: str, truth: Any = None) -> SensorReadings:
    """Return plausible sensor readings at a state, with forces at these contacts; the state is the true one."""
    rng = np.random.default_rng(seed)
    return SensorReadings(
        forces=forces(seed, *names),
        cells={name: rng.normal(size=4) for name in names},
        imu=Imu(rng.normal(size=4), rng.normal(size=3), rng.normal(size=3)),
        positions=rng.normal(size=len(JOINTS)),
        velocities=rng.normal(size=len(JOINTS)),
        truth=state if truth is None else truth,
    )


def velocities() -> tuple[str, ...]:
    return (*(f"base_{i}" for i in range(6)), *JOINTS)


def identical(one: Recording, other: Recording) -> bool:
    """Return whether two recordings are bitwise equal, in the same order."""
    return (
        [channel.header for channel in one.channels.values()] == [channel.header for channel in other.channels.values()]
        and all(same_values(one[name], other[name]) for name in one.channels)
        and repr(one.provenance) == repr(other.provenance)  # NaN is not equal to itself, but reads the same
        and one.complete == other.complete
    )


def same_values(one: np.ndarray, other: np.ndarray) -> bool:
    if one.dtype == object:
        return one.tolist() == other.tolist()
    return (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())
