"""The words of a line of reStructuredText: of links and roles their text, of footnotes' marks nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from crawler.stages.documents.kept import Kept

_LITERAL = re.compile(r"``([^\n]{1,2000}?)``")
_ROLE = re.compile(r":([A-Za-z][\w.+:-]{0,60}):`([^`\n]{1,1000})`|`([^`\n]{1,1000})`:([A-Za-z][\w.+:-]{0,60}):")
_EMBEDDED = re.compile(r"`([^`<\n]{0,1000}?)[ \t]*<([^<>`\n]{1,2000})>`__?")
_REFERENCE = re.compile(r"`([^`\n]{1,1000})`__?")
_WORD = re.compile(r"(?<![\w`])([A-Za-z0-9](?:[\w.+-]{0,200}[A-Za-z0-9])?)__?(?![\w`])")
_FOOTNOTE = re.compile(r"[ \t]?\[(?:\d{1,4}|#[\w.-]{0,60}|\*)\]_(?!\w)")
_CITATION = re.compile(r"\[([\w.+-]{1,60})\]_(?!\w)")
_SUBSTITUTION = re.compile(r"\|([^|\s](?:[^|\n]{0,200}[^|\s])?)\|_{0,2}(?!\w)")
_STRONG = re.compile(r"(?<![\\\w*])\*\*(?=\S)([^\n]{1,2000}?)(?<=[^\s\\])\*\*(?![\w*])")
_EMPHASIS = re.compile(r"(?<![\\\w*])\*(?=[^\s*])([^*\n]{1,2000})(?<=[^\s\\])\*(?![\w*])")
_PLAIN = re.compile(r"(?<![\\\w`])_?`([^`\n]{1,1000})`(?!\w)")
_TITLED = re.compile(r"(.{1,1000}?)[ \t]*<([^<>]{1,1000})>$", re.DOTALL)
_ADDRESS = re.compile(r"(?:https?|ftp)://[^\s<>\"'`|]{3,2000}")
_ESCAPED = re.compile(r"\\(\s|.)")
_WEB = ("http://", "https://")
_UNREAD = frozenset({"index", "raw"})


@dataclass(slots=True)
class Names:
    """What a text defines. targets: addresses; labels: headings; said: substitutions; each by `name_of`. links: met."""

    targets: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)
    links: dict[str, None] = field(default_factory=dict)


def name_of(label: str) -> str:
    """Names are the same whatever their case and their spaces."""
    return " ".join(label.replace("\\", "").split()).casefold()


def inline(text: str, names: Names) -> str:
    """The words of a paragraph on one line; its links are added to those of `names`."""
    words = _Words(names)
    text = text.replace("\ue000", "").replace("\ue001", "")
    text = _LITERAL.sub(lambda found: words.keep(found[1]), text)
    text = _EMBEDDED.sub(words.embedded, _ROLE.sub(words.role, text))
    text = _REFERENCE.sub(words.reference, text)
    text = _SUBSTITUTION.sub(lambda found: names.said.get(name_of(found[1]), found[0]), text)
    text = _CITATION.sub(r"[\1]", _FOOTNOTE.sub("", text))
    for address in _ADDRESS.findall(text):
        names.links.setdefault(address.rstrip(".,;:!?)]}"))
    text = _WORD.sub(words.word, text)
    for pattern in (_STRONG, _EMPHASIS, _PLAIN):
        text = pattern.sub(r"\1", text)
    text = _ESCAPED.sub(lambda found: "" if found[1].isspace() else found[1], text)
    return " ".join(words.whole(text).split())


@dataclass(slots=True)
class _Words(Kept):
    """What a pattern has made of a piece, kept from the patterns after it."""

    names: Names

    def role(self, found: re.Match[str]) -> str:
        kind, said = (found[1] or found[4]).rpartition(":")[2].lower(), found[2] or found[3]
        if titled := _TITLED.match(said):
            self.follow(titled[2])
            return self.keep(titled[1])
        if kind in {"ref", "doc", "numref"}:
            return self.keep(self.names.labels.get(name_of(said), said))
        said = said.rpartition(".")[2] if said.startswith("~") else said.lstrip("!")
        return self.keep("" if kind in _UNREAD else said)

    def embedded(self, found: re.Match[str]) -> str:
        self.follow(found[2])
        return self.keep(found[1] or found[2])

    def reference(self, found: re.Match[str]) -> str:
        self.follow(self.names.targets.get(name_of(found[1]), ""))
        return self.keep(found[1])

    def word(self, found: re.Match[str]) -> str:
        name = name_of(found[1])
        if name not in self.names.targets and name not in self.names.labels:
            return found[0]
        self.follow(self.names.targets.get(name, ""))
        return found[1]

    def follow(self, address: str) -> None:
        if address.lower().startswith(_WEB) or "/" in address:
            self.names.links.setdefault(address.replace(" ", ""))
