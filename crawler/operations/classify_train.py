"""`gristmill classify train NAME --labels FILE --out DIR`: a model and its card from judged texts."""

from __future__ import annotations

import argparse
import re
import time
from typing import TYPE_CHECKING

from crawler.config.text import ACTIONS
from crawler.number import number_of
from crawler.operations.answer import Answer
from crawler.operations.classify_perplexity import declare_training, train_perplexity
from crawler.operations.common import reading, refuse_url
from crawler.operations.declared import Load, Work, WrongCall

if TYPE_CHECKING:
    from crawler.classify.examples import Examples

NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
MOST = 20_000
_LICENCE = "not stated; numbers only, no phrase of a text"


def declare_texts(parser: argparse.ArgumentParser) -> None:
    """Where judged texts come from."""
    parser.add_argument("--labels", action="append", default=[], metavar="FILE", help="labels of gristmill explore: "
                        "a file whose lines have text, or a corpus with its labels.jsonl; repeatable")  # fmt: skip
    parser.add_argument("--judged", action="append", default=[], metavar="ANNOTATION", help="scores of `gristmill llm "
                        "judge` in the corpora of --labels, such as llm_judge_quality: each model is a judge beside "
                        "the people; repeatable")  # fmt: skip
    parser.add_argument("--judged-keep", type=int, choices=range(1, 6), default=4, metavar="SCORE",
                        help="the least score of --judged that is a keep (4)")  # fmt: skip
    parser.add_argument("--judged-drop", type=int, choices=range(5), default=1, metavar="SCORE",
                        help="the greatest one that is a drop (1); texts between are left out and counted")  # fmt: skip
    parser.add_argument("--keep", action="append", default=[], metavar="FILE|CORPUS", help="texts that are all to be "
                        "kept: JSON lines with text and url, or a corpus' kept documents; repeatable")  # fmt: skip
    parser.add_argument("--drop", action="append", default=[], metavar="FILE|CORPUS", help="likewise, texts that are "
                        "all to be rejected; repeatable")  # fmt: skip
    parser.add_argument("--background", action="append", default=[], metavar="FILE|CORPUS", help="relevance: texts "
                        "among which more like those of --keep are looked for, good or bad; repeatable")  # fmt: skip
    parser.add_argument("--most", type=int, default=MOST, help=f"texts that are read of one source ({MOST})")


def read_texts(opts: argparse.Namespace, load: Load) -> Examples:
    """The judged texts; a text without a language is identified, one that a record lacks comes from the archive.

    Raises: WrongCall, InputError, StorageError; ConfigError where a text has to come from the archive.
    """
    from crawler.classify import examples
    from crawler.classify.languages import identified
    from crawler.documents.archived_text import ArchivedTexts

    if opts.background and (opts.labels or opts.drop or not opts.keep):
        raise WrongCall("--background: expected --keep beside it, and neither --labels nor --drop")
    if not (opts.labels or opts.keep or opts.drop):
        raise WrongCall("no judged texts: give --labels, or --keep and --drop")
    if opts.judged and not opts.labels:
        raise WrongCall("--judged: give the corpus that has the scores as --labels")
    if opts.judged_drop >= opts.judged_keep:
        raise WrongCall("--judged-drop: expected a score below --judged-keep")
    scores = examples.Scores(tuple(opts.judged), opts.judged_keep, opts.judged_drop) if opts.judged else None
    with reading() as tell:
        tell("reading judged texts …")
        read = examples.Examples(examples.refused_in([*opts.labels, *opts.keep, *opts.drop, *opts.background]))
        examples.read_labels(opts.labels, read, ArchivedTexts(load), scores)
        examples.read_texts(opts.keep, 1.0, read, opts.most)
        examples.read_texts([*opts.drop, *opts.background], 0.0, read, opts.most)
        read.found = identified(read.found)
    return read


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="of the classifier: a-z, then a-z, 0-9 and _")
    declare_texts(parser)
    parser.add_argument("--out", required=True, metavar="DIR", help="where NAME.npz goes")
    parser.add_argument("--threshold", type=float, default=0.5, help="score below which a text is not wanted (0.5)")
    parser.add_argument("--action", choices=ACTIONS, default="score", help="what a crawl does with such a "
                        "text: note the score, reject it, or hold it for a person (score)")  # fmt: skip
    parser.add_argument("--licence", default=_LICENCE, metavar="TEXT", help="of the model, for its card")
    declare_training(parser)
    parser.add_argument("--seed", type=int, default=0, help="of the intervals (0)")


