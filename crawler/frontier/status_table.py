"""What `gristmill frontier status` prints: an `Overview` as text for a person, fit for logs and mails."""

from __future__ import annotations

from textwrap import wrap

from crawler.frontier.model import Mode
from crawler.frontier.overview import Overview, ScopeView, WorkerView
from crawler.frontier.proxies import ProxyView
from crawler.number import number_of

ROWS = 20
_KINDS = 10  # of parked links that are shown
_HEAD = ("queued", "leased", "done", "failed", "on hold", "own delay", "next turn", "domain")
_WIDTH = 80
_UNITS = ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s"))


def render(view: Overview, *, hint: bool = True, one: bool = False, said: str = "") -> str:
    """The whole status. `hint` ends a shortened table with a line that says how to see the rest. one: a single domain
    was asked for, so that figures of the whole crawl would be read as its own. said: how the crawl stands, a sentence.
    """
    order = ordered(view)
    head = f"crawl “{view.crawl}”" + (f": {order}; `gristmill frontier resume` lets workers go on" if order else "")
    whole = [] if one else [*_totals(view), *_workers(view.workers_seen), *_proxies(view.proxies), *_crawls(view)]
    figures = [piece for line in (*whole, *_what_stays(view)) for piece in _wrapped(line.strip(), 2, 4)]
    lines = [*_wrapped(head, 0, 2), *_wrapped("" if one else said, 2), *figures, ""]
    head, *rows = _aligned([_HEAD, *(_row(scope) for scope in view.scopes)])
    lines.append(head)
    for row, scope in zip(rows, view.scopes, strict=True):
        lines += [row, *_wrapped(_remarks(scope), 6)]
    if hint and (more := view.hosts - len(view.scopes)) > 0:
        lines.append(f"… and {more} more: --top 0 shows all, --domain one, --json everything for a program")
    return "\n".join(lines)


