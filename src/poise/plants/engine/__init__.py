"""From a robot and its surroundings to a model of MuJoCo, and from MuJoCo's numbers to ours."""
