"""Fake hub without a simulation: sends prepared messages and records the received commands."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

from poise.errors import PoiseError

CONTROLS: list[dict[str, Any]] = [
    {"kind": "dropdown", "name": "preset", "label": "preset", "group": "Style",
     "help": "A style that comes with Poise.", "options": ["neutral", "proud", "sad"], "value": "neutral"},
    {"kind": "upload", "name": "load", "label": "load a style", "group": "Style", "help": "A TOML file.",
     "accept": ".toml", "max_bytes": 2000},
    {"kind": "text", "name": "style_name", "label": "name", "group": "Style", "help": "Of this style.",
     "value": "neutral"},
    {"kind": "save", "name": "save", "label": "save this style", "group": "Style", "help": "As a TOML file."},
    {"kind": "slider", "name": "style.step_length", "label": "step length", "group": "Steps",
     "help": "Share of the leg.", "low": 0.0, "high": 0.6, "step": 0.01, "unit": "m", "value": 0.2},
    {"kind": "slider", "name": "style.step_time", "label": "step time", "group": "Steps", "help": "Of one step.",
     "low": 0.3, "high": 1.2, "step": 0.05, "unit": "s", "value": 0.6},
    {"kind": "switch", "name": "arms", "label": "arms swing", "group": "Steps", "help": "With the legs.",
     "value": True},
    {"kind": "button", "name": "push", "label": "push", "group": "Push", "help": "At the chest."},
    {"kind": "task_order", "name": "stack", "label": "tasks", "group": "Tasks", "help": "The first matters most.",
     "items": [{"name": "balance", "label": "balance", "constraint_type": "equality", "weight": None},
               {"name": "left", "label": "left hand", "constraint_type": "box", "weight": 1.0},
               {"name": "gaze", "label": "gaze", "constraint_type": None, "weight": 10.0}]},
]  # fmt: skip


class FakeOutput:
    """Fake output folder: files by exact name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def files(self) -> list[dict[str, Any]]:
        kinds = {".poise": "recording", ".csv": "csv"}
        return [
            {"name": path.name, "kind": kinds[path.suffix], "bytes": path.stat().st_size, "time": "2026-11-16T09:00:00"}
            for path in sorted(self.folder.iterdir())
            if path.suffix in kinds
        ]

    def path(self, name: str) -> Path:
        if name not in [file["name"] for file in self.files()]:
            raise PoiseError(f"no file '{name}'")
        return self.folder / name


class FakeHub:
    """Fake of the hub that pages and server talk to."""

    def __init__(self, folder: Path) -> None:
        self.output = FakeOutput(folder)
        self.hello_version = 0
        self.viewer_port = 0
        self.page_counts: list[int] = []
        self.posted: list[dict[str, Any]] = []
        self.message_numbers = itertools.count(1)
        self.reset()

    def reset(self) -> None:
        """Forget commands and messages, and show the first frame of the scene Walk."""
        self.hello_version += 1
        self.commands: list[tuple[str, Any]] = []
        self.uploads: list[tuple[str, str, bytes]] = []
        self.posted.clear()
        self.scene = "walk"
        self.stick_driven = True
        self.guidance: dict[str, Any] = {}
        self.controls = CONTROLS
        self.current_frame: dict[str, Any] | None = None
        self.show_frame(1)

    def hello(self) -> dict[str, Any]:
        scenes = [("walk", "Walk"), ("stand", "Stand & squat"), ("reach", "Reach")]
        return {
            "version": "0.1.0",
            "scenes": [{"name": name, "title": title, "hint": f"What {name} is for."} for name, title in scenes],
            "robots": ["g1", "talos", "nao"],
            "scene": self.scene,
            "robot": "g1",
            "limbs": ["left leg", "right leg", "left arm"],
            "controls": self.controls,
            "files": self.output.files(),
            "stick_driven": self.stick_driven,
            "guidance": self.guidance,
        }

    def frame(self) -> dict[str, Any] | None:
        return self.current_frame

    def messages(self, since: int) -> list[dict[str, Any]]:
        return [message for message in self.posted if message["number"] > since]

    def handle_command(self, name: str, value: Any) -> None:
        self.commands.append((name, value))

    def set_page_count(self, count: int) -> None:
        self.page_counts.append(count)

    def upload(self, control: str, filename: str, data: bytes) -> str:
        self.uploads.append((control, filename, data))
        return "" if b"=" in data else f"'{filename}' is no TOML: expected 'name = value'; see docs"

    def file_to_save(self, control: str) -> tuple[str, str]:
        if control != "save":
            raise PoiseError(f"no '{control}'")
        return "neutral style.toml", "name = 'neutral'\n"

    def post_message(self, kind: str, text: str) -> None:
        self.posted.append({"number": next(self.message_numbers), "kind": kind, "text": text})

    def show_frame(self, number: int, **changes: Any) -> None:
        """Set the next frame."""
        self.current_frame = {**sample_frame(number), **changes}

    def command_values(self, name: str) -> list[Any]:
        """Return the values of all commands with this name, in order."""
        return [value for command, value in list(self.commands) if command == name]


