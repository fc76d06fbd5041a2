"""The process that simulates: one scene, at real time, whatever pages do."""
