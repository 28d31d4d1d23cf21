"""Importing this module loads the two built-in identifiers: for a fork server, whose processes then share them.

Where one cannot be loaded, the fork server goes on: each process finds the same and says so.
"""

from __future__ import annotations

from contextlib import suppress

from crawler.stages.language.identifiers import Langdetect, Py3Langid

with suppress(Exception):
    Py3Langid()
    Langdetect()
