"""What a page states as linked data: the JSON-LD of schema.org in its scripts, of the thing that the page is about.

What stands inside of reviews, comments, answers and lists is about something else. Sources: JSON-LD 1.1 (W3C, 2020),
section 7; schema.org (headline, author, datePublished, dateCreated, uploadDate).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from html import unescape
from typing import Any

from crawler.stages.extraction.metadata.head import flat
from crawler.stages.text.json_data import NoJSONError, read_json

MAX_NODES = 20_000
"""Values of a page's linked data that are looked at."""
MAX_AUTHORS = 50
_TYPE = "application/ld+json"


def named(names: str) -> frozenset[str]:
    """The words of a line."""
    return frozenset(names.split())


OTHERS = named(
    "review reviews comment comments acceptedAnswer suggestedAnswer itemListElement mentions citation hasPart "
    "publisher sponsor subjectOf video"
)
"""Properties whose values are other things than the page's own."""
_WORKS = named(
    "Article NewsArticle BlogPosting TechArticle Report ScholarlyArticle DiscussionForumPosting Question QAPage Recipe "
    "WebPage SocialMediaPosting LiveBlogPosting MedicalWebPage CreativeWork Course HowTo Book ReportageNewsArticle "
    "AnalysisNewsArticle OpinionNewsArticle MedicalScholarlyArticle Blog PodcastEpisode"
)
"""Types of which an author is the page's author."""
PAGES = named("WebPage AboutPage CollectionPage FAQPage ItemPage MedicalWebPage ProfilePage QAPage")
"""Types of the page as such."""
_UNDATED = named(
    "Review Comment Answer WebSite Organization NewsMediaOrganization Person ImageObject Periodical PublicationVolume "
    "PublicationIssue Event Offer"
)
"""Types whose dates are not the page's: when a journal was founded, a picture taken, a concert given."""
_PUBLISHED, _MADE = ("datePublished",), ("uploadDate", "dateCreated")
"""When the page was published; when something that it shows was made, where nothing says more."""

Node = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Linked:
    """`published`, `made`: the dates as they are written, the best first; `roots`: the data, a value a script.

    is_whole: nothing of the data had to be left out because it is no JSON.
    """

    headline: str = ""
    authors: tuple[str, ...] = ()
    published: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    is_whole: bool = False
    roots: tuple[Any, ...] = field(default=(), repr=False, compare=False)


def read_linked(scripts: Iterable[Any], others: Callable[[list[Any]], set[int]] = lambda _: set()) -> Linked:
    """What these `<script>` elements of a page say; nothing where they say nothing.

    others: answers `id` of those objects that are about other pages, of all the data.
    """
    texts = [text for script in scripts if _is_linked(script) and (text := script.text or "").strip()]
    data = [found for text in texts if (found := _json(text))]
    if not data:
        return Linked(is_whole=not texts)
    nodes = list(_nodes(data, others(data)))
    headline = next((flat(text) for node in nodes if isinstance(text := node.get("headline"), str)), "")
    dated = [node for node in nodes if _UNDATED.isdisjoint(types_of(node))]
    published, made = (
        tuple(text for name in names for node in dated if isinstance(text := node.get(name), str))
        for names in (_PUBLISHED, _MADE)
    )
    return Linked(headline, _authors(nodes), published, made, len(data) == len(texts), tuple(data))


def _is_linked(script: Any) -> bool:
    return (script.get("type") or "").partition(";")[0].strip().lower() == _TYPE


def _json(text: str) -> Any:
    try:
        return read_json(text)
    except NoJSONError:
        return None


def _nodes(data: Any, others: set[int]) -> Iterator[Node]:
    """The objects, in page order, without those that are about other things; without recursion."""
    stack, left = [data], MAX_NODES
    while stack and left:
        node, left = stack.pop(), left - 1
        if isinstance(node, dict) and id(node) not in others:
            yield node
            stack.extend(value for name, value in reversed(node.items()) if name not in OTHERS)
        elif isinstance(node, list):
            stack.extend(reversed(node))


def types_of(node: Node) -> list[str]:
    """The types of an object, as they are written."""
    types = node.get("@type")
    return [kind for kind in (types if isinstance(types, list) else [types]) if isinstance(kind, str)]


def _authors(nodes: list[Node]) -> tuple[str, ...]:
    """Of the first work that names any."""
    known = {id_: node for node in nodes if isinstance(id_ := node.get("@id"), str) and node.get("name")}
    for node in nodes:
        if "author" in node and not _WORKS.isdisjoint(types_of(node)):
            stated = [part for one in _listed(node["author"]) for part in _of_one(one)]
            names = dict.fromkeys(name for one in stated[:MAX_AUTHORS] if (name := _name(one, known)))
            if names:
                return tuple(names)
    return ()


def _listed(value: Any) -> list[Any]:
    """The values of a property: one, several, or an ordered list of them."""
    if isinstance(value, dict) and "@list" in value:
        value = value["@list"]
    return value if isinstance(value, list) else [value]


def _of_one(author: Any) -> list[Any]:
    """One author; several where a single object has all their names."""
    names = author.get("name") if isinstance(author, dict) else None
    return names if isinstance(names, list) else [author]


def _name(author: Any, known: dict[str, Node]) -> str:
    """The name of a person or an organisation: given as text, or as an object, or as a reference to one."""
    if isinstance(author, dict) and not author.get("name"):
        author = known.get(str(author.get("@id")), author)
    if isinstance(author, dict):
        author = author.get("name") or f"{author.get('givenName') or ''} {author.get('familyName') or ''}"
    return flat(unescape(author)) if isinstance(author, str) else ""
