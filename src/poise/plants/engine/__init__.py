"""MuJoCo model of a robot and its environment, and conversion between MuJoCo's and Poise's coordinates."""
