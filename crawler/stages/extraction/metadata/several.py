"""A by-line may name several people: in one text ("By Ada Lovelace and Grace Hopper"), or in elements side by side."""

from __future__ import annotations

import re
from typing import Any

MAX_STEPS = 40
"""Elements between two names of one by-line."""
LONGEST_LINE = 400
"""Characters of what is around the names of a by-line."""
MOST_WORDS = 4
"""Words of one of several names in a text; a single name may have more."""
_JOINT = re.compile(r"\s*[,;]\s*(?:and|und|et|og|och|en|&)\s+|\s*[,;]\s+|\s+(?:and|und|et|og|och|en|&)\s+")
_IS_CERTAIN = re.compile(r"\s(?:and|und|et|og|och|en|&)\s")
_BETWEEN = re.compile(r"[\s\d*]*(?:[,;&]|\b(?:and|und|et|og|och|en)\b)(?:[\s,;&]|\b(?:and|und|et|og|och|en|by)\b)*")
"""Numbers and stars lead to where the authors work."""
_PARTICLES = frozenset("van von der den de del della di da do dos du la le el al bin ibn ter ten zu st".split())  # noqa: SIM905
_NO_PERSON = re.compile(
    r"\b(?:the|(?:co-?)?founders?|lead|reviewers?|experts?|editors?|editorial|directors?|managers?|officers?|writers?|authors?|team|staff|services?|departments?"
    r"|university|institutes?|association|group|company|inc|ltd|llc|foundation|council|agency|cent(?:er|re)|society"
    r"|college|school|news|media|press|research|sciences?|health|contributors?|correspondents?|reporters?|senior|chief"
    r"|professor|security|development|marketing|technology|education|community|sons|family|friends|partners|bank"
    r"|ministry|office|bureau|administration|commission|committee|sales|support|design|products?|tips|guides?)\b",
    re.IGNORECASE,
)
"""What stands in names of organisations and in what somebody is, and in no name of a person."""


def parted(text: str) -> list[str]:
    """The names of a text that joins several; the text alone where it may be one name, or an organisation's."""
    parts = [part for part in _JOINT.split(text) if part]
    if len(parts) < 2 or (len(parts) == 2 and ";" not in text and not _IS_CERTAIN.search(text)):
        return [text]  # "Paul Frew, Home Inspector"
    return parts if all(map(is_a_person, parts)) else [text]


def is_a_person(text: str) -> bool:
    """True for two to four words that could be the name of a person, and of nothing else."""
    words = text.split()
    if not 1 < sum(word not in _PARTICLES for word in words) <= MOST_WORDS or _NO_PERSON.search(text):
        return False
    return all(word[0].isupper() or word in _PARTICLES for word in words) and not any(map(str.isdigit, text))


def _is_in_running_text(element: Any) -> bool:
    """True in a paragraph of which names are only a part: "we thank Ada Lovelace and …"."""
    around = element.getparent()
    return around is not None and len(around.text_content()) > LONGEST_LINE


def are_joined(one: Any, other: Any) -> bool:
    """True for two elements of one kind, in page order, between which nothing stands but what joins names."""
    if one.tag != other.tag or one.get("class") != other.get("class"):
        return False
    found, node = list[str](), one
    for _ in range(MAX_STEPS):
        found.append(node.tail or "")
        following = node.getnext()
        if following is None:
            node = node.getparent()
            if node is None:
                return False
            continue
        node = following
        while node is not other and len(node):
            found.append(node.text or "")
            node = node[0]
        if node is other:
            return _BETWEEN.fullmatch("".join(found)) is not None and not _is_in_running_text(one)
        found.append(node.text or "")
    return False
