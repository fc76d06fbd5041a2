"""Summary of the result of a run: verdict, the figures that matter for its motion, and warnings, as short texts.

The command line prints it, and a report begins with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

#: Largest number of saturated motors that a summary lists.
MAX_MOTORS_SHOWN = 3
#: How a plant is named in a sentence.
PLANT_NAMES = {"ideal": "on an ideal plant", "mujoco": "in MuJoCo"}


class RunSummary(NamedTuple):
    """Summary of a run.

    Attributes:
        succeeded: whether the motion succeeded.
        verdict: ``"succeeded"``, or ``"failed: "`` and the reasons.
        motion: the motion, its robot, mode and plant, and its duration.
        figures: name and value of each figure that matters for this motion.
        warnings: sentences about the quality of the motion, without a full stop.
    """

    succeeded: bool
    verdict: str
    motion: str
    figures: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]


def summarize_run(result: Mapping[str, Any]) -> RunSummary:
    """Return the summary of a result, as `Motion.run` returns it or a recording stores it.

    >>> summarize_run(runs.Reach(robot="nao").run().result).verdict
    'succeeded'
    """
    failed = bool(result["fell"] or result["reason"])
    figures = [*_motion_figures(result), *_common_figures(result)]
    return RunSummary(
        not failed,
        f"failed: {result['reason']}" if failed else "succeeded",
        f"{result['behavior']} on {result['robot']}, {result['mode']} control {PLANT_NAMES[result['plant']]}, "
        f"{result['seconds']:.2f} s",
        tuple((name, text) for name, text in figures if text),
        (*_incidents(result), *result.get("warnings", ())),
    )


def _motion_figures(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    figures = []
    if "targets" in result:
        reason = f" ({result['targets_reason']})" if result["targets_reason"] else ""
        figures.append(("targets", f"{result['targets']}{reason}"))
    if result["reach_errors_m"] is not None:
        errors = ", ".join(f"{1e3 * error:.2f}" for error in result["reach_errors_m"])
        figures.append(("reach errors", f"{errors} mm" if errors else "none: the run ended before the first target"))
    if result["steps"]:
        turned = f", turned by {result['heading_rad']:.2f} rad" if abs(result["heading_rad"]) >= 0.005 else ""
        figures.append(("steps", f"{result['steps']}, {result['distance_m']:.2f} m{turned}"))
    elif result["steps"] == 0:
        figures.append(("displacement of the base", f"{1e3 * result['distance_m']:.0f} mm"))
    if "walk" in result:
        figures += _walk_figures(result["walk"], result["fell"])
    if "regulation" in result:
        figures += _regulation_figures(result["regulation"])
    if "navigate" in result:
        figures += _navigation_figures(result["navigate"])
    if "torque_feedforward" in result:
        figures.append(("torque feed-forward", "yes" if result["torque_feedforward"] else "no"))
    if result.get("tracking_rad") is not None:
        tracking = result["tracking_rad"]
        text = f"{1e3 * tracking['rms']:.2f} mrad rms, {1e3 * tracking['max']:.1f} mrad at most"
        figures.append(("joint tracking error", text))
    if result.get("drift_m") is not None:
        drift, turn = 1e3 * result["drift_m"], 1e3 * abs(result["drift_rad"])
        figures.append(("drift of the base at the end", f"{drift:.0f} mm, {turn:.0f} mrad"))
    return figures


def _walk_figures(walk: Mapping[str, Any], fell: bool) -> list[tuple[str, str]]:
    if fell:  # the speed of a robot that tries to catch itself is not that of its walk
        return [("style", str(walk["style"]))]
    commanded = _speed_text(walk["commanded_speed"])
    measured = "unknown without a whole stride" if walk["speed"] is None else _speed_text(walk["speed"])
    return [
        ("style", str(walk["style"])),
        ("speed forward, to the left, turning", f"{measured} (commanded {commanded})"),
        ("slip of the stance foot", f"at most {1e3 * walk['slip_m']:.0f} mm"),
    ]


def _speed_text(speed: list[float]) -> str:
    forward, left, turning = (round(value, 2) + 0.0 for value in speed)  # adding 0.0 turns -0.0 into 0.0
    return f"{forward:.2f} m/s, {left:.2f} m/s, {turning:.2f} rad/s"


def _regulation_figures(regulation: Mapping[str, Any]) -> list[tuple[str, str]]:
    law = "ZMP regulation" if regulation["zmp_regulated"] else "CoM control without ZMP regulation"
    figures = [("balance", f"{law}, servos at {100 * regulation['stiffness']:.0f} % of their stiffness")]
    if regulation["zmp_max_m"] is not None:
        rms, worst = 1e3 * regulation["zmp_rms_m"], 1e3 * regulation["zmp_max_m"]
        figures.append(("ZMP error", f"{rms:.1f} mm rms, {worst:.1f} mm at most, from the middle of the soles"))
    if regulation["recovery_time_s"] is not None:
        figures.append(("recovery", f"within 5 mm {regulation['recovery_time_s']:.2f} s after the last push"))
    if regulation["cycle_rms_rad"]:
        differences = ", ".join(f"{1e3 * rms:.1f}" for rms in regulation["cycle_rms_rad"])
        figures.append(("difference of successive squats", f"{differences} mrad rms"))
    return figures


def _navigation_figures(navigation: Mapping[str, Any]) -> list[tuple[str, str]]:
    outcomes = ", ".join(f"{count} {name}" for name, count in navigation["outcomes"].items())
    figures = [
        ("segments", f"{navigation['segments']} ({outcomes}), the longest {navigation['longest_segment_s']:.2f} s"),
        ("commands projected onto a boundary", str(navigation["projected_commands"])),
    ]
    response = navigation["response_s"]
    if response is not None and response["median"] is not None:
        text = f"{response['median']:.2f} s after the start of a segment (median), at most {response['max']:.2f} s"
        figures.append(("guided points move", text))
    if "scenario" in navigation:
        distance = 1e3 * navigation["scenario"]["hand_to_door_m"]
        figures.append(("distance of the left hand to the door", f"{distance:.1f} mm"))
    return figures


def _common_figures(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    figures = []
    if result["zmp_margin_m"] is not None:
        margin = round(1e3 * result["zmp_margin_m"]) + 0
        cause = ", as kinematic control knows no forces" if result["mode"] == "kinematic" else ""
        outside = f", outside the support polygon{cause}" if margin < 0 else ""
        figures.append(("smallest ZMP margin", f"{margin} mm{outside}"))
    if result["limits"]:
        figures.append(("motors at their torque limit", _motors_text(result["limits"])))
    control, late = result["control_ms"], result["overruns"]
    if control["median"] is not None and late is not None:
        factor = result["realtime_factor"]
        speed = "" if factor is None else f"; simulated at {factor:.2g} times real time"
        text = f"{control['median']:.2g} ms (median) of {late['period_ms']:.4g} ms{speed}"
        figures.append(("computing time per control step", text))
    return figures


def _motors_text(limits: Mapping[str, Mapping[str, float]]) -> str:
    longest = sorted(limits.items(), key=lambda item: -item[1]["seconds"])
    motors = [
        f"{name} {_duration_text(entry['seconds'])} ({entry['limit_Nm']:.3g} N m)"
        for name, entry in longest[:MAX_MOTORS_SHOWN]
    ]
    more = len(longest) - MAX_MOTORS_SHOWN
    return ", ".join(motors) + (f" and {more} more" if more > 0 else "")


def _duration_text(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 0.1 else f"{1e3 * seconds:.0f} ms"


def _incidents(result: Mapping[str, Any]) -> list[str]:
    """Return sentences about fallbacks, commands that are not finite, and sensor faults."""
    used = ", ".join(f"{name} ({count})" for name, count in (result["fallbacks"] or {}).items())
    nonfinite = result["nonfinite_commands"]
    return [
        *([f"the controller used fallbacks: {used} control steps"] if used else []),
        *([f"{nonfinite} commands were not finite"] if nonfinite else []),
        *result.get("regulation", {}).get("sensor_faults", ()),
    ]
