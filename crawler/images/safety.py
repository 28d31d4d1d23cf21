"""What word lists and classifiers of CLASSIFIERS say of an image's words: such an image is held, not asked for.

The same categories, densities and languages as for documents. A caption, an alternative text and a title are too short
for several different terms of a list: one is enough there. Of classifiers only those of what is not wanted are asked
(their card says "above"): those of worth know whole texts.
"""

from __future__ import annotations

from collections.abc import Iterable

from crawler.config.text import ClassifyConfig, classifiers_of, is_word_lists
from crawler.config.word_lists import C4
from crawler.images.outcomes import HELD_CLASSIFIER, HELD_SAFETY
from crawler.stages.classify.model import open_classifier
from crawler.stages.classify.word_lists import WordLists

Held = tuple[str, str]
"""Outcome and detail, without a word of the page; ("", "") where nothing is held."""


class Safety:
    """Raises: ModelError, InputError where a classifier or list cannot be used."""

    def __init__(self, config: ClassifyConfig) -> None:
        named = classifiers_of(config.classifiers)
        self._lists = [WordLists(name, path) for name, path in named.items() if is_word_lists(path)]
        models = {name: open_classifier(path) for name, path in named.items() if not is_word_lists(path)}
        self._models = {name: model for name, model in models.items() if model.side == "above"}

    def judge(self, short: Iterable[str], context: str, language: str | None) -> tuple[dict[str, float], Held]:
        """The highest score of each name, and what holds the image. short: caption, alternative text, title."""
        scores: dict[str, float] = {}
        held: Held = "", ""
        texts = [(text, True) for text in dict.fromkeys(short) if text] + [(context, False)] * bool(context)
        for text, is_short in texts:
            for name, score, found in (*self._listed(text, language, is_short=is_short), *self._scored(text, language)):
                scores[name] = max(score, scores.get(name, 0.0))
                held = held if held[0] else found
        return scores, held

    def _listed(self, text: str, language: str | None, *, is_short: bool) -> Iterable[tuple[str, float, Held]]:
        for lists in self._lists:
            for name, category, found in lists.look(text, language):
                least = 1 if is_short else category.terms
                is_over = len(found.terms) >= least and found.density >= category.density
                score = float(is_over) if category.name == C4 else round(found.density, 6)
                detail = f"{name}: {found.density:.4f} of the words"
                yield name, score, (HELD_SAFETY, detail) if is_over and category.action == "hold" else ("", "")

    def _scored(self, text: str, language: str | None) -> Iterable[tuple[str, float, Held]]:
        for name, model in self._models.items():
            if language in model.languages:
                score = model.score(text)
                holds = model.is_wrong(score) and model.action in ("hold", "drop")
                detail = f"{name}: {score:.4f} is not below {model.threshold:g}"
                yield name, score, (HELD_CLASSIFIER, detail) if holds else ("", "")
