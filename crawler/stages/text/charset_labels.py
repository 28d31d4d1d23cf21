"""Labels of character sets, as headers and pages write them, and the codec of Python that reads each as browsers do.

Source: WHATWG Encoding standard, section 4.2 (names and labels): `iso-8859-1` is windows-1252, `gb2312` is read as
gb18030, `ks_c_5601-1987` as windows-949. w3lib knows most of them; what it does not know stands here, with labels that
are no standard's and mean one thing only.
"""

from __future__ import annotations

import codecs
import re

from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding, resolve_encoding

_HEAD = 1_024
"""Bytes that the standard's prescan reads; w3lib looks at more of them."""
_NO_CHARSETS = frozenset(
    {"undefined", "idna", "punycode", "unicode_escape", "unicode-escape", "raw_unicode_escape", "raw-unicode-escape"}
    | {"utf_7", "utf-7", "mbcs", "oem", "hz"}
)
"""Codecs of Python that no page is written in: `<meta charset=undefined>` is an empty variable of a template."""
_FURTHER = {
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8 utf-8n utf8mb4 utf-8859-1",
    "iso8859-2": "iso88592",
    "iso8859-6": "csiso88596e csiso88596i iso-8859-6-e iso-8859-6-i",
    "iso8859-7": "sun_eu_greek",
    "iso8859-8": "csiso88598e iso-8859-8-e visual csiso88598i iso-8859-8-i logical",
    "iso8859-13": "iso885913",
    "iso8859-15": "csisolatin9 iso885915",
    "koi8-r": "koi koi8",
    "koi8-u": "koi8-ru koi8u",
    "mac-roman": "csmacintosh mac x-mac-roman",
    "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "cp874": "dos-874",
    "cp1250": "x-cp1250 cp-1250 win-1250 windows1250",
    "cp1251": "x-cp1251 win1251 cp-1251 windows1251 ansi-1251",
    "cp1252": "x-cp1252 iso88591 windows1252 cp-1252 win-1252 ansi",
    "cp1253": "x-cp1253 windows1253",
    "cp1254": "x-cp1254 windows1254 iso88599",
    "cp1255": "x-cp1255 windows1255",
    "cp1256": "x-cp1256 windows1256",
    "cp1257": "x-cp1257 windows1257",
    "cp1258": "x-cp1258 windows1258",
    "gb18030": "csgb2312 gb_2312 gb-2312 x-gbk gb-18030",
    "big5hkscs": "cn-big5 x-x-big5 big-5",
    "euc_jp": "cseucpkdfmtjapanese x-eucjp",
    "cp932": "x-ms-cp932 shift-jis-x sift_jis",
    "cp949": "cseuckr csksc56011987 iso-ir-149 ks_c_5601-1989 ksc_5601 ksc-5601 windows-949 x-windows-949",
    "utf-16-be": "unicodefffe",
    "utf-16-le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff",
}
_CODECS = {label: codec for codec, labels in _FURTHER.items() for label in labels.split()}
_OTHERS = {
    "euc_jp": ("euc_jis_2004",),
    "iso2022_jp": ("iso2022_jp_ext", "iso2022_jp_2004"),
    "big5hkscs": ("cp950",),
    "koi8-r": ("koi8-u",),
}
"""Codecs that read more of the same character set: the standard's tables are larger than Python's."""
_ATTRIBUTE = re.compile(rb"<meta\b", re.IGNORECASE)
_CONTROLS = 0xA0
"""Bytes below are controls of ISO 8859 where a code page of Windows leaves them out."""


def codec_of(label: str | None) -> str | None:
    """The codec for a label; None for none, for one that nobody knows, and for what no page is written in."""
    if not label:
        return None
    plain = label.strip().strip("\"'").lower()[:64]
    found = _CODECS.get(plain) or _resolved(plain)
    return None if found is None or found.lower() in _NO_CHARSETS else found


def of_header(charset: str | None) -> str | None:
    """The codec that a header names: a label, or a whole Content-Type. A proxy may have joined two headers."""
    if not charset:
        return None
    if "=" in charset:
        found = http_content_type_encoding(charset)
        label = re.search(r"charset\s*=\s*[\"']?([^\s;,\"']{1,64})", charset, re.IGNORECASE)
        return codec_of(found) or codec_of(label[1] if label else None)
    return codec_of(charset.partition(",")[0])


def of_page(body: bytes) -> str | None:
    """The codec that the page declares. By the standard a page that can be read to say so is not in UTF-16."""
    found = codec_of(html_body_declared_encoding(body)) or _of_odd_label(body)
    return "utf-8" if found is not None and found.startswith("utf-16") else found


def _of_odd_label(body: bytes) -> str | None:
    """A declaration whose label w3lib does not know."""
    match = _DECLARED.search(body[: 4 * _HEAD])
    return codec_of(match[1].decode("ascii", "replace")) if match else None


_DECLARED = re.compile(
    rb"""<(?:meta\b[^<>]{0,200}?|\?xml\b[^<>]{0,100}?)(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{2,40})""",
    re.IGNORECASE,
)


def read(body: bytes, codec: str, errors: str = "strict") -> str:
    """Text of the bytes. "strict": what browsers read as controls is no error. Raises: UnicodeDecodeError."""
    try:
        return body.decode(codec, _NAME if _is_of_windows(codec) and errors == "strict" else errors)
    except UnicodeDecodeError:
        for other in _OTHERS.get(codec, ()):
            try:
                return body.decode(other)
            except UnicodeDecodeError:
                continue
        raise


def is_single_byte(codec: str) -> bool:
    """True for character sets of 256 signs, of which nearly every byte is one."""
    return codec.startswith(("cp125", "iso8859", "koi8", "cp874", "cp866", "mac", "latin", "ascii"))


def _is_of_windows(codec: str) -> bool:
    return codec.startswith(("cp125", "cp874"))


def _resolved(label: str) -> str | None:
    try:
        return resolve_encoding(label)
    except (LookupError, ValueError):
        return None


def _as_control(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError) or error.object[error.start] >= _CONTROLS:
        raise error
    return chr(error.object[error.start]), error.start + 1


_NAME = "gristmill.controls"
codecs.register_error(_NAME, _as_control)
