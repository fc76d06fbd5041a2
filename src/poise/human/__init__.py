"""People: marker files, marker sets, and what follows from them.

>>> from poise import human
>>> trial = human.filled(human.read_trial("walk.c3d"))
>>> human.match(trial).marker_set.name
'plug_in_gait'
>>> found = human.fit(trial, human.read_trial("static.c3d"))
>>> found.rms, found.robot, found.angles()["left_knee_flexion"]

What follows from a fit: `poise.human.gait`, `poise.human.dynamic`, `poise.human.torques`; without a laboratory:
`poise.human.sample`.
"""

from poise.human.batch_fitting import Failure, Job, fits, jobs
from poise.human.dynamic import Simulated, dynamics_facts, ground_forces, simulate
from poise.human.files.bvh_reader import BvhMotion, read_bvh, read_skeleton
from poise.human.files.c3d_writer import write_c3d
from poise.human.files.opensim_motion import Motion, read_motion, write_motion
from poise.human.files.trc_files import write_trc
from poise.human.files.trial_reader import read_trial
from poise.human.fitting.body_fit import FIT_BEHAVIOR, Fit, fit
from poise.human.gait.population_study import Outcome, Study
from poise.human.gait.reference_walk import POINTS, Reference
from poise.human.gait.reproduction import BEST, PAPER, TWO_PHASES, Reproduction, Variant
from poise.human.gait.reproduction_quality import Measures
from poise.human.gait_summary import beside_motion, beside_stored, compared_events, spatiotemporal
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
from poise.human.torques.joint_torques import TORQUES_BEHAVIOR, Torques, inverse_dynamics, recorded
from poise.human.trial import Event, Plate, Subject, Trial, TrialError, filled, smoothed

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
    "BvhMotion",
    "Convention",
    "Event",
    "Failure",
    "Fit",
    "Job",
    "Marker",
    "MarkerSet",
    "Matched",
    "Measures",
    "Motion",
    "Outcome",
    "Plate",
    "Reference",
    "Reproduction",
    "Simulated",
    "Study",
    "Subject",
    "Torques",
    "Trial",
    "TrialError",
    "Variant",
    "against_stored",
    "beside_motion",
    "beside_stored",
    "compare_walks",
    "compared_events",
    "dynamics_facts",
    "filled",
    "fit",
    "fits",
    "ground_forces",
    "human_strides",
    "inverse_dynamics",
    "jobs",
    "load_marker_set",
    "marker_sets",
    "match",
    "moments",
    "read_bvh",
    "read_motion",
    "read_skeleton",
    "read_trial",
    "recorded",
    "sample_trial",
    "simulate",
    "smoothed",
    "spatiotemporal",
    "write_c3d",
    "write_motion",
    "write_sample",
    "write_trc",
]
