"""Last step of the demo web: compare what a crawl did with what the pages declare. Every check returns sentences.

An empty list means that the promise held. `tests/e2e` asserts each check by itself; `make demo` prints all of them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from crawler.document import DropReason

from .expectations import Fate, Outcome, expected_outcomes
from .outputs import Access, CorpusRecords, Record
from .render import Web, sitemap_files
from .scripted import script_files

NO_TEXT_REASONS = frozenset(
    {DropReason.OPTOUT, DropReason.ROBOTS_DISALLOWED, DropReason.ACCESS_DENIED, DropReason.PII_DENSITY}
    | {reason for reason in DropReason if reason.is_hold}
)


def all_problems(web: Web, corpus: CorpusRecords, log: list[Access], delay: float, tolerance: float) -> list[str]:
    """Everything that is not as declared."""
    return [
        *wrong_fates(web, corpus),
        *wrong_groups(web, corpus),
        *wrong_texts(web, corpus),
        *leaked_texts(corpus),
        *wrong_requests(web, log),
        *unexpected_requests(web, log),
        *robots_not_first(log),
        *impolite_gaps(log, delay, tolerance),
    ]


def wrong_fates(web: Web, corpus: CorpusRecords) -> list[str]:
    """URLs that did not end where their page says: kept, rejected with an accepted reason, or unseen; exactly once."""
    kept, rejected = _by_url(corpus.kept), _by_url(corpus.rejected)
    return [
        f"{url}: {problem}"
        for url, outcome in expected_outcomes(web).items()
        if (problem := _wrong_fate(outcome, kept.get(url, []), rejected.get(url, [])))
    ]


def _by_url(records: Iterable[Record]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        found[record["canonical_url"]].append(record)
    return found


def _wrong_fate(outcome: Outcome, kept: list[Record], rejected: list[Record]) -> str:
    got = ", ".join(["kept"] * len(kept) + [f"rejected {r['reason']} ({r['detail']})" for r in rejected]) or "nothing"
    reasons = " or ".join(sorted(outcome.reasons))
    match outcome.fate:
        case Fate.UNSEEN:
            return f"must stay unseen, but is {got}" if kept or rejected else ""
        case Fate.KEPT:
            return "" if len(kept) == 1 and not rejected else f"must be kept once, but is {got}"
        case Fate.REJECTED:
            fine = not kept and len(rejected) == 1 and rejected[0]["reason"] in outcome.reasons
            return "" if fine else f"must be rejected once as {reasons}, but is {got}"
        case Fate.ONE_OF:
            fine = len(kept) + len(rejected) == 1 and all(r["reason"] in outcome.reasons for r in rejected)
            return "" if fine else f"must be kept or rejected as {reasons}, but is {got}"


def wrong_groups(web: Web, corpus: CorpusRecords) -> list[str]:
    """Groups of twins of which not exactly one is kept, or whose duplicates do not name it."""
    groups: dict[str, set[str]] = defaultdict(set)
    for url, outcome in expected_outcomes(web).items():
        if outcome.group:
            groups[outcome.group].add(url)
    problems = []
    for name, urls in groups.items():
        owners = [r["canonical_url"] for r in corpus.kept if r["canonical_url"] in urls]
        if len(owners) != 1:
            problems.append(f"group {name}: exactly one must be kept, but {len(owners)} are: {owners}")
        problems += [
            f"{r['canonical_url']}: must be a duplicate of {owners}, but dup_of is {r.get('dup_of')!r}"
            for r in corpus.rejected
            if r["canonical_url"] in urls and r.get("dup_of") not in owners
        ]
    return problems


def wrong_texts(web: Web, corpus: CorpusRecords) -> list[str]:
    """Kept records whose text lacks what it must hold, holds what it must not, or whose language is wrong."""
    outcomes = expected_outcomes(web)
    problems = []
    for record in corpus.kept:
        url, text = record["canonical_url"], record["text"]
        outcome = outcomes.get(url)
        if outcome is None:
            problems.append(f"{url}: kept, but it is no page of the demo web")
            continue
        problems += [f"{url}: the text lacks {part!r}" for part in outcome.contains if part not in text]
        problems += [f"{url}: the text holds {part!r}" for part in outcome.lacks if part in text]
        if record["language"] != outcome.language:
            problems.append(f"{url}: language is {record['language']}, expected {outcome.language}")
    return problems


def leaked_texts(corpus: CorpusRecords) -> list[str]:
    """Rejected records that carry text although policy said no."""
    return [
        f"{record['url']}: rejected as {record['reason']}, but its record holds text"
        for record in corpus.rejected
        if record["reason"] in NO_TEXT_REASONS and (record.get("text") or record.get("title"))
    ]


def wrong_requests(web: Web, log: list[Access]) -> list[str]:
    """Pages that were requested more or less often than a well-behaved crawler would."""
    asked = Counter(f"http://{access.address}{access.page}" for access in log)
    return [
        f"{url}: requested {asked[url]} times, expected {least}" + (f" to {most}" if most != least else "")
        for url, outcome in expected_outcomes(web).items()
        for least, most in [outcome.requests]
        if not least <= asked[url] <= most
    ]


def unexpected_requests(web: Web, log: list[Access]) -> list[str]:
    """Requests for URLs that are neither pages, robots.txt, sitemaps nor well-known files."""
    known = set(expected_outcomes(web)) | {f"{base}/robots.txt" for base in web.bases.values()}
    for site in web.sites.values():
        known |= {web.bases[site.name] + path for path in [*sitemap_files(web, site), *script_files(site)]}
    control = ("/.well-known/", "/ai.txt", "/trust.txt")
    return [
        f"http://{access.address}{access.path}: nothing links there"
        for access in log
        if f"http://{access.address}{access.page}" not in known and not access.page.startswith(control)
    ]


def robots_not_first(log: list[Access]) -> list[str]:
    """Hosts that were asked for anything before their robots.txt, or for robots.txt again in the same run."""
    first: dict[str, str] = {}
    for access in log:
        first.setdefault(access.address, access.page)
    asked = Counter(access.address for access in log if access.page == "/robots.txt" and access.status == 200)
    early = [
        f"{address}: {page} was requested before robots.txt" for address, page in first.items() if page != "/robots.txt"
    ]
    return early + [f"{address}: robots.txt was fetched {count} times" for address, count in asked.items() if count > 1]


def impolite_gaps(log: list[Access], delay: float, tolerance: float, gaps: int = 1) -> list[str]:
    """Requests to one host that arrived closer together than `gaps × delay − tolerance` seconds.

    `gaps` is how many steps lie between the two requests that are compared. The server's clock jitters by the same
    amount whatever that number is, so that longer spans measure the rate more sharply than neighbours do.
    """
    hosts: dict[str, list[Access]] = defaultdict(list)
    for access in log:
        hosts[access.address].append(access)
    return [
        f"{address}: {later.path} followed {earlier.path} after {later.time - earlier.time:.3f} s, "
        f"expected {gaps * delay:.1f} s"
        for address, accesses in hosts.items()
        for earlier, later in zip(accesses, accesses[gaps:], strict=False)
        if later.time - earlier.time < gaps * delay - tolerance
    ]
