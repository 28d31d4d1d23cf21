"""The classify stage scores a text with every classifier that CLASSIFIERS names; a card may say to reject or hold it.

A classifier says nothing about a text in a language that it was not trained on: the record then has no score of it, and
no threshold applies. What is scored is the redacted text, as the record has it.
"""

from __future__ import annotations

from typing import ClassVar

from crawler.config.text import ClassifyConfig, classifiers_of
from crawler.document import Document, Drop, DropReason
from crawler.stages.classify.model import Classifier, open_classifier
from crawler.stages.models.file import ModelError


class ClassifyStage:
    """Fills `classifier_scores`; without CLASSIFIERS nothing happens here."""

    name: ClassVar[str] = "classify"

    def __init__(self, config: ClassifyConfig) -> None:
        """Raises: ModelError where a classifier cannot be used."""
        self._models: dict[str, Classifier] = {
            name: open_classifier(path) for name, path in classifiers_of(config.classifiers).items()
        }

    def __call__(self, doc: Document) -> Document | Drop:
        """Every classifier scores before one decides: the first in the setting whose card says drop, then hold."""
        doc.classifier_scores = {
            name: model.score(doc.text) for name, model in self._models.items() if doc.language in model.languages
        }
        wrong = [name for name, score in doc.classifier_scores.items() if self._models[name].is_wrong(score)]
        for name in wrong:
            if self._models[name].action == "drop":
                is_low = self._models[name].side == "below"
                reason = DropReason.LOW_CLASSIFIER_SCORE if is_low else DropReason.HIGH_CLASSIFIER_SCORE
                return Drop(self.name, reason, self._detail(doc, name))
        held = [self._detail(doc, name) for name in wrong if self._models[name].action == "hold"]
        if held and doc.hold is None:  # what waits for another reason is looked at anyway
            doc.hold = Drop(self.name, DropReason.HELD_CLASSIFIER, "; ".join(held))
        return doc

    def _detail(self, doc: Document, name: str) -> str:
        model, score = self._models[name], doc.classifier_scores[name]
        return f"{name}: {score:.4f} is {'below' if model.side == 'below' else 'not below'} {model.threshold:g}"


def check_classifiers(config: ClassifyConfig) -> list[str]:
    """What keeps the classifiers from being used, one sentence each."""
    problems = []
    for name, path in classifiers_of(config.classifiers).items():
        try:
            open_classifier(path)
        except ModelError as error:
            problems.append(f"CLASSIFIERS={name}:{path}: {error}")
    return problems
