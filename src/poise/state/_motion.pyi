"""Writers of the rows of common tasks into the memory of a program."""

from collections.abc import Sequence

import numpy
from numpy.typing import NDArray

from poise.arrays import Array

class StateLoader:
    def __init__(self, q: Array, v: Array) -> None: ...
    def load(self, q: Array, v: Array) -> float:
        """Copy a state; return the sum of the absolute values of its entries."""

class CenterOfMass:
    def __init__(
        self,
        J: Array,
        rotations: Sequence[Array],
        positions: Sequence[Array],
        masses: Array,
        centers: Array,
        parents: NDArray[numpy.int32],
        columns: NDArray[numpy.int32],
        counts: NDArray[numpy.int32],
        center: Array,
        jacobian: Array,
    ) -> None: ...
    def write(self) -> None: ...

class MomentumDrift:
    def __init__(
        self,
        linear: Array,
        angular: Array,
        root_linear: Array,
        root_angular: Array,
        weight: Array,
        mass: float,
        momentum: Array,
        center_of_mass: Array,
    ) -> None: ...
    def reset_root_force(self) -> None: ...
    def write(self) -> None: ...
    def write_adding_weight(self) -> None: ...

class FrameRows:
    def __init__(
        self,
        J: Array,
        columns: NDArray[numpy.int32],
        offset: Array,
        rotation: Array,
        joint_position: Array,
        joint_rotation: Array,
        linear_velocity: Array,
        angular_velocity: Array,
        linear_acceleration: Array,
        angular_acceleration: Array,
    ) -> None: ...
    def jacobian(self, out: Array) -> None: ...
    def position(self, out: Array) -> None: ...
    def rotation(self, out: Array) -> None: ...
    def drift(self, out: Array) -> None: ...
    def velocity(self, out: Array) -> None: ...

class FrameWriter:
    def __init__(
        self,
        frame: FrameRows,
        S: Array,
        target_position: Array,
        target_rotation: Array,
        error: Array,
        A: Array,
        drift: Array,
    ) -> None: ...
    def write(self) -> None: ...
    def write_drift(self) -> None: ...

class PointWriter:
    def __init__(
        self, J: Array, point: Array, acceleration: Array, S: Array, target: Array, error: Array, A: Array, drift: Array
    ) -> None: ...
    def write(self) -> None: ...
    def write_drift(self) -> None: ...

class RelativePoseWriter:
    def __init__(
        self,
        frame: FrameRows,
        reference_frame: FrameRows,
        components: NDArray[numpy.int32],
        target_position: Array,
        target_rotation: Array,
        error: Array,
        A: Array,
        drift: Array,
    ) -> None: ...
    def write(self) -> None: ...
    def write_drift(self) -> None: ...

class RelativePointWriter:
    def __init__(
        self,
        J: Array,
        point: Array,
        acceleration: Array,
        v: Array,
        reference_frame: FrameRows,
        base: int,
        components: NDArray[numpy.int32],
        target: Array,
        error: Array,
        A: Array,
        drift: Array,
    ) -> None: ...
    def write(self) -> None: ...
    def write_drift(self) -> None: ...

class JointWriter:
    def __init__(self, q: Array, q_index: NDArray[numpy.int32], target: Array, error: Array) -> None: ...
    def write(self) -> None: ...

class TaskBounds:
    def __init__(
        self,
        error: Array,
        low: Array,
        high: Array,
        gain: Array,
        gain_rate: Array,
        coupling: Array,
        damping: Array,
        target_rate: Array,
        target_acceleration: Array,
        drift: Array,
        group_begin: NDArray[numpy.int32],
        group_end: NDArray[numpy.int32],
        group_speed: Array,
        group_acceleration: Array,
        lower: Array,
        upper: Array,
        A: Array,
        v: Array,
        weight: Array,
        curvature: Array,
        level_begin: NDArray[numpy.int32],
        singularity_damping: Array,
        period: float,
        unknowns: NDArray[numpy.int32],
        center: Array,
        rest_damping: float,
    ) -> None: ...
    def velocity(self) -> bool: ...
    def acceleration(self) -> bool: ...

class ForceBasis:
    def __init__(self, frame: FrameRows, G: Array) -> None: ...

class ForceMap:
    def __init__(self, contacts: Sequence[ForceBasis], force_jacobian: Array) -> None: ...
    def write(self) -> None: ...
    def wrenches(self, y: Array, wrenches: Array, points: Array) -> None: ...

class DynamicsWriter:
    def __init__(
        self,
        M: Array,
        h: Array,
        force_jacobian: Array,
        rows: NDArray[numpy.int32],
        scale: Array,
        low: Array,
        high: Array,
        A: Array,
        lower: Array,
        upper: Array,
    ) -> None: ...
    def write(self) -> None: ...

def generalised_forces(M: Array, h: Array, force_jacobian: Array, x: Array, out: Array) -> None:
    """Write M v' + h - sum J^T W y; in a feasible solution the first six are zero, the others are torques."""

class TorqueCommand:
    def __init__(
        self,
        M: Array,
        h: Array,
        force_jacobian: Array,
        work: Array,
        torque_limit: Array,
        base_tolerance: float,
        torque_tolerance: float,
        period: float,
    ) -> None: ...
    def compute(self, x: Array, v: Array, torque: Array, velocity: Array) -> bool:
        """Write torques and the next velocity; return whether they are feasible."""

class CapsulePairs:
    def __init__(
        self,
        center: Array,
        half_axis: Array,
        radius: Array,
        carrier: NDArray[numpy.int32],
        first: NDArray[numpy.int32],
        second: NDArray[numpy.int32],
    ) -> None: ...
    def place(self, rotations: Sequence[Array], positions: Sequence[Array], X: Array) -> None: ...
    def measure(self, X: Array, d: Array, s: Array, t: Array) -> None: ...

class JointTree:
    def __init__(
        self,
        J: Array,
        v: Array,
        parents: NDArray[numpy.int32],
        columns: NDArray[numpy.int32],
        counts: NDArray[numpy.int32],
    ) -> None: ...

MAX_TURNING_DRIFT: float = 100.0

class GapRows:
    def __init__(
        self,
        pairs: CapsulePairs,
        rotations: Sequence[Array],
        positions: Sequence[Array],
        joints: NDArray[numpy.int32],
        tree: JointTree,
        pair: NDArray[numpy.int32],
        gap: Array,
        normal: Array,
        first: Array,
        second: Array,
    ) -> None: ...
    def update(self) -> None: ...
    def jacobian(self, out: Array) -> None: ...
    def drift(self, out: Array) -> None: ...
    def body_twists(self, first_twist: Array, second_twist: Array, out: Array) -> None: ...

class GapWriter:
    def __init__(
        self, gaps: GapRows, min_gaps: Array, influence: float, error: Array, low: Array, A: Array, drift: Array
    ) -> None: ...
    def write(self) -> None: ...
    def write_drift(self) -> None: ...

class JointBounds:
    def __init__(
        self,
        q: Array,
        v: Array,
        q_index: NDArray[numpy.int32],
        v_index: NDArray[numpy.int32],
        q_min: Array,
        q_max: Array,
        speed: Array,
        acceleration: Array,
        period: float,
        recovery: float,
        second_order: bool,
        lower: Array,
        upper: Array,
    ) -> None: ...
    def range(self) -> None: ...
    def speed(self) -> None: ...
    def acceleration(self) -> None: ...
