"""Word lists of our own, whose words are bad here alone: three of mud, in English; one of Chinese, one of Thai."""

from __future__ import annotations

from pathlib import Path


def word_lists(folder: Path, *, east_terms: int = 1, noted: str = "en") -> Path:
    """Write them; the file for CLASSIFIERS. east_terms: that a text needs; noted: languages of what is scored only."""
    (folder / "mud.txt").write_text("# of mud\nMud\nslush  # and this\nwet clay\n\n")
    (folder / "east.txt").write_text("泥巴\nโคลน\n")
    (folder / "safety.yaml").write_text(
        "categories:\n"
        "  dirt: {words: mud.txt, languages: en, density: 0.05, terms: 2}\n"
        f"  east: {{words: [east.txt], languages: [zh, th], density: 0.01, terms: {east_terms}}}\n"
        f"  noted: {{words: mud.txt, languages: {noted}, density: 0.001, terms: 1, action: score}}\n"
        "c4: {words: mud.txt, languages: en}\n"
    )
    return folder / "safety.yaml"
