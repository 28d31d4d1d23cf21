"""Does the pre-scan of the personal-data stage lose a hit? Presidio reads the whole text and must find nothing more.

`lost(text)` is what Presidio's recognisers find in a whole text, validators passed, and no candidate covers.
`python -m bench.quality.pii_prescan [FOLDER] [--pages 2000]` tries it on real documentation pages.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from presidio_analyzer import predefined_recognizers as ready_made

from bench.quality.pii_docs import DEFAULT
from bench.web.texts import files
from bench.web.texts import texts as records_of
from crawler.stages.pii import checks
from crawler.stages.pii.ids import TRIGGERS
from crawler.stages.pii.page import lower_keeping_offsets
from crawler.stages.pii.scan import plain_marks, scan


class OfflineEmailRecognizer(ready_made.EmailRecognizer):  # Presidio is untyped
    """Presidio's e-mail expression; the domain is judged by the bundled suffix list, never by a download."""

    def validate_result(self, pattern_text: str) -> bool:
        """True where the part behind the @ can receive mail."""
        return checks.mail_domain(pattern_text.rpartition("@")[2]) is not None


_RECOGNISERS = (OfflineEmailRecognizer(), ready_made.IbanRecognizer(), ready_made.IpRecognizer())
_CARD = ready_made.CreditCardRecognizer()


def presidio(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and type of what Presidio finds and our validators accept, without any pre-scan."""
    for recogniser in (*_RECOGNISERS, ready_made.CryptoRecognizer(), _CARD):
        for result in recogniser.analyze(text, recogniser.supported_entities, None):
            value = text[result.start : result.end]
            if _accepted(result.entity_type, value, result.score):
                yield result.start, result.end, result.entity_type


def _accepted(entity: str, value: str, score: float) -> bool:
    if entity == "EMAIL_ADDRESS":
        return checks.mail_domain(value.rpartition("@")[2]) is not None
    if entity == "IP_ADDRESS":
        return checks.is_public_address(value)
    if entity == "CREDIT_CARD":
        return checks.is_card(value)
    return score >= 1.0


def lost(text: str) -> list[tuple[str, str]]:
    """Type and value of what no candidate covers; inside a longer number or word nothing counts."""
    text = plain_marks(text)
    covered = [(c.start, c.end) for c in scan(text, lower_keeping_offsets(text), TRIGGERS)]
    return [
        (entity, text[start:end])
        for start, end, entity in presidio(text)
        if not any(a < end and start < b for a, b in covered) and _stands_alone(text, start, end)
    ]


def _stands_alone(text: str, start: int, end: int) -> bool:
    before, behind = text[start - 1 : start], text[end : end + 1]
    return not (before.isalnum() or behind.isalnum() or before in set("._-/=#:") or behind in set("_-"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=DEFAULT)
    parser.add_argument("--pages", type=int, default=2_000)
    options = parser.parse_args()
    pages = found = 0
    for record in records_of(options.folder, files(options.folder, options.pages)):
        pages += 1
        for entity, value in lost(record["text"]):
            found += 1
            print(entity, len(value), "characters on", record["url"])
    print(f"{pages} pages, {found} hits of Presidio that the pre-scan does not mark")


if __name__ == "__main__":
    main()
