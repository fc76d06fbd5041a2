"""What happened, as channels with keys, labels and units on one clock.

The control loop yields steps and does not know who listens. A `Recorder` listens and makes a `Recording`, which can be
asked (``recording["center_of_mass"]``), read (``recording.summary()``) and kept (``recording.save(path)``,
`load_recording`). `record` does all of it for a controller and a plant.
"""

from poise.recording.channel import ABSENT_CODE, Channel, Values, channel_key, make_unique, printable
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
from poise.recording.statistics import LevelResidual, count_texts, percentiles

__all__ = [
    "ABSENT_CODE",
    "MIN_CONTACT_LOAD",
    "Channel",
    "CoordinateLabels",
    "LevelResidual",
    "Progress",
    "ProgressBar",
    "Recorder",
    "Recording",
    "RecordingInterrupted",
    "Values",
    "WriteError",
    "channel_key",
    "controller_facts",
    "count_texts",
    "environment_facts",
    "load_recording",
    "make_unique",
    "percentiles",
    "printable",
    "record",
    "record_into",
    "record_steps",
    "robot_from_provenance",
]
