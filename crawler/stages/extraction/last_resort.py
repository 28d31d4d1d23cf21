"""Importing this module loads what justext, the last of trafilatura's extractors, needs: words of a hundred languages.

They take 30 MiB, and few pages get that far.
"""

from __future__ import annotations

from functools import partial

from lxml.html import document_fromstring
from trafilatura.external import try_justext

from crawler.imports import untimed
from crawler.stages.models.preload import preload

with untimed():
    preload(partial(try_justext, document_fromstring("<p>word</p>"), None, None))
