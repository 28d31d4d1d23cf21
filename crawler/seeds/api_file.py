"""The file behind `-a api=FILE` is read into an `ApiSource`; every problem says where it is and what to do.

Format: `docs/seeds.md`, example: `docs/examples/api.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

from crawler.config import yaml_file
from crawler.config.secret import PLACE
from crawler.config.yaml_file import Value
from crawler.seeds.api import FIELDS, JSON, MAX_LISTS, TEXTS, WAYS, ApiSource, Credential, is_loopback, places
from crawler.stages.text.json_data import MAX_PATH_PARTS
from crawler.urls.canonicalize import canonicalize

MAX_FILE_BYTES = 2**16
_KEYS = ("list", "items", "pages", "record", "fields", "accept", "credential")
_REQUIRED = ("list", "record")
_CREDENTIAL = ("from", "header", "scheme")
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
"""A name of RFC 9110, section 5.6.2."""
_MEDIA = re.compile(r"[A-Za-z0-9*/+.;=, -]+")
_PAGES = ("by", "first", "step", "most", "at")
_PLACES = ("page", "offset", "cursor")
_Texts = dict[str, tuple[Value, str]]  # a value and its text


def read_api(path: Path) -> ApiSource:
    """Read and check the file. Raises: InputError that lists every problem."""
    return yaml_file.read(path, _source, most=MAX_FILE_BYTES)


def parse_api(data: bytes, name: str = "api") -> ApiSource:
    """`read_api` on the file's bytes; `name` stands for the file in problems. Raises: InputError."""
    return yaml_file.parse(data, _source, name)


def _source(root: Value) -> ApiSource | None:
    top = root.mapping(_KEYS, "expected the keys list, record and fields (docs/seeds.md)")
    if not root.is_mapping:
        return None
    parts = {"pages": _PAGES, "fields": FIELDS, "credential": _CREDENTIAL}
    texts = _texts({key: value for key, value in top.items() if key not in parts})
    pages, fields, key_of = (_texts(_below(top, key, known)) for key, known in parts.items())
    for key in _REQUIRED:
        if key not in top:
            root.problem(f"missing; a source needs {', '.join(_REQUIRED)}", key)
    _check(top, texts, pages, fields)
    if "credential" in top:
        _check_credential(top["credential"], key_of, texts)
    if root.count:
        return None
    return ApiSource(
        lists=texts["list"][1],
        record=texts["record"][1],
        fields=tuple((key, text) for key, (_, text) in fields.items()),
        items=texts["items"][1] if "items" in texts else "",
        accept=texts["accept"][1] if "accept" in texts else JSON,
        credential=_credential(key_of) if key_of else None,
        **_plain(pages),
    )


def _below(top: dict[str, Value], key: str, known: Collection[str]) -> dict[str, Value]:
    return top[key].mapping(known, "expected key: value pairs") if key in top else {}


def _texts(values: dict[str, Value]) -> _Texts:
    return {key: (value, text) for key, value in values.items() if (text := value.text(str)) is not None}


def _check(top: dict[str, Value], texts: _Texts, pages: _Texts, fields: _Texts) -> None:
    by = _way(pages)
    if "list" in texts:
        _check_list(*texts["list"], by)
    if "record" in texts:
        _check_url(*texts["record"])
        if not places(texts["record"][1]):
            top["record"].problem("expected what is filled in, such as {id} or {slug}")
    if "fields" in top and not set(TEXTS) & set(fields):
        top["fields"].problem(f"expected {', '.join(TEXTS)}: the path of a record's text")
    if "accept" in texts and not _MEDIA.fullmatch(texts["accept"][1]):
        texts["accept"][0].problem(f"expected media types, such as {JSON}")
    for value, text in [*fields.values(), *(pages[key] for key in pages if key == "at")]:
        if not text or len(text.split(".")) > MAX_PATH_PARTS:
            value.problem(f"expected a path such as results.0.title, of at most {MAX_PATH_PARTS} names")


