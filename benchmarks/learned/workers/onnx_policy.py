"""A walking policy of holosoma-inference in a process of its own; started without Poise as ``onnx_policy.py FILE``.

FILE is the path of an ONNX file inside the package. Messages are lines of JSON. The first is::

    {"version", "start": {"joints", "angles", "stiffness", "damping", "scale", "period"}}

Then every request ``{"observation": [...]}`` has the answer ``{"action": [...]}``. Joint names and gains are in the
ONNX file; the default angles are read from the package's configuration, as text, because importing it needs its
drivers.
"""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-not-found]  # it is in the environment of the policies

#: Configuration of the robot in the package.
ROBOT_NAME = "g1_29dof"


def literal(path: Path, variable: str, keyword: str) -> Any:
    """Return a literal argument of the call that is assigned to a variable in a file."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and any(getattr(each, "id", "") == variable for each in node.targets):
            assert isinstance(node.value, ast.Call)
            for argument in node.value.keywords:
                if argument.arg == keyword:
                    return ast.literal_eval(argument.value)
    raise ValueError(f"{path.name} has no {variable}({keyword}=...)")


def main() -> None:
    spec = importlib.util.find_spec("holosoma_inference")
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        str(package / sys.argv[1]), sess_options=options, providers=["CPUExecutionProvider"]
    )
    facts = {key: json.loads(text) for key, text in session.get_modelmeta().custom_metadata_map.items()}
    configuration = package / "config" / "config_values"
    task = "safety_locomotion_g1"
    start = {
        "joints": facts["dof_names"],
        "angles": literal(configuration / "robot.py", ROBOT_NAME, "default_dof_angles"),
        "stiffness": facts["kp"],
        "damping": facts["kd"],
        "scale": literal(configuration / "task.py", task, "policy_action_scale"),
        "period": 1.0 / literal(configuration / "task.py", task, "rl_rate"),
        "gait_period": literal(configuration / "task.py", task, "gait_period"),
    }
    print(json.dumps({"version": importlib.metadata.version("holosoma-inference"), "start": start}), flush=True)
    name = session.get_inputs()[0].name
    for line in sys.stdin:
        observation = np.array([json.loads(line)["observation"]], dtype=np.float32)
        (action,) = session.run(None, {name: observation})[:1]
        print(json.dumps({"action": action[0].tolist()}), flush=True)


if __name__ == "__main__":
    main()
