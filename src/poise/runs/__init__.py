"""Runs of motions: one dataclass per motion, shared by the command line, campaigns, the studio and Python.

>>> from poise import runs
>>> recording, result = runs.Walk(robot="g1", style="proud", push="60,0,0,0.1@3").run()
>>> result["fell"], result["walk"]["speed"]

A motion is a complete run: robot, world, behavior, controller and plant, and how its recording is judged. The behavior
is the class with the same name in `poise.behaviors`, a hierarchy as a function of the state, for any controller.

A motion is a frozen dataclass; each field declares its unit, range and help text. `World` describes the environment and
the disturbances of a simulation; its fields may be given as arguments of the motion, like ``push`` above.
"""

from poise.runs.execution import SECONDS_AFTER_FALL, CompletedRun, Result, finish_result, measure, store_result
from poise.runs.motion import COMMON_COLUMNS, Motion, MotionRun, ResultColumn, Setup, library_robot, motion_parameters
from poise.runs.motions import MOTIONS, campaign_parameters, command_line, known_parameter, motion_from, motion_named
from poise.runs.navigate_motion import Navigate
from poise.runs.run_summary import RunSummary, summarize_run
from poise.runs.scenario import Scenario
from poise.runs.servo_balance import ServoBalance, recorded_zmp_error, recovery_time
from poise.runs.standing_motions import Reach, Squat, Stand
from poise.runs.walk_check import WalkChecker, check_walk, first_check, repair_walk
from poise.runs.walk_motion import Walk, known_ground
from poise.runs.world import NOISE, World

__all__ = [
    "COMMON_COLUMNS",
    "MOTIONS",
    "NOISE",
    "SECONDS_AFTER_FALL",
    "CompletedRun",
    "Motion",
    "MotionRun",
    "Navigate",
    "Reach",
    "Result",
    "ResultColumn",
    "RunSummary",
    "Scenario",
    "ServoBalance",
    "Setup",
    "Squat",
    "Stand",
    "Walk",
    "WalkChecker",
    "World",
    "campaign_parameters",
    "check_walk",
    "command_line",
    "finish_result",
    "first_check",
    "known_ground",
    "known_parameter",
    "library_robot",
    "measure",
    "motion_from",
    "motion_named",
    "motion_parameters",
    "recorded_zmp_error",
    "recovery_time",
    "repair_walk",
    "store_result",
    "summarize_run",
]
