"""`gristmill dataset exclude CORPUS_DIR`: withdraw pages, a domain or a licence after the crawl, for good."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from crawler.dataset.entries import entries_in
from crawler.dataset.exclude import Wish, Withdrawn, find, is_begun, mistyped, refusals_after, undo, unknown, withdraw
from crawler.dataset.refused import Refusals
from crawler.dataset.rewrite import corpus_place, tidy
from crawler.dataset.withdrawals import NOT_GIVEN, WITHDRAWALS, in_force, log_lines, refused_domains, withdrawn_urls
from crawler.number import number_of
from crawler.operations.answer import Answer, Fields
from crawler.operations.common import agreed, reading
from crawler.operations.declared import Load, Work
from crawler.operations.forgetting import Forgotten, forget_elsewhere, take_again
from crawler.operations.images_left import IMAGES, leave_images, with_images
from crawler.operations.withdrawal_wish import Wanted, check, wishes_of
from crawler.server.errors import FrontierError
from crawler.server.location import is_unnamed
from crawler.storage.files.place import Place

if TYPE_CHECKING:
    from crawler.config import Config
    from crawler.dataset.exclude import Concerned
    from crawler.dataset.registry.holdings import Holding, Trace
    from crawler.seeds.allowlist import AllowlistEntry


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus, what is to go, why, and whether to ask first."""
    parser.add_argument("corpus", metavar="CORPUS_DIR")
    add = parser.add_argument
    add("--url", metavar="URL", dest="url", action="append", default=[], help="withdraw this page; repeatable")
    add("--urls", metavar="FILE", default="", help="withdraw the pages of this file, one URL a line")
    add(
        "--containing",
        metavar="TEXT",
        default="",
        help="withdraw the pages with this name or text, listed first",
    )
    add("--domain", metavar="D[,D]", default="", help="withdraw these domains with their subdomains")
    add("--licence", metavar="TAG[,TAG]", default="", help="withdraw what these licences cover")
    add("--allowlist", metavar="FILE", help="withdraw what this file no longer grants")
    add("--address-only", action="store_true", help="leave copies of the texts under other addresses, now and later")
    add("--again", action="store_true", help="withdraw whatever is refused already and is here (again)")
    add("--undo", metavar="ENTRY", type=int, help="take back this entry of withdrawals.jsonl")
    add("--reason", metavar="TEXT", default="", help="why, for the lineage of the corpus")
    add("--by", metavar="WHO", default="", help="person who requested it, for the log of withdrawals")
    add("--yes", action="store_true", help="do not ask: texts and raw pages are deleted")


def exclude(opts: argparse.Namespace, load: Load) -> Answer:
    """Show what would go, ask, do it. Raises: WrongCall, ConfigError, InputError, StorageError."""
    from crawler.seeds.allowlist import read_allowlist

    check(opts)
    config = load()
    config = config if is_unnamed(config, opts.corpus) or config.crawl.redis_url else load(CORPUS_DIR=opts.corpus)
    entries = read_allowlist(opts.allowlist) if opts.allowlist else None
    with corpus_place(opts.corpus, config.storage.spool_dir) as place:
        if opts.undo is not None:
            return _undo(config, place, opts)
        with reading() as progress:
            wishes = wishes_of(place, opts, config, entries, lambda path: progress(f"reading {path}"))
        answers = [_exclude(config, place, opts, each, entries) for each in wishes]
    did = [answer for answer in answers if answer.problems or (answer.facts or {}).get("entry") is not None]
    answers = did or answers[-1:]
    lines = [line for answer in answers for line in cast("list[str]", answer.lines)]
    problems = [problem for answer in answers for problem in answer.problems]
    facts = answers[-1].facts and {**answers[-1].facts, "perhaps": sorted(wishes[-1].perhaps or ())}
    return Answer(facts, lines, problems + [problem for each in wishes for problem in each.problems])


