"""What a corpus that is made of several takes over from them: runs, and archives whose names tell them apart."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from crawler.storage.corpus.version import manifest_hash
from crawler.storage.files.place import ARCHIVE, Place
from crawler.storage.types import Manifest, Run
from crawler.times import rfc3339


class Archives:
    """The archives that records come from, by path; `known` are their hashes.

    Two sources may each have an archive of one name: that of the later source is named after its manifest, too.
    """

    def __init__(self) -> None:
        self.known: dict[str, str] = {}

    def renamed(self, manifest: Manifest | None, place: Place | None) -> dict[str, str]:
        """The new name of each archive of a source whose name is taken by another one."""
        found: dict[str, str] = {}
        if manifest is None or place is None:
            return found
        for path, sha256 in sorted(archives_of(manifest).items()):
            name = path
            if self.known.setdefault(path, sha256) != sha256:
                folder, _, last = path.rpartition("/")
                name = found[path] = f"{folder}/{manifest_hash(place)[:12]}/{last}"
            self.known[name] = sha256
        return found


def archives_of(manifest: Manifest) -> dict[str, str]:
    """SHA-256 of every archive that is in this corpus, or that its records come from, by path."""
    named = [item for entry in manifest["files"] for item in entry.get("archives", {}).items()]
    sources = {path: source["sha256"] for path, source in named}
    own = {entry["path"]: entry["sha256"] for entry in manifest["files"] if entry["kind"] == ARCHIVE}
    return {path: sha256 for path, sha256 in (sources | own).items() if sha256}


def runs_of(manifests: Iterable[Manifest]) -> list[Run]:
    """The runs of all sources, each once: corpora that come of one share those before."""
    found: list[Run] = []
    seen: list[dict[str, object]] = []
    for run in (run for manifest in manifests for run in manifest["runs"]):
        what = {name: value for name, value in run.items() if name != "source"}
        if what not in seen:
            seen.append(what)
            found.append(run)
    return found


def after(runs: list[Run], now: float) -> str:
    """Now, but behind the end of every other run, whatever the clocks said: the last one made this."""
    ends = (datetime.fromisoformat(run["ended"]).timestamp() for run in runs if run["ended"])
    return rfc3339(max(now, max(ends, default=now) + 0.001))
