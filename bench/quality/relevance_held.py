"""Two more kinds of sites of known topics: an encyclopaedia, on which nothing of the frontier was chosen, a university.

As in `relevance`, two of ten sections are of the wanted topic. In the encyclopaedia no address says the section: ten
portals show a quarter of their articles each, articles link to six others, four of them of their own section, and one
in three has a history without a text. In the university a section is a department with a host of its own, whose
research stands in a paged list, beside short pages of people.
"""

from __future__ import annotations

import random
import re

from bench.quality.relevance import NAMES, PER_SECTION, SHOWN, WANTED, is_about
from bench.web.value_sites import Links, Page, Site
from crawler.classify.examples import Example
from crawler.stages.text.words import count_words

DOMAIN = "university.example"
PEOPLE = 20


def drawn(kind: str, topic: str, texts: list[Example], wanted: frozenset[int]) -> dict[tuple[int, int], str]:
    """Section and number → a text that stands on this site once."""
    rng = random.Random(f"held {kind} {topic}")
    about = [one.text.replace("<", " ") for one in texts if is_about(one, topic)]
    others = [one.text.replace("<", " ") for one in texts if not is_about(one, topic)]
    every = [(section, n) for section in range(len(NAMES)) for n in range(PER_SECTION)]
    return {at: f"{rng.choice(about if at[0] in wanted else others)}\n{at}" for at in every}


def encyclopaedia(topic: str, texts: list[Example], wanted: frozenset[int] = WANTED) -> tuple[Site, frozenset[str]]:
    """The site, and its texts of the topic."""
    text = drawn("encyclopaedia", topic, texts, wanted)
    names = {at: f"{_word(at, 0)}_{_word(at, 1)}_{at[0] * PER_SECTION + at[1]}" for at in text}
    at_of = {name: at for at, name in names.items()}
    portals: Links = [(f"/wiki/Portal:{name}", name) for name in NAMES]

    def page(path: str) -> Page | None:
        if path == "/":
            return Page(main=portals)
        if history := re.fullmatch(r"/w/index\.php\?action=history&title=(\w+)", path):
            return Page(nav=[(f"/wiki/{history[1]}", "article")])
        name = path.removeprefix("/wiki/")
        if name.removeprefix("Portal:") in NAMES:
            section = NAMES.index(name.removeprefix("Portal:"))
            return Page(main=[(f"/wiki/{names[section, n]}", "article") for n in range(SHOWN)])
        if name not in at_of:
            return None
        section, n = at = at_of[name]
        rng = random.Random(name)
        near = [(section, (n + step) % PER_SECTION) for step in (1, 2)]
        near += [(section, rng.randrange(PER_SECTION)) for _ in range(2)]
        near += [(rng.randrange(len(NAMES)), rng.randrange(PER_SECTION)) for _ in range(2)]
        tools: Links = [(f"/w/index.php?action=history&title={name}", "history")] if n % 3 == 0 else []
        return Page(count_words(text[at]), text[at], [(f"/wiki/{names[one]}", "see") for one in near], tools)

    return Site("encyclopaedia of topics", page), _texts_of(text, wanted)


def university(topic: str, texts: list[Example], wanted: frozenset[int] = WANTED) -> tuple[Site, frozenset[str]]:
    """The site, whose paths begin with a host, and its texts of the topic."""
    text = drawn("university", topic, texts, wanted)
    hosts = [f"{name}.{DOMAIN}" for name in NAMES]
    departments: Links = [(f"http://{host}/", host) for host in hosts]

    def page(path: str) -> Page | None:
        host, _, rest = path.partition("/")
        if host == DOMAIN and not rest:
            return Page(main=departments)
        if host not in hosts:
            return None
        section, menu = (
            hosts.index(host),
            [("/research/", "Research"), ("/people/", "People"), (f"http://{DOMAIN}/", "Up")],
        )
        if not rest:
            return Page(main=[(_research(section, n), "news") for n in range(3)], nav=menu)
        if rest == "people/":
            return Page(main=[(f"/people/{_word((section, n), 2)}-{n}/", "person") for n in range(PEOPLE)], nav=menu)
        if rest.startswith("people/"):
            return Page(nav=menu)
        if found := re.fullmatch(r"research/(?:\?page=(\d+))?", rest):
            number = int(found[1] or 0)
            shown = range(number * SHOWN, min(PER_SECTION, (number + 1) * SHOWN))
            more: Links = [(f"/research/?page={number + 1}", "older")] if shown.stop < PER_SECTION else []
            return Page(main=[(_research(section, n), "project") for n in shown] + more, nav=menu) if shown else None
        n = int(rest.strip("/").rpartition("-")[2])
        other = random.Random(path).randrange(len(NAMES))
        see: Links = [(f"http://{hosts[other]}{_research(other, n)}", "together with")]
        return Page(count_words(text[section, n]), text[section, n], see, menu)

    return Site("university", page, domain=DOMAIN), _texts_of(text, wanted)


def _texts_of(text: dict[tuple[int, int], str], wanted: frozenset[int]) -> frozenset[str]:
    return frozenset(one for (section, _), one in text.items() if section in wanted)


def _research(section: int, n: int) -> str:
    return f"/research/{_word((section, n), 0)}-{_word((section, n), 1)}-{n}/"


def _word(at: tuple[int, int], k: int) -> str:
    return random.Random(f"held {at} {k}").choice(("quill", "raven", "saddle", "tundra", "umber", "violet", "walnut"))
