"""`gristmill classify train --perplexity` and `classify perplexity`: n-gram models, scores only."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.number import number_of
from crawler.operations.answer import Answer
from crawler.operations.common import refuse_url
from crawler.operations.declared import Load, Work, WrongCall

if TYPE_CHECKING:
    from crawler.classify.examples import Examples


def declare_training(parser: argparse.ArgumentParser) -> None:
    """Options of `train` for n-gram models."""
    parser.add_argument("--perplexity", action="store_true", help="an n-gram model (modified Kneser-Ney, ARPA) of the "
                        "texts to keep, and a second one of those to drop")  # fmt: skip
    parser.add_argument(
        "--order", type=int, choices=range(2, 8), default=3, help="with --perplexity: longest n-gram (3)"
    )
    parser.add_argument("--unit", choices=("words", "characters"), default="words", help="with --perplexity (words)")


def train_perplexity(opts: argparse.Namespace, read: Examples) -> Answer:
    """Write NAME.arpa, and NAME.bad.arpa where there are texts to drop. Raises: InputError."""
    from crawler.classify import arpa
    from crawler.classify.kneser_ney import train
    from crawler.problems import InputError

    if not any(one.good > 0.5 for one in read.found):
        raise InputError(["there is no text to keep: a model of good texts needs --keep, or labels that keep"])
    files = []
    for good, ending in ((True, ".arpa"), (False, ".bad.arpa")):
        texts = [one.text for one in read.found if (one.good > 0.5) == good]
        if not texts:
            continue
        path = Path(opts.out) / f"{opts.name}{ending}"
        try:
            arpa.write(path, train(texts, opts.order, opts.unit))
        except OSError as error:
            return Answer(problems=[f"{path}: cannot be written ({error.strerror}); give another --out"])
        files.append(str(path))
    languages = sorted({one.language or "unknown" for one in read.found})
    weak = [f"the texts are in {len(languages)} languages: train a model for each"] if len(languages) > 1 else []
    facts: dict[str, Any] = {
        "file": files[0],
        "texts": len(read.found),
        "sites": len({one.site for one in read.found}),
        "languages": languages,
        **dict.fromkeys(("auc", "auc_low", "auc_high", "ece")),
        "cuts": [],
        "alone": {},
        "card": {},
        "pulls": {},
        "weaknesses": weak,
        "left_out": read.sentences(),
    }
    bad = f" --bad {files[1]}" if len(files) > 1 else ""
    following = f"Next: gristmill classify perplexity {files[0]} corpus{bad} --language {languages[0]} --out rows.jsonl"
    told = [f"{' and '.join(files)}: {opts.order}-grams of {opts.unit} of {number_of(len(read.found), 'text')}"]
    return Answer(facts, [*told, *(f"weak: {one}" for one in weak), *read.sentences(), following])


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="an n-gram model in ARPA format")
    parser.add_argument("corpus", metavar="CORPUS_DIR")
    parser.add_argument("--bad", metavar="MODEL", help="a model of bad texts: rows get the ratio of both")
    parser.add_argument("--language", action="append", required=True, metavar="CODE", help="of the model; documents in "
                        "others get no row; repeatable")  # fmt: skip
    parser.add_argument("--out", required=True, metavar="FILE", help="rows for gristmill dataset annotate (.jsonl)")


def _score(opts: argparse.Namespace, load: Load) -> Answer:
    import orjson

    from crawler.classify import arpa, thirds
    from crawler.dataset.living import Living
    from crawler.dataset.rewrite import corpus_place

    refuse_url(opts.out)
    if not opts.out.endswith(".jsonl"):
        raise WrongCall("--out: expected a file whose name ends with .jsonl")
    with corpus_place(opts.corpus, load().storage.spool_dir) as place:
        good, bad = arpa.read(Path(opts.model)), arpa.read(Path(opts.bad)) if opts.bad else None
        found = thirds.score(Living(place).kept(), good, bad, opts.language)
    try:
        Path(opts.out).write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in found.rows))
    except OSError as error:
        return Answer(problems=[f"{opts.out}: cannot be written ({error.strerror}); give another --out"])
    facts = {
        "rows": len(found.rows),
        "thirds": thirds.counts(found.rows),
        "limits": found.limits,
        "left_out": dict(found.left_out),
    }
    following = f"Next: gristmill dataset annotate {opts.corpus} --name perplexity --file {opts.out}"
    return Answer(facts, [f"{opts.out}: {number_of(len(found.rows), 'row')}", *thirds.lines(found), following])


WORK = Work(
    "perplexity models/prose.arpa corpus --language en --out rows.jsonl",
    _declare,
    _score,
    {
        "rows": ("integer", "documents with a row"),
        "thirds": ("object", "documents by third: head, middle, tail"),
        "limits": ("object", "by language, the perplexities below which head ends, and from which tail begins"),
        "left_out": ("object", "documents without a row, by reason"),
    },
)
