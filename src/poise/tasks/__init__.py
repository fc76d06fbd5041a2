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
where somebody else moves it, `Live`. To write a new
one, derive from `MotionTask`.
"""

from poise.tasks.aim import Direction, Gaze
from poise.tasks.assembly import Assembly, TaskLabel
from poise.tasks.center_of_mass import CenterOfMass
from poise.tasks.configuration import Configuration
from poise.tasks.forces import CenterOfPressure, ContactForce, ForceDistribution, ForceTask, ForceUnknowns, WrenchTask
from poise.tasks.frame import FrameTask, HoldPose, Orientation, Pose, Position
from poise.tasks.layout import ACCELERATION, VELOCITY, Layout, Memory
from poise.tasks.momentum import AngularMomentum, LinearMomentum
from poise.tasks.motion import MotionTask
from poise.tasks.posture import JointComfort, LeastVelocity, Posture
from poise.tasks.reference import Decay, Given, MinimumJerk
from poise.tasks.relative import RelativePose
from poise.tasks.target import Led, Live, Oscillation, Passage, Path, Target
from poise.tasks.task import Dial, Task
from poise.tasks.torque import JointTorque

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
    "RelativePose",
    "Target",
    "Task",
    "TaskLabel",
    "WrenchTask",
]
