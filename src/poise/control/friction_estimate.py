"""`FrictionEstimate`: the friction coefficient of the ground, learnt from contacts that slip."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

import numpy as np

from poise.arrays import Array
from poise.state import Contact, ContactForces, SensorReadings, Snapshot

#: Time constant of the filtered velocity of a contact (s): ten ticks at 500 Hz, which average the noise of encoders.
FILTER_TIME = 0.02
#: Speed above which a contact slips (m/s): above the creep of a sole that rocks. An unloaded foot that is about to lift
#: slips at 0.02 to 0.06 m/s, seconds before a loaded one does, which passes 0.3 m/s within a tenth of a second.
SLIP_SPEED = 0.02
#: The same in standard deviations of the noise of the filtered velocity, which is measured: none exceeds it by chance.
NOISE_FACTOR = 4.0
#: Time constant of the variance of the velocity (s): ten times that of the filter.
VARIANCE_TIME = 0.2
#: Time for which a contact has to slip before it counts (s): four ticks at 500 Hz, so that noise does not count.
SLIP_TIME = 0.006
#: Time within which it has to (s): single ticks in which the sole bounces are no end of a slip.
SLIP_WINDOW = 0.016
#: Friction opposes the slip: smallest cosine of the angle between friction and the direction against the slip, both
#: with yaw. A foot that rolls over its edge, or that has come to rest, has forces in other directions.
LEAST_ALIGNMENT = 0.9
#: Smallest normal force of a contact whose force ratio counts, relative to the weight: a foot that is being set down or
#: lifted moves and bears little.
LOADED_SHARE = 0.05
#: Mean distance of the supporting points of a sole from the center of pressure, in radii of the sole: the lever of
#: friction against yaw.
YAW_LEVER = 0.6
#: Smallest radius of the part of a sole that supports it, relative to that of the whole sole, if the sole mainly turns:
#: what resists the yaw of one that tips over its toe or heel is a short edge, not the whole sole.
LEAST_SUPPORT = 0.5
#: Share of an estimate that is used: kinetic friction is what is measured, and it varies over the ground.
USED_SHARE = 0.9
#: Smallest estimate; with less, no walk keeps its feet.
MIN_FRICTION = 0.08
#: Growth of the estimate without slip (1/s): a robot that leaves an oily patch trusts the floor again after half a
#: minute, and on ice it probes with a slip of a few millimetres every few seconds.
RECOVERY_RATE = 0.02


class FrictionEstimate:
    """Friction of the ground, from the force ratio of contacts that slip.

    While a contact slips, its tangential force f_t is μ times its normal force f_n and opposes the slip. A sole that
    also turns has a yaw moment m of friction about the center of pressure. The estimate is the largest ratio

        sqrt(|f_t|² + (m / l)²) / f_n,   l = YAW_LEVER · radius of the sole

    of a slip that lasts `SLIP_TIME` within `SLIP_WINDOW`. A contact that holds gives no upper bound, so without slip
    nothing changes. A contact slips if its velocity at the center of pressure, with yaw, exceeds `SLIP_SPEED`, and if
    filtered over `FILTER_TIME` also its noise; a sole that turns on its toe or heel teaches nothing. Forces are read
    only while a contact moves.

    Attributes:
        value: estimated μ; infinite: no contact has slipped.
    """

    def __init__(self) -> None:
        self.value = math.inf
        self._time, self._ticks, self._variance = math.nan, 0, 0.0
        self._motions: dict[Contact, _ContactMotion] = {}

    def limit(self, assumed: float) -> float:
        """Return the coefficient to use for a contact whose friction is assumed to be `assumed`."""
        return min(assumed, USED_SHARE * self.value)

    def update(self, snapshot: Snapshot, contacts: Sequence[Contact], readings: SensorReadings | None) -> None:
        """Update the estimate with the planned contacts of a tick; without readings nothing is estimated."""
        if readings is None:
            return
        period = snapshot.time - self._time
        self._time = snapshot.time
        if not 0.0 < period < FILTER_TIME:  # the first tick, or one after an interruption
            self._motions.clear()
            return
        self.value += RECOVERY_RATE * period
        self._ticks += 1
        if tuple(self._motions) != tuple(contacts):
            self._motions = {contact: self._motions.get(contact) or _ContactMotion() for contact in contacts}
        for contact, motion in self._motions.items():
            change = motion.filter_twist(snapshot.velocity(contact.frame), period / FILTER_TIME)
            self._variance += max(period / VARIANCE_TIME, 1.0 / self._ticks) * (change - self._variance)
            least = max(SLIP_SPEED, NOISE_FACTOR * math.sqrt(motion.noise_share * self._variance))
            moves = math.hypot(*motion.twist) > least
            ratio = motion.slip_ratio(snapshot, contact, readings.forces, least) if moves else None
            if ratio is None:
                continue
            largest, count = motion.add_ratio(snapshot.time, ratio)
            if count * period > SLIP_TIME and self._ticks * period > FILTER_TIME:
                self.value = min(self.value, max(MIN_FRICTION, largest))


class _ContactMotion:
    """Filtered motion of one planned contact, in lists: a contact that holds costs two microseconds a tick.

    Attributes:
        twist: filtered velocity of the origin of its frame and angular velocity (m/s, rad/s).
        measured: the last measured one.
        noise_share: variance of the filtered velocity relative to that of the velocity.
    """

    __slots__ = ("_largest", "_ticks", "_times", "measured", "noise_share", "twist")

    def __init__(self) -> None:
        self.twist = [0.0] * 6
        self.measured = self.twist
        self.noise_share, self._ticks = 1.0, 0
        self._times: deque[float] = deque()  # of the ticks of the present slip, over `SLIP_WINDOW`
        self._largest = 0.0  # force ratio of the present slip

    def filter_twist(self, twist: Array, share: float) -> float:
        """Add a twist; return the squared change of its velocity (m²/s²). The first ticks are averaged."""
        self._ticks += 1
        share = max(share, 1.0 / self._ticks)
        self.noise_share = max(0.5 * share, 1.0 / self._ticks) if share < 1.0 else 1.0
        old, self.measured = self.twist, twist.tolist()
        self.twist = [a + share * (b - a) for a, b in zip(old, self.measured, strict=True)]
        return math.dist(self.measured[:3], old[:3]) ** 2 if self._ticks > 1 else 0.0

    def add_ratio(self, time: float, ratio: float) -> tuple[float, int]:
        """Add the force ratio of a tick; return the largest one of the present slip, and its ticks in `SLIP_WINDOW`.

        The ratio falls while a slip comes to its end: parts of the sole hold before the others.
        """
        times = self._times
        while times and time - times[0] > SLIP_WINDOW:
            times.popleft()
        self._largest = max(self._largest, ratio) if times else ratio
        times.append(time)
        return self._largest, len(times)

    def slip_ratio(
        self, snapshot: Snapshot, contact: Contact, forces: ContactForces, slip_speed: float
    ) -> float | None:
        """Return the force ratio if the contact slips at more than a speed (m/s) against its friction, else None."""
        if contact.frame.name not in forces.names:
            return None
        i = forces.names.index(contact.frame.name)
        rotation = snapshot.rotation(contact.frame)
        normal = rotation @ contact.frame_from_contact.rotation[:, 2]
        force, moment = forces.wrenches[i, :3], forces.wrenches[i, 3:]
        pressure = float(normal @ force)
        if not LOADED_SHARE * snapshot.robot.weight < pressure < math.inf:
            return None
        # Center of pressure, relative to the point of the wrench: n x m / f_n.
        arm = np.cross(normal, moment) / pressure
        place = forces.points[i] + arm - snapshot.position(contact.frame)
        # Tangential force with the yaw moment as a fourth component, and slip with the yaw rate, of the same power.
        lever = YAW_LEVER * contact.radius
        tips = _supporting_radius(contact, rotation.T @ place) < LEAST_SUPPORT * contact.radius
        yaw = float(normal @ (moment - np.cross(arm, force)))
        friction = np.append(force - pressure * normal, yaw / lever if lever else 0.0)
        magnitude = math.sqrt(friction @ friction)
        # The filtered velocity lags: a foot that has just come to rest has one, and any force.
        for values, least in ((self.twist, slip_speed), (self.measured, SLIP_SPEED)):
            twist = np.array(values)
            velocity = twist[:3] + np.cross(twist[3:], place)
            slip = np.append(velocity - (normal @ velocity) * normal, lever * (normal @ twist[3:]))
            speed = math.sqrt(slip @ slip)
            if not (speed > least and -(slip @ friction) > LEAST_ALIGNMENT * speed * magnitude):
                return None
            if tips and 2.0 * slip[3] ** 2 > speed**2:
                return None
        return magnitude / pressure


def _supporting_radius(contact: Contact, center: Array) -> float:
    """Return the radius (m) of the part of a sole that is symmetric about its center of pressure (in its frame).

    At an edge it is that of the edge alone: a sole that tips over it resists yaw much less than the whole sole.
    """
    pose = contact.frame_from_contact
    x, y = np.abs(pose.rotation[:, :2].T @ (center - pose.translation))
    half_length, half_width = np.abs(contact.outline).max(axis=0)
    return math.hypot(max(half_length - x, 0.0), max(half_width - y, 0.0))
