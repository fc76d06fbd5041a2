"""Ground forces of MOT files belong to the trial beside them; what does not fit it is one clear line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from marker_files import mocap
from torque_trials import known_motion

from poise import human
from poise.human.files.ground_forces import find_ground_forces, force_columns
from poise.human.files.opensim_motion import OpenSimMotion
from poise.human.torques import compute_torques
from poise.human.torques.plate_forces import foot_wrenches
from poise.robots import SIDES


@pytest.fixture(scope="module")
def walk() -> human.Trial:
    return known_motion().trial


def write_pair(folder: Path, trial: human.Trial, name: str = "walk_grf.mot") -> Path:
    """Write markers and forces into a folder, as laboratories keep them; return the path of the markers."""
    human.write_ground_forces(trial, folder / name)
    return human.write_trc(trial, folder / "walk.trc")


def rewritten(path: Path, **changes: float) -> Path:
    """Write a file of forces again, with columns whose names contain a word multiplied, or the time shifted."""
    motion = human.read_motion(path)
    values = motion.values.copy()
    for word, factor in changes.items():
        if word != "time":
            values[:, [word in name for name in motion.names]] *= factor
    return human.write_motion(OpenSimMotion(motion.names, motion.time + changes.get("time", 0.0), values), path)


@pytest.mark.parametrize(
    ("names", "groups"),
    [
        (["ground_force_vx", "ground_force_px", "ground_torque_x", "1_ground_force_vx"], ["", "1"]),
        (["ground_force_calcn_r_vx", "ground_force_calcn_r_px", "ground_force_calcn_r_mx"], ["calcn_r"]),
        (["R_ground_force_vx", "R_ground_force_px", "R_ground_torque_x"], ["r"]),
        (["f1_1", "p1_1", "m1_1", "f2_1"], ["1", "2"]),
        (["FP1_fx", "FP1_px", "FP1_mx"], ["fp1"]),
        (["ground_force_1_vx", "ground_force_2_vx", "ground_torque_2_x"], ["1", "2"]),
        (["pelvis_tx", "hip_flexion_r", "knee_angle_r_moment", "pelvis_ty_force"], []),
    ],
)
def test_groups_of_columns_are_found_by_any_laboratorys_names(names: list[str], groups: list[str]) -> None:
    found = force_columns(tuple(names))
    assert list(found) == groups
    assert sorted(name for columns in found.values() for name in columns.values()) == sorted(names if groups else [])


def test_forces_beside_a_trc_file_give_the_wrenches_of_the_plates(walk: human.Trial, tmp_path: Path) -> None:
    found = human.read_trial(write_pair(tmp_path, walk))
    assert any("Ground forces from walk_grf.mot: " in note for note in found.notes)
    exact = known_motion()
    one, two = foot_wrenches(exact), foot_wrenches(replace(exact, trial=found))
    for side in SIDES:
        np.testing.assert_allclose(two.force[side], one.force[side], atol=1e-3)
        np.testing.assert_allclose(two.moment[side], one.moment[side], atol=1e-3)
        assert (two.measured[side] == one.measured[side]).all()
    torques = compute_torques(replace(exact, trial=found))
    assert torques.joint_torque("left_knee_flexion") == pytest.approx(
        compute_torques(exact).joint_torque("left_knee_flexion"), abs=1e-3, nan_ok=True
    )


def test_forces_at_a_higher_rate_are_averaged_around_each_frame(walk: human.Trial, tmp_path: Path) -> None:
    path = write_pair(tmp_path, walk)
    motion = human.read_motion(tmp_path / "walk_grf.mot")
    fine = np.linspace(motion.time[0], motion.time[-1], 10 * (len(motion.time) - 1) + 1)
    noise = np.random.default_rng(1).normal(0.0, 20.0, len(fine))
    values = np.column_stack([np.interp(fine, motion.time, column) for column in motion.values.T])
    vertical = [name.endswith("vy") for name in motion.names]
    values[:, vertical] = np.where(values[:, vertical] > 100.0, values[:, vertical] + noise[:, None], 0.0)
    human.write_motion(OpenSimMotion(motion.names, fine, values), tmp_path / "walk_grf.mot")
    for plate, exact in zip(human.read_trial(path).plates, walk.plates, strict=True):
        heavy = (exact.force[:, 2] > 300.0) & (np.gradient(exact.force[:, 2]) < 20.0)
        # ten samples have a third of the noise of one
        assert np.std((plate.force - exact.force)[heavy, 2]) < 0.5 * 20.0
        assert (plate.force - exact.force)[heavy, 2].mean() == pytest.approx(0.0, abs=8.0)


def test_the_clock_of_the_file_counts(walk: human.Trial, tmp_path: Path) -> None:
    late = walk.replace(start=12.5)
    path = write_pair(tmp_path, late)
    found = human.read_trial(path)
    assert found.start == pytest.approx(12.5)
    assert found.plates[0].force == pytest.approx(walk.plates[0].force, abs=1e-3)
    rewritten(tmp_path / "walk_grf.mot", time=-12.5)
    with pytest.raises(
        human.TrialError, match=r"another clock: forces from 0\.00 to .* markers of walk.trc from 12\.50"
    ):
        human.read_trial(path)


def test_forces_on_the_plates_are_reversed(walk: human.Trial, tmp_path: Path) -> None:
    path = write_pair(tmp_path, walk)
    rewritten(tmp_path / "walk_grf.mot", force_v=-1.0, torque=-1.0)
    found = human.read_trial(path)
    assert found.plates[1].force == pytest.approx(walk.plates[1].force, abs=1e-3)
    assert found.plates[1].free_moment == pytest.approx(walk.plates[1].free_moment, abs=1e-3)
    assert any("reversed" in note for note in found.notes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"force_p": 1000.0}, r"walk_grf\.mot: the points of the forces are in mm; expected m"),
        ({"force_v": 0.001}, r"the largest force is 0\.\d+; expected N; is it in kN"),
        ({"force_pz": -3.0}, r"from the nearest markers on the feet of walk.trc; expected the same trial"),
    ],
)
def test_another_unit_or_other_axes_are_one_clear_line(
    walk: human.Trial, changes: dict[str, float], message: str, tmp_path: Path
) -> None:
    aside = np.array([0.0, 1.0, 0.0])
    path = write_pair(tmp_path, walk.replace(positions=walk.positions + aside))
    shifted = [replace(plate, center_of_pressure=plate.center_of_pressure + aside) for plate in walk.plates]
    human.write_ground_forces(walk.replace(plates=tuple(shifted)), tmp_path / "walk_grf.mot")
    rewritten(tmp_path / "walk_grf.mot", **changes)
    with pytest.raises(human.TrialError, match=message) as raised:
        human.read_trial(path)
    assert "\n" not in str(raised.value)


def test_missing_columns_are_named(walk: human.Trial, tmp_path: Path) -> None:
    path = write_pair(tmp_path, walk)
    motion = human.read_motion(tmp_path / "walk_grf.mot")
    keep = [name != "2_ground_force_py" for name in motion.names]
    names = tuple(name for name, used in zip(motion.names, keep, strict=True) if used)
    human.write_motion(OpenSimMotion(names, motion.time, motion.values[:, keep]), tmp_path / "walk_grf.mot")
    with pytest.raises(human.TrialError, match="the point of '2_ground_force_vx' has no column for y"):
        human.read_trial(path)
    human.write_motion(OpenSimMotion(("knee_angle_r",), motion.time, motion.values[:, :1]), tmp_path / "angles.mot")
    with pytest.raises(human.TrialError, match="no ground forces; expected columns such as ground_force_vx"):
        human.read_trial(path, forces=tmp_path / "angles.mot")


def test_only_one_file_named_like_the_trial_is_used_without_being_asked_for(walk: human.Trial, tmp_path: Path) -> None:
    path = write_pair(tmp_path, walk)
    human.write_ground_forces(walk, tmp_path / "run_grf.mot")  # of another trial
    human.write_motion(
        OpenSimMotion(("knee_angle_r",), walk.time, np.zeros((len(walk.time), 1))), tmp_path / "walk.mot"
    )
    assert find_ground_forces(path) == [tmp_path / "walk_grf.mot"]
    human.write_ground_forces(walk, tmp_path / "walk_forces.sto")
    found = human.read_trial(path)
    assert not found.plates
    assert any(
        "walk_forces.sto, walk_grf.mot are all named like the trial; choose one with --forces" in n for n in found.notes
    )
    assert human.read_trial(path, forces=tmp_path / "walk_grf.mot").plates


def test_gait2354_has_forces_all_the_time_and_the_ankle_moments_of_opensim() -> None:
    folder = mocap("gait2354")
    torques = human.compute_torques(human.fit_trial(folder / "subject01_walk1.trc"))
    assert torques.mass == pytest.approx(72.6, abs=1.0)  # of OpenSim's model
    assert torques.foot_wrenches.known.all()
    assert torques.residual_rms[2] < 0.05 * 9.81 * torques.mass
    reference = human.read_motion(folder / "g2354_inverse_dynamics.sto")
    # Within 0.1 s of the ends the forces on the pelvis of the reference grow to 180 N: its filter has no data beyond.
    inner = (reference.time > 0.5) & (reference.time < 1.5)
    for side in SIDES:
        for ours, theirs, sign, least in (
            ("hip_adduction", "hip_adduction", 1.0, 0.95),
            ("ankle_dorsiflexion", "ankle_angle", 1.0, 0.99),
            # its joint centres are some 2 cm from those of the markers: it fits them with 22 mm, Poise with 6
            ("knee_flexion", "knee_angle", -1.0, 0.88),
            ("hip_flexion", "hip_flexion", 1.0, 0.85),
        ):
            moment = np.interp(reference.time, torques.time, torques.joint_torque(f"{side}_{ours}"))
            other = sign * reference.column(f"{theirs}_{side[0]}_moment")
            assert np.corrcoef(moment[inner], other[inner])[0, 1] > least, (side, ours)
