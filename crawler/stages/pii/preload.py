"""Importing this module loads the models of `PII_MODELS`, as it is by default, for a fork server's processes to share.

Where one cannot be loaded, the fork server goes on: each process finds the same and says so.
"""

from __future__ import annotations

from contextlib import suppress

from crawler.config import PiiConfig
from crawler.stages.pii.names import pipeline
from crawler.stages.pii.stage import model_table

for _model in model_table(PiiConfig()).values():
    with suppress(Exception):
        pipeline(_model)
