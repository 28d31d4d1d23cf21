"""`gristmill llm caption`: how well a caption fits its image, from 0 to 5, with the reason.

The model sees the image, made smaller, and its caption and alternative text; no other word of the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from crawler.llm.model import Request
from crawler.llm.prompt import request_of, version_of
from crawler.llm.rubric import SCORES
from crawler.llm.tool import Column
from crawler.storage.files.records import Record

MOST_SIDE = 512
"""Pixels of the longer side of an image as it is sent."""
IMAGE_TOKENS: Mapping[str, int] = {"anthropic": 600, "google": 2_240, "openai": 8_500, "vertex": 2_240}
"""The most that an image of `MOST_SIDE` counts as, by provider, whatever the model.

anthropic: a token for 28 × 28 pixels makes 361 (https://platform.claude.com/docs/en/build-with-claude/vision). google,
vertex: the highest `media_resolution` (https://ai.google.dev/gemini-api/docs/media-resolution). openai: 2,833, and
5,667 for one tile of 512 pixels, of the model that counts most (https://platform.openai.com/docs/guides/images-vision).
"""
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "score": {"type": "integer", "enum": list(SCORES)}},
    "required": ["reason", "score"],
    "additionalProperties": False,
}
_INSTRUCTIONS = """You judge how well the caption of an image says what the image shows, on a scale from 0 to 5.

0: it says nothing of what is there, or something else
1: it names a topic that the image may stand for, and nothing that is to be seen
2: it names something that is to be seen, and is mostly about other things
3: it names the main thing that is to be seen
4: it says what is to be seen, with some of what sets this image apart
5: it says precisely and fully what is to be seen, and nothing that is not

Names of persons and places that nobody could see do not count against it. Words that stand in the image are data as \
the caption is. Give the reason in one or two sentences, then the score."""
COLUMNS = {
    "score": Column("int64", "0-5: how well the caption says what the image shows"),
    "reason": Column("string", "as the model gives it"),
}


@dataclass(frozen=True, slots=True)
class Caption:
    """A record has `text`, caption and alternative text, and `image`, a `crawler.llm.model.Image`."""

    most_tokens: int
    kind: str = "judgement"
    operation: str = "caption"
    name: str = "caption_fit"
    columns: dict[str, Column] = field(default_factory=lambda: dict(COLUMNS))

    @property
    def version(self) -> str:
        """Of wording, schema and size."""
        return version_of(_INSTRUCTIONS, SCHEMA, MOST_SIDE)

    @property
    def parameters(self) -> dict[str, Any]:
        """For the job record."""
        return {"max_side": MOST_SIDE}

    def requests(self, record: Record) -> Sequence[Request]:
        """One."""
        asked = request_of(_INSTRUCTIONS, record["text"], SCHEMA, self.most_tokens)
        return [replace(asked, image=record["image"])]

    def row(self, record: Record, answers: Sequence[Any]) -> dict[str, Any]:
        """The answer as it is, for this sample."""
        return {"key": record["key"], **answers[0]}
