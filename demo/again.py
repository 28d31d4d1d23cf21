"""After the second run over the demo web: did every page end as `demo/second/` declares, and all others as they were?

`expect:` of a page in `demo/second/` is that of `demo.expectations`, about the second run, and one more:
`stays <reason>`, a page that cannot be fetched and whose document therefore stays in the corpus.

The corpus is what both runs left: `shards/` as readers see it, `rejected/` with the lines of both.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

from crawler.document import DropReason

from .expectations import DUPLICATES, Fate, outcome_of
from .outputs import CorpusRecords, Record
from .pages import Page, load_changes, load_web
from .render import Web
from .verdicts import leaked_texts

STAYS = "stays "


def problems(web: Web, corpus: CorpusRecords) -> list[str]:
    """Everything that is not as declared, as sentences. `web` is the second generation."""
    changed = {web.url(page.path, page.site): page for page in load_changes()}
    return [
        *wrong_changes(web, changed, corpus),
        *wrong_rest(web, changed, corpus),
        *wrong_groups(changed, corpus),
        *leaked_texts(corpus),
    ]


def wrong_changes(web: Web, changed: dict[str, Page], corpus: CorpusRecords) -> list[str]:
    """Pages of the second generation that did not end as declared."""
    kept, rejected = _by_url(corpus.kept), _by_url(corpus.rejected)
    found = []
    for url, page in changed.items():
        problem = _wrong_change(web, page, kept.get(url, []), {r["reason"] for r in rejected.get(url, [])})
        found += [f"{url}: {problem}"] if problem else []
    return found


def _wrong_change(web: Web, page: Page, kept: list[Record], reasons: set[str]) -> str:
    got = f"kept {len(kept)} times, rejected as {sorted(reasons)}"
    if page.expect.startswith(STAYS):
        wanted = page.expect.removeprefix(STAYS)
        return "" if len(kept) == 1 and wanted in reasons else f"must stay although {wanted}, but is {got}"
    outcome = outcome_of(web, page)
    match outcome.fate:
        case Fate.KEPT:
            text = kept[0]["text"] if len(kept) == 1 else ""
            missing = [part for part in outcome.contains if part not in text]
            return "" if text and not missing else f"must be kept once with {outcome.contains}, but is {got}"
        case Fate.REJECTED:
            return "" if not kept and reasons & outcome.reasons else f"must be {page.expect}, but is {got}"
        case Fate.ONE_OF:
            fine = len(kept) == 1 or (not kept and bool(reasons & DUPLICATES))
            return "" if fine else f"must be kept or a duplicate, but is {got}"
    return f"{page.expect} means nothing here"


def wrong_rest(web: Web, changed: dict[str, Page], corpus: CorpusRecords) -> list[str]:
    """Pages that did not change and that the second run did not leave as the first one found them."""
    kept, rejected = _by_url(corpus.kept), _by_url(corpus.rejected)
    first = replace(web, sites=load_web())
    found = []
    for page in first.pages():
        url, outcome = first.url(page.path, page.site), outcome_of(first, page)
        copies, reasons = len(kept.get(url, [])), {r["reason"] for r in rejected.get(url, [])}
        if url in changed or outcome.fate is Fate.ONE_OF:
            continue
        wanted = 1 if outcome.fate is Fate.KEPT else 0
        allowed = {*outcome.reasons, DropReason.UNCHANGED}
        if copies != wanted or reasons - allowed:
            found.append(f"{url}: {page.expect} as before, but is kept {copies} times, rejected as {sorted(reasons)}")
    return found


def wrong_groups(changed: dict[str, Page], corpus: CorpusRecords) -> list[str]:
    """Of the addresses that show one thing exactly one is kept."""
    groups: dict[str, set[str]] = defaultdict(set)
    for url, page in changed.items():
        if page.expect.startswith(Fate.ONE_OF):
            groups[page.expect].add(url)
    counts = Counter(name for r in corpus.kept for name, urls in groups.items() if r["canonical_url"] in urls)
    return [f"{name}: exactly one must be kept, but {counts[name]} are" for name in groups if counts[name] != 1]


def _by_url(records: list[Record]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        found[record["canonical_url"]].append(record)
    return found
