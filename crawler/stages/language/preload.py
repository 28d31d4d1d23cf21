"""Importing this module loads the two built-in identifiers, for a fork server's processes to share."""

from __future__ import annotations

from crawler.stages.language.identifiers import Langdetect, Py3Langid
from crawler.stages.models.preload import preload

preload(Py3Langid, Langdetect)
