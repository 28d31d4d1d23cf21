"""The dataset operations by task; `gristmill.operations` is the entry-point group for those of other packages."""

from __future__ import annotations

from crawler.operations.declared import Operation, by_name

LOOK, CHECK, CLEAN = "Look", "Check and repair", "Find and clean"
WITHDRAW, COMPOSE, COMPARE = "Withdraw and expire", "Compose and publish", "Compare with texts from elsewhere"


def _built_in(group: str, name: str, summary: str, where: str = "") -> Operation:
    return Operation(name, summary, f"crawler.operations.{where or name + ':WORK'}", group)


OPERATIONS = by_name(
    _built_in(LOOK, "page", "show the record of one page, or the bytes that were fetched"),
    _built_in(LOOK, "query", "query every field of every record but the text, in SQL"),
    _built_in(LOOK, "annotations", "list what was computed about the documents: name, coverage, job; --drop NAME"),
    _built_in(LOOK, "diff", "compare with what another configuration or version made of the same URLs"),
    _built_in(LOOK, "trial", "compare corpora by what a model learns from them, with intervals"),
    _built_in(LOOK, "log", "list versions of a corpus or of what was derived from it, newest first", "registry:LOG"),
    _built_in(LOOK, "show", "show one version: operation, parameters, parents, software, files", "registry:SHOW"),
    _built_in(
        LOOK,
        "lineage",
        "trace a page to its archive; find each version that holds it, a domain or withdrawn pages",
        "registry:LINEAGE",
    ),
    _built_in(
        CHECK, "held", "list pages that wait for a person; release puts them among the kept ones, confirm rejects"
    ),
    _built_in(CHECK, "verify", "check every file, every line, and that each URL is there once"),
    _built_in(CHECK, "repair", "rebuild a broken or missing manifest from the ledgers and the files"),
    _built_in(CHECK, "rejudge", "make the next version with other settings, from the corpus' own archive"),
    _built_in(CHECK, "supersede", "make the next version, without what later visits replaced or found gone"),
    _built_in(CLEAN, "substrings", "find passages that occur more than once in the kept texts; --remove cuts them out"),
    _built_in(CLEAN, "semantic", "find heavily edited copies among the kept documents; --remove takes them out"),
    _built_in(CLEAN, "contaminated", "find kept documents that repeat an evaluation set; --remove takes them out"),
    _built_in(
        CLEAN, "best", "find kept documents that have a better copy among the duplicates; --exchange keeps that one"
    ),
    _built_in(
        CLEAN,
        "duplicates",
        "tune near duplicates on pairs of texts that you labelled: precision and recall by bands and thresholds",
    ),
    _built_in(
        WITHDRAW,
        "exclude",
        "withdraw pages, a domain or a licence for good: records, raw pages and copies go and stay away",
    ),
    _built_in(
        WITHDRAW,
        "expire",
        "remove archives older than ARCHIVE_TTL_DAYS, and documents older than their licence or domain allows",
    ),
    _built_in(COMPOSE, "annotate", "put labels, scores or embeddings of documents beside them, from a file of rows"),
    _built_in(
        COMPOSE, "transcribe", "give files without a text to a program such as OCR; its texts become an annotation"
    ),
    _built_in(COMPOSE, "select", "write a subset with a manifest of its own"),
    _built_in(COMPOSE, "merge", "make one corpus of several, such as those of several machines"),
    _built_in(COMPOSE, "mix", "mix several sources: targets by tokens, a budget, a cap, epochs"),
    _built_in(
        COMPOSE,
        "dedup",
        "find duplicates in a corpus or between several, by the rules of the crawl; --out writes the rest as a corpus",
    ),
    _built_in(COMPOSE, "export", "write the kept documents as Parquet, JSON lines, Dolma, WebDataset or MDS"),
    _built_in(COMPOSE, "chunks", "cut the kept documents into chunks for retrieval, with headings and anchors"),
    _built_in(
        COMPOSE,
        "images",
        "write image and text pairs: the images that kept pages name, as WebDataset tars",
    ),
    _built_in(COMPOSE, "tag", "give a version a name", "registry:TAG"),
    _built_in(COMPARE, "index", "compare new pages with texts you already have: put them into the duplicate index"),
    _built_in(
        COMPARE,
        "captures",
        "fetch the captures of a site from a public archive (Common Crawl) into an archive to replay",
    ),
    _built_in(COMPARE, "mediawiki", "write the pages of a wiki's dump into an archive to replay"),
)
"""Every dataset operation of this package, by its name on the command line."""
