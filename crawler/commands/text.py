"""`gristmill text URL`: what a crawl would keep of a page, or why it would not. Asks as the crawl asks."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import ScrapyCommand

from crawler.commands import options
from crawler.commands.single_page import PageCommand
from crawler.number import number_of
from crawler.operations.answer import Answer, Fields

if TYPE_CHECKING:
    from scrapy.http import Response

    from crawler.document import Document


class Command(PageCommand, ScrapyCommand):
    """Exit code 0: it would be kept. 1: it would not, and standard error says which stage says so, and why.

    The text is printed in both cases, as far as it was read and may be shown. Duplicates are not looked for.
    """

    example = "text https://example.org/page --contact https://example.org/bot"
    offers = (*options.ASKING, "EXTRACTOR", "LANGUAGES", "QUALITY_RULES", "PII_PERSON")
    fields: ClassVar[Fields] = {
        "url": ("string", "address of the answer, redirects followed"),
        "kept": ("boolean", "whether a crawl would keep the page, but for duplicates"),
        "stage": ("string or null", "stage that decides against it, or holds it; null: none"),
        "reason": ("string or null", "why, a name of docs/reasons.md"),
        "detail": ("string", "the value and its limit"),
        "meaning": ("string", "the reason in a sentence"),
        "title": ("string or null", "title of the page"),
        "language": ("string or null", "language of the text"),
        "words": ("integer", "words of the text that was extracted"),
        "characters": ("integer", "characters of it"),
        "bytes": ("integer", "bytes of the page, decompressed"),
        "quality_score": ("number or null", "0 to 1; null: no rule was asked"),
        "redacted": ("list of string", "kinds of personal data and secrets that a placeholder stands for"),
        "text": ("string", "the text; empty where nothing was read, or policy refuses it"),
    }

    def show(self, response: Response, opts: argparse.Namespace) -> Answer:  # noqa: ARG002  # as in `fetch`
        """The text on standard output, the verdict on standard error."""
        doc = self._judged(response)
        facts = _facts(doc, response)
        if (verdict := doc.verdict or doc.hold) is None:
            return Answer(facts, lambda: _print(doc, f"kept: {_measured(facts)}"))
        what = "would be held for a person" if doc.verdict is None else "would not be kept"
        detail = f" ({verdict.detail})" if verdict.detail else ""
        why = f"{response.url} {what}: stage {verdict.stage}, {verdict.reason}{detail}. {verdict.reason.meaning}"
        return Answer(facts, lambda: _print(doc, f"read: {_measured(facts)}"), [why])

    def _judged(self, response: Response) -> Document:
        from crawler.documents.from_response import document_of
        from crawler.seeds.scope import Scope
        from crawler.stages.chain import Chain

        config = self.load()
        doc = document_of(response, response.meta["lease"], config, Scope())
        return Chain(config).run(doc)


def _facts(doc: Document, response: Response) -> dict[str, Any]:
    verdict = doc.verdict or doc.hold
    return {
        "url": response.url,
        "kept": verdict is None,
        "stage": verdict and verdict.stage,
        "reason": verdict and verdict.reason.value,
        "detail": verdict.detail if verdict else "",
        "meaning": verdict.reason.meaning if verdict else "",
        "title": doc.title,
        "language": doc.language or None,
        "words": doc.word_count,
        "characters": doc.char_count,
        "bytes": len(response.body),
        "quality_score": doc.quality_score,
        "redacted": sorted(doc.pii_entity_types),
        "text": doc.text,
    }


def _measured(facts: dict[str, Any]) -> str:
    found = [number_of(facts["words"], "word"), f"{facts['bytes']:,} bytes of page"]
    found += [f"language {facts['language']}"] if facts["language"] else []
    found += [f"quality {facts['quality_score']:.2f}"] if facts["quality_score"] is not None else []
    found += [f"redacted: {', '.join(facts['redacted'])}"] if facts["redacted"] else []
    return ", ".join(found)


def _print(doc: Document, said: str) -> None:
    if doc.text:
        sys.stdout.write(f"{doc.text}\n")
        sys.stdout.flush()
    sys.stderr.write(f"{said}\n")
