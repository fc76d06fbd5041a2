"""A plant in another process: `PlantServer` beside the robot or its simulation, `RemotePlant` in the control loop.

>>> PlantServer(poise.MujocoPlant(robot)).serve()                       # here, or `poise serve`
>>> poise.record(controller, RemotePlant("tcp://127.0.0.1:5560", robot), seconds=3.0)    # there

The messages are documented in `poise.plants.remote.protocol`, the design of the protocol in docs/remote.md.
"""

from poise.plants.remote.plant_server import PlantServer
from poise.plants.remote.remote_plant import RemotePlant

__all__ = ["PlantServer", "RemotePlant"]
