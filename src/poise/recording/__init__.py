"""Recordings of motions: channels with keys, labels and units that share one time axis.

`record` runs a controller and a plant and returns a `Recording`. A `Recorder` does the same for any iterable of control
steps. A recording gives arrays (``recording["center_of_mass"]``) and a text summary (``recording.summary()``), and is
saved and loaded with ``recording.save(path)`` and `load_recording`.
"""

from poise.recording.channel import ABSENT_CODE, Channel, Values, channel_key, make_unique, printable
from poise.recording.file_format import append_facts
from poise.recording.force_columns import MIN_CONTACT_LOAD
from poise.recording.provenance import CoordinateLabels, controller_facts, environment_facts, robot_from_provenance
from poise.recording.recorder import (
    Progress,
    ProgressBar,
    Recorder,
    RecordingInterrupted,
    WriteError,
    record,
    record_into,
    record_steps,
)
from poise.recording.recording import Recording, load_recording
from poise.recording.statistics import LevelResidual, Overruns, count_texts, label_part, percentiles

__all__ = [
    "ABSENT_CODE",
    "MIN_CONTACT_LOAD",
    "Channel",
    "CoordinateLabels",
    "LevelResidual",
    "Overruns",
    "Progress",
    "ProgressBar",
    "Recorder",
    "Recording",
    "RecordingInterrupted",
    "Values",
    "WriteError",
    "append_facts",
    "channel_key",
    "controller_facts",
    "count_texts",
    "environment_facts",
    "label_part",
    "load_recording",
    "make_unique",
    "percentiles",
    "printable",
    "record",
    "record_into",
    "record_steps",
    "robot_from_provenance",
]
