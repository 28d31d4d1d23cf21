"""Is an export or a mixture what its manifest says? Part of `gristmill dataset verify`.

Its files are whole or damaged: nothing writes to a derived folder once it has its name, so nothing is repaired.
"""

from __future__ import annotations

from crawler.dataset.beside import Beside, described_files
from crawler.dataset.exclude import PUBLISHED
from crawler.dataset.registry.derived import manifest_of
from crawler.dataset.verify import Findings, broken_answers, check_bytes
from crawler.storage.corpus.registry import Registry
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place


def verify_derived(place: Place) -> Findings:
    """Check every file that the manifest lists, name those beside them, and compare the published documents.

    Raises: StorageError where the manifest cannot be read. Damage is not raised but listed.
    """
    found = Findings()
    name, sha256, content = manifest_of(place)
    if sha256 not in Registry(place).versions():
        found.damage.append(f"{name}: is not the one that the registry names; restore it from a copy")
    listed = {str(entry["path"]): entry for entry in content["files"]}
    for path, entry in listed.items():
        found.files += 1
        found.documents += int(entry["documents"])
        try:
            check_bytes(place, path, size=entry["bytes"], sha256=entry["sha256"])
        except (StorageError, OSError) as error:
            found.damage.append(f"{path}: {str(error).removeprefix(f'{place.path_of(path)}: ')}")
    folders = {path.partition("/")[0] for path in listed if "/" in path}
    beside = (f"{folder}/{each}" for folder in sorted(folders) for each in place.listing(folder))
    found.beside = Beside([path for path in beside if path not in listed])
    found.damage += broken_answers(place)
    found.damage += _published(place, {(path, each["sha256"]) for path, each in listed.items() if each["documents"]})
    return found


def _published(place: Place, listed: set[tuple[str, str]]) -> list[str]:
    """What is wrong with the documents that describe the folder; folders of older versions have none but the card."""
    there = set(place.listing(""))
    if "croissant.json" not in there:
        return []
    missing = [name for name in PUBLISHED if name not in there]
    said = [f"{name}: is not there any more; restore it from a copy" for name in missing]
    if described_files(place.load_json("croissant.json")) != listed:
        said.append("croissant.json: describes other files than the manifest; restore it from a copy")
    return said