def _exclude(
    config: Config,
    place: Place,
    opts: argparse.Namespace,
    wanted: Wanted,
    entries: list[AllowlistEntry] | None,
) -> Answer:
    from crawler.frontier.exclusion import ungranted
    from crawler.observe.withdrawn import announce, doubtful

    wish, where = wanted.wish, wanted.where
    sys.stdout.writelines(f"{line}\n" for line in doubtful(wanted.perhaps or {}, place.url))
    if where is not None and not wish.urls:  # no page has the words
        return _finish(config, place) if _is_repeated(place, wish) else Answer(NOTHING, [], [_no_page(wanted)])
    found = find(place, wish)
    if entries is not None and not wish.refused:
        wish = dataclasses.replace(wish, refused=ungranted(found.pages, entries))
    if opts.again and found.nothing:
        return _finish(config, place)
    if not is_begun(place, wish):
        found.unseen -= _with_images_of(place, found.unseen)
        if problems := mistyped(found):
            return Answer(problems=problems)
        if found.nothing and not (wish.refused or wish.urls):
            return _finish(config, place)
    derived = [] if opts.yes else _derived(place, wish, found).holdings  # they are looked into when it is done
    sys.stdout.write(announce(found, place.url, pages=where, derived=derived))
    leads = sorted((wanted.ends or {}).items())
    sys.stdout.writelines(f"  {url} leads to {end}, which goes, too\n" for url, end in leads)
    pictures = _images_among(place, found.unknown)
    found.unknown -= pictures.keys()
    for url, folder in sorted(pictures.items()):
        sys.stdout.write(f"  {url}: an image in {folder}; it and its copies leave there, and none is asked for again\n")
    sys.stdout.writelines(f"  {line}\n" for line in [*_home_pages(wish), *unknown(found, _known(place, found.unknown))])
    if not (opts.yes or agreed("Delete them?")):
        return Answer(problems=["nothing was changed; add --yes to do it"])
    return _do(config, place, wish, entries)


def _do(config: Config, place: Place, wish: Wish, entries: list[AllowlistEntry] | None) -> Answer:
    from crawler.dataset.registry.holdings import derived_that_hold
    from crawler.dedup.index import DedupError

    done = withdraw(place, wish, now=time.time())
    left = leave_images(place, config, now=time.time())
    with reading() as progress:
        rest = derived_that_hold(place, progress=lambda folder: progress(f"reading {folder}"))
    try:
        forgotten = forget_elsewhere(config, place, done.refused, done.urls, entries)
        return with_images(answer_of(done, forgotten, derived=rest), left)
    except (FrontierError, DedupError) as error:
        problem = f"the corpus was changed, frontier or duplicate index were not ({error}); run the same command again"
        return with_images(answer_of(done, None, problem, derived=rest), left)


def _is_repeated(place: Place, wish: Wish) -> bool:
    """Whether a withdrawal with this reason was made for the same person before: its words are stored nowhere."""
    return any((line["reason"], line.get("by", NOT_GIVEN)) == (wish.reason, wish.by) for line in in_force(place))


def _no_page(wanted: Wanted) -> str:
    if wanted.perhaps:
        return (
            "no page of this corpus has these words for sure, so nothing was changed; look at those that perhaps have "
            "them, and give their addresses with --url"
        )
    return "no page of this corpus has these words, so nothing was changed; look at how they are written"


def _known(place: Place, urls: set[str]) -> dict[str, str]:
    """Which entry refuses each of these by now."""
    refused, entries = Refusals.of([place]), entries_in([place])
    found = {url: refused.refusal(url) for url in urls}
    known = {url: entries.get((refusal.log, refusal.number)) for url, refusal in found.items() if refusal}
    return {url: str(entry) for url, entry in known.items() if entry is not None}


def _home_pages(wish: Wish) -> Iterator[str]:
    """What follows where the page goes at which crawls of a site begin."""
    for url in sorted(wish.urls):
        if url.partition("://")[2].partition("/")[2] == "":
            yield f"{url} is a home page: a crawl that begins there finds nothing more; let it begin at other pages"


def _with_images_of(place: Place, domains: set[str]) -> set[str]:
    from crawler.images.withdraw import domains_with_images

    return domains_with_images(place, domains)


def _images_among(place: Place, urls: set[str]) -> dict[str, str]:
    from crawler.images.withdraw import images_among

    return images_among(place, urls)


def _derived(place: Place, wish: Wish, found: Concerned) -> Trace:
    from crawler.dataset.registry.holdings import derived_that_hold

    with reading() as progress:
        refused = refusals_after(wish, found)
        return derived_that_hold(place, refused, progress=lambda folder: progress(f"reading {folder}"))


def _finish(config: Config, place: Place) -> Answer:
    """Nothing matches. What an earlier call was cut off from doing is done: files removed, the frontier told."""
    from crawler.dedup.index import DedupError

    lines = ["nothing in this corpus matches; nothing was changed"]
    tidy(place)
    left = leave_images(place, config, now=time.time())
    if not in_force(place):
        return with_images(Answer(NOTHING, lines), left)
    try:
        forgotten = forget_elsewhere(config, place, refused_domains(place), withdrawn_urls(place))
    except (FrontierError, DedupError) as error:
        return with_images(
            Answer(NOTHING, lines, [f"frontier or duplicate index could not be updated ({error})"]), left
        )
    lines.append(f"of all withdrawals so far: {forgotten}")
    return with_images(Answer({**NOTHING, "forgotten": forgotten._asdict()}, lines), left)


