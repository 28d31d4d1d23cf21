"""Importing this module loads what extraction asks for on its first pages, for a fork server's processes to share."""

from __future__ import annotations

from crawler.stages.extraction.faster import install
from crawler.stages.extraction.learned.model import the_model
from crawler.stages.models.preload import preload

preload(install, the_model)
