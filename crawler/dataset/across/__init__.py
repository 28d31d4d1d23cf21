"""Duplicates between finished corpora: `gristmill dataset across`."""
