"""References over time: footsteps, the divergent component of motion, swinging feet, styles."""
