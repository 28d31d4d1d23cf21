"""Five more sites whose truth is known, made to be hard for what was chosen last, and written after it.

The theatre with its break of six weeks was parked in front of it, and the rule was narrowed (a kind that is reached
through itself alone). Nothing was changed after the others: entries among stubs of the same shape without end, lists
that overlap so that their dry stretches grow, a diary with gaps, and a list of news with a dry middle.
"""

from __future__ import annotations

import random
from datetime import date, timedelta
from urllib.parse import parse_qs, urlsplit

from bench.web.value_sites import Links, Page, Site

_WORDS = ("anise", "burrow", "cinder", "dapple", "eyrie", "fennel", "gable", "hollow", "ivory", "juniper", "kestrel",
          "linden", "marrow", "nettle", "orchard", "pewter")  # fmt: skip


def _name(*parts: object) -> str:
    rng = random.Random("late/" + "/".join(map(str, parts)))
    return "-".join(rng.choice(_WORDS) for _ in range(3)) + f"-{parts[-1]}"


def _label(name: str) -> str:
    return f"Read of {name.replace('-', ' ')}"


def _size(name: str, low: int, high: int) -> int:
    return random.Random("late:" + name).randint(low, high)


def _pick(name: str, values: list[str], n: int) -> list[str]:
    return random.Random("late:" + name).sample(values, min(n, len(values)))


def _days(first: date, last: date) -> list[date]:
    """All but Mondays."""
    days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    return [day for day in days if day.weekday()]


def theatre(path: str) -> Page | None:
    """A programme by day and month for ever, a play on each day but Mondays, and six weeks of summer without any."""
    at = urlsplit(path).path
    asked = parse_qs(urlsplit(path).query)
    evenings = _days(date(2026, 5, 1), date(2026, 6, 30)) + _days(date(2026, 8, 13), date(2026, 9, 30))
    plays = {day: f"/play/{_name('play', n)}" for n, day in enumerate(evenings)}
    menu: Links = [("/programme?month=2026-06", "Programme"), ("/house", "The house"), ("/cards", "Cards")]
    if at == "/":
        return Page(25, "", [(plays[day], _label(plays[day][6:])) for day in evenings[40:44]], menu)
    if at in plays.values():
        return Page(_size(at, 150, 900), at, [], [*menu, (f"{at}/cast", "Cast")])
    if at == "/programme" and "month" in asked:
        year, month = map(int, asked["month"][0].split("-"))
        if not 1 <= year <= 9998:
            return None
        first = date(year, month, 1)
        beside: Links = [
            (f"/programme?month={d.year}-{d.month:02d}", f"{d:%B}")
            for d in (first - timedelta(days=1), first + timedelta(days=31))
        ]
        days: Links = [(f"/programme/{year}-{month:02d}-{d:02d}", str(d)) for d in range(1, 29)]
        return Page(0, "", days, [*menu, *beside])
    if at.startswith("/programme/"):
        day = date.fromisoformat(at.rpartition("/")[2])
        shown: Links = [(plays[day], _label(plays[day][6:]))] if day in plays else []
        beside = [(f"/programme/{day + timedelta(days=n)}", "day") for n in (-1, 1)]
        return Page(0, "", shown + beside, menu)
    return Page() if at in {"/house", "/cards"} or at.endswith("/cast") else None


def encyclopaedia(path: str) -> Page | None:
    """Entries by number: ninety have text, all others are stubs made for whoever asks; each links to some of both."""
    at = urlsplit(path).path
    real = [17 + 31 * n for n in range(90)]
    menu: Links = [("/entry/17", "First entry"), ("/changes", "Changes"), ("/about", "About")]
    letters: Links = [(f"/letter/{c}", c) for c in "abcdefghi"]
    if at == "/":
        return Page(40, "", letters, menu)
    if at.startswith("/letter/"):
        n = "abcdefghi".find(at[-1])
        mine = real[10 * n : 10 * n + 10]
        return Page(0, "", [(f"/entry/{i}", _label(_name("entry", i))) for i in mine], menu) if n >= 0 else None
    if at.startswith("/entry/"):
        i = int(at.rpartition("/")[2])
        rng = random.Random(f"late entry {i}")
        stubs: Links = [(f"/entry/{rng.randrange(10**6)}", "a stub with a long name") for _ in range(4)]
        if i not in real:
            return Page(8, "", stubs, menu)
        see: Links = [(f"/entry/{k}", _label(_name("entry", k))) for k in rng.sample(real, 2)]
        return Page(_size(at, 200, 1100), at, see + stubs, menu)
    return Page() if at in {"/changes", "/about"} else None


