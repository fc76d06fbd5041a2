"""Random states: where a body may begin, and what a failing sensor may say on the way."""

from __future__ import annotations

import numpy as np
import pinocchio

from poise.robots import Robot, State

#: What a failing sensor reports.
BROKEN = (np.nan, np.inf, -np.inf, 1e9, -1e9)


def random_start(robot: Robot, random: np.random.Generator) -> State:
    """Joints anywhere in their range, at its very ends or a little beyond; the base anywhere; moving or not."""
    stance = next(iter(robot.stances), None)
    q = np.array(robot.rest if stance is None else robot.stance(stance).q)
    low, high = robot.limits.lower, robot.limits.upper
    places = [joint.q for joint in robot.joints]
    match int(random.integers(4)):
        case 0:
            pass  # as it stands
        case 1:
            q[places] = random.uniform(low, high)
        case 2:
            q[places] = np.where(random.random(len(low)) < 0.5, low, high)  # stretched and folded: singular
        case _:
            beyond = 0.05 * (high - low)
            q[places] = random.uniform(low - beyond, high + beyond)
    if random.random() < 0.5:
        turned = random.normal(size=6) * float(random.choice([0.0, 0.3, 3.0, 1e3]))
        q = pinocchio.integrate(robot.model, q, np.concatenate([turned, np.zeros(robot.model.nv - 6)]))
        q[3:7] /= np.linalg.norm(q[3:7])
    speed = float(random.choice([0.0, 0.0, 0.1, 1.0, 20.0]))
    parts = [part for part in (*robot.feet, *robot.hands[:1]) if random.random() < 0.6]
    return State(robot, q, speed * random.normal(size=robot.model.nv), contacts=tuple(parts))


def broken(state: State, random: np.random.Generator) -> State:
    """The same with entries that no sensor should report; a State as such refuses some of them."""
    q, v = np.array(state.q), np.array(state.v)
    for _ in range(int(random.integers(1, 4))):
        values = q if random.random() < 0.5 else v
        values[int(random.integers(len(values)))] = random.choice(BROKEN)
    return State._trusted(state.robot, q, v, state.time, state.contacts)
