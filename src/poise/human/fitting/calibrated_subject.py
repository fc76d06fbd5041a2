"""A calibrated person: body dimensions and marker placement from a static trial, stored as a TOML file.

A person is calibrated once, and every trial of a session then has the same body: sitting, jumping, or with part of the
body out of view. Pelvis and legs keep the marker placement of the calibration; markers on trunk, head and arms are
placed again in each trial, because skin and shoulder blades move with raised arms.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.arrays import Array
from poise.errors import RobotError
from poise.human.fitting.pelvis import nan_median
from poise.human.markers import Marker, MarkerSet, landmark_links, segments
from poise.human.trial import Trial, TrialError, trial_error
from poise.parsing import is_number, parse_toml
from poise.robots import SIDES, BodyShape

if TYPE_CHECKING:
    from poise.human.fitting.body_fit import Fit

#: Keys of the file.
SUBJECT_KEYS = (
    "name",
    "static",
    "marker_set",
    "marker_rms_mm",
    "sex",
    "height",
    "mass",
    "mass_known",
    "shape",
    "markers",
)


#: Cosine of the angle from the vertical beyond which an arm counts as raised, 45 degrees.
HANGING_ARM = 0.7
ARM_SEGMENTS = ("upper_arm", "forearm", "hand", "fingers")


@dataclass(frozen=True, eq=False)
class CalibratedSubject:
    """Body dimensions and marker placement of a person.

    Attributes:
        name: of the person or the file.
        static: file name of the trial that calibrated it.
        shape: body dimensions.
        mass_known: whether the mass was given or in a file; else it is estimated from the height.
        marker_set: name of the marker set.
        markers: markers by label.
        locations: position of markers in the frame of their segment (3, m), by label; others are placed in each trial.
        rms: root mean square distance of the markers from the body in the calibration (m).

    >>> anna = human.calibrate_subject("static.c3d", mass=64.0)
    >>> anna.save("anna.toml")
    >>> human.fit_trial("jump.c3d", subject="anna.toml").quality.verdict
    'good'
    """

    name: str
    static: str
    shape: BodyShape
    mass_known: bool
    marker_set: str
    markers: Mapping[str, Marker]
    locations: Mapping[str, Array]
    rms: float

    @classmethod
    def of(cls, fit: Fit) -> CalibratedSubject:
        """Return the person of a fit."""
        placement = fit.marker_placement
        markers = [fit.markers[label] for label in placement.labels]
        locations = {marker.label: at for marker, at in zip(markers, placement.locations, strict=True)}
        path = Path(fit.static or fit.trial.path)
        name = fit.trial.subject.name or path.stem
        by_label = {marker.label: marker for marker in markers}
        return cls(name, path.name, fit.shape, fit.mass_known, fit.marker_set, by_label, locations, fit.rms)

    def __str__(self) -> str:
        return self.text()

    def as_marker_set(self) -> MarkerSet:
        """Return the markers as a marker set, with which the labels of trials are matched."""
        return MarkerSet(self.marker_set, f"markers of {self.name}", self.markers)

    def summary(self) -> dict[str, Any]:
        """Return plain values for JSON, the content of the file."""
        markers = {
            label: {
                "segment": marker.segment,
                **({"landmark": marker.landmark} if marker.landmark else {}),
                "weight": marker.weight,
                **(
                    {"position": [round(float(x), 6) for x in self.locations[label]]} if label in self.locations else {}
                ),
            }
            for label, marker in self.markers.items()
        }
        rounded = {
            key: [round(x, 6) for x in value] if isinstance(value, list) else round(value, 6)
            for key, value in self.shape.parameters().items()
        }
        return {
            "name": self.name, "static": self.static, "marker_set": self.marker_set, "sex": self.shape.sex,
            "height": round(self.shape.height, 4), "mass": round(self.shape.mass, 3), "mass_known": self.mass_known,
            "marker_rms_mm": round(1e3 * self.rms, 2), "shape": rounded, "markers": markers,
        }  # fmt: skip

    def text(self) -> str:
        """Return the most important values as text."""
        shape = self.shape
        known = "" if self.mass_known else " (estimated)"
        return (
            f"{self.name}: {shape.height:.2f} m, {shape.mass:.1f} kg{known}, {shape.sex}, {len(self.markers)} markers "
            f"of {self.marker_set}, {1e3 * self.rms:.1f} mm rms in {self.static}"
        )

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the TOML file and return its path."""
        values = self.summary()
        lines = ["# A person calibrated by poise human subject. Lengths in m, angles in rad, mass in kg."]
        lines += [f"{key} = {_toml(value)}" for key, value in values.items() if not isinstance(value, dict)]
        for table in ("shape", "markers"):
            lines += [
                "",
                f"[{table}]",
                *(f"{json.dumps(key)} = {_toml(value)}" for key, value in values[table].items()),
            ]
        target = Path(path)
        target.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return target


