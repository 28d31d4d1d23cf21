"""Importing this module loads the model of the learned extractor, for a fork server's processes to share."""

from __future__ import annotations

from crawler.stages.extraction.faster import install
from crawler.stages.extraction.learned.model import the_model
from crawler.stages.models.preload import preload

preload(install, the_model)
