"""Eight more sites whose truth is known: nothing was chosen on them. Other structures and words than `value_sites`.

The constants of the frontier were chosen in view of those sites; these confirm them.
"""

from __future__ import annotations

import random
from datetime import date, timedelta
from urllib.parse import parse_qs, urlsplit

from bench.web.value_sites import Links, Page, Site

_WORDS = ("quill", "raven", "saddle", "tundra", "umber", "violet", "walnut", "yarrow", "zephyr", "basalt", "copper",
          "drift", "elder", "fathom")  # fmt: skip


def _name(*parts: object) -> str:
    rng = random.Random("held/" + "/".join(map(str, parts)))
    return "_".join(rng.choice(_WORDS) for _ in range(3)) + f"_{parts[-1]}"


def _label(name: str) -> str:
    return f"Notes on {name.replace('_', ' ')}"


def _size(name: str, low: int, high: int) -> int:
    return random.Random("held:" + name).randint(low, high)


def _pick(name: str, values: list[str], n: int) -> list[str]:
    return random.Random("held:" + name).sample(values, min(n, len(values)))


def _query(path: str) -> tuple[str, dict[str, str]]:
    parts = urlsplit(path)
    return parts.path, {name: values[0] for name, values in parse_qs(parts.query).items()}


def handbook(path: str) -> Page | None:
    """A handbook in two versions with the same text, chapters of pages, and one printable page of each chapter."""
    chapters = {f"ch{c:02d}": [f"ch{c:02d}/{_name('handbook', c, n)}.html" for n in range(11)] for c in range(9)}
    flat = [page for pages in chapters.values() for page in pages]
    if path == "/":
        return Page(30, "", [("/current/toc.html", "Contents")], [("/archive/toc.html", "Last year's edition")])
    edition, _, rest = path.strip("/").partition("/")
    if edition not in ("current", "archive"):
        return None
    at = f"/{edition}"
    menu: Links = [(f"{at}/toc.html", "Contents"), (f"{at}/index.html", "Index"), (f"{at}/credits.html", "Credits")]
    if rest == "toc.html":
        return Page(0, "", [(f"{at}/{c}/intro.html", f"Chapter {c}") for c in chapters], menu)
    if rest == "index.html":
        return Page(0, "", [(f"{at}/{p}", p[5:8]) for p in _pick(path, flat, 60)], menu)
    chapter, _, page = rest.partition("/")
    if page == "intro.html" and chapter in chapters:
        inside: Links = [(f"{at}/{p}", _label(p.split("/")[1][:-5])) for p in chapters[chapter]]
        return Page(0, "", [*inside, (f"{at}/{chapter}/print.html", "Print")], menu)
    if page == "print.html" and chapter in chapters:
        return Page(50, "")
    if rest in flat:
        n = flat.index(rest)
        near: Links = [(f"{at}/{p}", _label(p.split("/")[1][:-5])) for p in flat[n + 1 : n + 2]]
        return Page(_size(rest, 200, 1400), rest, near, [*menu, (f"/archive/{rest}", "older")])
    return Page() if rest == "credits.html" else None


