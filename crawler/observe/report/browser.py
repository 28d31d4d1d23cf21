"""What the browser did for a corpus: which share of a domain's pages it drew, and how many it would have drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from crawler.number import number_of
from crawler.statkeys import BROWSER_MISSED, BROWSER_USED
from crawler.storage.types import Run


def drawn_shares(runs: list[Run], judged: Mapping[str, int]) -> dict[str, float]:
    """Pages that a browser drew, or tried to, as a share (0 to 1) of a domain's pages; most first.

    judged: documents by domain, kept and rejected.
    """
    drawn: Counter[str] = Counter()
    for run in runs:
        for name, count in run["counters"].items():
            if name.startswith(f"{BROWSER_USED}/"):
                drawn[name.removeprefix(f"{BROWSER_USED}/")] += count
    shares = {domain: min(1.0, round(count / max(judged.get(domain, 0), count), 4)) for domain, count in drawn.items()}
    return dict(sorted(shares.items(), key=lambda item: (-item[1], item[0])))


def drawn_per_cent(shares: Mapping[str, float]) -> dict[str, float]:
    """The same as people read them: in per cent, with one decimal, without domains of which that leaves nothing."""
    return {domain: found for domain, share in shares.items() if (found := round(100 * share, 1))}


def missed_sentence(pages: int) -> str:
    """What is said of pages that nobody could draw."""
    whose = "its" if pages == 1 else "their"
    looked = f"{number_of(pages, 'page')} looked as if a script draws {whose} text"
    return f"{looked}, and there was no browser that runs: docs/browser.md says how to get one"


def missed(runs: list[Run]) -> int:
    """Pages that would have been drawn, had there been a browser."""
    return sum(run["counters"].get(BROWSER_MISSED, 0) for run in runs)
