"""Poise beside learned walking policies of the G1, on the same simulated tests."""