def recipes(path: str) -> Page | None:
    """Recipes behind lists by ingredient, course and season that overlap; each with nutrition, comments, a print."""
    at, asked = urlsplit(path).path, parse_qs(urlsplit(path).query)
    dishes = [f"/recipe/{_name('recipe', n)}" for n in range(150)]
    menu: Links = [(f"/course/{c}", c) for c in ("soups", "mains", "sweets")]
    menu += [(f"/season/{s}", s) for s in ("spring", "summer", "autumn", "winter")]
    menu += [("/ingredients", "Ingredients"), ("/join", "Join")]
    if at == "/":
        return Page(30, "", [(d, _label(d[8:])) for d in dishes[:5]], menu)
    if at == "/ingredients":
        return Page(0, "", [(f"/ingredient/{w}", w) for w in _WORDS], menu)
    kind = at.split("/")[1]
    if kind in {"course", "season", "ingredient"}:
        page = int(asked.get("page", ["1"])[0])
        listed = _pick(at, dishes, {"course": 60, "season": 50, "ingredient": 32}[kind])
        shown = listed[8 * (page - 1) : 8 * page]
        more: Links = [(f"{at}?page={page + 1}", "next")] if len(listed) > 8 * page else []
        return Page(0, "", [(d, _label(d[8:])) for d in shown] + more, menu) if shown else None
    if at in dishes:
        if "print" in asked:
            return Page(_size(at, 120, 700), at)
        tools: Links = [(f"{at}?print=1", "Print"), (f"{at}/nutrition", "Nutrition"), (f"{at}/comments", "Comments")]
        words: Links = [(f"/ingredient/{w}", w) for w in _pick(at, list(_WORDS), 3)]
        return Page(_size(at, 120, 700), at, words, [*menu, *tools])
    return Page() if at == "/join" or at.endswith(("/nutrition", "/comments")) else None


def diary(path: str) -> Page | None:
    """Days that lead to the day before and after for ever; ninety entries, with gaps of up to ten days."""
    first, entries, day = date(2024, 2, 1), {}, date(2024, 2, 1)
    for n in range(90):
        entries[day] = f"/entry/{_name('diary', n)}"
        day += timedelta(days=random.Random(f"late diary {n}").choice((1, 1, 1, 2, 2, 3, 10)))
    menu: Links = [("/", "Diary"), ("/me", "About me")]
    if path == "/":
        return Page(15, "", [(f"/day/{first + timedelta(days=60)}", "Two years ago today")], menu)
    if path.startswith("/day/"):
        day = date.fromisoformat(path[5:])
        found: Links = [(entries[day], _label(entries[day][7:]))] if day in entries else []
        return Page(0, "", found + [(f"/day/{day + timedelta(days=n)}", "day") for n in (-1, 1)], menu)
    return (
        Page(_size(path, 130, 700), path, [], menu) if path in entries.values() else Page() if path == "/me" else None
    )


def bulletin(path: str) -> Page | None:
    """News in a list whose pages are numbered for ever; its middle shows the same notices again for thirty pages."""
    at, asked = urlsplit(path).path, parse_qs(urlsplit(path).query)
    menu: Links = [("/news?page=1", "News"), ("/topics", "Topics"), ("/contact", "Contact")]
    if at == "/":
        return Page(20, "", [(f"/notice/{_name('notice', n)}", _label(_name("notice", n))) for n in range(4)], menu)
    if at == "/topics":
        return Page(0, "", [(f"/topic/{w}", w) for w in _WORDS], menu)
    if at.startswith("/topic/"):
        some = _pick(at, [str(n) for n in range(100)], 6)
        return Page(0, "", [(f"/notice/{_name('notice', int(n))}", "notice") for n in some], menu)
    if at == "/news":
        page = int(asked.get("page", ["1"])[0])
        base = page - 1 if page <= 20 else page - 31 if page > 50 else (page * 7) % 20
        some_ = range(4 * base, 4 * base + 4) if page <= 60 else ()
        shown: Links = [(f"/notice/{_name('notice', n)}", _label(_name("notice", n))) for n in some_]
        return Page(0, "", [*shown, (f"/news?page={page + 1}", "older")], menu)
    if at.startswith("/notice/"):
        return Page(_size(at, 110, 500), at, [], menu) if 0 <= int(at.rpartition("-")[2]) < 120 else None
    return Page() if at == "/contact" else None


LATE = (
    Site("theatre", theatre, endless=True),
    Site("encyclopaedia", encyclopaedia, endless=True),
    Site("recipes", recipes),
    Site("diary", diary, endless=True),
    Site("bulletin", bulletin, endless=True),
)
