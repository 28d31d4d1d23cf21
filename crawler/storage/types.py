"""The shapes of what a corpus says about itself: manifest, ledgers, runs, versions and the entries of its files.

Types only. `docs/storage.md` explains every field; what is not marked as optional every version of the project wrote.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from crawler.policy.facts import PolicyFacts

Counts = dict[str, int]


class Index(TypedDict):
    """The index beside an archive: path in the corpus, hash, size in bytes, lines."""

    path: str
    sha256: str
    bytes: int
    lines: int


class FileFacts(TypedDict):
    """Hash and size in bytes of a file."""

    sha256: str
    bytes: int


class Made(TypedDict):
    """The run that wrote a file, its configuration and its software."""

    crawl_id: str
    worker_id: str
    started: str
    config_digest: str
    versions: dict[str, str]


class AnnotationColumn(TypedDict):
    """A column of an annotation. type: in words (`crawler.dataset.annotations.tables.TYPES`)."""

    type: str
    meaning: str


class JobRecord(TypedDict):
    """What computed an annotation: software, model and cost as its maker says, and the version that it read.

    kind: "label", "score", "embedding", "judgement" or another word. model: name, sha256. cost: cpu_seconds, money,
    currency, tokens. corpus: SHA-256 of the manifest of the version.
    """

    kind: str
    code: str
    model: dict[str, str]
    parameters: dict[str, Any]
    cost: dict[str, Any]
    corpus: str
    started: str
    ended: str
    columns: dict[str, AnnotationColumn]


class _Facts(TypedDict):
    """What an entry says whatever the file is; the optional parts are those of shards, or of archives."""

    sha256: str
    bytes: int
    documents: int
    first_crawled_at: str | None
    last_crawled_at: str | None
    uncompressed_bytes: NotRequired[int]
    words: NotRequired[int]
    tokens: NotRequired[int]
    characters: NotRequired[int]
    domain_count: NotRequired[int]
    domains: NotRequired[Counts]
    languages: NotRequired[Counts]
    licences: NotRequired[Counts]
    reviews: NotRequired[Counts]
    reasons: NotRequired[Counts]
    extractors: NotRequired[Counts]
    pii_types: NotRequired[Counts]
    names_uncovered: NotRequired[Counts]  # by language: documents in which no model looked for names
    page_types: NotRequired[Counts]  # as the learned extractor reads the pages
    config_digests: NotRequired[Counts]
    pipeline_versions: NotRequired[Counts]
    histograms: NotRequired[dict[str, Counts]]
    lengths: NotRequired[dict[str, Counts]]  # of kept records: finer bins than those of the histograms
    accounts: NotRequired[dict[str, dict[str, Counts]]]  # crawler.storage.files.accounts
    revisits: NotRequired[int]
    index: NotRequired[Index]
    made_by: NotRequired[list[Made]]
    job: NotRequired[JobRecord]  # of annotations


class Sealed(_Facts):
    """A sealed file before a ledger lists it. archives: where its records come from, and how many from each."""

    archives: NotRequired[Counts]


class LedgerEntry(Sealed):
    """A sealed file in the ledger of its writer. path: in the corpus; kind: the folder."""

    path: str
    kind: str
    writer: str


class Source(TypedDict):
    """An archive that records come from; sha256 is None while it still grows, `expired` the time at which it went."""

    documents: int
    sha256: str | None
    expired: NotRequired[str]


class Entry(_Facts):
    """A sealed file in the manifest."""

    path: str
    kind: str
    writer: str
    archives: NotRequired[dict[str, Source]]


class Retired(TypedDict):
    """A file that left the list: what it was, how many records went, and which file stands for it."""

    path: str
    sha256: str
    removed: int
    replaced_by: str | None


class RecoveredFile(TypedDict):
    """A file that a later start finished for a dead writer."""

    path: str
    documents: int
    cut_bytes: int


class SelectedFrom(TypedDict):
    """Whence a subset comes: the source's manifest, records read and taken, and the conditions."""

    manifest_sha256: str
    read: int
    selected: int
    languages: list[str]
    licences: list[str]
    domains: list[str]
    min_quality: float | None
    where: list[str]
    sql: NotRequired[str]  # of `--sql`


