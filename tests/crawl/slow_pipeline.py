"""A pipeline of a user's own that takes a different time for every document and run: a replay must not notice."""

from __future__ import annotations

import asyncio
import random
from typing import Any


class SlowPipeline:
    """Holds up each document for up to 20 ms."""

    async def process_item(self, doc: Any) -> Any:
        await asyncio.sleep(random.random() / 50)  # the disturbance that is tested, nothing is waited for
        return doc
