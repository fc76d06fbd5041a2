"""Workloads: sequences of programs as in consecutive steps of a controller.

Recorded sequences come from files. Generated ones come from a seed, with the shape of the inverse kinematics and
dynamics of a humanoid: matrices have the sparsity of a floating base with two legs, a waist, two arms and a head, their
entries are of the order of meters and radians, and they vary smoothly from step to step. Level 0 is always feasible;
lower levels exceed the limits for part of the time, so that bounds become active and inactive.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.arrays import Array
from poise.errors import UsageError
from poise.solvers import Program, Rows

#: Folder of recorded sequences, searched above the current directory and above the source tree.
DATA_FOLDER = Path("shared/data/hqp")

#: Arrays that a recorded sequence may have beside A, lb, ub and lev.
OPTIONAL_ARRAYS = ("weight", "damping", "singularity_damping", "center")

BASE, JOINTS = 6, 29
VARIABLES = BASE + JOINTS
#: Columns of the joints that move each part.
LEGS = (np.arange(6, 12), np.arange(12, 18))
WAIST, HEAD = np.arange(18, 21), np.arange(33, 35)
ARM = np.arange(21, 27)
#: Four corners under each foot, each with a force of three components.
CORNERS = 8
FORCES = 3 * CORNERS
#: Mass (kg) and gravity (m/s^2) that the corner forces support.
MASS, GRAVITY = 35.0, 9.81
FRICTION = 0.6
#: Seconds between two steps.
PERIOD = 0.005

#: Matrix, lower bounds, upper bounds, level of each row.
StackedRows = tuple[Array, Array, Array, NDArray[np.int_]]
Signal = Callable[[float], Array]


@dataclass(frozen=True)
class Workload:
    """A sequence of programs of one shape.

    Attributes:
        name: name in the table.
        source: ``"recorded"`` on a robot or ``"generated"`` from a seed.
        programs: one per control step, in order of time.
    """

    name: str
    source: str
    programs: tuple[Program, ...]

    def first(self, steps: int) -> Workload:
        """Return a workload of the first steps only."""
        return Workload(self.name, self.source, self.programs[:steps])


def stacked_program(
    A: ArrayLike, lower: ArrayLike, upper: ArrayLike, level: ArrayLike, weight: ArrayLike = 1.0, **options: Array
) -> Program:
    """Return a program from stacked rows; `level` is the level of each row.

    Args:
        A, lower, upper, level, weight: of each row.
        options: arguments of `Program`: damping, singularity_damping, center.
    """
    matrix, low, high = (np.asarray(part, dtype=float) for part in (A, lower, upper))
    levels, weights = np.asarray(level, dtype=int), np.broadcast_to(weight, low.shape)
    members = [levels == k for k in range(len(options.get("damping", range(int(levels.max(initial=-1)) + 1))))]
    blocks = [Rows(matrix[rows], low[rows], high[rows], weights[rows]) for rows in members]
    return Program(blocks, variables=matrix.shape[1], **options)  # type: ignore[arg-type]


def recorded_workloads(folder: Path) -> list[Workload]:
    """Load all sequences ``*.npz`` of a folder.

    A file has arrays ``A[t]``, ``lb[t]``, ``ub[t]``, and ``lev``, the level of each row. Optional are ``weight[t]`` of
    the rows, ``damping[t]`` and ``singularity_damping[t]`` of the levels, and ``center[t]``.
    """
    return [_load_sequence(path) for path in sorted(folder.glob("*.npz"))]


def generated_workloads(steps: int = 100, seed: int = 0) -> list[Workload]:
    """Return generated sequences; the same seed gives the same numbers."""
    kinds = {"kinematics": inverse_kinematics, "dynamics": inverse_dynamics}
    return [
        Workload(f"generated_{name}", "generated", tuple(stacked_program(*rows) for rows in make(steps, seed)))
        for name, make in kinds.items()
    ]


def workloads(data: Path | None = None) -> list[Workload]:
    """Return the recorded workloads, if there are any, and the generated ones.

    Args:
        data: folder with recorded sequences. None: the folder in the environment variable POISE_DATA, else
            ``shared/data/hqp`` beside or above the current directory or the source tree, if it exists.
    """
    data_folder = data or (Path(os.environ["POISE_DATA"]) if os.environ.get("POISE_DATA") else None)
    folder = data_folder or _find_data_folder(Path.cwd(), Path(__file__).resolve().parent)
    recorded = recorded_workloads(folder) if folder is not None else []
    if data_folder is not None and not recorded:
        raise UsageError(f"there are no recorded sequences (*.npz) in '{data_folder}'; name the folder that holds them")
    return [*recorded, *generated_workloads()]


def _find_data_folder(*starts: Path) -> Path | None:
    candidates: Iterable[Path] = (parent / DATA_FOLDER for start in starts for parent in (start, *start.parents))
    return next((folder for folder in candidates if any(folder.glob("*.npz"))), None)


def _load_sequence(path: Path) -> Workload:
    try:
        with np.load(path) as data:
            A, lower, upper, level = (data[key] for key in ("A", "lb", "ub", "lev"))
            options = {key: data[key] for key in OPTIONAL_ARRAYS if key in data}
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise UsageError(f"'{path}' is not a recorded sequence with A, lb, ub and lev: {error}") from None
    if (
        A.ndim != 3
        or not A.size
        or lower.shape != A.shape[:2]
        or upper.shape != A.shape[:2]
        or level.shape != (A.shape[1],)
    ):
        raise UsageError(
            f"'{path}' has A {A.shape}, lb {lower.shape}, ub {upper.shape}, lev {level.shape}; "
            "expected steps x rows x variables, twice steps x rows, and rows"
        )
    if (level < 0).any() or (level != level.astype(int)).any():
        raise UsageError(f"'{path}' has levels {sorted(set(level.tolist()))[:8]}; expected whole numbers from 0 on")
    programs = tuple(
        stacked_program(A[t], lower[t], upper[t], level, **{key: values[t] for key, values in options.items()})
        for t in range(len(A))
    )
    return Workload(path.stem, "recorded", programs)


def inverse_kinematics(steps: int, seed: int = 0) -> Iterator[StackedRows]:
    """Yield programs of inverse kinematics: 35 generalized velocities, 5 levels.

    Limits and feet | CoM box | hand | gaze | posture.
    """
    body = _HumanoidJacobians(np.random.default_rng(seed))
    hand, gaze, posture, speed = (
        body.signal(size, scale) for size, scale in ((3, 2.5), (2, 2.5), (JOINTS, 1.2), (2, 0.6))
    )
    limit_margin = body.signal(JOINTS, 1.0)
    for t in PERIOD * np.arange(steps):
        limit = 0.15 + 1.5 * np.abs(limit_margin(t))  # rad/s: what is left before the end of the range
        stack = _RowStack()
        stack.add(0, body.joints(), -limit, limit)
        stack.add(0, body.feet(t), np.zeros(12))
        height, sideways = np.zeros(1), 0.3 * speed(t)
        stack.add(1, body.center_of_mass(t), np.append(sideways - 0.05, height), np.append(sideways + 0.05, height))
        stack.add(2, body.hand(t), hand(t))
        stack.add(3, body.gaze(t), gaze(t))
        stack.add(4, body.joints(), posture(t))
        yield stack.rows()


def inverse_dynamics(steps: int, seed: int = 0) -> Iterator[StackedRows]:
    """Yield programs of inverse dynamics: 59 variables (accelerations and corner forces), 6 levels.

    Floating-base dynamics, friction, torque and acceleration limits | contacts | CoM | hand | head | posture, forces.
    """
    rng = np.random.default_rng(seed)
    body = _HumanoidJacobians(rng)
    factor = rng.standard_normal((VARIABLES, VARIABLES)) * np.where(np.arange(VARIABLES) < BASE, 0.5, 0.25)[:, None]
    inertia = factor @ factor.T + np.diag(np.append([MASS] * 3 + [4.0] * 3, rng.uniform(0.05, 0.5, JOINTS)))
    sway, bias = body.signal(VARIABLES, 0.02), body.signal(JOINTS, 4.0)
    targets = [body.signal(size, scale) for size, scale in ((12, 0.05), (3, 4.0), (3, 20.0), (3, 40.0), (JOINTS, 12.0))]
    limit_margin, strength = body.signal(JOINTS, 1.0), rng.uniform(15.0, 60.0, JOINTS)
    standing = np.tile([0.0, 0.0, MASS * GRAVITY / CORNERS], CORNERS)
    for t in PERIOD * np.arange(steps):
        M = inertia * (1.0 + np.add.outer(sway(t), sway(t)))
        J_corners = body.corners(
            t
        )  # rows of x, y, z per corner: how the body moves it, and so how its force moves the body
        dynamics = np.hstack([M, -J_corners.T])
        contact, center, hand, head, posture = (target(t) for target in targets)
        acceleration, torque = 4.0 + 40.0 * np.abs(limit_margin(t)), bias(t) - J_corners.T[BASE:] @ standing
        stack = _RowStack()
        stack.add(0, dynamics[:BASE], -J_corners.T[:BASE] @ standing)  # holds when standing still on equal forces
        stack.add(
            0, _pad_columns(_friction_rows(), left=VARIABLES), np.full(4 * CORNERS, -np.inf), np.zeros(4 * CORNERS)
        )
        stack.add(0, dynamics[BASE:], torque - strength, torque + strength)
        stack.add(0, _pad_columns(body.joints(), right=FORCES), -acceleration, acceleration)
        stack.add(0, np.eye(VARIABLES + FORCES)[VARIABLES + 2 :: 3], np.zeros(CORNERS), np.full(CORNERS, 400.0))
        stack.add(1, _pad_columns(body.feet(t), right=FORCES), contact)
        stack.add(2, _pad_columns(body.center_of_mass(t), right=FORCES), center)
        stack.add(3, _pad_columns(body.hand(t), right=FORCES), hand)
        stack.add(4, _pad_columns(body.head(t), right=FORCES), head)
        stack.add(5, _pad_columns(body.joints(), right=FORCES), posture)
        stack.add(5, _pad_columns(0.01 * np.eye(FORCES), left=VARIABLES), 0.01 * standing)
        yield stack.rows()


class _HumanoidJacobians:
    """Jacobians of a floating base with limbs, as smooth functions of time."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._feet = [
            self._limb(6, leg, at) for leg, at in zip(LEGS, ([0.0, 0.1, -0.8], [0.0, -0.1, -0.8]), strict=True)
        ]
        reach = np.concatenate([WAIST, ARM])
        self._hand = self._limb(3, reach, [0.35, 0.2, 0.1])
        self._head = self._limb(6, np.concatenate([WAIST, HEAD]), [0.0, 0.0, 0.4])
        self._center = self._limb(3, np.arange(BASE, VARIABLES), [0.02, 0.0, -0.05], scale=0.06)

    def signal(self, size: int, scale: float) -> Signal:
        """Return a random signal: a sum of two sines with random phases and an amplitude of about `scale`."""
        high = scale * self._rng.uniform(0.4, 1.0, (2, size))
        speed = self._rng.uniform([[1.0], [5.0]], [[4.0], [12.0]], (2, size))
        phase = self._rng.uniform(0.0, 2.0 * np.pi, (2, size))
        return lambda t: np.asarray((high * np.sin(speed * t + phase) / [[1.0], [3.0]]).sum(axis=0))

    def joints(self) -> Array:
        return np.eye(VARIABLES)[BASE:]

    def feet(self, t: float) -> Array:
        return np.vstack([foot(t) for foot in self._feet])

    def center_of_mass(self, t: float) -> Array:
        return self._center(t)

    def hand(self, t: float) -> Array:
        return self._hand(t)

    def head(self, t: float) -> Array:
        return self._head(t)[3:]

    def gaze(self, t: float) -> Array:
        return self._head(t)[4:] * 1.2

    def corners(self, t: float) -> Array:
        """Return three rows for each corner: its velocity is that of its foot plus angular velocity times offset."""
        rows = []
        for foot in self.feet(t).reshape(2, 6, VARIABLES):
            for x, y in ((0.1, 0.05), (0.1, -0.05), (-0.1, 0.05), (-0.1, -0.05)):
                rows.append(foot[:3] - _cross_matrix([x, y, 0.0]) @ foot[3:])
        return np.vstack(rows)

    def _limb(
        self, rows: int, columns: NDArray[np.int_], at: list[float], scale: float = 0.6
    ) -> Callable[[float], Array]:
        """Return the Jacobian rows of a frame at a position relative to the base, moved by some joints."""
        mean = scale * self._rng.standard_normal((rows, len(columns)))
        sway, drift = self.signal(rows * len(columns), 0.4 * scale), self.signal(3, 0.05)

        def jacobian(t: float) -> Array:
            J = np.zeros((6, VARIABLES))
            J[:, :BASE] = np.eye(6)
            J[:3, 3:6] = -_cross_matrix(np.asarray(at) + drift(t))
            J[:rows, columns] = mean + sway(t).reshape(mean.shape)
            return J[:rows]

        return jacobian


class _RowStack:
    """Stack of rows with their levels."""

    def __init__(self) -> None:
        self._blocks: list[StackedRows] = []

    def add(self, level: int, A: Array, lower: Array, upper: Array | None = None) -> None:
        """Append rows; without an upper bound they are equalities."""
        self._blocks.append((A, lower, lower if upper is None else upper, np.full(len(A), level)))

    def rows(self) -> StackedRows:
        A, lower, upper, level = (np.concatenate(parts) for parts in zip(*self._blocks, strict=True))
        return A, lower, upper, level


def _cross_matrix(p: object) -> Array:
    x, y, z = np.asarray(p, dtype=float)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _friction_rows() -> Array:
    """Return the rows of the friction pyramids, four for each corner force: ``|f_x|, |f_y| <= FRICTION f_z``."""
    face = np.array([[1.0, 0.0, -FRICTION], [-1.0, 0.0, -FRICTION], [0.0, 1.0, -FRICTION], [0.0, -1.0, -FRICTION]])
    return np.kron(np.eye(CORNERS), face)


def _pad_columns(A: Array, left: int = 0, right: int = 0) -> Array:
    """Return rows with columns of zeros added before and after."""
    return np.pad(A, ((0, 0), (left, right)))