class DeduplicatedFrom(TypedDict):
    """What a corpus without duplicates was made of. sources: in order, by name, each with the hash and version of a
    manifest or the files of others; rule: which copy stays; thresholds, scheme: of the comparison; band_bits: 32 or 64;
    read: documents that were compared; gone: of them by kind (exact, near, replaced); empty: without a text.
    """

    sources: list[dict[str, Any]]
    rule: str
    thresholds: dict[str, Any]
    scheme: dict[str, Any]
    band_bits: int
    read: int
    gone: Counts
    withdrawn: int
    empty: int


class MergedFrom(TypedDict):
    """What a merged corpus was made of. sources: in order, each with the hash and version of its manifest and what it
    had of each kind; rule: which record of a page stays; read: records; replaced: of them by later fetches of their
    pages; several: pages that more than one source had; withdrawn: records that a source refuses; archives: files that
    were brought along; elsewhere: archives that stayed where they are; unsaid: pages that a visit found unchanged, and
    of which no source has what they said before.
    """

    sources: list[dict[str, Any]]
    rule: str
    read: int
    replaced: int
    several: int
    withdrawn: int
    archives: int
    elsewhere: int
    unsaid: NotRequired[int]  # an older version did not count them


class JudgedFrom(TypedDict):
    """The corpora that were judged, each with the hash and version of its manifest.

    of: "archives", or "documents" where kept records of some were read.
    """

    of: str
    sources: list[dict[str, Any]]


class Origin(TypedDict, total=False):
    """What an archive says of itself (`crawler.storage.archive.origin`). policy: the facts of our own archives."""

    software: str
    is_part_of: str
    operator: str
    publisher: str
    robots: str
    user_agent: str
    description: str
    policy: PolicyFacts


RunKind = Literal["crawl", "replay", "select", "dedup", "merge"]


class Run(TypedDict):
    """One process at work on the corpus, from its start to its end (None while it is at work)."""

    crawl_id: str
    worker_id: str
    started: str
    ended: str | None
    config_digest: str
    versions: dict[str, str]
    counters: Counts
    kind: NotRequired[RunKind]
    judging_digest: NotRequired[str]  # of the settings that decide once a page was fetched
    judging_parts: NotRequired[dict[str, str]]  # the same of each section of settings
    policy: NotRequired[PolicyFacts]
    origins: NotRequired[dict[str, Origin]]  # by archive, of those that a replay read
    archives: NotRequired[dict[str, str]]  # SHA-256 of those that a replay read
    unread: NotRequired[dict[str, str]]  # archives that a replay could not read, or not to their end, and why
    recovered: NotRequired[list[RecoveredFile]]
    selected_from: NotRequired[SelectedFrom]
    deduplicated_from: NotRequired[DeduplicatedFrom]
    merged_from: NotRequired[MergedFrom]
    judged_from: NotRequired[JudgedFrom]  # of a job on Spark
    source: NotRequired[str]  # in a merged corpus: hash of the manifest of the corpus that the run was in


class Step(TypedDict):
    """One file that a version replaced; `new` is None where nothing was left. Counts are records."""

    old: str
    new: str | None
    documents: int
    changed: int
    rejected: int
    dropped: int
    released: NotRequired[int]  # they are among the kept ones now
    held: NotRequired[int]  # they wait for a person now


class JudgedBy(TypedDict):
    """The settings by which a version was judged again, as a run names its own."""

    config_digest: str
    judging_digest: str
    judging_parts: dict[str, str]


class Lineage(TypedDict):
    """Where a version of the corpus comes from."""

    version: int
    operation: str
    reason: str
    time: str
    previous: Previous
    kept_old: bool
    counts: Counts
    files: list[Step]
    replacing_runs: NotRequired[int]  # how many runs that may have replaced records were read
    judged_by: NotRequired[JudgedBy]


class Previous(TypedDict):
    """The manifest of the version before."""

    path: str
    sha256: str


class LedgerFile(TypedDict):
    """`manifest.d/<writer>.json`."""

    files: list[LedgerEntry]
    runs: list[Run]
    writer: NotRequired[str]
    retired: NotRequired[list[Retired]]
    rewrite: NotRequired[Lineage]


class Manifest(TypedDict):
    """`manifest.json`: the merge of all ledgers."""

    format: str
    version: NotRequired[int]
    crawls: list[str]
    config_digests: list[str]
    counts: Counts
    files: list[Entry]
    retired: list[Retired]
    runs: list[Run]
    lineage: NotRequired[list[Lineage]]
