"""Texts of two kinds, our own words drawn by number: reports of weather and lists of offers, of twelve sites each."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

SAID = "the rain fell on old roofs while people in every village waited because no road was open before noon".split()  # noqa: SIM905
SOLD = "offer cart price shipping sale login menu share size colour stock deal buy now more view all".split()  # noqa: SIM905


def text_of(good: bool, number: int) -> str:
    rnd = random.Random(f"{good}{number}")
    own, other = (SAID, SOLD) if good else (SOLD, SAID)
    lines = [" ".join(rnd.choice(own if rnd.random() < 0.8 else other) for _ in range(14)) for _ in range(8)]
    return (".\n\n" if good else "\n- ").join(lines)


def line_of(good: bool, number: int, **more: Any) -> dict[str, Any]:
    url = f"https://site{number % 12}-{'a' if good else 'b'}.example/{number}"
    answer = "keep" if good else "reject"
    return {"url": url, "doc_id": f"sha256:{number}", "judge": "ann", "answer": answer, "stratum": "kept",
            "language": "en", "at": "2026-11-20T10:00:00Z", "text": text_of(good, number)} | more  # fmt: skip


@pytest.fixture
def labels(tmp_path) -> Callable[..., Path]:
    """Writes labels: 30 of either answer, and what is given beside them."""

    def write(*more: dict[str, Any], many: int = 30, name: str = "labels.jsonl") -> Path:
        lines = [line_of(good, number) for number in range(many) for good in (True, False)]
        path = tmp_path / name
        path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in (*lines, *more)))
        return path

    return write
