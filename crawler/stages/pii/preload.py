"""Importing this module loads what finds personal data as it is by default, for a fork server's processes to share.

That is the models of `PII_MODELS`, and the public suffixes and number formats that the first address and the first
number ask for: a tenth of a second.
"""

from __future__ import annotations

from functools import partial

from crawler.config import PiiConfig
from crawler.stages.models.preload import preload
from crawler.stages.pii.names import pipeline
from crawler.stages.pii.recognise import find
from crawler.stages.pii.stage import model_table

preload(
    *(partial(pipeline, model) for model in model_table(PiiConfig()).values()),
    partial(find, "Write to jane@example.org, or call +1 415 555 0132.", "en"),
)
