"""Importing this module loads the two built-in identifiers and what they are checked with.

The processes of a fork server share them.
"""

from __future__ import annotations

from crawler.stages.language.identifiers import Langdetect, Py3Langid
from crawler.stages.language.openset import read_profiles
from crawler.stages.language.scripts import chinese
from crawler.stages.models.preload import preload

preload(Py3Langid, Langdetect, read_profiles, lambda: chinese("語"), lambda: Py3Langid().identify("text"))
