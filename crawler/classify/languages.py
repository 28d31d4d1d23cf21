"""A text whose label names no language is identified, by the same stage as in a crawl."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from crawler.classify.examples import Example
from crawler.config import LanguageConfig
from crawler.document import Document


def identified(examples: Sequence[Example]) -> list[Example]:
    """The examples, each with a language where it can be told."""
    if all(one.language for one in examples):
        return list(examples)
    from crawler.stages.language.stage import LanguageStage

    stage = LanguageStage(LanguageConfig())

    def language(text: str) -> str | None:
        doc = Document("", text=text)
        stage(doc)
        return doc.language

    return [one if one.language else replace(one, language=language(one.text)) for one in examples]
