"""What happened, as channels with keys, labels and units on one clock.

The control loop yields steps and does not know who listens. A `Recorder` listens and makes a `Recording`, which can be
asked (``recording["center_of_mass"]``), read (``recording.summary()``) and kept (``recording.save(path)``,
`load_recording`). `record` does all of it for a controller and a plant.
"""

from poise.recording.channel import ABSENT, Channel, Values, channel_key, different, plain
from poise.recording.force_columns import LEAST_LOAD
from poise.recording.provenance import Body, circumstances, named_robot, settings
from poise.recording.recorder import (
    Bar,
    Progress,
    Recorder,
    RecordingInterrupted,
    UnwrittenError,
    heard,
    record,
    record_steps,
)
from poise.recording.recording import Recording, load_recording
from poise.recording.statistics import Level, counts, percentiles

__all__ = [
    "ABSENT",
    "LEAST_LOAD",
    "Bar",
    "Body",
    "Channel",
    "Level",
    "Progress",
    "Recorder",
    "Recording",
    "RecordingInterrupted",
    "UnwrittenError",
    "Values",
    "channel_key",
    "circumstances",
    "counts",
    "different",
    "heard",
    "load_recording",
    "named_robot",
    "percentiles",
    "plain",
    "record",
    "record_steps",
    "settings",
]
