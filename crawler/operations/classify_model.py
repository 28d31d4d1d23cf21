"""`gristmill classify eval | explain | card`: what a model is worth, why a text has its score, what its card says."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.config.text import ACTIONS, SIDES
from crawler.number import number_of
from crawler.operations.answer import Answer
from crawler.operations.classify_train import FIGURES, NAME, declare_texts, read_texts
from crawler.operations.declared import Load, Work, WrongCall

if TYPE_CHECKING:
    from crawler.stages.classify.model import Classifier


def _open(path: str) -> Classifier:
    """Raises: InputError where the file is no classifier."""
    from crawler.problems import InputError
    from crawler.stages.classify.model import open_classifier
    from crawler.stages.models.file import ModelError

    try:
        return open_classifier(path)
    except ModelError as error:
        raise InputError([str(error)]) from None


def _declare_eval(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a model's file")
    declare_texts(parser)


def _eval(opts: argparse.Namespace, load: Load) -> Answer:
    from dataclasses import asdict

    from crawler.classify.card import lines_of
    from crawler.classify.evaluate import evaluate

    model = _open(opts.model)
    read = read_texts(opts, load)
    said = evaluate(model.weights, read.found, sorted(model.languages))
    left = read.sentences()
    left += [
        f"{number_of(count, 'text')} in {name} {'has' if count == 1 else 'have'} "
        "no score: the model was not trained on it"
        for name, count in said.unscored.items()
    ]
    facts = {
        "texts": said.texts,
        "sites": said.sites,
        "good": said.good,
        "auc": said.auc.value,
        "auc_low": said.auc.low,
        "auc_high": said.auc.high,
        "ece": said.ece,
        "cuts": [asdict(one) for one in said.cuts],
        "alone": said.alone,
        "left_out": left,
    }
    head = f"{number_of(said.texts, 'text')} of {said.sites:,} sites, {said.good:.1%} of them to keep"
    return Answer(facts, [head, *lines_of(said.auc, said.ece, said.cuts, said.alone), *left])


def _declare_explain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a model's file")
    parser.add_argument("text", metavar="FILE|URL", help="a file with the text, or with --corpus the URL of a page")
    parser.add_argument("--corpus", metavar="CORPUS_DIR", help="the corpus that has the page, kept or rejected")


def _explain(opts: argparse.Namespace, load: Load) -> Answer:  # noqa: ARG001  # no setting matters here
    from crawler.classify.explain import RULES, explain
    from crawler.problems import InputError
    from crawler.stages.classify.model import Weights

    model = _open(opts.model)
    if not isinstance(model.weights, Weights):
        raise InputError(
            [f"{opts.model}: is an imported model, which has no names for its rows; explain one of your own"]
        )
    text, language = _text_of(opts.text, opts.corpus)
    said = explain(model.weights, text)
    scored = language in model.languages
    facts: dict[str, Any] = {
        "score": said.score,
        "scored": scored,
        "language": language,
        "threshold": model.threshold,
        "odds": said.odds,
        "bias": said.bias,
        "parts": [{"names": list(one.names), "adds": one.adds, "share": one.share} for one in said.parts],
    }
    lines = [f"score {said.score:.4f}, threshold {model.threshold:g}; log odds {said.odds:+.3f}, bias {said.bias:+.3f}"]
    lines += [f"  {one.adds:+.3f} {one.share:6.1%}  {' = '.join(one.names)}" for one in said.parts]
    if said.parts and said.parts[0].share > RULES:
        lines.append(
            f"one feature carries {said.parts[0].share:.0%} of the sum: the model may have learned an accident"
        )
    if not scored:
        lines.append(
            f"a crawl gives this text no score: it is in {language or 'no known language'}, the model knows "
            f"{', '.join(sorted(model.languages))}"
        )
    return Answer(facts, lines)


def _text_of(name: str, corpus: str | None) -> tuple[str, str | None]:
    """Text and language. Raises: InputError, StorageError, WrongCall."""
    from crawler.classify.examples import Example
    from crawler.classify.languages import identified
    from crawler.dataset.living import Living
    from crawler.dataset.pages import page_name
    from crawler.dataset.rewrite import corpus_place
    from crawler.problems import InputError
    from crawler.storage.files.place import REJECTED, SHARDS

    if corpus is None and "://" in name:
        raise WrongCall("the text of a URL is in a corpus: give --corpus")
    if corpus is None:
        try:
            text = Path(name).read_text("utf-8", "replace")
        except OSError as error:
            raise InputError([f"{name}: cannot be read ({error.strerror}); expected a file with a text"]) from None
        return text, identified([Example(name, text, 0.0, name)])[0].language
    seen = False
    with corpus_place(corpus) as place:
        for record in Living(place).of((SHARDS, REJECTED)):
            if name in (record["url"], page_name(record)):
                seen = True
                if record.get("text"):
                    return record["text"], record.get("language")
    why = (
        "its record has no text: it was rejected before that, or REJECTED_TEXT is off"
        if seen
        else "no record of this page"
    )
    raise InputError([f"{name}: {why} in {corpus}"])


def _declare_card(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a model's file")
    parser.add_argument("--threshold", type=float, help="score below which a text is not wanted")
    parser.add_argument("--action", choices=ACTIONS, help="what a crawl does with such a text: note "
                        "the score, reject it, or hold it for a person (gristmill dataset held)")  # fmt: skip
    parser.add_argument("--side", choices=SIDES, help="such a text scores below the threshold, or there and above")
    parser.add_argument("--out", metavar="FILE", help="where the changed model goes; the given file stays as it is")


def _card(opts: argparse.Namespace, load: Load) -> Answer:  # noqa: ARG001  # no setting matters here
    import orjson

    from crawler.stages.classify.words import PROBE, computed
    from crawler.stages.models.file import write

    changes = {name: getattr(opts, name) for name in ("threshold", "action", "side") if getattr(opts, name) is not None}
    if bool(changes) != (opts.out is not None):
        raise WrongCall("--threshold, --action and --side go into a new file: give --out with them, and only then")
    if not 0.0 <= changes.get("threshold", 0.5) <= 1.0:
        raise WrongCall("--threshold: expected a number from 0 to 1")
    model = _open(opts.model)
    card = model.stored.card
    lines = [orjson.dumps(card, option=orjson.OPT_INDENT_2).decode()]
    if opts.out is not None:
        card = {**card, "classifier": {**card["classifier"], **changes}}
        where = Path(opts.out).with_suffix(".npz")
        if not NAME.fullmatch(where.stem):
            raise WrongCall(f"--out: {where.stem!r} is no name of a classifier: a-z, then a-z, 0-9 and _")
        try:
            write(where, card, {"weights": model.weights}, PROBE.encode(), computed)
        except OSError as error:
            return Answer(problems=[f"{where}: cannot be written ({error.strerror}); give another --out"])
        lines = [f"{where}: " + ", ".join(f"{name} {value}" for name, value in changes.items())]
    return Answer({"card": card}, lines)


EVAL = Work(
    "eval models/worth.npz --labels judged.jsonl --json",
    _declare_eval,
    _eval,
    {
        "texts": ("integer", "texts with a score"),
        "sites": ("integer", "sites they are of"),
        "good": ("number", "share of them that is to be kept"),
        **FIGURES,
        "left_out": ("list of string", "what was not used, a sentence for each reason"),
    },
)
EXPLAIN = Work(
    "explain models/worth.npz page.txt",
    _declare_explain,
    _explain,
    {
        "score": ("number", "probability that the text is to be kept, 0–1"),
        "scored": ("boolean", "whether a crawl would give this score: the language is one of the model's"),
        "language": ("string or null", "of the text"),
        "threshold": ("number", "of the model"),
        "odds": ("number", "log odds: the bias and all parts"),
        "bias": ("number", "log odds of a text without words"),
        "parts": ("list of object", "the largest parts: names of the feature, what it adds, its share"),
    },
)
CARD = Work(
    "card models/worth.npz",
    _declare_card,
    _card,
    {"card": ("object", "the card; with --out that of the new file")},
)
