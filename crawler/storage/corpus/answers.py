"""`llm/ledger.jsonl` in a corpus: every call of a language model, what it may cost, and what was answered.

An intent is on the disk before the call goes out, with the most that the call can cost; its answer follows. A call
without an answer may have been charged, so it counts as spent in full. That holds after any number of deaths: the
budget is never exceeded, no answered key is asked again, and at most the calls in flight are repeated.

Lines hold hashes, money and answers, no text of a page and no URL. Of a page that is withdrawn only the money stays, as
it does of answers that were lost (kind "withdrawn"). Of calls that go together, "batch" lines say how far they are.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson

from crawler.number import number_of
from crawler.problems import InputError
from crawler.storage.corpus.answer_lines import cut_torn_line, damage_of, lines_of
from crawler.storage.corpus.spending import AHEAD, Spending
from crawler.storage.files.errors import AtWorkError, StorageError
from crawler.storage.files.journal import disk, remove_draft, rename_durably, sync_folder
from crawler.storage.files.locks import WriterLock
from crawler.storage.files.place import LLM, LLM_SPENT, Place

LEDGER = f"{LLM}/ledger.jsonl"
_LOCK = f"{LLM}/ledger.lock"


class BudgetReached(Exception):  # noqa: N818  # no fault: the end that was asked for
    """The next call could cost more than is left of the budget."""


@dataclass(frozen=True, slots=True)
class Job:
    """Who spends. name: operation, its rubric or schema, and the model; a budget is for all calls under one name.

    budget: None where nothing limits it. currency: ISO 4217, of budget and prices.
    """

    name: str
    currency: str
    budget: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """An intent that is on the disk. number: of the call in the ledger; reserved: the most that it can cost."""

    number: int
    key: str
    reserved: Decimal


@dataclass(frozen=True, slots=True)
class Ended:
    """How a call ended. outcome: a word; value: what was answered, as JSON; final: nobody has to ask again."""

    outcome: str
    cost: Decimal
    tokens_in: int = 0
    tokens_out: int = 0
    value: Any = None
    final: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """Calls that go to a provider together. mark: theirs in the ledger, and the beginning of their ids at the provider.

    part: of the job; at: when it was to be sent, seconds since the epoch; size: calls; id: of the provider, "" before
    it is known. ended: nobody has to look for it.
    """

    mark: str
    part: str
    at: float
    size: int
    id: str = ""
    ended: bool = False

    def named(self, name: str) -> Batch:
        """With its id at the provider."""
        return replace(self, id=name)

    def done(self) -> Batch:
        """At its end."""
        return replace(self, ended=True)


@dataclass(slots=True)
class _Open:
    key: str
    job: str
    currency: str
    page: str
    reserved: Decimal
    mark: str = ""


def page_of(canonical_url: object) -> str:
    """What stands for a page in the ledger."""
    return hashlib.blake2b(str(canonical_url).encode("utf-8", "replace"), digest_size=16).hexdigest()


class Answers:
    """The ledger of a corpus on this machine, for one process at a time; safe to use from several threads.

    Memory: about 0.2 kB an answer.
    """

    def __init__(self, place: Place) -> None:
        self._place, self._path = place, place.root / LEDGER
        self._lock, self._turn = WriterLock(place.root / _LOCK), threading.Lock()
        self._file: Any = None
        self._next = 1
        self._open: dict[int, _Open] = {}
        self._at: dict[str, int] = {}  # key → where the line of its answer begins
        self._spent: dict[tuple[str, str], Decimal] = {}
        self._batches: dict[str, tuple[str, Batch]] = {}  # mark → job and batch
        self._spending, self._is_noted = Spending(place.root / LLM_SPENT), True

    def __enter__(self) -> Answers:
        """Raises: StorageError where another process has it, the file is damaged, or the corpus is not on a disk."""
        if self._place.remote:
            raise StorageError(f"{self._place.url}: expected a corpus on this machine; copy it from there")
        with disk(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
        if not self._lock.acquire():
            raise AtWorkError(f"{self._path}: another process asks a language model here; wait for its end or stop it")
        try:
            with disk(self._path):
                self._file = self._path.open("a+b", buffering=0)
                sync_folder(self._path.parent)
                cut_torn_line(self._file)
            self._spending = Spending.read(self._spending.path)
            for at, line in lines_of(self._path):
                self._take(at, line)
            self._spending.compare(self._next)
            self._is_noted = self._spending.path.exists() or not any(self._spent.values())
            self._unsent()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            with self._turn:  # a call that nobody awaits any longer may come to its end now
                if self._file is not None:
                    self._file.close()
                if not self._is_noted:
                    self._spending.note(self._next, self._spent)
        finally:
            self._lock.release()

    @property
    def unanswered(self) -> int:
        """Calls whose outcome nobody knows: each counts as spent in full."""
        return len(self._open)

    def spent(self, job: Job) -> Decimal:
        """What the calls of a job have cost, with what those without an answer may have cost.

        Raises: InputError where some of them were in another currency.
        """
        if other := {currency for name, currency in self._spent if name == job.name and currency != job.currency}:
            said = f"{job.name} was paid in {', '.join(sorted(other))} before, and not in {job.currency}"
            raise InputError([f"{self._path}: {said}; give prices in that currency"])
        return self._spent.get((job.name, job.currency), Decimal())

    def lacking(self, job: Job, known: Decimal = Decimal()) -> Decimal:
        """What a job has cost by `known`, from elsewhere, or by `llm-spent.json`, and the ledger lacks, because it was
        lost or an older copy stands there. Raises: InputError as `spent`.
        """
        noted = {who: self._spending.sums[who] for who in self._spending.lost if who[0] == job.name}
        if other := {currency for _, currency in noted if currency != job.currency}:
            said = f"{job.name} was paid in {', '.join(sorted(other))} before, and not in {job.currency}"
            raise InputError([f"{self._spending.path}: {said}; give prices in that currency"])
        known = max(known, noted.get((job.name, job.currency), known))
        return max(Decimal(), known - self.spent(job))

    def carry(self, job: Job, known: Decimal) -> Decimal:
        """Count what is `lacking` as spent; how much that is. Raises: InputError as `spent`; StorageError."""
        with self._turn:
            lacking, who = self.lacking(job, known), (job.name, job.currency)
            if lacking:
                number, self._next = self._next, self._next + 1
                self._append({"kind": "withdrawn", "call": number, "job": job.name, "currency": job.currency,
                              "reserved": str(lacking)})  # fmt: skip
                self._spent[who] = self.spent(job) + lacking
            if self._spending.lost:
                self._spending.lost.discard(who)
                self._spending.note(self._next, self._spent)
        return lacking

    def has(self, key: str) -> bool:
        """True where nobody has to ask again."""
        return key in self._at

    def answer(self, key: str) -> Ended | None:
        """What was answered, from the disk; None where nothing was. Raises: StorageError."""
        if (at := self._at.get(key)) is None:
            return None
        with disk(self._path), self._path.open("rb") as file:
            file.seek(at)
            line = orjson.loads(file.readline())
        return _ended(line)

    def begin(self, job: Job, key: str, *, page: str, most: Decimal, mark: str = "") -> Call:
        """Reserve the most that a call can cost; it may go out when this returns.

        page: `page_of` its URL; mark: of its batch. Raises: BudgetReached where it could cost more than is left;
        StorageError.
        """
        with self._turn:
            spent = self.spent(job)
            if job.budget is not None and spent + most > job.budget:
                raise BudgetReached
            number, self._next = self._next, self._next + 1
            who = {"job": job.name, "currency": job.currency, "page": page} | ({"batch": mark} if mark else {})
            self._append({"kind": "intent", "call": number, "key": key, **who, "reserved": str(most)})
            self._open[number] = _Open(key, job.name, job.currency, page, most, mark)
            self._spent[(job.name, job.currency)] = spent + most
            self._note_ahead(job, most)
        return Call(number, key, most)

    def _note_ahead(self, job: Job, most: Decimal) -> None:
        """Before a call goes out its cost stands in the second place, too."""
        self._is_noted = False
        who = job.name, job.currency
        if self._spent[who] > self._spending.sums.get(who, Decimal()):
            ahead = self._spent[who] + AHEAD * most
            ahead = ahead if job.budget is None else max(self._spent[who], min(ahead, job.budget))
            self._spending.note(self._next, self._spent | {who: ahead})

    def end(self, call: Call, ended: Ended) -> None:
        """Note how it ended; on the disk when this returns. Raises: StorageError."""
        with self._turn:
            self._is_noted = False
            said = asdict(ended) | {"cost": str(ended.cost)}
            at = self._append({"kind": "answer", "call": call.number, **said})
            self._settle(call.number, ended, at)

    def note(self, job: Job, batch: Batch) -> None:
        """Write down how far a batch is; on the disk when this returns. Raises: StorageError."""
        with self._turn:
            number, self._next = self._next, self._next + 1
            line = {"kind": "batch", "call": number, "job": job.name, "currency": job.currency, "reserved": "0"}
            self._append(line | asdict(batch))
            self._note(job.name, batch)

    def _note(self, job: str, batch: Batch) -> None:
        if batch.ended:
            self._batches.pop(batch.mark, None)
        else:
            self._batches[batch.mark] = job, batch

    def batches(self, job: Job, part: str | None = None) -> list[Batch]:
        """Those of a job, or of a part of it, that have not come to their end."""
        return [b for name, b in self._batches.values() if name == job.name and part in (None, b.part)]

    def calls_of(self, mark: str) -> dict[int, Call]:
        """The calls of a batch without an end, by number; those about withdrawn pages are gone."""
        with self._turn:
            return {n: Call(n, call.key, call.reserved) for n, call in self._open.items() if call.mark == mark}

    def _unsent(self) -> None:
        """A batch that is not written down was not sent: its calls cost nothing."""
        for number, call in list(self._open.items()):
            if call.mark and call.mark not in self._batches:
                self.end(Call(number, call.key, call.reserved), Ended("unreachable", Decimal()))

    def _append(self, line: dict[str, Any]) -> int:
        data = memoryview(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
        with disk(self._path):
            at = int(os.fstat(self._file.fileno()).st_size)
            try:
                while data:
                    data = data[self._file.write(data) :]
            except OSError:
                self._file.truncate(at)
                raise
            os.fsync(self._file.fileno())
        return at

    def _settle(self, number: int, ended: Ended, at: int) -> None:
        call = self._open.pop(number)
        self._spent[(call.job, call.currency)] += ended.cost - call.reserved
        if ended.final:
            self._at[call.key] = at

    def _take(self, at: int, line: dict[str, Any]) -> None:
        number = int(line["call"])
        self._next = max(self._next, number + 1)
        if line["kind"] == "answer":
            self._settle(number, _ended(line), at)
            return
        if line["kind"] == "batch":
            self._note(line["job"], Batch(*(line[each.name] for each in fields(Batch))))
            return
        name, money = (str(line["job"]), str(line["currency"])), Decimal(line["reserved"])
        self._spent[name] = self._spent.get(name, Decimal()) + money
        if line["kind"] == "intent":
            self._open[number] = _Open(line["key"], *name, line["page"], money, line.get("batch", ""))


def damage_in(place: Place) -> list[str]:
    """What is wrong with ledger and sums of a corpus on this machine, a sentence each; nothing changes.

    Raises: StorageError where the disk fails.
    """
    path, sums = place.root / LEDGER, place.root / LLM_SPENT
    found = [said] if (said := damage_of(path)) else []
    calls, money = 1, Decimal()
    for _, line in lines_of(path, unfinished=True) if path.is_file() and not found else ():
        calls = max(calls, line["call"] + 1)
        money += Decimal(line.get("reserved", 0))
    try:
        noted = Spending.read(sums)
    except StorageError as error:
        return [*found, str(error)]
    if money and not sums.exists():
        found.append(f"{sums}: is not there, though {LEDGER} has calls that cost money; restore it from a copy, or let "
                     "the next `gristmill llm` command write it anew")  # fmt: skip
    if calls < noted.calls and not found:
        fewer = number_of(noted.calls - calls, "call")
        found.append(f"{path}: {fewer} fewer than {LLM_SPENT} knows; restore it from a copy, or the next "
                     "`gristmill llm` command counts them as spent and asks anew")  # fmt: skip
    return found


def asked_by(place: Place) -> dict[str, int]:
    """Pages about which each job has asked its model, by the ledger's name of the job, withdrawn ones too.

    Raises: StorageError where the ledger is damaged.
    """
    pages: dict[str, set[str]] = {}
    path = place.root / LEDGER
    if not place.remote and path.is_file():
        for _, line in lines_of(path):
            if "job" in line and line["kind"] != "batch":  # of a withdrawn page only the call is left
                pages.setdefault(line["job"], set()).add(line.get("page") or f"call {line['call']}")
    return {name: len(some) for name, some in pages.items()}


def withdrawn_in_batches(place: Place) -> dict[str, tuple[str, int]]:
    """Batches that have not come to their end and hold withdrawn pages, which their provider has until then: by id, or
    mark where nobody knows it yet, the job and the count of requests. Raises: StorageError where the ledger is damaged.
    """
    path = place.root / LEDGER
    going, open_ = Counter[str](), dict[str, tuple[str, str]]()
    for _, line in lines_of(path) if not place.remote and path.is_file() else ():
        if line["kind"] == "withdrawn" and "batch" in line:
            going[line["batch"]] += 1
        elif line["kind"] == "batch":
            open_[line["mark"]] = line["id"] or line["mark"], line["job"]
            if line["ended"]:
                del open_[line["mark"]]
    return {name: (job, going[mark]) for mark, (name, job) in open_.items() if going[mark]}


@contextmanager
def forgetting(place: Place) -> Iterator[Callable[[Collection[str]], int]]:
    """While this is open no language model is asked about the corpus. Yields what takes out the answers about pages,
    by their canonical URLs, and says how many calls went; what they cost stays.

    Safe to repeat after a crash at any moment. Raises: StorageError where a model is being asked, or the disk fails.
    """
    if place.remote:
        yield lambda _: 0
        return
    path, lock = place.root / LEDGER, WriterLock(place.root / _LOCK)
    with disk(path):
        path.parent.mkdir(exist_ok=True)
    if not lock.acquire():
        raise AtWorkError(f"{place.url}: `gristmill llm` is at work here; stop it (Ctrl-C), and try again")
    try:
        yield lambda urls: _forget(path, {page_of(url) for url in urls})
    finally:
        lock.release()
        with suppress(OSError):  # it has a ledger
            path.parent.rmdir()


def _forget(path: Path, pages: Collection[str]) -> int:
    if not path.is_file():
        return 0
    with path.open("r+b") as file:
        cut_torn_line(file)
    going: dict[int, str] = {}  # call → what it counts as
    for _, line in lines_of(path):
        if line["kind"] == "intent" and line["page"] in pages:
            going[line["call"]] = line["reserved"]
        elif line["kind"] == "answer" and line["call"] in going:
            going[line["call"]] = line["cost"]
    if not going:
        return 0
    draft = path.with_name(f".{path.name}.tmp")
    try:
        with disk(draft), draft.open("wb") as target:
            target.writelines(_without(path, going))
            target.flush()
            os.fsync(target.fileno())
        rename_durably(draft, path)
    except BaseException:
        remove_draft(draft)
        raise
    return len(going)


def _without(path: Path, going: dict[int, str]) -> Iterator[bytes]:
    for _, line in lines_of(path):
        if (money := going.get(line["call"])) is None:
            yield orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)
        elif line["kind"] == "intent":
            left = {name: line[name] for name in ("call", "job", "currency", "batch") if name in line}
            yield orjson.dumps({"kind": "withdrawn", **left, "reserved": money}, option=orjson.OPT_APPEND_NEWLINE)


def _ended(line: dict[str, Any]) -> Ended:
    cost, tokens = Decimal(line["cost"]), (int(line["tokens_in"]), int(line["tokens_out"]))
    return Ended(line["outcome"], cost, *tokens, line["value"], bool(line["final"]))