def _check_credential(value: Value, given: _Texts, texts: _Texts) -> None:
    if "from" not in given or not PLACE.fullmatch(given["from"][1]):
        value.problem(
            "expected from: env:NAME or file:PATH, where the key is; the key itself has no place in this file"
        )
    for key in ("header", "scheme"):
        if key in given and not _TOKEN.fullmatch(given[key][1]):
            given[key][0].problem("expected one word, such as Authorization or Bearer")
    if "list" in texts and not (texts["list"][1].startswith("https://") or is_loopback(texts["list"][1])):
        texts["list"][0].problem("a key is sent by https only")


def _credential(given: _Texts) -> Credential:
    place = given["from"][1]
    kind, _, where = place.partition(":")
    header = given["header"][1] if "header" in given else "Authorization"
    scheme = given["scheme"][1] if "scheme" in given else "Bearer" if header == "Authorization" else ""
    return Credential(f"file:{Path(where).absolute()}" if kind == "file" else place, header, scheme)


def _way(pages: _Texts) -> str:
    if "by" in pages:
        value, by = pages["by"]
        if by not in WAYS:
            value.problem(f"expected one of {', '.join(WAYS)}, found {by[:50]!r}")
        if by in {"cursor", "link"} and "at" not in pages:
            value.problem(f"{by} needs at: the path of the next one in a list, such as meta.next")
    else:
        by = "none"
    for key in ("first", "step", "most"):
        if key in pages and not (key == "first" and by == "cursor"):
            _check_number(*pages[key], at_least=0 if key == "first" else 1)
    return by


def _check_number(value: Value, text: str, *, at_least: int) -> None:
    if not (text.isascii() and text.isdigit() and at_least <= int(text[:12]) <= 2**31):
        value.problem(f"expected a whole number of at least {at_least}, found {text[:50]!r}")


def _check_list(value: Value, text: str, by: str) -> None:
    _check_url(value, text)
    wanted = [by] if by in _PLACES else []
    if places(text) != wanted and by in WAYS:
        what = f"{{{by}}} once" if wanted else "nothing in braces"
        value.problem(f"by {by} expects {what} in the address, found {places(text) or 'nothing'}")


def _check_url(value: Value, text: str) -> None:
    start = text.partition("{")[0]
    if canonicalize(text.replace("{", "").replace("}", "")) is None or "/" not in start.partition("://")[2]:
        value.problem(f"expected an http(s) URL with its host spelt out, found {text[:100]!r}")


def _plain(pages: _Texts) -> dict[str, Any]:
    numbers: dict[str, Callable[[str], Any]] = {"step": int, "most": int}
    return {key: numbers.get(key, str)(text) for key, (_, text) in pages.items()}


def source_to_json(source: ApiSource) -> dict[str, Any]:
    """What `source_from_json` reads: plain values."""
    key = source.credential
    return {name: getattr(source, name) for name in (*_TEXTS, "accept")} | {
        "step": source.step, "most": source.most, "fields": [list(pair) for pair in source.fields],
        "credential": [key.place, key.header, key.scheme] if key else [],
    }  # fmt: skip


def source_from_json(values: dict[str, Any]) -> ApiSource:
    """Types are checked: what is stored in Redis may have been written by anybody who reaches it.

    Raises: KeyError, TypeError, ValueError.
    """
    texts = {name: values[name] for name in _TEXTS} | {"accept": values.get("accept", JSON)}
    key = list(values.get("credential", ()))  # a crawl that an earlier version began has none
    fields = tuple((name, path) for name, path in values["fields"])
    numbers = values["step"], values["most"]
    strings: Iterator[Any] = (text for text in (*texts.values(), *key, *(part for pair in fields for part in pair)))
    if not all(isinstance(text, str) for text in strings) or not all(type(number) is int for number in numbers):
        raise TypeError("a source of JSON has a value of the wrong type")
    most = min(numbers[1], MAX_LISTS * MAX_LISTS)
    credential = Credential(*key) if key else None
    source = ApiSource(**texts, fields=fields, step=numbers[0], most=most, credential=credential)
    if credential and not (PLACE.fullmatch(credential.place) and _TOKEN.fullmatch(credential.header)):
        raise ValueError("a source of JSON has a key in a place that is none of the known ones")
    if source.by not in WAYS or source.first_list is None or not set(dict(fields)) <= set(FIELDS):
        raise ValueError("a source of JSON has a value that is none of the known ones")
    return source


_TEXTS = ("lists", "record", "items", "by", "first", "at")