def magazine(path: str) -> Page | None:
    """Issues by number, articles by an id in the query, authors, keywords, and a print view of each article."""
    at, asked = _query(path)
    articles = list(range(1000, 1132))
    menu: Links = [("/issues", "All issues"), ("/authors", "Authors"), ("/subscribe", "Subscribe")]
    if at == "/":
        return Page(0, "", [(f"/issue/{n}", f"Issue {n}") for n in range(22, 16, -1)], menu)
    if at == "/issues":
        return Page(0, "", [(f"/issue/{n}", f"Issue {n}") for n in range(1, 23)], menu)
    if at.startswith("/issue/"):
        n = int(at.rpartition("/")[2])
        shown = articles[6 * (n - 1) : 6 * n]
        return (
            Page(0, "", [(f"/article.php?id={i}", _label(_name("magazine", i))) for i in shown], menu)
            if shown
            else None
        )
    if at == "/authors":
        return Page(0, "", [(f"/author.php?id={n}", f"Author {n}") for n in range(40)], menu)
    if at == "/author.php":
        mine = _pick(path, [str(i) for i in articles], 6)
        return Page(35, "", [(f"/article.php?id={i}", _label(_name("magazine", i))) for i in mine], menu)
    if at == "/keyword":
        mine = _pick(path, [str(i) for i in articles], 8)
        return Page(0, "", [(f"/article.php?id={i}", _label(_name("magazine", i))) for i in mine], menu)
    if at == "/article.php" and asked.get("id", "0").isdigit() and int(asked["id"]) in articles:
        i = int(asked["id"])
        if "view" in asked:
            return Page(_size(str(i), 300, 1600), f"magazine {i}")
        words: Links = [(f"/keyword?k={w}", w) for w in _pick(path, list(_WORDS), 3)]
        tools: Links = [(f"/article.php?id={i}&view=print", "Print"), (f"/author.php?id={i % 40}", "Author")]
        return Page(_size(str(i), 300, 1600), f"magazine {i}", words, [*menu, *tools])
    return Page() if at == "/subscribe" else None


def catalogue(path: str) -> Page | None:
    """A library: records behind a search that takes any offset, with facets; a record has a cover and a citation."""
    at, asked = _query(path)
    kinds = ("maps", "letters", "films", "prints")
    menu: Links = [(f"/search?kind={k}&start=0", k) for k in kinds] + [("/hours", "Opening hours"), ("/visit", "Visit")]
    if at == "/":
        return Page(20, "", [(f"/record/{n}", _label(_name("catalogue", n))) for n in range(4)], menu)
    if at == "/search":
        start, kind = int(asked.get("start", "0")), asked.get("kind", "maps")
        first = 38 * kinds.index(kind) if kind in kinds else 0
        found: Links = [
            (f"/record/{n}", _label(_name("catalogue", n))) for n in range(first + start, first + min(start + 8, 38))
        ]
        on: Links = [(f"/search?kind={kind}&start={start + 8}", "more")]
        facets: Links = [(f"/search?kind={kind}&start={start}&year={y}", str(y)) for y in (1900, 1920, 1940)]
        return Page(0, "", ([] if "year" in asked else found) + on, [*menu, *facets])
    parts = at.strip("/").split("/")
    if parts[0] == "record" and parts[1].isdigit() and int(parts[1]) < 152:
        if len(parts) > 2:
            return Page()
        tools: Links = [(f"{at}/cover", "Cover"), (f"{at}/cite", "Cite")]
        return Page(_size(at, 120, 600), at, [], [*menu, *tools])
    return Page() if at in {"/hours", "/visit"} else None


def agenda(path: str) -> Page | None:
    """A town's agenda: concerts by day, in paths of year, month and day that go on for ever; and old reports."""
    days = [date(2026, 3, 1) + timedelta(days=3 * n) for n in range(40)]
    concerts = {day: f"/concert/{_name('agenda', n)}" for n, day in enumerate(days)}
    reports = [f"/report/{_name('report', n)}" for n in range(50)]
    menu: Links = [
        ("/", "Start"),
        ("/programme/2026/03/01", "Programme"),
        ("/reports", "Reports"),
        ("/tickets", "Tickets"),
    ]
    parts = path.strip("/").split("/")
    if path == "/":
        return Page(0, "", [(p, _label(p[8:])) for p in reports[:5]], menu)
    if path == "/reports":
        return Page(0, "", [(p, _label(p[8:])) for p in reports], menu)
    if path in reports or path in concerts.values():
        return Page(_size(path, 150, 800), path, [], menu)
    if parts[0] == "programme" and len(parts) == 4:
        try:
            day = date(*map(int, parts[1:]))
        except ValueError:
            return None
        near = [day + timedelta(days=n) for n in (-30, -1, 1, 30)]
        found: Links = [(concerts[day], _label(concerts[day][9:]))] if day in concerts else []
        return Page(
            0, "", found, [*menu, *((f"/programme/{d.year}/{d.month:02d}/{d.day:02d}", d.isoformat()) for d in near)]
        )
    return Page() if path == "/tickets" else None


