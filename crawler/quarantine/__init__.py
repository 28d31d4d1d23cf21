"""Domains whose pages give less text than they used to."""
