"""People: from marker files to bodies, gaits and torques.

>>> from poise import human
>>> fit = human.fit_trial("walk.c3d")  # or human.fit_trials(["lab"]) for all walks of a folder
>>> fit.rms, fit.robot, fit.angles()["left_knee_flexion"]
>>> study = human.study_gait(["a.c3d", "b.c3d"])
>>> print(study.table())
>>> torques = human.compute_torques(fit)
>>> print(torques.text())

Every result has `summary()`, plain values for JSON, and `text()`, the same to read. A trial that is in memory already
goes to `fit`. More of what follows from a fit is in `poise.human.gait`, `poise.human.dynamic` and
`poise.human.torques`; a walk without a laboratory comes from `poise.human.sample`.
"""

from poise.analysis import RecordingComparison, StrideComparison, compare_recordings
from poise.human.dynamic import Simulated, ground_forces, simulate
from poise.human.files.bvh_reader import BvhMotion, read_bvh, read_skeleton
from poise.human.files.c3d_writer import write_c3d
from poise.human.files.opensim_motion import Motion, read_motion, write_motion
from poise.human.files.trc_files import write_trc
from poise.human.files.trial_reader import read_trial
from poise.human.fitting.body_fit import FIT_BEHAVIOR, Fit, fit
from poise.human.fitting.fit_summary import AngleComparison, compare_angles, compare_stored_angles
from poise.human.gait.population_study import Outcome, Study
from poise.human.gait.reference_walk import POINTS, Reference
from poise.human.gait.reproduction import BEST, PAPER, TWO_PHASES, Reproduction, Variant
from poise.human.gait.reproduction_quality import Measures
from poise.human.gait_study import GaitStudy, GaitTrial, compare_events, reproduce_walk, spatiotemporal, study_gait
from poise.human.markers import Marker, MarkerSet, Matched, load_marker_set, marker_sets, match
from poise.human.sample import sample_trial, write_sample
from poise.human.torques.joint_moments import (
    BACK,
    LEG,
    STORED_UNIT,
    Convention,
    against_stored,
    compare_walks,
    human_strides,
    moments,
)
from poise.human.torques.joint_torques import TORQUES_BEHAVIOR, Torques, compute_torques
from poise.human.trial import Event, Plate, Subject, Trial, TrialError, filled, smoothed
from poise.human.trial_fitting import (
    FitBatch,
    FitOptions,
    TrialFailure,
    TrialFiles,
    find_trials,
    fit_trial,
    fit_trials,
)

__all__ = [
    "BACK",
    "BEST",
    "FIT_BEHAVIOR",
    "LEG",
    "PAPER",
    "POINTS",
    "STORED_UNIT",
    "TORQUES_BEHAVIOR",
    "TWO_PHASES",
    "AngleComparison",
    "BvhMotion",
    "Convention",
    "Event",
    "Fit",
    "FitBatch",
    "FitOptions",
    "GaitStudy",
    "GaitTrial",
    "Marker",
    "MarkerSet",
    "Matched",
    "Measures",
    "Motion",
    "Outcome",
    "Plate",
    "RecordingComparison",
    "Reference",
    "Reproduction",
    "Simulated",
    "StrideComparison",
    "Study",
    "Subject",
    "Torques",
    "Trial",
    "TrialError",
    "TrialFailure",
    "TrialFiles",
    "Variant",
    "against_stored",
    "compare_angles",
    "compare_events",
    "compare_recordings",
    "compare_stored_angles",
    "compare_walks",
    "compute_torques",
    "filled",
    "find_trials",
    "fit",
    "fit_trial",
    "fit_trials",
    "ground_forces",
    "human_strides",
    "load_marker_set",
    "marker_sets",
    "match",
    "moments",
    "read_bvh",
    "read_motion",
    "read_skeleton",
    "read_trial",
    "reproduce_walk",
    "sample_trial",
    "simulate",
    "smoothed",
    "spatiotemporal",
    "study_gait",
    "write_c3d",
    "write_motion",
    "write_sample",
    "write_trc",
]
