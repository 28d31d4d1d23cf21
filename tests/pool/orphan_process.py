"""A worker whose stage process is in the middle of something; prints the number of that process and waits.

Arguments: what it is doing, and the platform that it believes to be on.
"""

import asyncio
import ctypes
import os
import sys
import time
from multiprocessing import get_context
from pathlib import Path

from crawler.config import from_mapping
from crawler.pool import orphan
from crawler.pool.pool import StagePool

FOR_EVER = 3600


def wait(doing: str, told: str) -> None:
    Path(told).write_text(str(os.getpid()), "utf-8")
    if doing == "native":
        ctypes.PyDLL(None).sleep(FOR_EVER)  # keeps the interpreter's lock
    time.sleep(FOR_EVER)


def alone(doing: str, platform: str, told: str) -> None:
    sys.platform = platform
    orphan.end_with_parent()
    wait(doing, told)


async def in_pool(doing: str, told: str) -> None:
    pool = StagePool(from_mapping({"PII_PERSON": "off"}), 2)
    await pool.ready()
    await pool._call(wait, doing, told)


def main() -> None:
    """Called from outside: stage processes do not know the main module."""
    doing, platform, told = sys.argv[1:]
    if platform == "pool":
        asyncio.run(in_pool(doing, told))
    else:
        process = get_context("forkserver").Process(target=alone, args=(doing, platform, told))
        process.start()
        process.join()
