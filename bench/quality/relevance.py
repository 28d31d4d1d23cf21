"""Relevance from twenty examples: precision on sites never seen, and what it brings where a crawl follows it.

    python -m bench.quality.relevance [--data ../shared/data] [--cache FILE] [--crawl] [--held]

A page is of a topic where a word of it stands in the host or the URL. The texts are those of our extractor, of pages
without prose the ones that the labels mark. Sites are parted into two halves: twenty examples are drawn from one, all
of its texts are the background, the other is asked.
`--crawl`: sites on loopback that print those texts, a topic a section; one in five sections is of the wanted one. In a
newspaper the section stands in the address of an article, in a forum only the board's pages tell threads apart, in a
blog nothing but the links does. Our frontier with its defaults and `FRONTIER_QUALITY_WEIGHT=1`, each text scored by the
model, one request at a time; beside it breadth first. Counted are tokens of texts of the wanted topic. `--held`: the
sites of `relevance_held`.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

from bench.places import SHARED_DATA
from bench.quality.eval_classifier import cached, half
from bench.speed.value import ORDERS, Crawl, Web, learning, plain
from bench.web.value_sites import Links, Page, Site
from crawler.classify.examples import Example, Examples
from crawler.classify.measures import auc_interval, first_ones
from crawler.classify.train import Trained, balanced, train, usable
from crawler.frontier.outcome import KEPT
from crawler.server.embedded import EmbeddedServer
from crawler.stages.text.words import count_words

TOPICS = {
    "food": "food recipe cook kitchen restaurant bake baking cuisine chef eat coffee tea wine meal",
    "finance": "financ bank money invest loan tax fund stock market credit insur wealth",
    "health": "health medic clinic hospital disease doctor cancer patient therap pharm nurs dental",
    "travel": "travel hotel tour holiday trip flight vacation visit resort beach",
    "software": "software developer docs api code programming python java dev github linux stack",
}
DRAWS, FEW = 5, 20
PER_SECTION, SHOWN = 60, 15
MOST = 1_000
SHARES = (0.1, 0.2)
WANTED = frozenset({3, 7})
"""Sections of the wanted topic."""


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=SHARED_DATA)
    parser.add_argument("--cache", type=Path, help="texts are written here, and read where it exists")
    parser.add_argument("--crawl", action="store_true", help="crawl sites of known topics, too")
    parser.add_argument("--held", action="store_true", help="crawl two further kinds of sites, too")
    options = parser.parse_args()
    if not (options.data / "wcxb-dev.jsonl.zst").is_file():
        sys.exit(f"{options.data} has no wcxb-dev.jsonl.zst: give --data")
    found = cached(options.data, options.cache)  # of a page the text of our extractor, or else what its labels mark
    pages = {values["url"]: Example(**values) for name, values in found if name == "hard" or values["good"]}
    english = [one for one in pages.values() if one.language == "en"]
    print("| topic | base rate | first twenty, mean of draws | times the base rate | AUC, unseen sites (sd) |")
    print("|---|---|---|---|---|")
    asked = {topic: _row(topic, english) for topic in TOPICS}
    if options.crawl:
        _crawls(asked, {kind: partial(site_of, kind) for kind in KINDS})
    if options.held:
        from bench.quality.relevance_held import encyclopaedia, university

        _crawls(asked, {"encyclopaedia": encyclopaedia, "university": university})
    return 0


def is_about(one: Example, topic: str) -> bool:
    """True where a word of the topic stands in host or URL."""
    return re.search("|".join(TOPICS[topic].split()), one.url.lower()) is not None


def learned(topic: str, known: list[Example], draw: int) -> Trained:
    """A model of twenty drawn examples among all texts, the other ones of the topic among them."""
    rng = random.Random(draw)
    those = rng.sample([one for one in known if is_about(one, topic)], FEW)
    rest = [one for one in known if one not in those]
    every = [_as(one, 1.0) for one in those] + [_as(one, 0.0) for one in rest]
    return train(balanced(usable(Examples(found=every), "")))


def _as(one: Example, good: float) -> Example:
    return Example(one.url, one.text, good, one.site, one.language, one.page_type)


def _row(topic: str, every: list[Example]) -> tuple[Trained, list[Example]]:
    halves = [[one for one in every if half(one.site) == part] for part in (0, 1)]
    known, unseen = sorted(halves, key=lambda some: -sum(is_about(one, topic) for one in some))
    goal = np.array([float(is_about(one, topic)) for one in unseen])
    first, areas = [], []
    for draw in range(DRAWS):
        made = learned(topic, known, draw)
        score = np.array([made.weights.score(one.text) for one in unseen])
        first.append(first_ones(goal, score))
        areas.append(auc_interval(goal, score, np.ones(len(goal)), [one.site for one in unseen]).value or 0.0)
    found = np.mean(first)
    print(
        f"| {topic} | {goal.mean():.3f} | {found:.2f} ({min(first):.2f}–{max(first):.2f}) | {found / goal.mean():.1f} "
        f"| {np.mean(areas):.3f} ({np.std(areas):.3f}) |",
        flush=True,
    )
    return made, unseen


@dataclass(slots=True)
class Focused(Crawl):
    """A crawl that is credited with tokens of one topic, and tells the frontier what the model thinks of a text."""

    weight: float = 1.0
    score: Callable[[str], float] = lambda _text: 1.0
    wanted: frozenset[str] = field(default_factory=frozenset)

    def take(self, url: str, page: Page | None) -> tuple[str, int]:
        before = self.curve[-1] if self.curve else 0
        kind, tokens = Crawl.take(self, url, page)
        self.said = None
        if page is None or kind != KEPT:
            return kind, tokens
        self.said = self.score(page.text)
        if page.text not in self.wanted:
            self.curve[-1] = before
        return kind, max(1, round(tokens * self.said))


Maker = Callable[[str, list[Example]], tuple[Site, frozenset[str]]]


def _crawls(asked: dict[str, tuple[Trained, list[Example]]], kinds: dict[str, Maker]) -> None:
    print("\n| site | topic | relevant tokens | ours, of 10 %, 20 % of the requests | breadth first | ratio |")
    print("|---|---|---|---|---|---|")
    ratios: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder, EmbeddedServer(Path(folder)) as server:
        for kind, made in kinds.items():
            for topic, (model, unseen) in asked.items():
                site, wanted = made(topic, unseen)
                site = replace(site, name=f"{kind} {topic}")  # a crawl each
                with Web(site) as web:
                    broad = plain(web, ORDERS["breadth first"], MOST, Focused(wanted=wanted))
                    ours = asyncio.run(learning(web, server, Focused(score=model.weights.score, wanted=wanted)))
                total, many = broad.curve[-1], len(broad.urls)
                own, other = ([c.after(round(many * s)) / total for s in SHARES] for c in (ours, broad))
                ratios.setdefault(kind, []).append(own[0] / max(other[0], 1e-9))
                shown = (f"{a:.2f}, {b:.2f}" for a, b in (own, other))
                print(f"| {kind} | {topic} | {total:,} | {' | '.join(shown)} | {ratios[kind][-1]:.1f} |", flush=True)
    for kind, found in ratios.items():
        print(f"{kind}: {np.median(found):.1f} times breadth first's relevant tokens after a tenth of the requests")


Address = Callable[[int, int], str]
NAMES = "amber bridge cedar delta ember forest garden harbour island jasper".split()  # noqa: SIM905
KINDS: dict[str, Address] = {
    "newspaper": lambda section, n: f"/{NAMES[section]}/{_slug(section, n)}-{n}.html",
    "forum": lambda section, n: f"/t/{_slug(section, n)}.{section * PER_SECTION + n}/",
    "blog": lambda section, n: f"/20{10 + n % 15}/{1 + (section + n) % 12:02d}/{_slug(section, n)}/",
}
"""Kind of a site → the address of an article by section and number."""


def _slug(section: int, n: int) -> str:
    rng = random.Random(f"{section}/{n}")
    return "-".join(rng.choice(("amber", "bridge", "cedar", "delta", "ember", "forest", "garden")) for _ in range(4))


def site_of(
    kind: str, topic: str, texts: list[Example], wanted: frozenset[int] = WANTED
) -> tuple[Site, frozenset[str]]:
    """A site of ten sections, two of them of the wanted topic, and the texts of these."""
    rng = random.Random(f"{kind} {topic}")
    about = [one.text for one in texts if is_about(one, topic)]
    others = [one.text for one in texts if not is_about(one, topic)]
    article: dict[str, tuple[int, int]] = {}
    text: dict[str, str] = {}
    for section in range(len(NAMES)):
        for n in range(PER_SECTION):
            path = KINDS[kind](section, n)
            article[path] = (section, n)
            # a text has a number of its own: one that were printed twice would be kept once
            drawn = rng.choice(about if section in wanted else others)
            text[path] = f"{drawn.replace('<', ' ')}\n{path}"
    at = {place: path for path, place in article.items()}
    front: Links = [(f"/board/{name}/", name) for name in NAMES]

    def page(path: str) -> Page | None:
        if path == "/":
            return Page(main=front)
        if path in article:
            section, n = article[path]
            see: Links = [(at[section, (n + k) % PER_SECTION], "more of it") for k in (1, 7)]
            other = (section + 1 + n % (len(NAMES) - 1)) % len(NAMES)
            see.append((at[other, n], "read also"))
            return Page(count_words(text[path]), text[path], see, front)
        found = re.fullmatch(r"/board/([a-z]+)/(?:p(\d+)/)?", path)
        if not found or found[1] not in NAMES:
            return None
        section, number = NAMES.index(found[1]), int(found[2] or 0)
        shown: Links = [
            (at[section, n], "article") for n in range(number * SHOWN, min(PER_SECTION, (number + 1) * SHOWN))
        ]
        more: Links = (
            [(f"/board/{NAMES[section]}/p{number + 1}/", "older")] if (number + 1) * SHOWN < PER_SECTION else []
        )
        return Page(main=shown + more, nav=front) if shown else None

    return Site(kind, page), frozenset(t for path, t in text.items() if article[path][0] in wanted)


if __name__ == "__main__":
    sys.exit(main())
