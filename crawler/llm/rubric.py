"""A rubric says what a judge looks at and what each score from 0 to 5 means: a file of YAML, ours or a person's."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from crawler.config.yaml_file import Value, parse, read
from crawler.problems import InputError, did_you_mean

SCORES = (0, 1, 2, 3, 4, 5)
OURS = ("quality", "educational", "factual", "coherence", "relevance")
TOPIC = "{topic}"
_MOST_BYTES = 100_000
PREFIX = "llm_judge_"
MOST_NAME = 64
"""Characters of an annotation's name."""
_WORD = re.compile(r"[a-z0-9]+", re.ASCII)
_OTHERS = re.compile(r"[^a-z0-9]+", re.ASCII)
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Rubric:
    """topic: that its question asks about; "" = none. scale: the meaning of each score, in their order."""

    name: str
    question: str
    scale: tuple[str, ...]
    topic: str = ""

    @property
    def annotation(self) -> str:
        """What its scores are called: two topics, two annotations.

        A topic that is not a short word of a-z and 0-9 has a hash of itself there, and what can be read of it.
        """
        name = f"{PREFIX}{self.name}"
        if not self.topic:
            return name
        room = MOST_NAME - len(name) - 1
        if _WORD.fullmatch(self.topic) and len(self.topic) <= room:
            return f"{name}_{self.topic}"
        digest = hashlib.blake2b(self.topic.encode(), digest_size=4).hexdigest()
        readable = _OTHERS.sub("_", self.topic.casefold()).strip("_")[: room - len(digest) - 1].strip("_")
        return "_".join(part for part in (name, readable, digest) if part)

    def __str__(self) -> str:
        """As the judge reads it."""
        return "\n".join([self.question, *(f"{score}: {said}" for score, said in zip(SCORES, self.scale, strict=True))])


def rubric_of(given: str, topic: str = "") -> Rubric:
    """One of `OURS`, or a file. topic: what `{topic}` in its question stands for. Raises: InputError."""
    path, topic = Path(given), " ".join(topic.split())
    name = path.stem if path.suffix else given
    if not _NAME.fullmatch(name):
        raise InputError([f"--rubric {given}: its name would be {name!r}; expected a-z, then a-z, 0-9 and _"])
    if path.suffix:
        found = read(path, lambda root: _rubric(root, name), most=_MOST_BYTES, what="a rubric")
    elif given in OURS:
        data = files("crawler.llm").joinpath(f"rubrics/{given}.yaml").read_bytes()
        found = parse(data, lambda root: _rubric(root, name), given)
    else:
        raise InputError([f"--rubric {given!r}: no rubric is called so{did_you_mean(given, OURS)}, or a file of YAML"])
    if (TOPIC in found.question) != bool(topic):
        needs = "asks about a topic: give --topic '{what}'" if not topic else "asks about no topic: leave --topic out"
        raise InputError([f"--rubric {given}: it {needs.replace('{what}', '…')}"])
    return Rubric(found.name, found.question.replace(TOPIC, topic), found.scale, topic)


def _rubric(root: Value, name: str) -> Rubric | None:
    found = root.mapping(("question", "scale"), "expected a question, and a scale from 0 to 5")
    if len(found) < 2:
        root.problem("needs a question, and a scale from 0 to 5")
        return None
    question = found["question"].text(_said)
    scale = found["scale"].mapping([str(score) for score in SCORES], "expected what each score from 0 to 5 means")
    if missing := [str(score) for score in SCORES if str(score) not in scale]:
        found["scale"].problem(f"needs {', '.join(missing)}")
        return None
    meanings = [scale[str(score)].text(_said) for score in SCORES]
    return Rubric(name, question or "", tuple(each or "" for each in meanings))


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("expected a sentence")
    return " ".join(text.split())
