"""TSID: one quadratic program per step, assembled and solved (eiquadprog-fast) in C++ on pinocchio.

TSID has two levels: equation of motion, contacts, friction, torques and limits of the joints are constraints, all tasks
are in one weighted sum. A contact is a force at each of four corners. With eiquadprog instead of eiquadprog-fast a step
takes 1.07 times as long; leaving out the joint ranges, with speed limits only, saves less than 1 %.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
import pinocchio  # type: ignore
import tsid.tsid_pywrap as tsid  # type: ignore
from serve import DynamicsProblem, Scene, Stopwatch, gains, serve  # type: ignore

#: Priority levels of TSID: a constraint, and one of the weighted tasks.
HARD, SOFT = 0, 1


class Tsid:
    def __init__(self, scene: Scene) -> None:
        self.version = f"{version('tsid')}, eiquadprog {version('eiquadprog')}, pinocchio {version('pin')}"
        model = pinocchio.buildModelFromUrdf(scene["urdf"], pinocchio.JointModelFreeFlyer())
        assert list(model.names)[2:] == scene["joints"]
        model.armature = np.concatenate([np.zeros(6), scene["armature"]])
        self.mass = float(pinocchio.computeTotalMass(model))
        self.q, self.v = scene["q"], scene["v"]
        self.robot = tsid.RobotWrapper(model, tsid.FLOATING_BASE_SYSTEM, False)
        self.formulation = tsid.InverseDynamicsFormulationAccForce("problem", self.robot, False)
        self.formulation.computeProblemData(0.0, self.q[0], self.v[0])
        self.references: list[Any] = []  # TSID does not own the objects that it receives: they must not be freed
        self._contacts(scene, model)
        self._limits(scene["limits"])
        self._tasks(scene)
        self.solver = tsid.SolverHQuadProgFast("solver")
        self.solver.resize(self.formulation.nVar, self.formulation.nEq, self.formulation.nIn)

    def _contacts(self, scene: Scene, model: Any) -> None:
        kp, kd = gains("contact")
        weight, data = self.mass * 9.81, self.formulation.data()
        for sole in scene["soles"]:
            name, up = sole["frame"], np.array([0.0, 0.0, 1.0])
            most = DynamicsProblem.LARGEST_FORCE * weight
            contact = tsid.Contact6d(name, self.robot, name, sole["corners"].T, up, DynamicsProblem.SLOPE, 0.0, most)
            contact.setKp(np.full(6, kp))
            contact.setKd(np.full(6, kd))
            contact.setReference(self.robot.framePosition(data, model.getFrameId(name)))
            contact.setForceReference(np.array([0.0, 0.0, weight / 2.0, 0.0, 0.0, 0.0]))
            self.formulation.addRigidContact(contact, DynamicsProblem.FORCE_WEIGHT, 1.0, HARD)
            self.references.append(contact)

    def _limits(self, limits: dict[str, Any]) -> None:
        torque = tsid.TaskActuationBounds("torque", self.robot)
        torque.setBounds(-limits["torque"], limits["torque"])
        self.formulation.addActuationTask(torque, 1.0, HARD, 0.0)
        joints = tsid.TaskJointPosVelAccBounds("joints", self.robot, DynamicsProblem.PERIOD, False)
        joints.setPositionBounds(limits["lower"], limits["upper"])
        joints.setVelocityBounds(limits["velocity"])
        joints.setAccelerationBounds(limits["acceleration"])
        joints.setImposeBounds(True, True, True, True)
        self.formulation.addMotionTask(joints, 1.0, HARD, 0.0)
        self.references += [torque, joints]

    def _tasks(self, scene: Scene) -> None:
        actuated = self.robot.na
        self.balance = self._task("balance", tsid.TaskComEquality("balance", self.robot), 3)
        self.hand = self._pose_task("hand", scene["hand"]["frame"], [1, 1, 1, 0, 0, 0])
        torso = self._pose_task("torso", scene["chest"]["frame"], [0, 0, 0, 1, 1, 1])
        torso.setReference(_sample(_pose_vector(np.zeros(3), scene["chest"]["rotation"]), np.zeros(6), np.zeros(6)))
        posture = self._task("posture", tsid.TaskJointPosture("posture", self.robot), actuated)
        posture.setReference(_sample(scene["posture"], np.zeros(actuated), np.zeros(actuated)))
        sway, reach, still = scene["sway"], scene["reach"], np.zeros((DynamicsProblem.STEPS, 3))
        # The orientation of the hand is free: with its actual orientation as reference, the pose error of TSID (a
        # logarithm) is the position error.
        turns = scene["hand"]["rotation"]
        places = np.array([_pose_vector(p, R) for p, R in zip(reach["value"], turns, strict=True)])
        self.sway = (sway["value"], sway["rate"], sway["acceleration"])
        self.reach = (places, np.hstack([reach["rate"], still]), np.hstack([reach["acceleration"], still]))
        self.balance_sample, self.hand_sample = tsid.TrajectorySample(3), tsid.TrajectorySample(12, 6)

    def _task(self, name: str, task: Any, size: int) -> Any:
        kp, kd = gains(name)
        task.setKp(np.full(size, kp))
        task.setKd(np.full(size, kd))
        self.formulation.addMotionTask(task, DynamicsProblem.WEIGHTS[name], SOFT, 0.0)
        self.references.append(task)
        return task

    def _pose_task(self, name: str, frame: str, mask: list[int]) -> Any:
        task = tsid.TaskSE3Equality(name, self.robot, frame)
        task.setMask(np.array(mask, dtype=float))
        task.useLocalFrame(False)
        return self._task(name, task, 6)

    def step(self, step: int) -> tuple[Any, Any]:
        self._set_targets(step)
        program = self.formulation.computeProblemData(step * DynamicsProblem.PERIOD, self.q[step], self.v[step])
        solution = self.solver.solve(program)
        return self.formulation.getAccelerations(solution), self.formulation.getActuatorForces(solution)

    def parts(self, step: int, stopwatch: Stopwatch) -> None:
        self._set_targets(step)
        program = self.formulation.computeProblemData(step * DynamicsProblem.PERIOD, self.q[step], self.v[step])
        stopwatch.lap("kinematics and assembly")  # one call in C++
        solution = self.solver.solve(program)
        stopwatch.lap("solve")
        self.formulation.getAccelerations(solution)
        self.formulation.getActuatorForces(solution)
        stopwatch.lap("command")

    def _set_targets(self, step: int) -> None:
        for task, sample, lines in (
            (self.balance, self.balance_sample, self.sway),
            (self.hand, self.hand_sample, self.reach),
        ):
            value, rate, acceleration = lines
            sample.value(value[step])
            sample.derivative(rate[step])
            sample.second_derivative(acceleration[step])
            task.setReference(sample)


def _pose_vector(position: Any, rotation: Any) -> Any:
    """Return a pose in the format of TSID: position, then the columns of the rotation matrix."""
    return np.concatenate([position, rotation.T.ravel()])


def _sample(value: Any, rate: Any, acceleration: Any) -> Any:
    sample = tsid.TrajectorySample(len(value), len(rate))
    sample.value(value)
    sample.derivative(rate)
    sample.second_derivative(acceleration)
    return sample


if __name__ == "__main__":
    serve(dynamics=Tsid)
