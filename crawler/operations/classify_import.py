"""`gristmill classify import FILE --name NAME --label LABEL --language CODE --out DIR`: a public model of fastText."""

from __future__ import annotations

import argparse
import time

from crawler.config.text import ACTIONS, SIDES
from crawler.number import number_of
from crawler.operations.answer import Answer
from crawler.operations.classify_train import NAME
from crawler.operations.common import refuse_url
from crawler.operations.declared import Load, Work, WrongCall


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a supervised model of fastText, .bin or .ftz")
    parser.add_argument("--name", required=True, metavar="NAME", help="of the classifier: a-z, then a-z, 0-9 and _")
    parser.add_argument("--label", required=True, metavar="LABEL", help="whose probability is the score: __label__hq")
    parser.add_argument("--language", required=True, action="append", metavar="CODE", help="ISO 639-1, in which it "
                        "scores; repeatable")  # fmt: skip
    parser.add_argument("--threshold", type=float, default=0.5, help="score below which a text is not wanted (0.5)")
    parser.add_argument("--action", choices=ACTIONS, default="score", help="what a crawl does with such a "
                        "text: note the score, reject it, or hold it for a person (score)")  # fmt: skip
    parser.add_argument("--side", choices=SIDES, default="below", help="which scores are not wanted: below the "
                        "threshold, or there and above (below)")  # fmt: skip
    parser.add_argument("--licence", default="not stated", metavar="TEXT", help="of the model, for its card")
    parser.add_argument("--out", required=True, metavar="DIR", help="where NAME.npz goes")


def _import(opts: argparse.Namespace, load: Load) -> Answer:  # noqa: ARG001  # no setting matters here
    import hashlib
    from pathlib import Path

    from crawler.classify.fasttext_file import read
    from crawler.stages.classify.model import KIND
    from crawler.stages.classify.words import PROBE, computed
    from crawler.stages.models.file import Card, write
    from crawler.times import rfc3339

    if not NAME.fullmatch(opts.name):
        raise WrongCall(f"--name: {opts.name!r} is no name of a classifier: a-z, then a-z, 0-9 and _")
    if not 0.0 <= opts.threshold <= 1.0:
        raise WrongCall("--threshold: expected a number from 0 to 1")
    refuse_url(opts.out)
    source = Path(opts.file)
    model = read(source, opts.label)
    with source.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    card: Card = {
        "kind": KIND,
        "what": f"probability of {opts.label} as the fastText model {source.name} gives it",
        "data": f"{source.name}, SHA-256 {digest}",
        "licence": opts.licence,
        "date": rfc3339(source.stat().st_mtime or time.time())[:10],
        "figures": {},
        "classifier": {
            "name": opts.name,
            "threshold": opts.threshold,
            "action": opts.action,
            "side": opts.side,
            "languages": sorted({*opts.language}),
            "label": opts.label,
        },
    }
    path = Path(opts.out) / f"{opts.name}.npz"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, card, {"weights": model}, PROBE.encode(), computed)
    except OSError as error:
        return Answer(problems=[f"{path}: cannot be written ({error.strerror}); give another --out"])
    rows, columns = model.rows.shape
    facts = {"file": str(path), "rows": rows, "columns": columns, "bytes": path.stat().st_size, "card": card}
    each = "one number" if columns == 1 else f"{columns} numbers"
    return Answer(facts, [f"{path}: {number_of(rows, 'row')} of {each}", f"Next: -s CLASSIFIERS={opts.name}:{path}"])


WORK = Work(
    "import model.bin --name hq --label __label__hq --language en --threshold .018 --out models",
    _declare,
    _import,
    {
        "file": ("string", "the file that CLASSIFIERS names"),
        "rows": ("integer", "words and buckets"),
        "columns": ("integer", "numbers a row: 1 where one output decides"),
        "bytes": ("integer", "size of the file"),
        "card": ("object", "its card"),
    },
)
