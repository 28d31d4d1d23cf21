"""Records are read as they lie by few: those who keep the files in order, and those who ask about each what is refused.

All others read `crawler.dataset.living` or a view that is made of it, so that no reader forgets a withdrawal.
"""

from __future__ import annotations

import ast
from pathlib import Path

from tests.support.places import PROJECT

READERS = {"read_records", "records_in", "read_latest", "read_all_versions"}
ASK = {
    "api", "dataset.best", "dataset.diff", "dataset.living", "dataset.merge.sources", "dataset.mix.sources",
    "dataset.page", "dataset.registry.holdings", "explore.catalogue", "observe.report.duplicates",
    "observe.report.requests", "observe.report.samples", "stream.reader",
}  # fmt: skip
"""They show or hand on records, and ask `Refusals`."""
KEEP = {
    "dataset.concerned", "dataset.containing", "dataset.judged_again", "dataset.lifetimes", "dataset.rejudge",
    "dataset.rewrite", "dataset.supersede", "dataset.transcribe", "dataset.verdicts", "dataset.verify",
    "frontier.rejudged", "pipelines.recovered", "spiders.rebuild", "storage.corpus.bookmarks",
    "storage.files.record_index", "stream.consumer",
}  # fmt: skip
"""They withdraw, rewrite, verify, index or count visits: a page on its way out has to be among what they see."""
COUNT = {"observe.dossier.gather", "observe.publish.provenance", "observe.report.accounts", "observe.report.audit"}
"""They count; the dossier is the answer to the person who asks."""


def test_whoever_reads_records_as_they_lie_is_known_here() -> None:
    found = {_name(path): path for path in (PROJECT / "crawler").rglob("*.py") if READERS & _imported(path)}
    assert found.keys() == ASK | KEEP | COUNT
    assert [name for name in sorted(ASK) if "efus" not in found[name].read_text("utf-8")] == []


def _name(path: Path) -> str:
    return ".".join(path.relative_to(PROJECT / "crawler").with_suffix("").parts)


def _imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return {name.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for name in node.names}
