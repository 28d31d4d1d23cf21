"""Importing this module loads what extraction asks for on its first pages, for a fork server's processes to share.

That is the model of the learned extractor, and the words of a hundred languages that justext, the last of trafilatura's
extractors, looks for: a third of a second and 12 MiB. Where one cannot be loaded, the fork server goes on: each process
finds the same and says so.
"""

from __future__ import annotations

from contextlib import suppress

from lxml.html import document_fromstring
from trafilatura.external import try_justext

from crawler.stages.extraction.faster import install
from crawler.stages.extraction.learned.model import the_model

with suppress(Exception):
    install()
    the_model()
    try_justext(document_fromstring("<p>word</p>"), None, None)