def humane(seconds: float) -> str:
    """A duration as people say it, two units at most: `0.5 s`, `45 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`."""
    if seconds < 10:
        return f"{round(seconds, 1):g} s"
    whole = round(seconds)
    for size, name, small, small_name in _UNITS:
        if whole >= size:
            big, rest = divmod(whole, size)
            return f"{big} {name}" + (f" {rest // small} {small_name}" if rest // small and big < 100 else "")
    return f"{whole} s"


def ordered(view: Overview) -> str:
    """What somebody has ordered of the crawl: paused, draining or drained; nothing where workers may go on. Whether any
    does, `observe.standing` says."""
    order = {Mode.RUN: "", Mode.PAUSE: "paused", Mode.DRAIN: "draining" if view.workers else "drained"}
    return order[view.counts.mode]


def _totals(view: Overview) -> list[str]:
    c = view.counts
    far = f" ({c.waiting:,} of them wait for a later try)" if c.waiting else ""
    oldest = "" if view.oldest_ready is None else f", the oldest of them ready for {humane(view.oldest_ready)}"
    lines = [
        f"  queued {c.queued:,}{far}   leased {c.leased:,}",
        f"  on hold {c.held:,}   done {c.done:,}   failed {c.dead:,}   seen {c.seen:,}"
        + (f"   parked {c.barren:,}" if c.barren else "")
        + (f"   purged {c.purged:,}" if c.purged else ""),
        f"  {view.rate:.1f} finished a second over the last minute   {number_of(view.hosts, 'domain')}",
        f"  {view.fetchable:,} may be fetched within a minute{oldest}",
    ]
    if suspects := sum(scope.suspects for scope in view.scopes):
        lines.append(f"  {number_of(suspects, 'URL')} tried alone, because a worker died while fetching them")
    if view.left:
        when = f"within {humane(view.left_for)}" if view.left_for else "with the next request of a worker"
        lines.append(f"  {view.left:,} leased to workers that show no sign of life: queued again {when}")
    if view.parked:
        lines.append(f"  {view.parked:,} wait for their next visit, {_first_visit(view.next_visit_in)}")
    return lines


def _workers(workers: tuple[WorkerView, ...]) -> list[str]:
    """A line for each worker: when it last showed that it lives, and whether that is too long ago."""
    width = max((len(worker.name) for worker in workers[:ROWS]), default=0)
    lines = [
        f"  worker {each.name:<{width}}  last sign of life {humane(each.silent)} ago"
        + ("" if each.alive else ": silent")
        for each in workers[:ROWS]
    ]
    more = len(workers) - ROWS
    return lines + ([f"  … and {number_of(more, 'more worker')}: --json names them"] if more > 0 else [])


def _proxies(proxies: tuple[ProxyView, ...]) -> list[str]:
    """A line for each proxy: what went through, and whether it serves."""
    width = max((len(proxy.name) for proxy in proxies), default=0)
    return [
        f"  proxy {each.name:<{width}}  {number_of(each.requests, 'request')}, {number_of(each.failures, 'failure')}"
        + (f", away for {each.away} of {number_of(each.workers, 'worker')}" if each.away else "")
        for each in proxies
    ]


def _crawls(view: Overview) -> list[str]:
    """The crawls beside this one: a wrong CRAWL_ID looks like an empty crawl."""
    names = [
        each.name + (f" ({number_of(each.workers, 'worker')} at work)" if each.workers else "")
        for each in view.crawls[:ROWS]
    ]
    more = len(view.crawls) - ROWS
    listed = ", ".join(names) + (f", … and {more} more" if more > 0 else "")
    return _wrapped(f"other crawls in this database: {listed}", 2) if names else []


def _what_stays(view: Overview) -> list[str]:
    """Links that are parked and URLs that were given up, of the crawl or of the domain that was asked for."""
    lines = [f"  parked {number_of(v.parked, 'link')} like {v.example}: {v.reason}" for v in view.barren[:_KINDS]]
    if (more := len(view.barren) - _KINDS) > 0:
        kinds = number_of(more, "more kind")
        lines.append(f"  … and {kinds} of links; `gristmill frontier requeue parked` brings all of them back")
    elif view.barren:
        lines.append("  `gristmill frontier requeue parked` brings them back")
    if view.reasons:
        lines.append(
            "  failed for " + ", ".join(f"{why or 'no reason'} {n:,}" for why, n in list(view.reasons.items())[:5])
        )
    return lines


def _first_visit(seconds: float | None) -> str:
    if seconds is None:
        return "all of them in work"
    due = "some of them may be due for a run with RECRAWL"  # 0: or nobody has looked yet
    return f"the first in {humane(seconds)} at the earliest" if seconds >= 1 else due


def _row(s: ScopeView) -> tuple[str, ...]:
    numbers = (f"{n:,}" if n else "-" for n in (s.queued, s.leased, s.done, s.failed, s.held))
    return (*numbers, humane(s.delay) if s.delay else "-", _next_turn(s), s.scope)


def _next_turn(s: ScopeView) -> str:
    if s.paused or not (s.queued - s.waiting or s.next_in):
        return "-"
    return f"in {humane(s.next_in)}" if s.next_in >= 0.05 else "now"


def _remarks(s: ScopeView) -> str:
    parts = ["paused"] if s.paused else []
    if s.blocked_for and not s.paused:
        parts.append(f"blocked for {humane(s.blocked_for)}: {s.blocked or 'no reason given'}")
    if s.barren:
        parts.append(f"{s.barren:,} parked")
    if s.suspects:
        parts.append(f"{s.suspects:,} tried alone")
    if s.waiting:
        parts.append(f"{s.waiting:,} try again later")
    return ", ".join(parts)


def _wrapped(text: str, indent: int, then: int | None = None) -> list[str]:
    """A sentence on lines of `_WIDTH` characters at most, where its words allow it; no line of an empty one. indent: of
    the first line, then: of the others, else the same. An address stays whole."""
    blanks, more = " " * indent, " " * (indent if then is None else then)
    return wrap(text, _WIDTH, initial_indent=blanks, subsequent_indent=more, break_long_words=False,
                break_on_hyphens=False)  # fmt: skip


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Numbers to the right, the last column to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([*(cell.rjust(width) for cell, width in zip(row[:-1], widths, strict=False)), row[-1]])
        for row in rows
    ]
