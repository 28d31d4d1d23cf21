"""Third step of the demo web: what the crawl must do with each URL, as declared beside the page.

`expect:` in a page's front matter is one of

- `kept`: one record in `shards/`;
- `rejected <reason>[|<reason>…]`: one record in `rejected/` with one of these reasons, none in `shards/`;
- `one-of <group>`: exactly one page of the group is kept, the others are rejected as duplicates of it;
- `unseen`: neither requested nor recorded.

A page that only a script shows (`script:`) is rejected for want of text where the crawl has no browser.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from crawler.document import DropReason

from .pages import Page, PageError
from .render import Web
from .scripted import WITHOUT_BROWSER

DUPLICATES = frozenset({DropReason.EXACT_DUPLICATE, DropReason.NEAR_DUPLICATE})
NOT_DRAWN = frozenset({DropReason.TOO_SHORT, DropReason.NO_TEXT, DropReason.NEEDS_BROWSER})
"""What a page is that nobody has drawn."""
NEVER_REQUESTED = frozenset(
    {DropReason.ROBOTS_DISALLOWED, DropReason.HOLD_ROBOTS_UNREACHABLE, DropReason.NETWORK_FORBIDDEN}
)


class Fate(StrEnum):
    """Where a URL of the demo web must end."""

    KEPT = "kept"
    REJECTED = "rejected"
    ONE_OF = "one-of"
    UNSEEN = "unseen"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The declared outcome of one URL."""

    fate: Fate
    reasons: frozenset[DropReason] = frozenset()  # accepted where the URL is rejected
    group: str = ""  # one-of only
    language: str = ""  # ISO 639-1 of a kept page
    contains: tuple[str, ...] = ()  # stand in a kept text
    lacks: tuple[str, ...] = ()  # do not stand in a kept text
    requests: tuple[int, int] = (1, 1)  # least and most GETs in the server's access log


def expected_outcomes(web: Web) -> dict[str, Outcome]:
    """The declared outcome of every URL of the demo web.

    Raises: PageError for an `expect:` that cannot be read.
    """
    return {web.url(page.path, page.site): outcome_of(web, page) for page in web.pages()}


def outcome_of(web: Web, page: Page) -> Outcome:
    """Read one page's `expect:` line."""
    word, _, rest = page.expect.partition(" ")
    try:
        fate = Fate(word)
        reasons = frozenset(DropReason(r) for r in rest.split("|")) if fate is Fate.REJECTED else frozenset()
    except ValueError as error:
        raise PageError(f"{page.site}{page.path}: expect: {page.expect!r}: {error}") from None
    if fate is Fate.ONE_OF:
        reasons = DUPLICATES
    if needs_browser(page) and not web.draws:
        fate, reasons = Fate.REJECTED, NOT_DRAWN
    return Outcome(
        fate=fate,
        reasons=reasons,
        group=rest if fate is Fate.ONE_OF else "",
        language=page.lang,
        contains=page.contains,
        lacks=page.lacks + web.sites[page.site].boilerplate,
        requests=_requests(page, fate, reasons),
    )


def needs_browser(page: Page) -> bool:
    """True where the page as the server sends it has no text, not even as data."""
    return bool(page.script) and page.script not in WITHOUT_BROWSER


def _requests(page: Page, fate: Fate, reasons: frozenset[DropReason]) -> tuple[int, int]:
    """GETs a well-behaved crawler sends: none where it may not ask, one more for each answer that asks it to return."""
    if fate is Fate.UNSEEN or reasons & NEVER_REQUESTED:
        return (0, 0)
    if page.statuses[-1] >= 500:
        return (2, 10)  # every try of a page that stays broken
    if page.location is not None:
        return (1, 1)
    return (len(page.statuses), len(page.statuses))
