"""Names the software behind a run: this project with its commit, and every library that has a say in what is kept."""

from __future__ import annotations

import hashlib
import platform
import re
from importlib import metadata, resources
from pathlib import Path

from crawler import native
from crawler.version import __version__

DECIDING = (
    "Scrapy",
    "Twisted",
    "ada-url",
    "tldextract",
    "brotli",
    "backports.zstd",
    "http-sf",
    "FastWARC",
    "lxml",
    "lxml_html_clean",
    "trafilatura",
    "courlan",
    "justext",
    "resiliparse",
    "chardetng-py",
    "ftfy",
    "htmldate",
    "py3langid",
    "langdetect",
    "regex",
    "presidio-analyzer",
    "spacy",
    "phonenumbers",
    "python-stdnum",
    "datasketch",
    "numpy",
    "scipy",
    "xxhash",
    "pydivsufsort",
    "scrapy-playwright",
    "playwright",
    "pypdfium2",
    "pypdf",
)
"""Distributions that decide verdicts, texts or fingerprints: a test holds them to requirements.txt."""
_MODEL = re.compile(r"[a-z]{2}[-_]core[-_](?:web|news|dep)[-_].+", re.IGNORECASE)
"""Names of spaCy's models, each a distribution of its own."""
_ROOT = Path(__file__).parents[3]
_EXTRACTION_MODEL = resources.files("crawler").joinpath("stages", "extraction", "learned", "model.npz")
"""Of EXTRACTOR=learned: a file of this project that decides texts, named in the manifest by its hash."""
_COMMIT = re.compile(r"[0-9a-f]{40,64}")


def versions() -> dict[str, str]:
    """Versions by lower-case name. `commit` is there where the code runs from a checkout, or its image names one."""
    found = {"crawler": __version__, "python": platform.python_version()}
    if commit := commit_of(_ROOT):
        found["commit"] = commit
    for name in DECIDING:
        try:
            found[name.lower()] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    found["extraction-model"] = f"2+{hashlib.sha256(_EXTRACTION_MODEL.read_bytes()).hexdigest()[:16]}"
    found["native"] = native.state()
    return found | _models()


def commit_of(root: Path) -> str:
    """The commit that is checked out in `root`, or the one that `crawler/COMMIT` names; empty where neither says it.

    Read from the files of git, which may not be installed. What was changed since then is not seen.
    """
    named = _text(root / "crawler" / "COMMIT")
    if _COMMIT.fullmatch(named):
        return named
    git = root / ".git"
    if git.is_file():  # a worktree names its folder, and that the repository's
        git = (root / _text(git).removeprefix("gitdir:").strip()).resolve()
    common = git / (_text(git / "commondir") or ".")
    head = _text(git / "HEAD")
    found = _ref(common, head.removeprefix("ref:").strip()) if head.startswith("ref:") else head
    return found if _COMMIT.fullmatch(found) else ""


def _ref(git: Path, name: str) -> str:
    if ".." in name:
        return ""
    packed = (line.partition(" ")[::2] for line in _text(git / "packed-refs").splitlines())
    return _text(git / name) or next((commit for commit, ref in packed if ref == name), "")


def _models() -> dict[str, str]:
    names = {dist.name: dist.version for dist in metadata.distributions() if _MODEL.fullmatch(dist.name or "")}
    return {name.lower(): version for name, version in sorted(names.items())}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
