"""Measurements and evaluations: real documentation sites, a baseline spider, labelled data."""
