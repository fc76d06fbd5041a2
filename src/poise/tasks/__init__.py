"""What we want: tasks, each an error that should vanish or stay inside bounds.

| task | error | unit |
|---|---|---|
| `Position`, `Orientation`, `Pose`, `HoldPose` | of one frame in the world | m, rad |
| `RelativePose` | of one frame seen from another | m, rad |
| `Direction`, `Gaze` | angle between an axis and where it should point | rad |
| `CenterOfMass` | in the world or seen from a foot | m |
| `LinearMomentum`, `AngularMomentum` | rates only | kg m/s, kg m²/s |
| `Posture`, `JointComfort`, `LeastVelocity` | of joints | rad, rad, rad/s |
| `Configuration` | of joints and of the base in the world | m, rad |
| `JointTorque` | of motors; with forces only | N m |
| `ContactForce`, `ForceDistribution`, `CenterOfPressure` | of contacts; with forces only | N, N, N m |

Every task works at velocity and at acceleration order, as an equality or (`within=`) as an interval, at any level.
How its error vanishes is a `Decay` or a `MinimumJerk`; a target that moves is a `Path`, a `Passage` or,
where somebody else moves it, `Live`. To write a new one, derive from `MotionTask` and define `value` and `jacobian`.
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
    bind_generalised,
)
from poise.tasks.frame import FrameTask, HoldPose, Orientation, Pose, Position, frame_name
from poise.tasks.motion_task import MotionTask
from poise.tasks.posture import Configuration, JointComfort, Joints, LeastVelocity, Posture, checked_joints
from poise.tasks.relative import RelativePose
from poise.tasks.target import (
    Decay,
    Given,
    Led,
    Live,
    MinimumJerk,
    Oscillation,
    Passage,
    Path,
    Reference,
    Target,
    moving,
)
from poise.tasks.task import (
    ACCELERATION,
    VELOCITY,
    Assembly,
    Dial,
    Layout,
    Memory,
    Task,
    TaskLabel,
    Writer,
    checked_weight,
    component_indices,
    number,
    numbers,
    positive,
    selection,
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
    "Dial",
    "Direction",
    "ForceDistribution",
    "ForceTask",
    "ForceUnknowns",
    "FrameTask",
    "Gaze",
    "Given",
    "HoldPose",
    "JointComfort",
    "JointTorque",
    "Joints",
    "Layout",
    "LeastVelocity",
    "Led",
    "LinearMomentum",
    "Live",
    "Memory",
    "MinimumJerk",
    "MotionTask",
    "Orientation",
    "Oscillation",
    "Passage",
    "Path",
    "Pose",
    "Position",
    "Posture",
    "Reference",
    "RelativePose",
    "Target",
    "Task",
    "TaskLabel",
    "WrenchTask",
    "Writer",
    "bind_generalised",
    "checked_joints",
    "checked_weight",
    "component_indices",
    "frame_name",
    "moving",
    "number",
    "numbers",
    "positive",
    "selection",
    "unit_vector",
]
