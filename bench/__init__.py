"""Measurements and evaluations: how fast, how good, and what happens when things go wrong."""
