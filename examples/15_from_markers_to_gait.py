"""15 From markers to gait: fit a body model to a walk, and reproduce the walk from key postures in three variants."""

from poise import human
from poise.human import gait

walk, static = human.sample_trial(height=1.68, mass=61.0, sex="female", cycles=2)
fit = human.fit(walk, static, sex="female")  # for files: human.fit_trial("walk.c3d")
left, right = fit.shape.thigh
markers = len(fit.marker_placement.labels)
print(f"{markers} markers, {1e3 * fit.rms:.1f} mm rms; thighs {left:.2f} and {right:.2f} m")

study = human.study_gait([fit], variants=[gait.PAPER, gait.TWO_PHASES, gait.BEST])
for outcome in study.statistics.results:
    degrees, rotation, _ = outcome.worst_difference
    print(f"{outcome.variant.name}: {degrees:+.1f} degrees of range at most ({rotation}), ", end="")
    print(f"heels within {outcome.largest('heel_error'):.1f} mm, ZMP inside the feet ", end="")
    print(f"{100 * outcome.mean('zmp_inside'):.0f} % of the time")