def _train(opts: argparse.Namespace, load: Load) -> Answer:
    from dataclasses import asdict
    from pathlib import Path

    import numpy as np

    from crawler.classify.card import Said, card_of, lines_of, save
    from crawler.classify.explain import pulls
    from crawler.classify.measures import first_ones
    from crawler.classify.train import balanced, train, usable
    from crawler.times import rfc3339

    if not NAME.fullmatch(opts.name):
        raise WrongCall(f"{opts.name!r} is no name of a classifier: a-z, then a-z, 0-9 and _")
    if not 0.0 < opts.threshold < 1.0:
        raise WrongCall("--threshold: expected a number between 0 and 1")
    if opts.background and opts.perplexity:
        raise WrongCall("--background: expected no --perplexity beside it")
    refuse_url(opts.out)
    read = read_texts(opts, load)
    if opts.perplexity:
        return train_perplexity(opts, read)
    found = usable(read, "judge more pages (gristmill explore), or give --keep and --drop")
    if opts.background:
        found = balanced(found)
    with reading() as tell:
        made = train(found, opts.seed, tell)
    date = max((one.at for one in found), default="")[:10] or rfc3339(time.time())[:10]
    data = [*opts.labels, *(f"keep {one}" for one in opts.keep), *(f"drop {one}" for one in opts.drop)]
    data += [f"background {one}" for one in opts.background]
    names = tuple(Path(one).name for one in data)
    said = Said(opts.name, names, opts.licence, date, opts.threshold, opts.action, bool(opts.background))
    card, weak = card_of(made, said)
    path = Path(opts.out) / f"{opts.name}.npz"
    try:
        save(path, card, made)
    except OSError as error:
        return Answer(problems=[f"{path}: cannot be written ({error.strerror}); give another --out"])
    keep, drop = pulls(made.weights, [one.text for one in found])
    goal = np.array([one.good for one in made.examples])
    base_rate, first = float(goal.mean()), first_ones(goal, made.held_out)
    left = read.sentences()
    if read.siteless:
        left.append(
            f"{number_of(read.siteless, 'text has', 'texts have')} no URL: each "
            "counts as a site of its own, so the figures may flatter"
        )
    facts = {
        "file": str(path),
        "texts": len(found),
        "sites": made.groups,
        "languages": list(made.languages),
        "auc": made.auc.value,
        "auc_low": made.auc.low,
        "auc_high": made.auc.high,
        "ece": made.ece,
        "cuts": [asdict(one) for one in made.cuts],
        "alone": made.alone,
        "base_rate": base_rate,
        "precision_of_first_20": first,
        "card": card,
        "pulls": {"keep": keep, "reject": drop},
        "weaknesses": weak,
        "left_out": left,
    }
    lines = [
        f"{path}: learned from {number_of(len(found), 'text')} of "
        f"{number_of(made.groups, 'group')} of sites, in {', '.join(made.languages)}",
        "Of sites that the model had not seen:",
        *lines_of(made.auc, made.ece, made.cuts, made.alone),
        *([f"{first:.0%} of the first twenty are examples, {base_rate:.1%} of all"] if opts.background else []),
        f"pulls towards keep: {', '.join(keep)}",
        f"pulls towards reject: {', '.join(drop)}",
        *(f"weak: {one}" for one in weak),
        *left,
        f"Next: -s CLASSIFIERS={opts.name}:{path}",
    ]
    return Answer(facts, lines)


FIGURES = {
    "auc": ("number or null", "probability that a text to keep scores above one to reject; null with one answer only"),
    "auc_low": ("number or null", "lower end of its 95 % interval, sites drawn with replacement"),
    "auc_high": ("number or null", "upper end"),
    "ece": ("number or null", "expected calibration error"),
    "cuts": ("list of object", "by threshold: shares kept, precision, recall"),
    "alone": ("object", "AUC that site, language or page type alone would give; null where it is not defined"),
}
WORK = Work(
    "train worth --labels corpus --out models",
    _declare,
    _train,
    {
        "file": ("string", "the model's file"),
        "texts": ("integer", "texts that were learned from"),
        "sites": ("integer", "groups of sites and near duplicates that are never parted"),
        "languages": ("list of string", "in which the model scores"),
        **FIGURES,
        "base_rate": ("number", "share of texts to keep, or of examples, among all that were learned from"),
        "precision_of_first_20": ("number", "their share among the twenty that score highest while held out"),
        "card": ("object", "the card in the file"),
        "pulls": ("object", "words and pairs that pulled most, towards keep and towards reject"),
        "weaknesses": ("list of string", "what is weak about the model, a sentence each"),
        "left_out": ("list of string", "what was not used, a sentence for each reason"),
    },
)
