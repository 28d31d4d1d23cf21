"""Which spiders there are, for commands that take the name of one."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from scrapy.spiderloader import get_spider_loader

if TYPE_CHECKING:
    from scrapy.settings import Settings


def no_spider(settings: Settings, command: str) -> str:
    """A sentence where no spider was named."""
    names = sorted(get_spider_loader(settings).list())
    return f"name one spider: {' or '.join(f'scrapy {command} {name}' for name in names)}"


def unknown_spider(settings: Settings, name: str) -> str | None:
    """A sentence where there is no such spider."""
    names = sorted(get_spider_loader(settings).list())
    if name in names:
        return None
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"there is no spider {name!r}: expected {' or '.join(names)}{hint}"
