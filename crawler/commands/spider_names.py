"""Which spiders there are, for commands that take the name of one."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from scrapy.spiderloader import get_spider_loader

from crawler.loading import program

if TYPE_CHECKING:
    from scrapy.settings import Settings


def no_spider(settings: Settings, command: str) -> str:
    """A sentence where neither a URL nor a spider was named."""
    names = sorted(get_spider_loader(settings).list())
    called = f"{program()} {command}"
    return f"give a URL, such as {called} https://example.org/, or name one spider: {called} {' or '.join(names)}"


def unknown_spider(settings: Settings, name: str) -> str | None:
    """A sentence where there is no such spider."""
    names = sorted(get_spider_loader(settings).list())
    if name in names:
        return None
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"there is no spider {name!r}: expected {' or '.join(names)}{hint}"
