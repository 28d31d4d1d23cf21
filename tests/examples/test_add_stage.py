"""CONTRIBUTING, "Add a stage": made for texts in capital letters, in the files that it names and no others."""

from __future__ import annotations

from tests.examples.copied import Copied, files_of

STAGE = '''"""The shouting stage rejects a text that is written in capital letters."""

from __future__ import annotations

from dataclasses import dataclass

from crawler.config import Column, Stage, setting
from crawler.document import Document, Drop, Reason


@dataclass(frozen=True, slots=True)
class ShoutingConfig:
    """Does it shout?"""

    limit: float = setting("SHOUTING_MAX_SHARE", 0.5, "share of capital letters above which a text is shouting")


SHOUTING = Reason("shouting", "The text is written in capital letters.", group="shouting", keeps_text=True)


class ShoutingStage:
    """Measures the share of capital letters, then decides."""

    def __init__(self, config: ShoutingConfig) -> None:
        self._limit = config.limit

    def __call__(self, doc: Document) -> Document | Drop:
        """Leave the share in its column."""
        letters = [c for c in doc.text if c.isalpha()]
        share = doc.extra["capitals"] = sum(c.isupper() for c in letters) / max(1, len(letters))
        return Drop("shouting", SHOUTING, f"{share:.2f} of the letters") if share > self._limit else doc


STAGE = Stage(
    "shouting",
    ShoutingStage,
    settings=ShoutingConfig,
    reasons=(SHOUTING,),
    columns=(Column("capitals", "double", "Share of the letters that are capital."),),
)
'''

TEST = '''"""A text in capital letters is no text for the corpus."""

from crawler.config import from_mapping
from crawler.document import Document
from crawler.stages.chain import Chain
from crawler.storage.files.records import record_of, rejection_of

QUIET = (
    "The harbour opens at six in the morning. Fishing boats leave first, then the ferry to the islands, and at noon a "
    "single freighter brings salt, timber and the newspapers of yesterday. Nobody hurries. When the bell on the pier "
    "rings twice, children run down to see whether their uncle has caught something large enough for the scales."
)


def judged(text: str, **settings: str) -> Document:
    usual = {"PII_PERSON": "off", "QUALITY_RULES": "gopher_repetition", "QUALITY_MIN_SCORE": "0",
             "EXTRACTION_MIN_WORDS": "5", "LANGUAGE_MIN_SCORE": "0"}
    page = Document("https://example.org/", html=text.encode(), content_type="text/plain; charset=utf-8")
    return Chain(from_mapping({**usual, **settings})).run(page)


def test_a_text_in_capital_letters_is_dropped_and_its_record_keeps_text_and_share() -> None:
    doc = judged(QUIET.upper())
    record = rejection_of(doc, doc.verdict)
    assert (record["stage"], record["reason"], record["capitals"]) == ("shouting", "shouting", 1.0)
    assert record["text"].startswith("THE HARBOUR")


def test_another_text_is_kept_and_the_setting_decides() -> None:
    assert 0 < record_of(judged(QUIET))["capitals"] < 0.1
    assert judged(QUIET).verdict is None
    assert judged(QUIET, SHOUTING_MAX_SHARE="0.001").verdict.reason == "shouting"
'''

RUN = """
import pytest
from crawler import settings
from crawler.config import declared, from_mapping
from crawler.pipelines.base import DROPS
from crawler.stages.chain import STAGES

steps = [path.rpartition(".")[2] for path in settings.ITEM_PIPELINES]
assert STAGES.index("shouting") == STAGES.index("quality") + 1
assert steps.index("shouting") == steps.index("quality") + 1
assert DROPS["shouting"].__name__ == "ShoutingDrop"
assert "SHOUTING_MAX_SHARE" in declared()
assert from_mapping({"SHOUTING_MAX_SHARE": "0.6"}).digest != from_mapping().digest
raise SystemExit(pytest.main(["-q", "-p", "no:cacheprovider", "tests/stages/test_shouting.py"]))
"""


def test_a_stage_with_a_setting_is_three_files_and_decides_in_its_place(copied: Copied) -> None:
    copied.add("crawler/stages/shouting.py", STAGE)
    line = '    "crawler.stages.shouting:STAGE",\n'
    copied.insert("crawler/config/stages.py", r'^    "crawler\.stages\.quality:STAGE",\n', line)
    copied.add("tests/stages/test_shouting.py", TEST)

    assert copied.python(RUN).startswith(".. ")
    table = copied.python("from crawler.observe.reasons import markdown; print(markdown())")
    assert "| `shouting` | The text is written in capital letters. |" in table
    assert "5 kept, 0 broken" in copied.lint_imports()
    assert copied.touched == files_of("Add a stage", "shouting")