def answers(path: str) -> Page | None:
    """Questions with answers, in lists by tab and tag; users without text, revisions with the same text."""
    at, asked = _query(path)
    questions = [f"/q/{4000 + n}/{_name('answers', n)}" for n in range(130)]
    menu: Links = [("/questions?tab=new", "New"), ("/questions?tab=hot", "Hot"), ("/tags", "Tags"), ("/users", "Users")]
    page = int(asked.get("page", "1"))
    if at == "/":
        return Page(0, "", [(q, _label(q.split("/")[3])) for q in questions[:10]], menu)
    if at == "/tags":
        return Page(0, "", [(f"/tagged/{w}", w) for w in _WORDS], menu)
    if at == "/questions" or at.startswith("/tagged/"):
        order = _pick(at + asked.get("tab", ""), questions, 130 if at == "/questions" else 30)
        shown = order[12 * (page - 1) : 12 * page]
        tab = f"tab={asked['tab']}&" if "tab" in asked else ""
        more: Links = [(f"{at}?{tab}page={page + 1}", "next")] if len(order) > 12 * page else []
        return Page(0, "", [(q, _label(q.split("/")[3])) for q in shown] + more, menu) if shown else None
    if at in questions:
        users: Links = [(f"/user/{random.Random(at + str(k)).randrange(300)}", "someone") for k in range(4)]
        like: Links = [(q, _label(q.split("/")[3])) for q in _pick(at, questions, 3)]
        return Page(_size(at, 250, 1300), at, [*like, *users], [*menu, (f"/revisions/{at.split('/')[2]}", "history")])
    if at.startswith("/revisions/"):
        original = next((q for q in questions if q.split("/")[2] == at.rpartition("/")[2]), None)
        return Page(_size(original, 250, 1300), original) if original else None
    return Page() if at == "/users" or at.startswith("/user/") else None


def gallery(path: str) -> Page | None:
    """Pictures that lead to pictures for ever, with a caption each; sixty essays behind the collections."""
    collections = [f"/collection/{_name('collection', n)}" for n in range(10)]
    essays = [f"/essay/{_name('essay', n)}" for n in range(60)]
    menu: Links = [("/collections", "Collections"), ("/picture/1", "Pictures"), ("/press", "Press")]
    if path == "/":
        return Page(0, "", [("/picture/1", "Today's picture")], menu)
    if path == "/collections":
        return Page(0, "", [(c, _label(c[12:])) for c in collections], menu)
    if path in collections:
        n = collections.index(path)
        pictures: Links = [(f"/picture/{100 * n + k}", "") for k in range(20)]
        return Page(0, "", pictures + [(e, _label(e[7:])) for e in essays[6 * n : 6 * n + 6]], menu)
    if path in essays:
        return Page(_size(path, 500, 2000), path, [], menu)
    if path.startswith("/picture/"):
        n = int(path.rpartition("/")[2])
        return Page(12, "", [(f"/picture/{n + k}", "next") for k in (1, 2, 5)], menu)
    return Page() if path == "/press" else None


