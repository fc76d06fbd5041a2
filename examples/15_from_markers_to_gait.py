"""15 From markers to gait: a body fitted to a walk, and that walk again from four key postures and from six."""

from poise import human
from poise.human import gait, sample_trial

walk, static = sample_trial(height=1.68, mass=61.0, sex="female", cycles=2)  # or human.read_trial("walk.c3d"), ...
fit = human.fit(walk, static, sex="female")
print(f"{len(fit.placed.labels)} markers, {1e3 * fit.rms:.1f} mm rms; thighs {fit.shape.thigh[0]:.2f} and ", end="")
print(f"{fit.shape.thigh[1]:.2f} m")

reference = gait.Reference.of(fit)
for variant in (gait.PAPER, gait.TWO_PHASES, gait.BEST):
    found = gait.measured(gait.reproduce(reference, variant=variant))
    rotation, degrees = found.worst
    print(f"{variant.name}: {degrees:+.1f} degrees of range at most ({rotation}), ", end="")
    print(f"heels within {found.heels:.1f} mm, ZMP inside the feet {100 * found.inside:.0f} % of the time")
