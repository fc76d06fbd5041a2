"""Worker process of the fit service: read, fit and reproduce a trial within limits of memory and time."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from poise import human
from poise.analysis import walking_direction
from poise.errors import GaitError, PoiseError
from poise.human import Fit, fit, gait, sample_trial
from poise.studio.fit_data import VARIANTS, Exhibit, Order, Reproduced

Progress = Callable[[str, float], None]

#: What `fit` is doing, in words, and from where to where of the whole way it goes.
STAGES = {"body": ("fits the body", 0.1, 0.5), "frames": ("follows the markers", 0.5, 0.85)}
REPRODUCES = 0.85


def made(order: Order, progress: Progress) -> Exhibit:
    """Reads, fits and reproduces; PoiseError with one line for the user if that cannot be done.

    >>> made(Order(), print).title
    'sample walk'
    """

    def said(stage: str, share: float) -> None:
        words, begin, end = STAGES.get(stage, (stage, 0.1, REPRODUCES))
        progress(words, begin + share * (end - begin))

    progress("makes a sample" if order.trial is None else "reads", 0.0)
    try:
        trial, static = _trials(order)
        found = fit(trial, static, height=order.height, mass=order.mass, sex=order.sex, progress=said)
    except PoiseError as error:
        text = order.named(str(error))
        raise PoiseError(text if text.startswith("'") else f"'{order.title}': {text}") from None
    return _exhibited(found, order, progress)


def _trials(order: Order) -> tuple[human.Trial, human.Trial | None]:
    if order.trial is not None:
        return human.read_trial(order.trial.path), order.static and human.read_trial(order.static.path)
    return sample_trial(order.height or 1.77, order.mass or 75.0, order.sex or "male")


def _exhibited(found: Fit, order: Order, progress: Progress) -> Exhibit:
    trial = found.trial
    known = np.array([label in found.placed.labels for label in trial.labels], dtype=bool)
    static = "" if order.static is None else f", with '{order.static.name}'"
    words = [
        f"'{order.title}'{static}: {len(found.time)} frames at {trial.rate:g} Hz, "
        f"{known.sum()} of {len(known)} markers used",
        f"the markers are {1e3 * found.rms:.1f} mm (rms) from the body, {found.shape.height:.2f} m and "
        f"{found.shape.mass:.1f} kg",
    ]
    q, heading = found.q, np.array([1.0, 0.0, 0.0])
    measures: dict[str, gait.Measures] = {}
    try:
        reference = gait.Reference.of(found)
        q = reference.q  # on the floor, if it was measured on a treadmill
        heading = walking_direction(q[:, :3], reference.track("heel"), reference.track("first_metatarsal"))
        walk = human.reproduce_walk(
            found,
            variants=[gait.find_variant(name) for name in VARIANTS],
            reference=reference,
            progress=lambda done: progress(
                "reproduces the gait", REPRODUCES + (1.0 - REPRODUCES) * done / len(VARIANTS)
            ),
        )
        measures = dict(zip(VARIANTS, walk.measures, strict=True))
    except GaitError as error:
        words.append(f"nothing is reproduced: {error}")
    moved = (q[:, :3] - found.q[:, :3])[:, np.newaxis]
    first = measures.get(VARIANTS[0])
    return Exhibit(
        order.title,
        found.shape,
        found.time,
        q,
        trial.positions[:, known] + moved,
        trial.positions[:, ~known] + moved,
        heading,
        None if first is None else first.reproduction.cycle,
        None if first is None else first.reference_curves,
        {name: _reproduced(each) for name, each in measures.items()},
        tuple(words),
        tuple(order.named(note) for note in found.notes),
    )


def _reproduced(measures: gait.Measures) -> Reproduced:
    joint, far = measures.worst
    words = (
        f"Ranges of motion differ by {np.abs(measures.differences).mean():.1f}° on average, by {abs(far):.1f}° at "
        f"worst ({joint.replace('_', ' ')}); angles by {measures.errors.mean():.1f}° rms over the cycle.",
        f"Heels are {measures.heels:.1f} mm and the centre of mass {measures.center:.1f} mm off (rms).",
        f"The ZMP is inside the support for {measures.inside:.0%} of the cycle; measured: "
        f"{measures.reference_inside:.0%}.",
    )
    return Reproduced(measures.reproduction.time, measures.reproduction.q, measures.curves, words)


# -- Worker ----------------------------------------------------------------------------------------------------------


#: How much less important than the simulation this is, 0 to 19.
NICE = 10
#: Bytes that it may take, and s of a core: the largest file, 26 000 frames as TRC, takes 0.9 GB and 80 s. Whoever
#: started it looks at the clock, but may be gone.
MEMORY, CORE = 4 << 30, 600


def work(wire: Connection, order: Order) -> None:
    """Tells ("progress", words, share), and at last ("done", exhibit) or ("refused", one line)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    confine()
    result: tuple[str, Any]
    try:
        result = "done", made(order, lambda words, share: wire.send(("progress", words, share)))
    except PoiseError as error:
        result = "refused", line(str(error))
    except MemoryError:
        result = "refused", f"'{order.title}' is too large to be fitted here; cut it to some strides"
    except Exception as error:  # whatever nonsense in a file makes its readers say: the user wants a line to read
        result = "refused", line(f"'{order.title}' cannot be used ({type(error).__name__}: {error})")
    with contextlib.suppress(OSError):  # nobody waits for it any more
        wire.send(result)


def confine() -> None:
    """Takes no more than its share of the machine."""
    with contextlib.suppress(OSError, AttributeError):
        os.nice(NICE)
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (CORE, CORE))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def line(text: str) -> str:
    """On one line, and not a page long."""
    return " ".join(text.split())[:400]
