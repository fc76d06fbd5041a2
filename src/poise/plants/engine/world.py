"""The world of a plant in MuJoCo: how contacts give way, the ground, and the things on it.

MuJoCo's contacts are damped springs, scaled by the mass that they move: a contact is left to its own with a time
constant and critical damping, and its impedance says how much of that motion it reaches against what presses it. They
are chosen so that robots of 28 to 90 kg rest quietly at steps of 1 ms (measured with a controller of the posture):
soles sink in by 0.07 to 0.16 mm, speeds at rest are below 1e-8, and on a slope of 10 degrees a sole creeps by
0.014 mm/s. MuJoCo's own values (0.02 s, 0.9 to 0.95, friction as stiff as the normal direction) give 0.7 mm and 3 mm/s.
"""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from poise.plants.engine.body import quaternion
from poise.plants.engine.solids import GROUND, SEEN, THING
from poise.plants.ground import Ground
from poise.plants.things import Box

Array = NDArray[np.float64]

#: Of a contact (s): ten steps, and a tenth of the time in which a robot that is pushed can react.
TIME_CONSTANT = 0.01
#: How much of the reference acceleration a contact reaches, without load and loaded, and the depth between (m).
IMPEDANCE = (0.95, 0.99, 0.001, 0.5, 2.0)
#: Friction is so much stiffer than the normal direction: creeping is inversely proportional to it, and the engine's
#: solver takes one iteration a step at rest with 1, 10 and 100 alike.
FRICTION_RATIO = 100.0
#: Rolling and twisting friction (m): none to speak of, for a sole resists twisting with its four corners.
ROLLING = 1e-6
CHECKER = "ground"


def new_world(period: float) -> mujoco.MjSpec:
    """An empty world with our settings."""
    spec = mujoco.MjSpec()
    compiler, option = spec.compiler, spec.option
    compiler.degree = compiler.autolimits = compiler.fusestatic = compiler.balanceinertia = False
    compiler.boundmass = compiler.boundinertia = 0.0
    compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    option.timestep = period
    option.gravity = [0.0, 0.0, -9.81]
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    option.impratio = FRICTION_RATIO
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    option.disableflags = mujoco.mjtDisableBit.mjDSBL_AUTORESET
    _furnish(spec)
    return spec


def _furnish(spec: mujoco.MjSpec) -> None:
    """Light, sky and the pattern of the ground, for whoever draws this world."""
    spec.worldbody.add_light(
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, pos=[0, 0, 4], dir=[0, 0, -1], diffuse=[0.55, 0.55, 0.53]
    )
    visual = spec.visual
    visual.headlight.ambient, visual.headlight.diffuse = [0.38, 0.38, 0.38], [0.28, 0.28, 0.28]
    visual.headlight.specular, visual.quality.shadowsize = [0.0, 0.0, 0.0], 4096
    spec.stat.center, spec.stat.extent = [0.0, 0.0, 0.7], 2.0
    sky, checker = mujoco.mjtBuiltin.mjBUILTIN_GRADIENT, mujoco.mjtBuiltin.mjBUILTIN_CHECKER
    kinds, light, dark = mujoco.mjtTexture, [0.93, 0.95, 0.97], [0.80, 0.86, 0.93]
    spec.add_texture(name="sky", type=kinds.mjTEXTURE_SKYBOX, builtin=sky, rgb1=light, rgb2=dark, width=64, height=384)
    tiles = {"rgb1": [0.86, 0.88, 0.90], "rgb2": [0.76, 0.79, 0.82], "width": 128, "height": 128}
    spec.add_texture(name=CHECKER, type=kinds.mjTEXTURE_2D, builtin=checker, **tiles)
    material = spec.add_material(name=CHECKER, texrepeat=[2, 2], texuniform=True)
    textures = material.textures
    textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = CHECKER
    material.textures = textures


def add_ground(spec: mujoco.MjSpec, ground: Ground, friction: float, seed: int, level: Array) -> None:
    """The plane, called ``"ground"``, and its boxes, called ``"ground 0"`` and so on."""
    plane = ground.plane
    spec.worldbody.add_geom(
        name="ground",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[0.0, 0.0, 0.05],
        pos=plane.translation,
        quat=quaternion(plane.rotation),
        material=CHECKER,
        **_surface(friction, GROUND),
    )
    for i, box in enumerate(ground.boxes(seed, level)):
        _add_box(spec, f"ground {i}", box, friction, GROUND, [0.80, 0.78, 0.73, 1.0])


def add_things(spec: mujoco.MjSpec, things: Sequence[Box], friction: float, grip: float) -> None:
    """Boxes called ``"thing 0"`` and so on, each with its own friction or this one, times `grip`."""
    for i, box in enumerate(things):
        mu = grip * (friction if box.friction is None else box.friction)
        _add_box(spec, f"thing {i}", box, mu, THING, [0.72, 0.60, 0.45, 1.0])


def _add_box(spec: mujoco.MjSpec, name: str, box: Box, friction: float, kind: int, color: list[float]) -> None:
    spec.worldbody.add_geom(
        name=name,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=0.5 * np.asarray(box.size, dtype=np.float64),
        pos=np.asarray(box.position, dtype=np.float64),
        quat=quaternion(np.asarray(box.rotation, dtype=np.float64)),
        rgba=color,
        **_surface(friction, kind),
    )


def _surface(friction: float, kind: int) -> dict[str, object]:
    return {
        "contype": kind,
        "conaffinity": 0,
        "condim": 3,
        "friction": [max(friction, ROLLING), ROLLING, ROLLING],
        "solref": [TIME_CONSTANT, 1.0],
        "solimp": IMPEDANCE,
        "priority": 1,
        "group": SEEN,
    }
