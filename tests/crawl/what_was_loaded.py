"""An extension that writes down, when everything else has ended, which modules a crawl has loaded."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from scrapy import signals


class WhatWasLoaded:
    """Names into the file that WHAT_WAS_LOADED names, one a line."""

    @classmethod
    def from_crawler(cls, crawler: Any) -> WhatWasLoaded:
        extension = cls()
        crawler.signals.connect(extension.stopped, signals.engine_stopped)
        return extension

    def stopped(self) -> None:
        Path(os.environ["WHAT_WAS_LOADED"]).write_text("\n".join(sorted(sys.modules)))
