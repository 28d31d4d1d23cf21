"""CONTRIBUTING, "Add a stage": made for texts in capital letters, in the files that it names and no others."""

from __future__ import annotations

from tests.examples.copied import Copied, files_of

STAGE = '''"""The shouting stage rejects a text that is written in capital letters."""

from __future__ import annotations

from crawler.document import Document, Drop, DropReason

LIMIT = 0.5
"""Share of the letters; chosen for this example."""


class ShoutingStage:
    """Measures the share of capital letters, then decides."""

    name = "shouting"

    def __call__(self, doc: Document) -> Document | Drop:
        """Leave the share in the quality signals."""
        letters = [c for c in doc.text if c.isalpha()]
        share = sum(c.isupper() for c in letters) / max(1, len(letters))
        doc.quality_signals["capitals"] = round(share, 3)
        return Drop(self.name, DropReason.SHOUTING, f"{share:.2f} of the letters") if share > LIMIT else doc
'''

PIPELINE = '''"""Pipeline step `shouting`: texts in capital letters (`crawler/stages/shouting.py`)."""

from crawler.pipelines.base import StagePipeline


class ShoutingPipeline(StagePipeline):
    """Adapter of the shouting stage."""

    stage = "shouting"
'''

DROP_CLASS = '''class ShoutingDrop(StageDrop):
    """The text is written in capital letters."""


'''

RUN = """
from crawler import settings
from crawler.config import from_mapping
from crawler.document import Document
from crawler.pipelines.base import DROPS
from crawler.stages.chain import Chain, STAGE_MODULES, STAGES

config = from_mapping({"PII_PERSON": "off", "QUALITY_RULES": "gopher_repetition", "QUALITY_MIN_SCORE": "0",
                       "EXTRACTION_MIN_WORDS": "5", "LANGUAGE_MIN_SCORE": "0"})
quiet = (
    "The harbour opens at six in the morning. Fishing boats leave first, then the ferry to the islands, and at noon a "
    "single freighter brings salt, timber and the newspapers of yesterday. Nobody hurries. When the bell on the pier "
    "rings twice, children run down to see whether their uncle has caught something large enough for the scales."
)
for text in (quiet, quiet.upper()):
    doc = Document("https://example.org/", html=text.encode(), content_type="text/plain; charset=utf-8")
    doc = Chain(config).run(doc)
    print(doc.verdict.stage if doc.verdict else "kept", doc.verdict.reason if doc.verdict else "-",
          doc.quality_signals["capitals"])
steps = [path.rpartition(".")[2] for path in settings.ITEM_PIPELINES]
print(STAGES.index("shouting") == STAGES.index("quality") + 1,
      steps.index("ShoutingPipeline") == steps.index("QualityPipeline") + 1)
print(DROPS["shouting"].__name__, "crawler.stages.shouting" in STAGE_MODULES)
"""


def test_a_stage_is_these_files_and_decides_in_its_place(copied: Copied) -> None:
    copied.add("crawler/stages/shouting.py", STAGE)
    chain = "crawler/stages/chain.py"
    copied.insert(chain, r'^    "quality",\n', '    "shouting",\n')
    copied.replace(chain, r'^_ONE_FILE = \("optout", ', '_ONE_FILE = ("optout", "shouting", ')
    copied.insert(
        chain,
        r"^    from crawler\.stages\.quality\.stage import QualityStage\n",
        "    from crawler.stages.shouting import ShoutingStage\n",
    )
    line = '        "shouting": lambda _c: ShoutingStage(),\n'
    copied.insert(chain, r'^        "quality": lambda c: QualityStage\(c\.quality\),\n', line)
    member = '    SHOUTING = "shouting", "The text is written in capital letters."\n'
    copied.insert("crawler/document.py", r'^    LOW_QUALITY = "low_quality", .*\n', member)
    copied.add("crawler/pipelines/shouting.py", PIPELINE)
    copied.insert("crawler/pipelines/base.py", r'    """A quality rule or the score said no\."""\n\n\n', DROP_CLASS)
    copied.insert("crawler/pipelines/base.py", r'^    "quality": QualityDrop,\n', '    "shouting": ShoutingDrop,\n')
    copied.insert(
        "crawler/settings.py",
        r'^    "crawler\.pipelines\.quality\.QualityPipeline": 300,.*\n',
        '    "crawler.pipelines.shouting.ShoutingPipeline": 350,  # texts in capital letters\n',
    )
    copied.insert(
        "pyproject.toml", r'"crawler\.stages\.quality", "crawler\.stages\.pii", ', '"crawler.stages.shouting", '
    )
    row = "| `shouting` | The text is written in capital letters. |\n"
    copied.insert("docs/reasons.md", r"^\| `low_quality` \|.*\n", row)

    kept, dropped, order, counted = copied.python(RUN).splitlines()
    assert kept.startswith("kept - 0.0")
    assert dropped == "shouting shouting 1.0"
    assert order == "True True"
    assert counted == "ShoutingDrop True"
    table = copied.python("from crawler.observe.report.reasons import markdown; print(markdown())").strip()
    assert table in (copied.folder / "docs" / "reasons.md").read_text("utf-8")
    assert "4 kept, 0 broken" in copied.lint_imports()
    assert copied.touched == files_of("Add a stage", "shouting")