def sources(path: str) -> Page | None:
    """A project: pages of documentation, and its code, every file also plain and with the authors of its lines."""
    at, asked = _query(path)
    docs = [f"/doc/{_name('sources', n)}.md" for n in range(70)]
    folders = [f"/tree/src/{w}" for w in _WORDS]
    files = {f: [f"{f.replace('/tree/', '/blob/')}/{_name(f, n)}.c" for n in range(9)] for f in folders}
    menu: Links = [
        ("/tree/src", "Code"),
        ("/doc", "Documentation"),
        ("/issues?page=1", "Issues"),
        ("/log?page=1", "Log"),
    ]
    if at == "/":
        return Page(90, "", [(d, _label(d[5:-3])) for d in docs[:6]], menu)
    if at == "/doc":
        return Page(0, "", [(d, _label(d[5:-3])) for d in docs], menu)
    if at in docs:
        tools: Links = [(f"/raw{at}", "Raw"), (f"/blame{at}", "Blame"), (f"/log{at}", "History")]
        return Page(_size(at, 200, 1500), at, [(d, _label(d[5:-3])) for d in _pick(at, docs, 2)], [*menu, *tools])
    if at.startswith("/raw/doc/") and at[4:] in docs:
        return Page(_size(at[4:], 200, 1500), at[4:])
    if at == "/tree/src":
        return Page(0, "", [(f, f.rpartition("/")[2]) for f in folders], menu)
    if at in files:
        return Page(0, "", [(f, f.rpartition("/")[2]) for f in files[at]], menu)
    if at.startswith("/blob/"):
        return Page(20, "", [], [*menu, (f"/raw{at}", "Raw"), (f"/blame{at}", "Blame")])
    if at in ("/issues", "/log"):
        page = int(asked.get("page", "1"))
        return Page(0, "", [(f"{at}?page={page + 1}", "older")] if page < 30 else [], menu)
    return Page() if at.startswith(("/raw/", "/blame/", "/log/")) else None


def council(path: str) -> Page | None:
    """A town council: minutes by year behind many pages of contacts, forms, and a search that sorts in two ways."""
    at, asked = _query(path)
    minutes = {y: [f"/minutes/{y}/{m:02d}.html" for m in range(1, 12)] for y in range(2014, 2026)}
    offices = [f"/office/{_name('office', n)}" for n in range(45)]
    menu: Links = [
        ("/offices", "Offices"),
        ("/forms", "Forms"),
        ("/minutes/", "Minutes"),
        ("/search?sort=date", "Search"),
    ]
    if at == "/":
        return Page(60, "", [(o, _label(o[8:])) for o in offices[:8]], menu)
    if at == "/offices":
        return Page(0, "", [(o, _label(o[8:])) for o in offices], menu)
    if at in offices:
        return Page(45, "", [(f"/map?office={offices.index(at)}", "Map"), (f"{at}/hours", "Hours")], menu)
    if at == "/forms":
        return Page(0, "", [(f"/form/{n}", f"Form {n}") for n in range(50)], menu)
    if at == "/minutes/":
        return Page(0, "", [(f"/minutes/{y}/", str(y)) for y in minutes], menu)
    if at.startswith("/minutes/") and at.endswith("/") and at.split("/")[2].isdigit():
        return Page(0, "", [(m, f"Minutes of {m[9:16]}") for m in minutes.get(int(at.split("/")[2]), [])], menu)
    if at == "/search":
        page = int(asked.get("page", "1"))
        every = [m for year in minutes.values() for m in year]
        shown = every[10 * (page - 1) : 10 * page]
        sorts: Links = [(f"/search?sort={s}&page={page + 1}", s) for s in ("date", "title")] if shown else []
        return Page(0, "", [(m, f"Minutes of {m[9:16]}") for m in shown] + sorts, menu)
    if any(at in year for year in minutes.values()):
        return Page(_size(at, 400, 1800), at, [], menu)
    return Page() if at.startswith(("/form/", "/map", "/office/")) else None


HELD = (
    Site("handbook", handbook),
    Site("magazine", magazine),
    Site("catalogue", catalogue, endless=True),
    Site("agenda", agenda, endless=True),
    Site("answers", answers),
    Site("gallery", gallery, endless=True),
    Site("sources", sources),
    Site("council", council),
)
