"""14 Position servos: ZMP regulation with force cells keeps a small robot standing when it is pushed from the front."""

import poise
from poise.behaviors import ZmpBalance, regulation_settings
from poise.plants import MujocoPlant, PositionServos, Push, Sensors

robot = poise.load_robot("hoap3")
for regulate in (False, True):
    body = ZmpBalance(robot, settings=regulation_settings(robot, zmp_regulation=regulate))
    plant = MujocoPlant(
        body.start,
        actuators=PositionServos(stiffness_scale=body.settings.stiffness),
        sensors=Sensors(noise=0.01),
        pushes=[Push((-32, 0, 0), duration=0.1, time=2.5)],
    )
    poise.record(poise.PositionController(body, period=0.001), plant, seconds=4.5)
    left = body.sole_loads["left"]
    label = "with ZMP regulation:   " if regulate else "center of mass alone:  "
    print(label, plant.fall or f"stands, the ZMP {1e3 * abs(left.zmp):.0f} mm from the middle of the left sole")
