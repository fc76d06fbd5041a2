"""Telemetry of a recording: the data of the pages and of the view at one of its samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from poise.arrays import Array
from poise.files import json_ready
from poise.recording import ABSENT_CODE, Recording, label_part, printable
from poise.rendering import floor_height
from poise.robots import Robot, limbs
from poise.solvers import LOWER, UPPER, negligible
from poise.state import sole_pressure
from poise.studio.scene_runner import TIMING_WINDOW, late_steps
from poise.studio.sole_pressure import ComplexArray, SolePressure, filtered_loads
from poise.studio.telemetry import MAX_LINES, NOTHING_VIOLATED, balance_points, level_row
from poise.viewer import ViewFrame, force_arrows

#: Channels of contact wrenches and of their points, the preferred ones first.
FORCE_CHANNELS = (("measured/force", "measured/contact_point"), ("force", "contact_point"))
#: Channels of joint torques, the preferred one first: a robot on position servos has no commanded ones.
TORQUE_CHANNELS = ("command/torque", "measured/torque")


class RecordedTelemetry:
    """Converts samples of a recording to the data that `Telemetry` makes from a running scene.

    Args:
        recording: the recording.
        robot: recorded robot.

    Attributes:
        limbs: names of the joints of each limb.
    """

    def __init__(self, recording: Recording, robot: Robot) -> None:
        self._recording, self._robot = recording, robot
        self._data = robot.model.createData()
        self.limbs: dict[str, tuple[str, ...]] = {limb.name: limb.joints for limb in limbs(robot)}
        keys = list(recording.keys())
        self._levels = [key.removeprefix("slack/") for key in keys if key.startswith("slack/")]
        self._tasks: dict[str, list[str]] = {
            level: [key for key in keys if key.startswith(f"error_norm/{level}/")] for level in self._levels
        }
        self._forces = next(
            (
                [(key, f"{points}/{key.removeprefix(f'{forces}/')}") for key in keys if key.startswith(f"{forces}/")]
                for forces, points in FORCE_CHANNELS
                if any(key.startswith(f"{forces}/") for key in keys)
            ),
            [],
        )
        self._sole_loads = self._filtered_sole_loads()
        fall = recording.provenance.get("fall")
        self._fall: Mapping[str, Any] = fall if isinstance(fall, Mapping) else {}

    def view_frame(self, index: int) -> ViewFrame:
        """Return the frame of the view at a sample, with the recorded contact forces."""
        state = self._recording.state(index, self._robot)
        pressure, (wrenches, points) = self._pressure(index), self._contact_wrenches(index)
        return ViewFrame.from_state(
            state,
            forces=force_arrows(self._robot, wrenches, points),
            center_of_pressure=None if pressure is None else np.array([*pressure, floor_height(state)]),
            sole_pressure=self._sole_pressure_at(index).to_frame(state) if self._sole_loads else None,
        )

    def page_data(self, index: int, limb: str) -> dict[str, Any]:
        """Return the data of pages at a sample; `limb` is the one whose joint torques are included."""
        recording = self._recording
        state, levels = recording.state(index, self._robot), self._level_table(index)
        return {
            "time": round(float(recording.time[index]), 3),
            "phase": self._text("phase", index),
            "fallback": self._text("control/fallback", index),
            "fall_reason": self._fall_reason(index),
            "levels": levels,
            "timing": self._timing(index),
            "limits": self._limits(index)[:MAX_LINES],
            "explanation": _explanation(levels, self._text("solver/status", index)),
            "plots": {
                **balance_points(self._robot, self._data, state, self._pressure(index)),
                "torques": self._torque_shares(index, limb),
                "forces": self._vertical_forces(index),
                "solver_ms": self._number("solver/milliseconds", index),
                "control_ms": self._number("control/milliseconds", index),
                "sole_pressure": self._sole_pressure_at(index).as_json() if self._sole_loads else None,
            },
        }

    # -- soles -----------------------------------------------------------------------------------------------------

    def _filtered_sole_loads(self) -> dict[str, tuple[Array, ComplexArray]]:
        """Return force W and moment W z of each sole (see `SolePressure`) at all samples, by side.

        Empty unless the robot is on position servos and its force cells were recorded: as in a running scene, only such
        robots balance by their force cells.
        """
        recording = self._recording
        loads: dict[str, tuple[Array, ComplexArray]] = {}
        if "command/torque" in recording or not recording.period > 0.0:
            return {}
        for foot in self._robot.feet:
            name = f"measured/cells/{printable(foot.name)}"
            cells = np.asarray(recording[name]) if name in recording else np.zeros((0, 0))
            if cells.shape[1:] == (4,):
                loads[foot.side] = filtered_loads(*sole_pressure(foot, cells), recording.period)
        return loads

    def _sole_pressure_at(self, index: int) -> SolePressure:
        pressure = SolePressure(self._robot)
        for side, (force, moment) in self._sole_loads.items():
            pressure.set_filtered(side, float(force[index]), complex(moment[index]))
        return pressure

    # -- channels at a sample --------------------------------------------------------------------------------------

    def _text(self, name: str, index: int) -> str:
        return str(self._recording[name][index]) if name in self._recording else ""

    def _fall_reason(self, index: int) -> str:
        """Return why the robot has fallen; "" before its fall."""
        fallen = float(self._fall.get("time") or 0.0) <= float(self._recording.time[index])
        return str(self._fall.get("reason") or "") if fallen else ""

    def _number(self, name: str, index: int) -> float | None:
        value = float(self._recording[name][index]) if name in self._recording else np.nan
        return json_ready(round(value, 3))

    def _timing(self, index: int) -> dict[str, Any]:
        """Return the late control steps of the last `TIMING_WINDOW` seconds up to a sample."""
        recording = self._recording
        period = float(np.median(np.diff(recording.time))) if recording.samples > 1 else 0.0
        if "control/milliseconds" not in recording or not period > 0.0:
            return late_steps([], period)
        first = max(0, index + 1 - round(TIMING_WINDOW / period))
        return late_steps(recording["control/milliseconds"][first : index + 1].tolist(), period)

    def _pressure(self, index: int) -> Array | None:
        if "center_of_pressure" not in self._recording:
            return None
        point = np.asarray(self._recording["center_of_pressure"][index], dtype=float)[:2]
        return point if np.isfinite(point).all() else None

    def _contact_wrenches(self, index: int) -> tuple[Array, Array]:
        recording = self._recording
        pairs = [(recording[forces][index], recording[points][index]) for forces, points in self._forces]
        closed = [(wrench, point) for wrench, point in pairs if np.isfinite(wrench).all() and np.isfinite(point).all()]
        wrenches = np.array([wrench for wrench, _ in closed]).reshape(-1, 6)
        return wrenches, np.array([point for _, point in closed]).reshape(-1, 3)

    def _vertical_forces(self, index: int) -> dict[str, float]:
        values = {key.rpartition("/")[2]: float(self._recording[key][index][2]) for key, _ in self._forces}
        return {name: round(value, 1) if np.isfinite(value) else 0.0 for name, value in values.items()}

    def _torque_shares(self, index: int, limb: str) -> dict[str, float]:
        recording, limits = self._recording, self._robot.limits.torque
        name = next((name for name in TORQUE_CHANNELS if name in recording), None)
        if name is None:
            return {}
        torque = recording[name][index]
        shares = {
            joint.name: float(torque[joint.v - 6] / max(limits[joint.v - 6], 1e-9)) for joint in self._robot.joints
        }
        names = [name for name in self.limbs.get(limb, ()) if np.isfinite(shares.get(name, np.nan))]
        return {name: round(shares[name], 3) for name in names}

    # -- hierarchy -------------------------------------------------------------------------------------------------

    def _level_table(self, index: int) -> list[dict[str, Any]]:
        recording, table = self._recording, []
        for level in self._levels:
            slack = float(recording[f"slack/{level}"][index])
            if np.isnan(slack):  # the level did not exist at this time
                continue
            tasks = []
            for key in self._tasks[level]:
                error = float(recording[key][index])
                if np.isfinite(error):
                    name = label_part(recording.channels[key], 2)
                    tasks.append({"name": name, "error": error, "unit": recording.units[key]})
            count = self._number(f"active_count/{level}", index)
            unit = recording.units[f"slack/{level}"]
            name = label_part(recording.channels[f"slack/{level}"], 1)
            table.append(level_row(name, slack, unit, int(count or 0), tasks))
        return table

    def _limits(self, index: int) -> list[str]:
        """Return the rows at one of their bounds, as text."""
        lines = []
        for level in self._levels:
            name = f"active/{level}"
            if name not in self._recording:
                continue
            sides, labels = self._recording[name][index], self._recording.labels[name]
            for k in np.flatnonzero(sides != ABSENT_CODE):
                if sides[k] in (LOWER, UPPER):
                    lines.append(f"{labels[k]} ({level}): at its {'lower' if sides[k] == LOWER else 'upper'} bound")
        return lines


def _explanation(levels: list[dict[str, Any]], status: str) -> list[str]:
    """Return which levels give way and by how much, as lines."""
    if not levels:
        return []
    yielding = [level for level in levels if level["slack"] > negligible(level["unit"])]
    units = ["" if "," in level["unit"] else level["unit"] for level in yielding]  # a list: rows of different units
    lines = [
        f"{level['name']} gives way by {level['slack']:g} {unit}".rstrip()
        for level, unit in zip(yielding, units, strict=True)
    ]
    return [*([status] if status else []), *(lines or [NOTHING_VIOLATED])]