def sample_frame(number: int) -> dict[str, Any]:
    """Return a telemetry frame of a swaying robot."""
    time = 0.05 * number
    sway = math.sin(2 * time)
    knees = {"hip_pitch": -0.3, "hip_roll": 0.1, "hip_yaw": 0.02, "knee": 0.55, "ankle_pitch": -0.4, "ankle_roll": 0.1}
    return {
        "number": number,
        "time": time,
        "real_time_factor": 0.99,
        "playing": True,
        "time_scale": 1.0,
        "phase": "left support" if sway > 0 else "right support",
        "fall_reason": "",
        "fallback": "",
        "values": {},
        "levels": [
            {"name": "physics", "slack": 0.0, "unit": "", "saturated": 2, "tasks": []},
            {"name": "balance", "slack": 0.0, "unit": "m/s²", "saturated": 0,
             "tasks": [{"name": "height", "error": 0.0012, "unit": "m"},
                       {"name": "center", "error": 0.013, "unit": "m"}]},
            {"name": "posture", "slack": 0.42, "unit": "rad/s²", "saturated": 3,
             "tasks": [{"name": "posture", "error": 0.081, "unit": "rad"}]},
        ],
        "limits": ["left_knee_joint at its upper bound, 2.8 rad"],
        "explanation": ["posture gives way by 0.42 rad/s² to balance", "left_knee_joint is at its bound"],
        "status_lines": ["balanced: 2.3 cm to spare in the next two steps", "0.32 m/s, 14 steps"],
        "plots": {
            "center_of_mass": [0.02, 0.06 * sway],
            "center_of_pressure": [0.03, 0.08 * sway],
            "capture_point": [0.05, 0.1 * sway],
            "support": [[-0.06, -0.15], [0.14, -0.15], [0.14, 0.15], [-0.06, 0.15]],
            "forces": {"left foot": 170 + 160 * sway, "right foot": 170 - 160 * sway},
            "torques": {f"left_{name}_joint": share * (1 + 0.5 * sway) for name, share in knees.items()},
            "solver_ms": 0.4 + 0.1 * sway,
            "control_ms": 0.9 + 0.1 * sway,
        },
        "timing": {"late": 3, "steps": 2000, "worst_ms": 7.25, "period_ms": 5.0},
        "feasible_ranges": {"style.step_length": [0.1, 0.45, True]},
        "jobs": [],
        "recording": {"active": False, "seconds": 0.0, "file": ""},
        "replay": {"file": "", "time": 0.0, "duration": 0.0, "loop": False, "uses_controls": True},
        "input_timed_out": False,
        "events": ["3.21 s: hold: not finite"],
    }  # fmt: skip
