"""Human motion: from marker files to scaled body models, gait analysis and joint torques.

>>> from poise import human
>>> fit = human.fit_trial("walk.c3d")  # or human.fit_trials(["lab"]) for all walks of a folder
>>> fit.rms, fit.robot, fit.angles()["left_knee_flexion"]
>>> study = human.study_gait(["a.c3d", "b.c3d"])
>>> print(study.table())
>>> torques = human.compute_torques(fit)
>>> print(torques.text())

Every result has `summary()`, plain values for JSON, and `text()`, the same for reading. Pass a trial that is already in
memory to `fit`. Further analyses of a fit are in `poise.human.gait`, `poise.human.dynamic_gait` and
`poise.human.torques`; `poise.human.sample_trials` makes synthetic trials without a gait laboratory.
"""

from poise.analysis import GaitEvent, RecordingComparison, StrideComparison, compare_recordings
from poise.human.dynamic_gait import DynamicGait, ground_forces, simulate_gait
from poise.human.files.bvh_reader import BvhMotion, read_bvh, read_skeleton
from poise.human.files.c3d_writer import write_c3d
from poise.human.files.ground_forces import (
    GroundForces,
    add_ground_forces,
    find_ground_forces,
    read_ground_forces,
    write_ground_forces,
)
from poise.human.files.opensim_motion import OpenSimMotion, read_motion, write_motion
from poise.human.files.trc_files import write_trc
from poise.human.files.trial_reader import read_trial
from poise.human.fitting.body_fit import Fit, fit
from poise.human.fitting.calibrated_subject import CalibratedSubject, load_subject
from poise.human.fitting.filtered_motion import bridge_gaps
from poise.human.fitting.fit_quality import FitQuality, QualityCheck
from poise.human.fitting.fit_recording import FIT_BEHAVIOR
from poise.human.fitting.fit_summary import AngleComparison, compare_angles, compare_stored_angles
from poise.human.gait.reference_walk import FOOT_POINTS, ReferenceWalk
from poise.human.gait.reproduction import BEST, PAPER, TWO_PHASES, Reproduction, Variant
from poise.human.gait.reproduction_quality import ReproductionQuality
from poise.human.gait.variant_comparison import VariantComparison, VariantResult
from poise.human.gait_study import (
    GaitStudy,
    GaitTrial,
    compare_events,
    reproduce_walk,
    spatiotemporal_parameters,
    study_gait,
)
from poise.human.marker_mapping import MarkerMapping, Proposal, propose_markers
from poise.human.markers import (
    Marker,
    MarkerMatch,
    MarkerSet,
    SetScore,
    load_marker_set,
    marker_sets,
    match_markers,
    score_marker_sets,
)
from poise.human.sample_trials import sample_trial, write_sample
from poise.human.torques.joint_moments import (
    BACK_MOMENTS,
    LEG_MOMENTS,
    PLUG_IN_GAIT_UNIT,
    MomentConvention,
    compare_stored_moments,
    compare_walks,
    human_anatomical_walk,
    internal_joint_moments,
)
from poise.human.torques.joint_torques import TORQUES_BEHAVIOR, Torques, compute_torques
from poise.human.trial import ForcePlate, Subject, Trial, TrialError, fill_gaps, low_pass_markers
from poise.human.trial_fitting import (
    FitBatch,
    FitOptions,
    TrialFailure,
    TrialFiles,
    calibrate_subject,
    find_trials,
    fit_trial,
    fit_trials,
)

__all__ = [
    "BACK_MOMENTS",
    "BEST",
    "FIT_BEHAVIOR",
    "FOOT_POINTS",
    "LEG_MOMENTS",
    "PAPER",
    "PLUG_IN_GAIT_UNIT",
    "TORQUES_BEHAVIOR",
    "TWO_PHASES",
    "AngleComparison",
    "BvhMotion",
    "CalibratedSubject",
    "DynamicGait",
    "Fit",
    "FitBatch",
    "FitOptions",
    "FitQuality",
    "ForcePlate",
    "GaitEvent",
    "GaitStudy",
    "GaitTrial",
    "GroundForces",
    "Marker",
    "MarkerMapping",
    "MarkerMatch",
    "MarkerSet",
    "MomentConvention",
    "OpenSimMotion",
    "Proposal",
    "QualityCheck",
    "RecordingComparison",
    "ReferenceWalk",
    "Reproduction",
    "ReproductionQuality",
    "SetScore",
    "StrideComparison",
    "Subject",
    "Torques",
    "Trial",
    "TrialError",
    "TrialFailure",
    "TrialFiles",
    "Variant",
    "VariantComparison",
    "VariantResult",
    "add_ground_forces",
    "bridge_gaps",
    "calibrate_subject",
    "compare_angles",
    "compare_events",
    "compare_recordings",
    "compare_stored_angles",
    "compare_stored_moments",
    "compare_walks",
    "compute_torques",
    "fill_gaps",
    "find_ground_forces",
    "find_trials",
    "fit",
    "fit_trial",
    "fit_trials",
    "ground_forces",
    "human_anatomical_walk",
    "internal_joint_moments",
    "load_marker_set",
    "load_subject",
    "low_pass_markers",
    "marker_sets",
    "match_markers",
    "propose_markers",
    "read_bvh",
    "read_ground_forces",
    "read_motion",
    "read_skeleton",
    "read_trial",
    "reproduce_walk",
    "sample_trial",
    "score_marker_sets",
    "simulate_gait",
    "spatiotemporal_parameters",
    "study_gait",
    "write_c3d",
    "write_ground_forces",
    "write_motion",
    "write_sample",
    "write_trc",
]
