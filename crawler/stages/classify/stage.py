"""The classify stage scores a text with every classifier that CLASSIFIERS names; a card may say to reject or hold it.

A classifier says nothing about a text in a language that it was not trained on: the record then has no score of it, and
no threshold applies. What is scored is the redacted text, as the record has it.
"""

from __future__ import annotations

from typing import ClassVar

from crawler.config.text import ClassifyConfig, classifiers_of, is_word_lists
from crawler.document import Document, Drop, DropReason
from crawler.problems import InputError
from crawler.stages.classify.model import Classifier, open_classifier
from crawler.stages.classify.word_lists import WordLists
from crawler.stages.models.file import ModelError


class ClassifyStage:
    """Fills `classifier_scores`; without CLASSIFIERS nothing happens here."""

    name: ClassVar[str] = "classify"

    def __init__(self, config: ClassifyConfig) -> None:
        """Raises: ModelError, InputError where a classifier cannot be used."""
        named = classifiers_of(config.classifiers)
        self._models: dict[str, Classifier] = {
            name: open_classifier(path) for name, path in named.items() if not is_word_lists(path)
        }
        self._lists = [WordLists(name, path) for name, path in named.items() if is_word_lists(path)]

    def __call__(self, doc: Document) -> Document | Drop:
        """Every classifier scores before one decides: the first in the setting whose card says drop, then hold."""
        doc.classifier_scores = {
            name: model.score(doc.text) for name, model in self._models.items() if doc.language in model.languages
        }
        doc.unwanted = [name for name in doc.classifier_scores if self._models[name].side == "above"]
        wrong = [name for name, score in doc.classifier_scores.items() if self._models[name].is_wrong(score)]
        unsafe = [said for one in self._lists if (said := one.score(doc))]
        for name in wrong:
            if self._models[name].action == "drop":
                is_low = self._models[name].side == "below"
                reason = DropReason.LOW_CLASSIFIER_SCORE if is_low else DropReason.HIGH_CLASSIFIER_SCORE
                return Drop(self.name, reason, self._detail(doc, name))
        held = [self._detail(doc, name) for name in wrong if self._models[name].action == "hold"]
        reason = DropReason.HELD_SAFETY if unsafe else DropReason.HELD_CLASSIFIER
        if (unsafe or held) and doc.hold is None:  # what waits for another reason is looked at anyway
            doc.hold = Drop(self.name, reason, "; ".join([*unsafe, *held]))
        return doc

    def _detail(self, doc: Document, name: str) -> str:
        model, score = self._models[name], doc.classifier_scores[name]
        return f"{name}: {score:.4f} is {'below' if model.side == 'below' else 'not below'} {model.threshold:g}"


def check_classifiers(config: ClassifyConfig) -> list[str]:
    """What keeps the classifiers from being used, one sentence each."""
    problems = []
    for name, path in classifiers_of(config.classifiers).items():
        try:
            if is_word_lists(path):
                WordLists(name, path)
            else:
                open_classifier(path)
        except ModelError as error:
            problems.append(f"CLASSIFIERS={name}:{path}: {error}")
        except InputError as error:
            problems += [f"CLASSIFIERS={name}:{path}: {problem}" for problem in error.problems]
    return problems