def _toml(value: Any) -> str:
    """Return a value as TOML; JSON text differs only in tables."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(entry)}" for key, entry in value.items()) + " }"
    return json.dumps(value)


def load_subject(path: str | PathLike[str]) -> CalibratedSubject:
    """Load a person from a TOML file written by `poise human subject`."""
    file = Path(path)
    try:
        values = parse_toml(file.read_bytes())
    except OSError as error:
        raise trial_error(file, f"cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise trial_error(file, f"not a TOML file: {error}") from None
    for key in values:
        if key not in SUBJECT_KEYS:
            raise trial_error(file, f"a subject has no key '{key}'; expected {', '.join(SUBJECT_KEYS)}", str(key))
    for key in ("sex", "height", "mass", "shape", "markers"):
        if key not in values:
            raise trial_error(
                file, f"no {key}; write the file with 'poise human subject STATIC --out {file.name}'", key
            )
    try:
        shape = BodyShape.of(values["height"], values["mass"], values["sex"]).with_parameters(**values["shape"])
    except (RobotError, TypeError) as error:
        raise trial_error(file, str(error)) from None
    if not isinstance(values["markers"], Mapping):
        raise trial_error(file, "[markers] is not a table", "markers")
    markers = {label: _parse_marker(file, label, entry) for label, entry in values["markers"].items()}
    return CalibratedSubject(
        str(values.get("name") or file.stem),
        str(values.get("static", "")),
        shape,
        bool(values.get("mass_known", True)),
        str(values.get("marker_set", file.stem)),
        {label: marker for label, (marker, _) in markers.items()},
        {label: location for label, (_, location) in markers.items() if location is not None},
        1e-3 * float(values.get("marker_rms_mm", 0.0)),
    )


def _parse_marker(file: Path, label: str, entry: Any) -> tuple[Marker, Array | None]:
    if not isinstance(entry, Mapping):
        raise trial_error(file, f"marker {label} is {entry!r}; expected a table", label)
    position = entry.get("position")
    ok = isinstance(position, list) and len(position) == 3 and all(is_number(x) for x in position)
    if position is not None and not ok:
        raise trial_error(file, f"marker {label}: position is {position!r}; expected three numbers in m", label)
    landmark, segment, weight = entry.get("landmark"), entry.get("segment"), entry.get("weight", 1.0)
    if segment not in segments() or (landmark is not None and landmark_links().get(landmark) != segment):
        raise trial_error(file, f"marker {label}: no segment '{segment}' with a landmark '{landmark}'", label)
    if not is_number(weight) or not weight >= 0.0:
        raise trial_error(file, f"marker {label}: weight is {weight!r}; expected a non-negative number", label)
    location = None if position is None else np.array(position, dtype=np.float64)
    return Marker(label, landmark, segment, float(weight)), location


def hide_raised_arms(trial: Trial, markers: Mapping[str, Marker]) -> Trial:
    """Leave out the markers of raised arms and their shoulders, as in a T-pose.

    Raised arms raise the shoulders by 3 to 8 cm. The arms then have the lengths of the mean body, and their markers are
    placed in each trial.

    Args:
        trial: a static trial.
        markers: marker of each label.
    """
    labels = {marker.landmark: label for label, marker in markers.items() if marker.landmark}
    positions, hidden = trial.positions.copy(), []
    for side in SIDES:
        ends = [labels.get(f"{side}_{name}") for name in ("acromion", "lateral_elbow")]
        if None in ends:
            continue
        shoulder, elbow = (nan_median(trial.marker(str(label))) for label in ends)
        if not shoulder[2] - elbow[2] < HANGING_ARM * np.linalg.norm(shoulder - elbow):
            continue
        for label, marker in markers.items():
            if marker.segment in [f"{side}_{part}" for part in ARM_SEGMENTS] or label == ends[0]:
                positions[:, trial.labels.index(label)] = np.nan
                hidden.append(label)
    note = f"Arms are raised: {', '.join(hidden)} are not used for the calibration."
    return trial.replace(positions=positions, notes=(*trial.notes, note)) if hidden else trial


def with_mass(subject: CalibratedSubject, mass: float | None) -> CalibratedSubject:
    """Return the person with another mass (kg), if one is given; shoes and loads differ between sessions."""
    if mass is None:
        return subject
    return replace(subject, shape=replace(subject.shape, mass=mass), mass_known=True)


def check_alone(subject: object, **others: object) -> None:
    """Raise an error if options are given that a subject already determines."""
    given = [name for name, value in others.items() if value is not None]
    if subject is not None and given:
        raise TrialError(f"a subject determines {' and '.join(given)}; give either the subject or these")
