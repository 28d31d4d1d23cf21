"""Is the main text what stands around a form: to log in, sign up, reset a password, write to somebody?

By place, not by words, so in any language: fields that follow each other closely are a form (with or without <form>,
which some pages put around everything). A box to log in beside an article has menus between itself and the text; what
explains a form stands next to its fields. How much running text then stands outside of the fields decides
(`stages/quality/no_content.py`). Where the address names an account's form, as software does in English whatever the
language of its pages, one field is enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import parse_qsl, urlsplit

from lxml.html import HtmlElement

from crawler.stages.text.visible import visible_texts
from crawler.stages.text.words import count_words

NEAR = 60
"""Letters and digits between a form and the main text, up to which they stand together: more than a heading or a
link beside the fields, less than a menu."""
NEAR_PASSWORD = 110
"""The same of a form that asks for a password, below which links to register and to a new password stand, unless the
text is an article, which such a form only stands beside."""
APART = 400
"""Letters and digits between two fields, from which they are of different forms: longer than a field's explanation."""
MOST_WORDS = 250
"""Words of a text beyond which nobody looks: it is more than a form with its explanations."""
LEAST_FIELDS = 3
"""Fields that make a form without a password; a search has fewer."""
MOST_CHARS = 200_000
"""Letters and digits of a page that are looked at."""
RUNNING = 20
"""Words of a line from which it is running text."""
_FIELDS = frozenset({"text", "email", "tel", "url", "number", "date", "password"})
_FIELD, _PASSWORD = "\ufdd0", "\ufdd1"  # noncharacters: fonts of icons draw what is for private use
_REST = re.compile(rf"[^\w{_FIELD}{_PASSWORD}]+|_+")
_MARKS = re.compile(f"[{_FIELD}{_PASSWORD}]+")
_WHOSE, _PASSWORDS = "(?:user|customer|member|account|client|my|new)", "(?:password|passwd|pwd)"
_ACCOUNT = re.compile(
    rf"(?:{_WHOSE}*(?:(?:log|sign)(?:in|on|up)|regist(?:er|ration)){_WHOSE}*(?:login|register)?"
    rf"|(?:create|add|new){_WHOSE}+|{_WHOSE}+(?:create|add)"
    rf"|(?:forgot(?:ten)?|lost|reset|recover|retrieve|mail|send)(?:your|my)?{_PASSWORDS}"
    rf"|{_PASSWORDS}(?:reset|recovery|reminder|forgot(?:ten)?|lost))(?:form|page)?"
)
_CHOOSES = frozenset({"act", "action", "cmd", "do", "mode", "page", "screen", "task", "view"})
"""Parameters of a query that name what a script shows."""
_ENDING, _SIGNS = re.compile(r"\.\w{2,5}$"), re.compile(r"[^a-z]+")
_HAS_FIELDS = re.compile(rb"<textarea|<input", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Form:
    """A run of fields on a page: where it begins and ends, in letters and digits of the page's text."""

    begin: int
    end: int
    fields: int
    passwords: int

    def holds(self, page: str, line: str, near: int = 0) -> bool:
        """True where a line of the page begins between the fields, or stands up to so many characters beside them."""
        begin, end = self.begin - near - (len(line) if near else 0), self.end + near + len(line)
        return line in page[max(begin, 0) : end if near else end - 1]


def is_account(url: str) -> bool:
    """True for the address of a form to log in, to sign up or to ask for a new password."""
    return any(map(_ACCOUNT.fullmatch, _names_in(url)))


def _names_in(url: str) -> Iterator[str]:
    """What the path names, one part or two together, and what the query chooses; letters alone."""
    try:
        parts = urlsplit(url.lower())
    except ValueError:
        return
    names = [_SIGNS.sub("", _ENDING.sub("", segment)) for segment in parts.path.split("/")]
    yield from names
    yield from map("".join, pairwise(names))
    yield from (_SIGNS.sub("", said) for name, said in parse_qsl(parts.query) if _SIGNS.sub("", name) in _CHOOSES)


def page_with_fields(tree: HtmlElement, html: bytes, url: str = "") -> str:
    """Letters and digits that the page shows, with a mark for each field to write into; "" where they are no form."""
    fields = [e for e in tree.iter("input", "textarea") if _is_field(e)] if _HAS_FIELDS.search(html) else []
    is_form = len(fields) >= LEAST_FIELDS or any(_kind(field) == "password" for field in fields)
    if not is_form and not (fields and is_account(url)):
        return ""
    tails = [field.tail for field in fields]
    for field in fields:
        field.tail = (_PASSWORD if _kind(field) == "password" else _FIELD) + (field.tail or "")
    text = _REST.sub("", " ".join(visible_texts(tree)))
    for field, tail in zip(fields, tails, strict=True):
        field.tail = tail
    return text


def form_signals(marked: str, text: str, url: str = "", page_type: str | None = None) -> dict[str, int]:
    """What the quality stage judges a form by; empty where the main text stands around none.

    `marked`: of `page_with_fields`. `account_form`: where the address names one, 2 if the page asks for a password,
    else 1. Where it does not, `form_passwords`: the most passwords that one form asks for; `form_running_words`: words
    in lines of running text outside of the forms' fields.
    """
    if marked and is_account(url):
        return {"account_form": 2 if _PASSWORD in marked else 1}
    if not marked or count_words(text) > MOST_WORDS:
        return {}
    page, forms = _forms(marked[:MOST_CHARS])
    lines = [(count_words(line), _REST.sub("", line)) for line in text.splitlines()]
    beyond = NEAR if page_type == "article" else NEAR_PASSWORD
    near = [
        form
        for form in forms
        if any(line and form.holds(page, line, beyond if form.passwords else NEAR) for _, line in lines)
    ]
    if not near:
        return {}
    running = ((words, line) for words, line in lines if words >= RUNNING)
    outside = sum(words for words, line in running if not any(form.holds(page, line) for form in near))
    return {"form_passwords": max(form.passwords for form in near), "form_running_words": outside}


def _is_field(element: HtmlElement) -> bool:
    return element.tag == "textarea" or _kind(element) in _FIELDS


def _kind(element: HtmlElement) -> str:
    return (element.get("type") or "text").strip().lower()


def _forms(marked: str) -> tuple[str, list[Form]]:
    """The page without marks, and its forms: with a password, or three fields."""
    page, runs = list[str](), list[list[tuple[int, str]]]()
    at = last = 0
    for found in _MARKS.finditer(marked):
        page.append(marked[last : found.start()])
        at += found.start() - last
        last = found.end()
        if not runs or at - runs[-1][-1][0] > APART:
            runs.append([])
        runs[-1] += [(at, mark) for mark in found.group()]
    page.append(marked[last:])
    forms = (Form(run[0][0], run[-1][0], len(run), sum(mark == _PASSWORD for _, mark in run)) for run in runs)
    return "".join(page), [form for form in forms if form.passwords or form.fields >= LEAST_FIELDS]
