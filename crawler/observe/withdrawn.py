"""A withdrawal in words: what would go, what has gone, and who still has it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from crawler.dataset.exclude import WITHDRAWALS, Concerned, Withdrawn
from crawler.number import number_of

if TYPE_CHECKING:
    from crawler.dataset.registry.holdings import Holding, Trace

_MOST = 20


def announce(
    found: Concerned, where: str, *, pages: Mapping[str, Sequence[str]] | None = None, derived: Sequence[Holding] = ()
) -> str:
    """What a withdrawal concerns, before it is done. pages: found by words, each with the places that have them.

    derived: folders made of the corpus that have some of it.
    """
    lines = [f"concerned in {where}:"]
    lines += [f"  {url}: {', '.join(kinds)}" for url, kinds in sorted((pages or {}).items())]
    kept, rejected = number_of(found.kept, "kept document"), _of_rejected(found.rejected)
    lines.append(f"  {kept} ({number_of(found.words, 'word')}): the records go")
    if found.held:
        lines.append(f"  {number_of(found.held, 'held page')}: the records go")
    if found.rejected:
        lines.append(f"  {rejected}: they stay, text in {found.with_text:,} of them goes")
    lines.append(f"  {number_of(found.raw, 'raw page')} in the archive: their bytes go{_files(found)}")
    if found.copies:
        lines.append(f"  {number_of(len(found.copies), 'record')} of these are copies under other addresses:")
        lines += [f"    {url}" for url in _some(found.copies)]
    for title, counts in (("domain", found.domains), ("licence", found.licences)):
        lines += [f"  {title} {name}: {count:,} kept" for name, count in _top(counts)]
    images = [each for each in derived if each.version["operation"] == "dataset images"]
    others = [each for each in derived if each not in images]
    lines += [f"  {folder}: {number_of(most, 'document')} there; they stay" for folder, most in _by_folder(others)]
    lines += [f"  {folder}: {number_of(most, 'image')} there; they go" for folder, most in _by_folder(images)]
    return "\n".join(lines) + "\n"


def _of_rejected(records: int) -> str:
    """Each visit to a page that was not kept has a record."""
    return number_of(records, "record of a rejected page", "records of rejected pages")


def doubtful(pages: Mapping[str, Sequence[str]], where: str) -> Iterator[str]:
    """What may be another's, so that it stays until somebody has looked. pages: as in `announce`."""
    if not pages:
        return
    yield f"perhaps in {where}: {number_of(len(pages), 'page')} where the name may be another's; they stay"
    yield from (f"  {line}" for line in _some([f"{url}: {', '.join(kinds)}" for url, kinds in pages.items()]))
    yield "  look with `gristmill report --person`; withdraw those meant with --url"


def summary(done: Withdrawn, notes: list[str]) -> str:
    """What a withdrawal did."""
    rewritten, found = done.rewritten, done.found
    held = f", {number_of(found.held, 'held page')}" if found.held else ""
    gone = f"{number_of(found.kept, 'document')}{held} and {number_of(rewritten.erased, 'raw page')} are gone"
    lines = [f"corpus version {rewritten.version}: {gone}"]
    if done.refused:
        lines.append(f"{', '.join(sorted(done.refused))}: never requested again for this corpus")
    lines += [f"removed {name}, which described the older version" for name in done.removed_files if "/" not in name]
    lines += in_batches(done.batches, "pages")
    lines += notes
    new = f", and now fingerprints of {number_of(len(found.texts), 'text')}" if found.texts else ""
    lines.append(f"entry {done.number} of {WITHDRAWALS} has {number_of(len(done.urls), 'page')}{new}, no text")
    lines.append(f"requested by: {done.by}")
    return "\n".join(lines) + "\n"


def in_batches(batches: Mapping[str, tuple[str, int]], what: str) -> Iterator[str]:
    """What is to be done about batches of language models that hold something withdrawn, a sentence for each.

    batches: the job and the count of requests, by the id. what: is withdrawn, in the plural.
    """
    for name, (job, count) in sorted(batches.items()):
        yield (
            f"the provider of {job} has {number_of(count, 'request')} with withdrawn {what} in batch {name}: cancel it "
            "there, or run the same `gristmill llm` command with --batch, which deletes it once it has ended"
        )


def left_to_do(found: Trace) -> Iterator[str]:
    """What is to be done about what was withdrawn and is still somewhere, or may be: a sentence for each folder."""
    yield from found.unread
    documents = dict(_by_folder(found.holdings))
    raw = Counter[str]()
    for each in found.raw:
        raw[each.folder] += each.pages
    for folder in dict.fromkeys((*documents, *raw)):
        held = [each for each in found.holdings if each.folder == folder and each.withdrawn]
        what = [number_of(documents[folder], "withdrawn document")] if folder in documents else []
        what += [number_of(raw[folder], "withdrawn raw page")] if raw[folder] else []
        own = [each.again > 0 for each in held] + [each.own for each in found.raw if each.folder == folder]
        rest = [each.again < each.withdrawn for each in held]
        rest += [not each.own for each in found.raw if each.folder == folder]
        way = _way(folder, again=any(own), elsewhere=any(rest)) if all(each.corpus for each in held) else _MAKE_AGAIN
        yield f"{folder}: still holds {' and '.join(what)}; {way}"


_MAKE_AGAIN = "make it again from its sources, which leaves them out, and remove this one"


def _way(folder: str, *, again: bool, elsewhere: bool) -> str:
    """again: the corpus refuses some of it by itself; elsewhere: some of it only a corpus beside it refuses."""
    there = f"run `gristmill dataset exclude --again {folder}`"
    if not elsewhere:
        return there
    same = f"withdraw the same there with `gristmill dataset exclude`, as {folder} refuses"
    return f"{there}, and {same} not all of it" if again else f"{same} none of it"


def _by_folder(holdings: Sequence[Holding]) -> Iterator[tuple[str, int]]:
    """Each folder with the most withdrawn documents that one of its versions has."""
    most: dict[str, int] = {}
    for each in holdings:
        most[each.folder] = max(each.withdrawn, most.get(each.folder, 0))
    yield from ((folder, count) for folder, count in most.items() if count)


def _files(found: Concerned) -> str:
    return f" ({number_of(len(found.archives), 'file')})" if found.archives else ""


def _some(names: list[str]) -> Iterator[str]:
    yield from sorted(names)[:_MOST]
    if len(names) > _MOST:
        yield f"… and {len(names) - _MOST:,} more; `--json` lists all"


def _top(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_MOST]
