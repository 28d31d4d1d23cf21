"""Originals are the parts of trafilatura and justext that `faster.py` replaces; they are recognised by their source.

A replacement answers what one body of its original answers, and calls what that body calls. Another version, or the
same version with a changed body (a distribution's patch), would be overridden in silence. So every original is
recorded here by the hash of its source, with those functions around it that its replacement relies on.
"""

from __future__ import annotations

import hashlib
import inspect
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from textwrap import dedent
from typing import Any

from lxml.etree import XPath

RECORDED: dict[str, dict[str, dict[str, str]]] = {
    "trafilatura": {
        "2.3.1": {
            "trafilatura.htmlprocessing:prune_unwanted_nodes": "9402fc78c593c7ee",
            "trafilatura.htmlprocessing:collect_link_info": "6c225acc611f427e",
            "trafilatura.htmlprocessing:delete_by_link_density": "3d8ee01df75f7b15",
            "trafilatura.htmlprocessing:link_density_test": "24b7814df386ea4b",
            "trafilatura.htmlprocessing:link_density_test_tables": "8d8e1c34f4bb3bfc",
            "trafilatura.baseline:basic_cleaning": "479da44ffb937c38",
            "trafilatura.xml:delete_element": "e301d26c9da972eb",
            "trafilatura.utils:trim": "0778433a40400b76",
            "trafilatura.main_extractor:prune_unwanted_sections": "5ddbf224bb2c6324",
            "trafilatura.main_extractor:_extract": "7518e5c5dee9eb05",
            "trafilatura.metadata:extract_metainfo": "b13bf18921369b50",
            "trafilatura.settings:BASIC_CLEAN_XPATH": "db6c25acd08aef99",
            "trafilatura.xpaths:BODY_XPATH": "220af53a4e30bc57",
            "trafilatura.xpaths:DISCARD_IMAGE_ELEMENTS": "9858e6f8e6809a75",
            "trafilatura.xpaths:OVERALL_DISCARD_XPATH": "df3c00f50b4deea6",
            "trafilatura.xpaths:TEASER_DISCARD_XPATH": "5076870ba819aa36",
            "trafilatura.xpaths:TITLE_XPATHS": "63dbe09d87efac9c",
        },
    },
    "justext": {
        "3.0.2": {
            "justext.core:PathInfo": "a409b243b48d450b",
            "justext.core:ParagraphMaker": "1c688e15aa4a6fdd",
            "justext.core:classify_paragraphs": "d6e9b42e38df0482",
            "justext.core:revise_paragraph_classification": "d29fef038b49af2b",
            "justext.paragraph:Paragraph": "6d889d496c0f8a9b",
            "trafilatura.external:try_justext": "c48f94034d84ad6a",
        },
    },
}
"""Library, version, `module:name`: `digest()` of the original that the replacement was compared with.

A new version gets an entry when the comparison on real pages (`tests/stages/extraction`) holds with it.
"""


def problem_of(library: str) -> str | None:
    """Why the originals of a library are not the recorded ones, as a sentence; None where all of them are."""
    try:
        installed = version(library)
    except PackageNotFoundError:
        return f"{library} is not installed"
    recorded = RECORDED[library].get(installed)
    if recorded is None:
        return f"{library} {installed} is not among the versions known here ({', '.join(RECORDED[library])})"
    changed = [name for name, expected in recorded.items() if digest(name) != expected]
    return f"{library} {installed} differs from its release in {', '.join(changed)}" if changed else None


def digest(name: str) -> str:
    """Hash of the source of `module:name`, a function, a class or XPath expressions; "" where there is none to read.

    Indentation of the whole, white space at line ends and line ends themselves do not count.
    """
    module, _, attribute = name.partition(":")
    try:
        source = _source(getattr(import_module(module), attribute))
    except (ImportError, AttributeError, OSError, TypeError):
        return ""
    lines = "\n".join(line.rstrip() for line in dedent(source).strip().splitlines())
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def _source(original: Any) -> str:
    if isinstance(original, XPath):
        return str(original.path)
    if isinstance(original, list):
        return "\n".join(str(expression.path) for expression in original)
    return inspect.getsource(original)
