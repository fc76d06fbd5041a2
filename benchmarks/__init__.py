"""Benchmarks of Poise; not installed with the package."""
