"""Prose of words that nobody else has: seeded syllables, so that no two texts overlap by chance."""

from __future__ import annotations

import random

SYLLABLES = ["ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe"]
SYLLABLES += ["qui", "ra", "so", "tu", "vo", "we"]


def prose(words: int, seed: int) -> str:
    """Words that no other seed shares in the same order."""
    chance = random.Random(seed)
    return " ".join("".join(chance.choices(SYLLABLES, k=chance.randint(2, 4))) for _ in range(words))
