"""The words of a line of AsciiDoc: of links and macros their text, of pictures and index entries nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape

from crawler.stages.documents.kept import Kept

_PASS = re.compile(r"\+\+\+([^\n]{0,2000}?)\+\+\+|pass:[a-z,]{0,20}\[([^\]\n]{0,2000})\]")
_CODE = re.compile(r"(?<![\w`\\])``?\+?([^`\n]{1,2000}?)\+?``?(?![\w`])")
_LINK = re.compile(r"(?:link:|(?=https?://|ftp://|irc://|mailto:))([^\s\[\]<>\"]{1,2000})\[([^\]\n]{0,1000})\]")
_FOOTNOTE = re.compile(r"[ \t]?footnote(?:ref)?:[\w-]{0,60}\[([^\]\n]{0,2000})\]")
_XREF = re.compile(r"<<([^<>,\n]{1,300})(?:,[ \t]*([^<>\n]{1,500}))?>>|xref:([^\s\[\]]{1,500})\[([^\]\n]{0,500})\]")
_SHOWN = re.compile(r"(?:kbd|btn|menu|stem|latexmath|asciimath):([^\s\[\]]{0,200})\[([^\]\n]{0,500})\]")
_UNSHOWN = re.compile(
    r"(?:image|icon|indexterm|anchor):[^\s\[\]]{0,500}\[[^\]\n]{0,1000}\]|\(\(\([^()\n]{1,500}\)\)\)|\[\[[^\[\]\n]{1,300}\]\]"
)
_MACRO = re.compile(r"(?<![\w:/])[a-z][a-z0-9_-]{2,30}:([\w./-]{1,200})\[([^\]\n]{0,500})\]")
"""A macro that an extension has added (`linkgit:git-log[1]`): its text, or its target with the number behind it."""
_TERM = re.compile(r"\(\(([^()\n]{1,300})\)\)|indexterm2:\[([^\]\n]{1,300})\]")
_ATTRIBUTE = re.compile(r"(?<!\\)\{([\w-]{1,60})\}")
_ROLE = re.compile(r"\[[.#%\w -]{1,100}\](?=[#*_`]{1,2}\S)")
_DOUBLE = re.compile(r"(\*\*|__|##|\^\^|~~)(?=\S)([^\n]{1,2000}?)(?<=\S)\1")
_SINGLE = re.compile(r"(?<![\w\\])([*_#])(?=\S)([^*_#\n]{1,2000})(?<=\S)\1(?!\w)")
_SHIFTED = re.compile(r"([\^~])([^\s\^~]{1,200})\1")
_CURLY = re.compile(r"\"`([^`\n]{1,1000})`\"|'`([^`\n]{1,1000})`'")
_ADDRESS = re.compile(r"https?://[^\s<>\"'`\[\]]{3,2000}")
_TAG = re.compile(r"</?\w[^<>]{0,500}>")
_LINK_OPTIONS = re.compile(r",?[ \t]*(?:window|role|opts|options|rel)=.*$|\^$")
_ESCAPED = re.compile(r"\\(?=[*_#`{<\[(^~+|'\"-])")
_KNOWN = {"nbsp": " ", "sp": " ", "empty": "", "blank": "", "zwsp": "", "amp": "&", "lt": "<", "gt": ">", "plus": "+",
          "apos": "'", "quot": '"', "lsquo": "‘", "rsquo": "’", "ldquo": "“", "rdquo": "”", "deg": "°", "vbar": "|",
          "asterisk": "*", "tilde": "~", "caret": "^", "backslash": "\\", "startsb": "[", "endsb": "]", "backtick": "`",
          "two-colons": "::", "two-semicolons": ";;", "cpp": "C++", "brvbar": "¦", "wj": ""}  # fmt: skip


@dataclass(slots=True)
class Names:
    """attributes: those that the text sets, by name in lower case. links, notes: those that were met."""

    attributes: dict[str, str] = field(default_factory=dict)
    links: dict[str, None] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def inline(text: str, names: Names) -> str:
    """The words of a paragraph on one line; its links and footnotes are added to `names`."""
    words = _Words(names)
    text = text.replace("\ue000", "").replace("\ue001", "")
    text = _PASS.sub(lambda found: words.keep(_TAG.sub("", found[1] or found[2] or "")), text)
    text = _CURLY.sub(lambda found: f"“{found[1]}”" if found[1] else f"‘{found[2]}’", text)
    text = _CODE.sub(lambda found: words.keep(_ATTRIBUTE.sub(words.attribute, found[1])), text)
    text = _ATTRIBUTE.sub(words.attribute, text)
    text = _XREF.sub(words.xref, _LINK.sub(words.link, _UNSHOWN.sub("", _FOOTNOTE.sub(words.note, text))))
    text = _SHOWN.sub(lambda found: " > ".join(filter(None, (found[1], found[2]))), text)
    text = _MACRO.sub(_of_macro, text)
    text = _TERM.sub(lambda found: found[1] or found[2], text)
    text = _ADDRESS.sub(words.address, text)
    text = _ROLE.sub("", text)
    for pattern in (_DOUBLE, _DOUBLE, _SINGLE, _SINGLE, _SHIFTED):
        text = pattern.sub(r"\2", text)
    return " ".join(words.whole(_ESCAPED.sub("", unescape(text))).split())


def _of_macro(found: re.Match[str]) -> str:
    said = found[2].strip()
    return said if re.search(r"[^\W\d]", said) else f"{found[1]}({said})" if said else found[1]


@dataclass(slots=True)
class _Words(Kept):
    """What a pattern has made of a piece, kept from the patterns after it."""

    names: Names

    def attribute(self, found: re.Match[str]) -> str:
        name = found[1].lower()
        return self.names.attributes.get(name, _KNOWN.get(name, found[0]))

    def link(self, found: re.Match[str]) -> str:
        if not found[1].startswith("mailto:"):
            self.names.links.setdefault(found[1])
        said = _LINK_OPTIONS.sub("", found[2]).strip().strip('"')
        return said or self.keep(found[1].removeprefix("mailto:"))

    def note(self, found: re.Match[str]) -> str:
        if found[1].strip():
            self.names.notes.append(found[1])
        return ""

    def xref(self, found: re.Match[str]) -> str:
        place = (found[1] or found[3]).rpartition("#")[2]
        return found[2] or found[4] or self.keep(place.lstrip("_").replace("_", " "))

    def address(self, found: re.Match[str]) -> str:
        self.names.links.setdefault(found[0].rstrip(".,;:!?)"))
        return self.keep(found[0])
