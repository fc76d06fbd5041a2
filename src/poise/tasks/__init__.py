"""Tasks: goals of a motion, each an error that should vanish or stay inside bounds.

| task | error | unit |
|---|---|---|
| `Position`, `Orientation`, `Pose`, `HoldPose` | of one frame in the world | m, rad |
| `RelativePose` | of one frame relative to another | m, rad |
| `Direction`, `Gaze` | angle between an axis and its target direction | rad |
| `CenterOfMass` | in the world or relative to a foot | m |
| `LinearMomentum`, `AngularMomentum` | rates only | kg m/s, kg m²/s |
| `Posture`, `JointComfort`, `LeastVelocity` | of joints | rad, rad, rad/s |
| `Configuration` | of joints and of the base in the world | m, rad |
| `JointTorque` | of motors; torque control only | N m |
| `ContactForce`, `ForceDistribution`, `CenterOfPressure` | of contacts; torque control only | N, N, N m |

Motion tasks work at velocity and at acceleration order, as an equality or (`tolerance=`) as an interval, at any level.
The dynamics of the error are a `Decay`, a `MinimumJerk` or a `FeedForward`. A moving target is a `SplineTarget`, a
`MinimumJerkTarget`, a `SinusoidTarget` or, if the caller moves it, a `LiveTarget` or a `FeedForwardTarget`. To write a
new task, derive from `MotionTask` and define `value` and `jacobian`.
"""

from poise.tasks.aim import Direction, Gaze, unit_vector
from poise.tasks.centroidal import AngularMomentum, CenterOfMass, LinearMomentum
from poise.tasks.forces import (
    CenterOfPressure,
    ContactForce,
    ForceDistribution,
    ForceTask,
    ForceUnknowns,
    JointTorque,
    WrenchTask,
    bind_generalised_forces,
)
from poise.tasks.frame import FrameTask, HoldPose, Orientation, Pose, Position, frame_name
from poise.tasks.motion_task import MotionTask
from poise.tasks.posture import Configuration, JointComfort, JointSelection, LeastVelocity, Posture, check_joints
from poise.tasks.relative import RelativePose
from poise.tasks.target import (
    Decay,
    FeedForward,
    FeedForwardTarget,
    LiveTarget,
    MinimumJerk,
    MinimumJerkTarget,
    SinusoidTarget,
    SplineTarget,
    Target,
    TaskDynamics,
    is_moving,
)
from poise.tasks.task import (
    ACCELERATION,
    VELOCITY,
    Assembly,
    Task,
    TaskLabel,
    TaskRows,
    TunableWeight,
    VariableLayout,
    Writer,
    check_task_number,
    check_task_positive,
    check_task_vector,
    check_weight,
    component_indices,
    selection_matrix,
)

__all__ = [
    "ACCELERATION",
    "VELOCITY",
    "AngularMomentum",
    "Assembly",
    "CenterOfMass",
    "CenterOfPressure",
    "Configuration",
    "ContactForce",
    "Decay",
    "Direction",
    "FeedForward",
    "FeedForwardTarget",
    "ForceDistribution",
    "ForceTask",
    "ForceUnknowns",
    "FrameTask",
    "Gaze",
    "HoldPose",
    "JointComfort",
    "JointSelection",
    "JointTorque",
    "LeastVelocity",
    "LinearMomentum",
    "LiveTarget",
    "MinimumJerk",
    "MinimumJerkTarget",
    "MotionTask",
    "Orientation",
    "Pose",
    "Position",
    "Posture",
    "RelativePose",
    "SinusoidTarget",
    "SplineTarget",
    "Target",
    "Task",
    "TaskDynamics",
    "TaskLabel",
    "TaskRows",
    "TunableWeight",
    "VariableLayout",
    "WrenchTask",
    "Writer",
    "bind_generalised_forces",
    "check_joints",
    "check_task_number",
    "check_task_positive",
    "check_task_vector",
    "check_weight",
    "component_indices",
    "frame_name",
    "is_moving",
    "selection_matrix",
    "unit_vector",
]
