"""By which settings was a record judged? Runs and versions of a corpus name them, records give their digest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from crawler.storage.types import JudgedBy, Lineage, Manifest


def judged_again(lineage: Iterable[Lineage]) -> Iterator[JudgedBy]:
    """The settings of versions in which pages were judged again, in their order."""
    return (version["judged_by"] for version in lineage if "judged_by" in version)


def judging_digests(manifest: Manifest) -> dict[str, str]:
    """`judging_digest` by `config_digest`, of every run and version that says it."""
    runs = {run["config_digest"]: run["judging_digest"] for run in manifest["runs"] if "judging_digest" in run}
    return runs | {one["config_digest"]: one["judging_digest"] for one in judged_again(manifest.get("lineage", []))}


def judging_parts(manifest: Manifest) -> dict[str, dict[str, str]]:
    """`judging_parts` by `config_digest`, likewise; runs of older versions say none."""
    runs = {run["config_digest"]: run["judging_parts"] for run in manifest["runs"] if "judging_parts" in run}
    return runs | {one["config_digest"]: one["judging_parts"] for one in judged_again(manifest.get("lineage", []))}
