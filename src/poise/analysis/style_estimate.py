"""The style of a recorded walk: the numbers of `Style` that its measures correspond to."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from poise.analysis.gait_measures import knee_measures
from poise.analysis.recorded_walk import RecordedWalk
from poise.analysis.walk_measures import StyleMeasures, style_measures
from poise.errors import UsageError
from poise.plans import PARAMETERS, STYLES, Style
from poise.robots import leg_length

#: Leg length (m) for which the times of a style hold; they scale with the square root.
REFERENCE_LEG = 0.8
#: Steps of a usual adult walk, in leg lengths: length (0.7 to 0.86 in the clips and laboratories of docs/human.md), and
#: rise of the middle of the sole, which includes that of the heel. The steps of a person relative to these are those of
#: a robot relative to the neutral style.
PERSON_STEP_LENGTH, PERSON_STEP_HEIGHT = 0.8, 0.18
#: Distance of the feet in a usual walk of robots and people, in leg lengths, to which `step_width` is relative.
USUAL_WIDTH, PERSON_WIDTH = 0.25, 0.12
#: Share of double support in a step of people at their usual speed, where the recording does not show it.
USUAL_DOUBLE_SUPPORT = 0.2
#: Step length (leg lengths) below which the swing of arms relative to legs says nothing.
SMALL_STEP = 0.05


@dataclass(frozen=True)
class StyleEstimate:
    """The style of a recorded walk.

    Attributes:
        style: its numbers, inside the ranges in which robots walk.
        measured: the numbers as measured, before they were limited to these ranges.
        measures: measures of the recorded walk.
    """

    style: Style
    measured: dict[str, float]
    measures: StyleMeasures

    @property
    def limited(self) -> dict[str, tuple[float, float]]:
        """Numbers that are beyond their ranges: measured and used value by name."""
        return {
            name: (value, float(getattr(self.style, name)))
            for name, value in self.measured.items()
            if abs(value - float(getattr(self.style, name))) > 1e-9
        }


def estimate_style(walk: RecordedWalk, name: str = "recorded") -> StyleEstimate:
    """Return the style of a walk of a person or robot: steps, posture of chest, head and arms, arm swing, knees.

    Lengths are taken relative to the leg length and times relative to the period of a pendulum of that length, so that
    another body walks alike; the steps of a person are compared with those of a usual adult walk, since robots take
    shorter and lower ones. What a recording does not show is as in the neutral style.

    Raises:
        UsageError: the recording has fewer than two steady steps.

    >>> estimate_style(analyze_walk(fit.recording(), fit.robot), "sad").style.save("sad.toml")
    """
    measures, leg = style_measures(walk), leg_length(walk.tracks.robot)
    if not (math.isfinite(measures.cadence) and measures.cadence > 0.0 and math.isfinite(measures.step_length)):
        raise UsageError("the recording has no steady steps; a style needs a walk of three steps or more")
    seconds = 60.0 / measures.cadence * math.sqrt(REFERENCE_LEG / leg)
    double = measures.double_support / (60.0 / measures.cadence)
    share = double if 0.02 < double < 0.7 else USUAL_DOUBLE_SUPPORT
    neutral, is_person = STYLES["neutral"], walk.tracks.robot.name == "human"
    length_factor = neutral.step_length / PERSON_STEP_LENGTH if is_person else 1.0
    height_factor = neutral.step_height / PERSON_STEP_HEIGHT if is_person else 1.0
    values = {
        "step_length": measures.relative_step_length * length_factor,
        "step_height": measures.step_height / leg * height_factor,
        "step_width": abs(measures.step_width) / ((PERSON_WIDTH if is_person else USUAL_WIDTH) * leg),
        "single_support": (1.0 - share) * seconds,
        "double_support": share * seconds,
        "chest_pitch": math.radians(measures.chest_pitch),
        "head_pitch": math.radians(measures.gaze_pitch),
        "arm_lift": math.radians(measures.arm_lift),
    }
    if measures.relative_step_length > SMALL_STEP:
        # In a step of length s both legs turn by 2 asin(s / (2 l)).
        legs = 2.0 * math.asin(min(0.9, 0.5 * measures.relative_step_length))
        values["arm_swing"] = math.radians(measures.arm_swing) / legs
    values["knee_flexion"] = math.radians(knee_measures(walk).mid_stance)
    measured = {key: value for key, value in values.items() if key in PARAMETERS and math.isfinite(value)}
    limited = {key: float(np.clip(value, PARAMETERS[key].low, PARAMETERS[key].high)) for key, value in measured.items()}
    return StyleEstimate(neutral.replace(name=name, **limited), measured, measures)
