"""Eight sites whose truth is known: which pages have text worth keeping, which repeat it, which lead nowhere for ever.

Each imitates a kind of site that the web is full of. A page is made from its path alone, so that a site can be endless.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from html import escape
from urllib.parse import parse_qs, urlsplit

Links = list[tuple[str, str]]  # path, anchor text
WORDS = ("amber", "bridge", "cedar", "delta", "ember", "forest", "garden", "harbour", "island", "jasper", "kettle",
         "lantern", "meadow", "north")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Page:
    """What stands behind a path. `tokens` of text named `text`; 0 = nothing worth keeping. One text is kept once."""

    tokens: int = 0
    text: str = ""
    main: Links | tuple[()] = ()
    nav: Links | tuple[()] = ()
    foot: Links | tuple[()] = ()

    def html(self, title: str) -> bytes:
        parts = (f"<nav>{_anchors(self.nav)}</nav>", f"<main><h1>{escape(title)}</h1><p>{self.text}</p>")
        rest = f"{_anchors(self.main)}</main><footer>{_anchors(self.foot)}</footer>"
        return f"<!doctype html><title>{escape(title)}</title><body>{''.join(parts)}{rest}".encode()


@dataclass(frozen=True, slots=True)
class Site:
    """A site by its seed `/` and what it serves; None = 404. `domain`: it has several hosts, of which this one has the
    seed; then what it is asked for begins with the host.
    """

    name: str
    page: Callable[[str], Page | None]
    endless: bool = False
    domain: str = ""


def _anchors(links: Links | tuple[()]) -> str:
    return "\n".join(f'<a href="{escape(path)}">{escape(text)}</a>' for path, text in links)


def _tokens(name: str, low: int, high: int) -> int:
    return random.Random(name).randint(low, high)


def _slug(*parts: object) -> str:
    rng = random.Random("/".join(map(str, parts)))
    return "-".join(rng.choice(WORDS) for _ in range(4)) + f"-{parts[-1]}"


def _title(slug: str) -> str:
    return f"All about the {slug.replace('-', ' ')}"


def _some(name: str, values: list[str], n: int) -> list[str]:
    return random.Random(name).sample(values, min(n, len(values)))


def documentation(path: str) -> Page | None:
    """A manual: chapters by section, an index of letters, the sources of every page, a list of modules."""
    sections = [f"/{name}/" for name in ("guide", "reference", "howto", "library", "faq")]
    pages = {s: [f"{s}{_slug(s, n)}.html" for n in range(24)] for s in sections}
    flat = [page for group in pages.values() for page in group]
    letters = [f"/genindex-{c}.html" for c in "abcdefghijklmnopqrstuvwxyz"]
    menu: Links = [(s, s.strip("/")) for s in sections] + [("/genindex.html", "Index"), ("/modindex.html", "Modules")]
    foot: Links = [("/copyright.html", "Copyright"), ("/bugs.html", "Bugs"), ("/search.html", "Search")]
    if path == "/":
        return Page(60, "", [], menu, foot)
    if path in sections:
        return Page(0, "", [(p, _title(p.split("/")[2][:-5])) for p in pages[path]], menu, foot)
    if path == "/genindex.html":
        return Page(0, "", [(p, p[-6]) for p in letters], menu, foot)
    if path in letters or path == "/modindex.html":
        return Page(0, "", [(p, "entry") for p in _some(path, flat, 40)], menu, foot)
    if path in flat:
        source = f"/_sources{path[:-5]}.rst.txt"
        see: Links = [(p, _title(p.split("/")[2][:-5])) for p in _some(path, flat, 4)]
        return Page(_tokens(path, 300, 1500), path, see, [*menu, (source, "Show source")], foot)
    if path.startswith("/_sources/"):
        original = path.removeprefix("/_sources")[:-8] + ".html"
        return Page(_tokens(original, 300, 1500), original)
    return Page() if path in {p for p, _ in foot} else None


def blog(path: str) -> Page | None:
    """Posts by date, with archives of years, months, tags and authors, each in pages."""
    posts = [f"/20{20 + n % 5}/{1 + n % 12:02d}/{_slug('blog', n)}/" for n in range(140)]
    tags = [f"t{n}" for n in range(30)]
    tags_of = {p: _some(p, tags, 5) for p in posts}
    side: Links = [(f"/tag/{t}/", t) for t in tags[:12]] + [(f"/20{y}/", f"20{y}") for y in range(20, 25)]
    side += [(f"/author/{a}/", a) for a in ("ann", "bob", "eve")]
    parts = path.strip("/").split("/")
    number = int(parts[-1]) if len(parts) > 1 and parts[-2] == "page" and parts[-1].isdigit() else 1
    base = path.rpartition("page/")[0] if number > 1 else path
    if path in tags_of:
        at = posts.index(path)
        main: Links = [(p, _title(p.split("/")[3])) for p in posts[at + 1 : at + 2]]
        main += [(f"/tag/{t}/", t) for t in tags_of[path]]
        return Page(_tokens(path, 200, 1200), path, main, side, [("/about/", "About"), ("/feed/", "Feed")])
    if path in {"/about/", "/feed/"}:
        return Page()
    listed = (
        posts if base == "/" else [p for p in posts if base.split("/")[2] in tags_of[p]] if parts[0] == "tag" else None
    )
    if listed is None:
        listed = [p for p in posts if p.startswith(base)] or (_some(base, posts, 45) if parts[0] == "author" else [])
    shown = listed[10 * (number - 1) : 10 * number]
    if not shown:
        return None
    more: Links = [(f"{base}page/{number + 1}/", "older")] if len(listed) > 10 * number else []
    if len(parts) == 1 and parts[0].isdigit():
        more += [(f"{base}{m:02d}/", f"{m:02d}") for m in range(1, 13)]
    return Page(0, "", [(p, _title(p.split("/")[3])) for p in shown] + more, side)


def shop(path: str) -> Page | None:
    """Products in categories that can be filtered and sorted: every choice is a URL of its own, most show the same."""
    at, query = urlsplit(path).path, parse_qs(urlsplit(path).query)
    groups = ("shoes", "bags", "hats")
    items = {g: [f"/{g}/{_slug(g, n)}" for n in range(40)] for g in groups}
    menu: Links = [(f"/c/{g}", g) for g in groups]
    foot: Links = [("/cart", "Cart"), ("/login", "Log in"), ("/help/returns", "Returns"), ("/help/terms", "Terms")]
    if at == "/":
        return Page(0, "", [(items[g][0], _title(items[g][0].split("/")[2])) for g in groups], menu, foot)
    parts = at.strip("/").split("/")
    if parts[0] == "c" and parts[-1] in groups:
        own = items[parts[1]]
        facets = {"colour": ("red", "blue", "green"), "size": ("s", "m", "l"), "sort": ("price", "new", "name")}
        page = int(query.get("page", ["1"])[0])
        chosen = {name: query[name][0] for name in facets if name in query}
        choices: Links = []
        for name, values in facets.items():
            for value in values if name not in chosen else ():
                given = "&".join(f"{n}={v}" for n, v in sorted({**chosen, name: value}.items()))
                choices.append((f"{at}?{given}", value))
        shown = own if not set(chosen) - {"sort"} else _some(str(sorted(chosen.items())), own, 15)
        part: Links = [(p, _title(p.split("/")[2])) for p in shown[10 * (page - 1) : 10 * page]]
        given = "&".join(f"{n}={v}" for n, v in sorted(chosen.items()))
        more: Links = [(f"{at}?{given}{'&' * bool(given)}page={page + 1}", "next")] if len(shown) > 10 * page else []
        return Page(0, "", part + more, [*menu, *choices], foot)
    if parts[0] in groups and at in items[parts[0]]:
        like: Links = [(p, _title(p.split("/")[2])) for p in _some(at, items[parts[0]], 3)]
        return Page(_tokens(at, 150, 500), at, like, [*menu, (f"/review?item={parts[1]}", "reviews")], foot)
    return Page() if at in {"/review", *(p for p, _ in foot)} else None


def forum(path: str) -> Page | None:
    """Threads in boards, in three orders, and every page hands out links with a new session: the same text for ever."""
    at, query = urlsplit(path).path, parse_qs(urlsplit(path).query)
    session = random.Random(path).randrange(10**9)
    boards = ("general", "cooking", "travel", "music")
    menu: Links = [(f"/board/{b}?token={session}", b) for b in boards]
    foot: Links = [(f"/members?token={session}", "Members"), (f"/rules?token={session}", "Rules")]
    parts = at.strip("/").split("/")
    if at == "/":
        return Page(0, "", [(f"/board/{b}", b) for b in boards], menu, foot)
    if parts[0] == "board":
        base = 40 * boards.index(parts[1])
        threads: Links = [(f"/thread/{base + n}", _title(_slug("thread", base + n))) for n in range(40)]
        orders: Links = [(f"{at}?order={o}&token={session}", o) for o in ("new", "top", "old")]
        return Page(0, "", threads, [*menu, *orders], foot)
    if parts[0] == "thread":
        again: Links = [(f"{at}?order={o}&token={session}", o) for o in ("new", "old")]
        return Page(_tokens(at, 250, 900), at, [], [*menu, *again], foot)
    return Page() if "token" in query or at in {"/members", "/rules"} else None


def calendar(path: str) -> Page | None:
    """Events of one summer, in months and days that go on for ever in both directions."""
    parts = path.strip("/").split("/")
    events = {(date(2026, 6, 1) + timedelta(days=n)).isoformat(): f"/event/{_slug('event', n)}" for n in range(0, 92)}
    menu: Links = [("/", "Home"), ("/about", "About"), ("/months/2026-07", "Calendar")]
    if path == "/":
        return Page(0, "", [(p, _title(p.split("/")[2])) for p in list(events.values())[:6]], menu)
    if parts[0] == "event":
        return Page(_tokens(path, 200, 700), path, [], menu) if path in events.values() else None
    if parts[0] == "about":
        return Page()
    year, month = map(int, parts[1].split("-")[:2])
    if not 1 <= year <= 9998:
        return None
    if parts[0] == "days":
        day = date.fromisoformat(parts[1])
        found = events.get(day.isoformat())
        main: Links = [(found, _title(found.split("/")[2]))] if found else []
        near = [(day + timedelta(days=n)).isoformat() for n in (-1, 1)]
        return Page(0, "", main, [*menu, *((f"/days/{d}", "day") for d in near)])
    before, after = date(year, month, 1) - timedelta(days=1), date(year, month, 28) + timedelta(days=5)
    near_months: Links = [(f"/months/{d.year}-{d.month:02d}", "month") for d in (before, after)]
    days: Links = [(f"/days/{year}-{month:02d}-{d:02d}", str(d)) for d in range(1, 29)]
    return Page(0, "", days, [*menu, *near_months])


def pager(path: str) -> Page | None:
    """A list whose pages are numbered for ever, in three orders; its articles stand on the first twenty."""
    at, query = urlsplit(path).path, parse_qs(urlsplit(path).query)
    if at.startswith("/articles/"):
        return Page(_tokens(at, 250, 900), at, [], [("/", "Home"), ("/list?page=1", "All")])
    page = int(query.get("page", ["1"])[0])
    found: Links = [
        (f"/articles/{_slug('pager', n)}", _title(_slug("pager", n))) for n in range(6 * page - 6, 6 * page)
    ]
    order = f"&sort={query['sort'][0]}" if "sort" in query else ""
    on: Links = [(f"/list?page={page + n}{order}", str(page + n)) for n in (1, 2)]
    on += [(f"/list?page={page}&sort={s}", s) for s in ("new", "old")]
    return Page(0, "", (found if page <= 20 and not order else []) + on, [("/", "Home")])


def wiki(path: str) -> Page | None:
    """Articles that link to each other, each with a history, its differences, old versions, an editor, a talk page."""
    at, query = urlsplit(path).path, parse_qs(urlsplit(path).query)
    names = [_slug("wiki", n) for n in range(110)]
    menu: Links = [("/wiki/Special/recent", "Recent changes"), ("/wiki/Special/random", "Random")]
    if at == "/":
        return Page(40, "", [(f"/wiki/{n}", _title(n)) for n in names[:8]], menu)
    name = query["title"][0] if "title" in query else at.rpartition("/")[2]
    if at.startswith("/wiki/Special/"):
        return Page(0, "", [(f"/wiki/{n}", "page") for n in _some(at, names, 15)], menu)
    if name.removeprefix("Talk:") not in names:
        return None
    at_number = names.index(name.removeprefix("Talk:"))
    tabs: Links = [(f"/w/index.php?action={a}&title={name}", a) for a in ("edit", "history", "info")]
    if "diff" in query:
        return Page(0, "", [], menu)
    if "oldid" in query:
        return Page(_tokens(f"/wiki/{name}", 200, 1500), f"/wiki/{name}", [], menu)
    if query.get("action") == ["history"]:
        old: Links = [(f"/w/index.php?oldid={n}&title={name}", str(n)) for n in range(3)]
        return Page(0, "", old + [(f"/w/index.php?diff={n}&title={name}", "diff") for n in range(3)], menu)
    if "action" in query or name.startswith("Talk:"):
        return Page()
    following = names[at_number + 1 : at_number + 3] + _some(at, names, 5)
    main: Links = [(f"/wiki/{n}", _title(n)) for n in following]
    return Page(_tokens(at, 200, 1500), at, main, [*menu, *tabs, (f"/wiki/Talk:{name}", "Talk")])


def news(path: str) -> Page | None:
    """Sections with pages of articles; every article has a print version, its comments and a form to share it."""
    at, query = urlsplit(path).path, parse_qs(urlsplit(path).query)
    sections = ("politics", "economy", "sport", "culture", "science")
    stories = {s: [f"/{s}/{_slug(s, n)}" for n in range(28)] for s in sections}
    menu: Links = [(f"/{s}/", s) for s in sections] + [("/newsletter", "Newsletter"), ("/login", "Log in")]
    foot: Links = [("/imprint", "Imprint"), ("/privacy", "Privacy"), ("/jobs", "Jobs"), ("/ads", "Advertise")]
    parts = at.strip("/").split("/")
    if at == "/":
        return Page(0, "", [(p, _title(p.split("/")[2])) for s in sections for p in stories[s][:2]], menu, foot)
    if parts[0] in sections and (len(parts) == 1):
        page = int(query.get("page", ["1"])[0])
        shown = stories[parts[0]][7 * (page - 1) : 7 * page]
        more: Links = [(f"{at}?page={page + 1}", "more")] if page < 4 else []
        return Page(0, "", [(p, _title(p.split("/")[2])) for p in shown] + more, menu, foot) if shown else None
    if len(parts) == 2 and at in stories.get(parts[0], ()):
        if "print" in query:
            return Page(_tokens(at, 250, 1000), at)
        tools: Links = [(f"{at}?print=1", "Print"), (f"{at}/comments", "Comments"), (f"/share?u={at}", "Share")]
        near: Links = [(p, _title(p.split("/")[2])) for p in _some(at, stories[parts[0]], 2)]
        return Page(_tokens(at, 250, 1000), at, near, [*menu, *tools], foot)
    return Page() if parts[-1] == "comments" or at in {"/share", *(p for p, _ in [*foot, *menu[5:]])} else None


SITES = (
    Site("documentation", documentation),
    Site("blog", blog),
    Site("shop", shop),
    Site("forum", forum, endless=True),
    Site("calendar", calendar, endless=True),
    Site("pager", pager, endless=True),
    Site("wiki", wiki),
    Site("news", news),
)
