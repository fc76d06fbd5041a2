"""What happened, as named channels with units on one clock.

The control loop yields steps and does not know who listens. A `Recorder` listens and makes a `Recording`, which can be
asked (``recording["center_of_mass"]``), read (``recording.summary()``) and kept (``recording.save(path)``,
`load_recording`). `record` does all of it for a controller and a plant.
"""

from poise.recording.channel import ABSENT, Channel
from poise.recording.loading import load_recording
from poise.recording.progress import Bar
from poise.recording.record import RecordingInterrupted, record, record_steps
from poise.recording.recorder import Recorder, UnwrittenError
from poise.recording.recording import Recording

__all__ = [
    "ABSENT",
    "Bar",
    "Channel",
    "Recorder",
    "Recording",
    "RecordingInterrupted",
    "UnwrittenError",
    "load_recording",
    "record",
    "record_steps",
]
