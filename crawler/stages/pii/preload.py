"""Importing this module loads what finds personal data as it is by default, for a fork server's processes to share.

That is the models of `PII_MODELS`, and the public suffixes and number formats that the first address and the first
number ask for: a tenth of a second. Where a model cannot be loaded, the fork server goes on: each process finds the
same and says so.
"""

from __future__ import annotations

from contextlib import suppress

from crawler.config import PiiConfig
from crawler.stages.pii.names import pipeline
from crawler.stages.pii.recognise import find
from crawler.stages.pii.stage import model_table

for _model in model_table(PiiConfig()).values():
    with suppress(Exception):
        pipeline(_model)

find("Write to jane@example.org, or call +1 415 555 0132.", "en")
