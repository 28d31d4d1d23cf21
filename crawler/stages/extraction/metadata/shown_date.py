"""The date that a page shows near its headline, for pages that state none in data.

It stands in a short line of its own, or behind a word such as "published". What stands in comments, sidebars, menus,
lists of events, opening hours and notices of copyright is another date; one of an update is none of the publication.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from crawler.stages.extraction.metadata.date_words import Place, dates_in

MAX_NODES = 4_000
"""Elements that are looked at."""
SHORT = 160
"""Characters of a line that may be about its date."""
HEADER = 600
"""Characters of a header at most, which has the headline, by-line and date of its page."""
_AROUND = 40
"""Characters beside a date in a line that is nothing but a date and who wrote it."""
_BESIDE, _ALONE, _ENDS = 4, 16, 12
"""Texts from the headline, beyond which a line has to be the date alone; characters beside it then, and at an end."""
_BEFORE, _BEHIND = 15, 40
"""Texts before and behind the headline among which its date stands."""
_LONG_ENOUGH = 12
"""Characters of a headline that the title has, too."""
_IN_FRONT, _CALLED_SO = 3, 8
_NEAR = 2
"""Elements around a date whose names tell that it is one of an update."""
_NO_PLACE = frozenset(
    {"script", "style", "noscript", "template", "nav", "footer", "aside", "select", "textarea", "button", "iframe"}
    | {"svg", "head", "blockquote", "pre", "code"}
)
_NAMES = re.compile(
    r"comment|disqus|respond|sidebar|side-bar|widget|related|recommend|teaser|carousel|slider|footer|copyright"
    r"|nav(?:bar|igation)?\b"
    r"|menu|opening|hours|calendar|event|upcoming|agenda|termin|ticker|breaking|popular|most-?read|trending"
    r"|latest|recent"
    r"|archive|newsletter|cookie|consent|\bads?\b|advert|promo|reply|replies|breadcrumb",
    re.IGNORECASE,
)
_COMMENT = re.compile(
    r"comment(?!s?[-_]?(?:count|link|number|open|clos))|disqus|respond|repl(?:y|ies)\b", re.IGNORECASE
)
_EVENT = re.compile(r"\bevent|startdate|enddate|valid(?:from|through)|opening|doortime", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_DEEP, _WHOLE = 10, frozenset({"html", "body", "main"})
_UPDATED = re.compile(
    r"updat|modif|changed|revis|edited|aktualis|geändert|änderung|bearbeitet|mis à jour|mise à jour|actualiz"
    r"|aggiornat|atualiz|bijgewerkt|gewijzigd"
    r"|oppdater|opdater|uppdater|zaktualiz|aktualiz|обновл|изменен|оновлен|güncelle|更新|修正|最終|최종|수정|عدّل|تحديث"
    r"|به‌روز|frissít"
    r"|päivitet|muokattu|actualis|ενημερ|accessed|abgerufen|reviewed|checked",
    re.IGNORECASE,
)
_PUBLISHED = re.compile(
    r"publi|posted|written (?:by|on)|veröffentlich|erstellt|erschien|gepostet|geplaatst|gepubliceerd|inserito"
    r"|objav|zveřejn|vydán|közzét|megjelen|julkaist|opubl|dodan|data\b|fecha|datum|date\b|дата|опублик|опублік"
    r"|публикув|yayın|tarih"
    r"|発表|公開|掲載|投稿|发布|發佈|發布|日期|게시|작성|입력|등록|نشر|منتشر|פורסם|เผยแพร่|đăng|δημοσ|diterbitkan|प्रकाशित",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"©|\(c\)|copyright|born|geboren|event|deadline|until|expires|closes?\b|einsendeschluss|anmeldeschluss"
    r"|öffnungszeit|opening|uhr bis"
    r"|valid|gültig|jusqu|hasta|fino al|tickets?|since|seit\b|depuis|desde|founded|gegründet|joined|registriert"
    r"|dabei seit|mitglied",
    re.IGNORECASE,
)


class _Line(NamedTuple):
    """A date in a line. at: number of its text, counted from the headline."""

    day: str
    at: int
    text: str
    rest: int
    before: int


def is_elsewhere(element: Any) -> bool:
    """True for what stands in a part of the page that is about other things, by its tag and by names around it."""
    for depth, one in enumerate((element, *element.iterancestors())):
        if one.tag in {"aside", "nav", "footer", "blockquote"}:
            return True
        if one.tag in {"body", "html", "main"} or depth > 12:
            break
        if _is_named(one) and one.find(".//h1") is None:
            return True
        if depth < _NEAR and _UPDATED.search(
            f"{one.get('class') or ''} {one.get('id') or ''} {one.get('itemprop') or ''}"
        ):
            return True
    return False


def is_of_another(element: Any) -> bool:
    """True for what stands in a comment, an answer, an event or opening hours, and for a notice of copyright."""
    for depth, one in zip(range(_DEEP), (element, *element.iterancestors()), strict=False):
        if one.tag in _WHOLE:
            break
        names = f"{one.get('class') or ''} {one.get('id') or ''} {one.get('itemprop') or ''}"
        if _COMMENT.search(names) or (depth <= _NEAR and _EVENT.search(names)):
            return True
    text = element.text_content()[: SHORT + 1] if element.tag != "meta" else ""
    return len(text) <= SHORT and bool(_OTHER.search(text)) and not (_PUBLISHED.search(text) or _UPDATED.search(text))


def is_publication(time: Any) -> bool:
    """True for a `<time>` that may be when the page was published: not one of a part of it, or of an update."""
    last, around = time.getprevious(), time.getparent()
    before = (last.tail if last is not None else around.text if around is not None else "") or ""
    label = f"{before} {time.get('class') or ''} {time.get('itemprop') or ''}"
    is_other = (_UPDATED.search(label) or _OTHER.search(label)) and not _PUBLISHED.search(label)
    return not is_other and not is_elsewhere(time)


def shown_date(tree: Any, url: str, latest: str, *, updates: bool = True) -> str | None:
    """ISO 8601 day, not after `latest`; None where no date, or more than one, could be the page's.

    updates: the date of an update is taken where no other stands there.
    """
    place = Place.of(tree.get("lang") or "", url)
    texts = list(_texts(tree))
    headline = _headline(tree, texts)
    lines = [line for line in _lines(texts, headline, place) if line.day <= latest]
    near = [line for line in lines if not _OTHER.search(line.text) or _PUBLISHED.search(line.text)]
    own = [line for line in near if not _UPDATED.search(line.text) or _PUBLISHED.search(line.text)]
    likely = [line for line in own if _is_about_its_date(line, headline)]
    if updates and not likely:
        likely = [line for line in near if _UPDATED.search(line.text) and line.text[-1:] != "."]
    if not likely or (headline is None and len({line.day for line in likely}) > 1):
        return None
    return min(likely, key=_distance).day


def _is_about_its_date(line: _Line, headline: int | None) -> bool:
    if _PUBLISHED.search(line.text) and line.rest <= SHORT / 2:
        return True
    if line.rest > _ENDS and (line.text[-1:] in ".!?。" or (line.before > _ENDS < line.rest - line.before)):
        return False  # a sentence, or a date in the middle of a line
    is_beside = headline is not None and abs(line.at) <= _BESIDE
    return line.rest <= (_AROUND if is_beside else _ALONE) or (headline is not None and line.at == 0)


def _distance(line: _Line) -> int:
    """From the headline, in texts: what stands behind it is nearer, and what is called a date of publication."""
    before = _IN_FRONT if line.at < 0 else 0
    return abs(line.at) + before - (_CALLED_SO if _PUBLISHED.search(line.text) else 0)


def _lines(texts: list[tuple[Any, str]], headline: int | None, place: Place) -> Iterator[_Line]:
    """The dates in short lines around the headline, in page order.

    Of all the page what is called a date of publication, and everything where there is no headline.
    """
    begin, end = (0, len(texts)) if headline is None else (max(0, headline - _BEFORE), headline + _BEHIND + 1)
    for number, (element, text) in enumerate(texts[begin:], begin):
        if _DIGIT.search(text):
            line = _line_around(element, text)
            found = list(dates_in(line, place)) if number < end or _PUBLISHED.search(line) else []
            if found and (len({one.day for one in found}) == 1 or _PUBLISHED.search(line)):
                first = min(found, key=lambda one: one.start)
                yield _Line(
                    first.day, number - (headline or 0), line, len(line) - (first.end - first.start), first.start
                )


def _texts(tree: Any) -> Iterator[tuple[Any, str]]:
    """Every text with the element that it stands in, without those parts of the page that are about other things.

    What stands in a header with the headline is about the page, however the header is called ("comment": an opinion).
    """
    stack: list[tuple[Any, str | None, bool]] = [(tree, None, False)]
    left, size = MAX_NODES, 0
    while stack and left:
        element, text, is_header = stack.pop()
        left -= 1
        if text is not None:
            yield element, text
            continue
        if element.tag in _NO_PLACE:
            continue
        if not is_header and element.tag not in {"html", "body", "main"} and _is_named(element):
            size = size or len(tree.text_content())
            chars = len(element.text_content())
            if element.find(".//h1") is not None:
                is_header = chars <= HEADER
            elif element.tag != "article" and 2 * chars < size:
                continue
        for child in reversed(element):
            if (tail := child.tail) and not tail.isspace():
                stack.append((element, tail, is_header))
            stack.append((child, None, is_header))
        if (own := element.text) and not own.isspace():
            yield element, own


def _is_named(element: Any) -> bool:
    kind, own = element.get("class"), element.get("id")
    if not kind and not own:
        return False
    names = f"{kind or ''} {own or ''}"
    return _NAMES.search(names) is not None if len(names) > SHORT else _are_of_others(names)  # bounded memory


@lru_cache(maxsize=8_192)
def _are_of_others(names: str) -> bool:
    """True for names of other things than the page's text; a site repeats them."""
    return _NAMES.search(names) is not None


def _headline(tree: Any, texts: list[tuple[Any, str]]) -> int | None:
    """Number of the text that is the headline: what the title begins with, else the first heading."""
    title = " ".join((tree.findtext(".//title") or "").casefold().split())
    plain = (" ".join(text.casefold().split()) if len(text) >= _LONG_ENOUGH else "" for _, text in texts)
    named = (number for number, text in enumerate(plain) if len(text) >= _LONG_ENOUGH and title.startswith(text))
    if (found := next(named, None)) is not None:
        return found
    for tag in ("h1", "h2"):
        inside = {element for heading in tree.iter(tag) for element in heading.iter()}
        if (found := next((n for n, (element, _) in enumerate(texts) if element in inside), None)) is not None:
            return found
    return None


def _line_around(element: Any, text: str) -> str:
    """The text of the largest of a few elements around a date that is still short; of running text its beginning."""
    line = " ".join(text.split())
    if len(line) > SHORT:
        return line[:_AROUND]
    for _ in range(3):
        whole = " ".join(element.text_content().split())
        if len(whole) > SHORT or element.find(".//h1") is not None:
            break
        line, element = whole, element.getparent()
        if element is None or element.tag in {"body", "article", "main"}:
            break
    return line
