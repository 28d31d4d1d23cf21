"""Sentences of our own in thirty languages, and the character sets besides UTF-8 in which each of them was written."""

from pathlib import Path

SENTENCES = dict(line.split("\t") for line in Path(__file__).with_suffix(".tsv").read_text("utf-8").splitlines())
CHARACTER_SETS = {
    "ar": ("windows-1256", "iso-8859-6"), "be": ("windows-1251",), "bg": ("windows-1251",),
    "cs": ("windows-1250", "iso-8859-2"), "da": ("windows-1252",), "de": ("windows-1252", "iso-8859-15"),
    "el": ("windows-1253", "iso-8859-7"), "es": ("windows-1252",), "et": ("windows-1257",), "fa": ("windows-1256",),
    "fi": ("windows-1252",), "fr": ("windows-1252", "iso-8859-15"), "he": ("windows-1255",),
    "hr": ("windows-1250", "iso-8859-2"), "hu": ("windows-1250", "iso-8859-2"), "it": ("windows-1252",),
    "ja": ("shift_jis", "euc-jp", "iso-2022-jp"), "ko": ("euc-kr",), "lt": ("windows-1257", "iso-8859-13"),
    "lv": ("windows-1257",), "nl": ("windows-1252",), "pl": ("windows-1250", "iso-8859-2"), "pt": ("windows-1252",),
    "ro": ("windows-1250", "iso-8859-2"), "ru": ("windows-1251", "koi8-r", "iso-8859-5", "cp866"),
    "sk": ("windows-1250", "iso-8859-2"), "sv": ("windows-1252",), "th": ("cp874",), "tr": ("windows-1254",),
    "uk": ("windows-1251", "koi8-u"), "zh": ("gb18030", "gbk"), "zh-Hant": ("big5",),
}  # fmt: skip
_TYPED = {"fa": str.maketrans("ی", "ي")}
"""How a language was written where a character set lacked its letters."""


def typed(language: str, name: str) -> str:
    """The sentence as somebody typed it in that character set."""
    return SENTENCES[language].translate(_TYPED.get(language, {}) if not name.startswith("utf") else {})


PAIRS = [(language, name) for language, names in CHARACTER_SETS.items() for name in names]
