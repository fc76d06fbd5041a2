"""From a motion to the stack of tasks behind it.

`infer(recording)` returns an `InferredStack`: levels with tasks, targets and gains in order of importance, for each
segment of the motion. It can be edited, saved as TOML, and run on the same or another robot (`InferredStack.behavior`).
"""

from poise.inference.inferred_stack import InferredSegment, InferredStack, InferredTask, StackBehavior
from poise.inference.motion_inference import infer, infer_segment
from poise.inference.motion_samples import InferenceError, MotionSamples
from poise.inference.stack_search import StackFit, StackSearch

__all__ = [
    "InferenceError",
    "InferredSegment",
    "InferredStack",
    "InferredTask",
    "MotionSamples",
    "StackBehavior",
    "StackFit",
    "StackSearch",
    "infer",
    "infer_segment",
]
