"""Importing this module loads what extraction asks for on its first pages, for a fork server's processes to share.

That is the model of the learned extractor, and the words of a hundred languages that justext, the last of trafilatura's
extractors, looks for: a third of a second and 12 MiB.
"""

from __future__ import annotations

from functools import partial

from lxml.html import document_fromstring
from trafilatura.external import try_justext

from crawler.stages.extraction.faster import install
from crawler.stages.extraction.learned.model import the_model
from crawler.stages.models.preload import preload

preload(install, the_model, partial(try_justext, document_fromstring("<p>word</p>"), None, None))