def _undo(config: Config, place: Place, opts: argparse.Namespace) -> Answer:
    before = entries_in([place]).get((place.path_of(WITHDRAWALS), opts.undo))
    entry = undo(place, opts.undo, reason=opts.reason, by=opts.by.strip() or NOT_GIVEN, now=time.time())
    known = f"was taken back before ({before.undone})" if before and before.undone else "is taken back"
    lines = [
        f"entry {opts.undo} {known}: what it refused may be fetched, judged and kept again",
        "what it removed does not come back by this; these bring it:",
        "  a crawl with RECRAWL=1, or with another CRAWL_ID",
        "  a replay, under another CRAWL_ID, of an archive that has it",
    ]
    lines += _still_refused(place, opts.undo)
    domains, problems = frozenset(entry["refused"]) - refused_domains(place), []
    if domains:
        try:
            if not take_again(config, place, domains):
                lines.append("no frontier was found here; one elsewhere refuses the domains until the same "
                             "command runs with -s REDIS_URL=…")  # fmt: skip
        except FrontierError as error:
            problems.append(f"the frontier could not be updated ({error}); run the same command again")
    return Answer({**NOTHING, "undone": opts.undo}, lines, problems)


def _still_refused(place: Place, number: int) -> Iterator[str]:
    """What another entry refuses as well, of this corpus or of one that was made of it."""
    from crawler.dataset.registry.derived import is_corpus
    from crawler.dataset.registry.holdings import derived_folders

    urls = {line["url"] for line in log_lines(place) if line["kind"] == "page" and line["number"] == number}
    for folder in derived_folders(place).folders:
        if not is_corpus(one := Place(folder)):
            continue
        refused = Refusals.of([one])
        others = Counter(found.number for url in urls if (found := refused.refusal(url)) is not None)
        where = "" if folder == place.url else f" of {folder}"
        for other, count in sorted(others.items()):
            yield f"entry {other}{where} refuses {number_of(count, 'page')} of it, too"


def answer_of(done: Withdrawn, forgotten: Forgotten | None, *problems: str, derived: Trace | None = None) -> Answer:
    """What a withdrawal did; `forgotten`: None where frontier and index could not be asked, which is a problem."""
    from crawler.observe.withdrawn import left_to_do, summary

    holdings: list[Holding] = derived.holdings if derived else []
    facts = {
        "kept": done.found.kept,
        "held": done.found.held,
        "rejected": done.found.rejected,
        "raw": done.rewritten.erased,
        "refused": sorted(done.refused),
        "removed_files": done.removed_files,
        "corpus_version": done.rewritten.version,
        "forgotten": forgotten and forgotten._asdict(),
        "entry": done.number,
        "pages": done.urls,
        "copies": sorted(done.found.copies),
        "unknown": sorted(done.found.unknown),
        "perhaps": [],
        "still_held": [holding.as_dict() for holding in holdings],
        "undone": None,
        "images": {},
    }
    notes = str(forgotten).split("; ") if forgotten else []
    notes += left_to_do(derived) if derived else ()
    return Answer(facts, summary(done, notes).splitlines(), problems)


REMOVED: Fields = {
    "kept": ("integer", "kept documents whose records were removed"),
    "held": ("integer", "pages that waited for a person, whose records were removed"),
    "rejected": ("integer", "rejected documents whose text was removed"),
    "raw": ("integer", "raw pages removed from the archive"),
    "refused": ("list of string", "domains that later crawls into this corpus do not request"),
    "removed_files": ("list of string", "files removed because they described the older version"),
    "corpus_version": ("integer or null", "version of the corpus now; null: nothing was changed"),
    "forgotten": (
        "object or null",
        "queued: waiting URLs that were dropped; claims: freed in the duplicate index; untold: crawls",
    ),
}
"""Fields of an answer that tells what was removed."""
WITHDRAWN: Fields = {
    **REMOVED,
    "entry": ("integer or null", "number in withdrawals.jsonl; null: none was made"),
    "pages": ("list of string", "URLs of this entry"),
    "copies": ("list of string", "of these, copies of another's text"),
    "unknown": ("list of string", "of these, URLs that no record has"),
    "perhaps": ("list of string", "URLs where the text of --containing may be another's; they stay"),
    "still_held": ("list of object", "derived folders that have it: as in dataset-lineage"),
    **IMAGES,
    "undone": ("integer or null", "entry that was taken back"),
}
"""Fields of an answer that tells of a withdrawal."""
NOTHING: dict[str, Any] = {
    **dict.fromkeys(("kept", "held", "rejected", "raw"), 0),
    **{name: [] for name in ("refused", "removed_files", "pages", "copies", "unknown", "perhaps", "still_held")},
    **dict.fromkeys(("corpus_version", "forgotten", "entry", "undone")),
    "images": {},
}
"""The facts where none was made."""
WORK = Work('exclude --domain example.org --reason "letter of 3 May" --yes corpus', declare, exclude, WITHDRAWN)
