"""The add-on refuses to start a crawl where a compliance component is missing, disabled or out of order.

Scrapy treats a component that is not configured as a component nobody wants, and goes on. Here that would mean to crawl
without a network guard or without robots.txt, so the settings are checked as a whole before anything runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name

from crawler.middlewares.defaults import COMPLIANCE, FOREIGN_HEADERS, HANDLER, REFUSED, REQUIRED
from crawler.runtime import apply_environment

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings, Settings


class ComplianceError(UsageError):
    """The settings would let the crawl run without its safeguards. One sentence per deviation."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("refusing to crawl:\n" + "\n".join(f"  {problem}" for problem in problems))


class GuardAddon:
    """`ADDONS = {"crawler.middlewares.addon.GuardAddon": 0}`."""

    def update_settings(self, settings: Settings) -> None:
        """Take over what the environment says. Raises: ComplianceError listing every deviation."""
        apply_environment(settings)
        if problems := list(problems_of(settings)):
            raise ComplianceError(problems)


def problems_of(settings: BaseSettings) -> Iterator[str]:
    """Every way in which the settings deviate, as a sentence with the fix."""
    for name, wanted in REQUIRED.items():
        value = settings.getbool(name) if isinstance(wanted, bool) else settings.get(name)
        if value != wanted:
            yield f"{name} is {settings.get(name)!r}; it has to be {wanted!r}"
    yield from _header_problems(settings)
    yield from _handler_problems(settings)
    yield from _middleware_problems(settings)


def _header_problems(settings: BaseSettings) -> Iterator[str]:
    """Scrapy adds these headers behind the guard, which takes such ones off."""
    for name, value in settings.getdict("DEFAULT_REQUEST_HEADERS").items():
        if value is not None and str(name).title() in FOREIGN_HEADERS:
            yield f"DEFAULT_REQUEST_HEADERS has {name}: no request carries a login or says where it came from"


def _handler_problems(settings: BaseSettings) -> Iterator[str]:
    handlers: dict[str, Any] = {k: v for k, v in settings.getwithbase("DOWNLOAD_HANDLERS").items() if v is not None}
    for scheme in ("http", "https"):
        if not _is_or_extends(handlers.pop(scheme, None), HANDLER):
            yield f"DOWNLOAD_HANDLERS[{scheme!r}] has to be {HANDLER}: it checks addresses"
    for scheme in handlers:
        yield f"DOWNLOAD_HANDLERS[{scheme!r}] has to be None: only http and https are fetched"


def _middleware_problems(settings: BaseSettings) -> Iterator[str]:
    active = [
        load_object(item)
        for item in build_component_list(settings.get_component_priority_dict_with_base("DOWNLOADER_MIDDLEWARES"))
    ]
    wanted = [load_object(path) for path in COMPLIANCE]
    for component in wanted:
        if component not in active:
            yield f"DOWNLOADER_MIDDLEWARES lacks {component.__module__}.{component.__qualname__}"
    found = [component for component in active if component in wanted]
    if sorted(found, key=wanted.index) != found:
        yield "DOWNLOADER_MIDDLEWARES: the policy middlewares are not in the order of crawler/middlewares/defaults.py"
    for component in active:
        if global_object_name(component) in REFUSED:
            yield f"DOWNLOADER_MIDDLEWARES: {global_object_name(component)} has to be None"


def _is_or_extends(path: Any, wanted: str) -> bool:
    if path is None:
        return False
    handler = load_object(path)
    return isinstance(handler, type) and issubclass(handler, load_object(wanted))
