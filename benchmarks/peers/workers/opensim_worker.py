"""OpenSim on recorded walks; runs in the environment of OpenSim, without Poise.

    python opensim_worker.py

Messages are lines of JSON: first the version of OpenSim, then one answer per request. Paths are absolute:

    {"ik": {"model", "markers", "weights": {label: weight}, "out"}}
        inverse kinematics of the markers (TRC); answer: seconds of processor time, frames, errors of the markers (m)
    {"id": {"model", "motion", "forces", "out"}}
        inverse dynamics of the motion (MOT) with the forces on both feet (MOT); answer: seconds, frames
    {"load": {"model"}}
        answer: mass (kg), number of coordinates and of markers
"""

from __future__ import annotations

import json
import os
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import opensim  # type: ignore
from serve import answer_channel  # type: ignore


def load(words: dict[str, Any]) -> dict[str, Any]:
    model = opensim.Model(words["model"])
    state = model.initSystem()
    return {
        "mass": model.getTotalMass(state),
        "coordinates": model.getCoordinateSet().getSize(),
        "markers": model.getMarkerSet().getSize(),
    }


def inverse_kinematics(words: dict[str, Any]) -> dict[str, Any]:
    model = opensim.Model(words["model"])
    model.initSystem()
    tool = opensim.InverseKinematicsTool()
    tool.setModel(model)
    tool.setMarkerDataFileName(words["markers"])
    tool.setOutputMotionFileName(words["out"])
    tool.setResultsDir(str(Path(words["out"]).parent))
    tool.set_report_errors(True)
    tasks = opensim.IKTaskSet()
    for label, weight in words["weights"].items():
        task = opensim.IKMarkerTask()
        task.setName(label)
        task.setApply(True)
        task.setWeight(weight)
        tasks.cloneAndAppend(task)
    tool.set_IKTaskSet(tasks)
    data = opensim.MarkerData(words["markers"])
    tool.setStartTime(data.getStartFrameTime())
    tool.setEndTime(data.getLastFrameTime())
    begin = time.process_time()
    tool.run()
    seconds = time.process_time() - begin
    return {"seconds": seconds, "frames": data.getNumFrames()}


def inverse_dynamics(words: dict[str, Any]) -> dict[str, Any]:
    model = opensim.Model(words["model"])
    model.initSystem()
    folder = Path(words["out"]).parent
    loads = opensim.ExternalLoads()
    loads.setDataFileName(words["forces"])
    for letter in "rl":
        force = opensim.ExternalForce()
        force.setName(f"foot_{letter}")
        force.set_applied_to_body(f"calcn_{letter}")
        force.set_force_expressed_in_body("ground")
        force.set_point_expressed_in_body("ground")
        force.set_force_identifier(f"ground_force_{letter}_v")
        force.set_point_identifier(f"ground_force_{letter}_p")
        force.set_torque_identifier(f"ground_torque_{letter}_")
        loads.cloneAndAppend(force)
    loads_file = str(folder / "loads.xml")
    loads.printToXML(loads_file)
    motion = opensim.Storage(words["motion"])
    tool = opensim.InverseDynamicsTool()
    tool.setModel(model)
    tool.setCoordinatesFileName(words["motion"])
    tool.setExternalLoadsFileName(loads_file)
    tool.setStartTime(motion.getFirstTime())
    tool.setEndTime(motion.getLastTime())
    tool.setLowpassCutoffFrequency(-1.0)  # the motion is already filtered
    tool.setResultsDir(str(folder))
    tool.setOutputGenForceFileName(Path(words["out"]).name)
    begin = time.process_time()
    tool.run()
    return {"seconds": time.process_time() - begin, "frames": motion.getSize()}


def main() -> None:
    opensim.Logger.setLevelString("Error")
    answer = answer_channel()
    answer({"version": version("opensim"), "start": {}})
    actions = {"load": load, "ik": inverse_kinematics, "id": inverse_dynamics}
    for line in sys.stdin:
        ((name, words),) = json.loads(line).items()
        os.chdir(Path(words.get("out", words["model"])).parent)
        answer(actions[name](words))


if __name__ == "__main__":
    main()
