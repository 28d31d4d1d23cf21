"""Versions and what they were made of: which folders were derived from which, and which still hold a document."""
