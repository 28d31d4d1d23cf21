"""Whose words stand on a page: the entries of a thread, what readers wrote below a text, and who wrote which.

Told by what forum software, blogs and schema.org call their elements; names were read on pages of bulletin boards and
blogs, not learned. Sources: schema.org (DiscussionForumPosting, Question, Answer, Comment).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property, lru_cache

from crawler.stages.extraction.learned.walk import Walked

POST, COMMENT, SECTION, USER, QUOTE, NOTE, OTHER, THREAD, CAPTION, BOARD, PIECE = (1 << bit for bit in range(11))
LONGEST_USER = 400
"""Characters of what stands beside a post about who wrote it: more is a text."""
LEAST_POSTS = 2
"""Entries from which a page is a thread, whatever else it is."""

_POST = re.compile(
    r"(?:post|message|msg|kmsg|reply|posting|blockpost|wbbpost|cpost|answer|question|itemdiscussion|itemcomment"
    r"|postcontainer|postbit\w*|posting-row|(?:topic|talk|crawler|discussion|forum|thread)[-_](?:post|message|entry)"
    r"|(?:post|msg|message|reply|answer|elcomment)[-_]?\d+|p\d{3,})"
)
_OF_BLOG = re.compile(r"hentry|type-post|wp-block")
"""What WordPress calls its articles and the cards that lead to them, which are posts of another kind."""
_BOARD = re.compile(
    r"message|kmsg|blockpost|wbbpost|cpost|itemdiscussion|itemcomment|postcontainer|postbit\w*|posting-row|forum_message"
    r"|(?:post|msg|message|elcomment)_?\d{3,}|(?:crawler|discussion|forum|topic|talk)[-_]post|p\d{3,}"
)
"""Names that only bulletin boards give to the entries of a thread."""
_COMMENT = re.compile(r"(?:[a-z]+[-_])*comment(?:[-_]?(?:item|entry|\d+))?|pingback|trackback")
_PIECE = re.compile(r"(?:[a-z]+[-_])*comment[-_]?(?:body|wrap|wrapper|container|block|box)")
"""A comment where nothing around it is one."""
_SECTION = re.compile(
    r"(?:[a-z]+[-_])?comments?[-_]?(?:area|list|section|wrap|wrapper|container|thread)|comments|disqus_thread|respond"
    r"|fb-comments"
)
_USER = re.compile(
    r"(?:(?:[a-z]+[-_])*(?:author|user|poster|member|profile|avatar|creator|vcard|attribution|byline)"
    r"(?:[-_]?(?:name|info|details?|container|box|title|data|pane|meta|link|card|wrap|block|field|stats?|extra))*"
    r"|(?:post|comment|message|crawler-post|answer)[-_]?(?:meta\w*|date|time|head|header|number|profile|left"
    r"|author|user|stamp)|keyinfo|posted|username\w*|userwrap|thread-profile-box|bar|postprofile|timestamp"
    r"|message-cell--user|message-sidebar|messagesidebar|messageuserinfo|sidebar|joined|rank|usertitle|time|date)"
)
_QUOTE = re.compile(
    r"[a-z_-]{0,20}quote(?:d|box|content|container|block|text|message)?(?:[-_][a-z]{1,20})?|bbcode_?quote|zitat|citation"
)
_NO_QUOTE = re.compile(r"selectquotecontainer|js-selecttoquote|multi-?quote|quote-?(?:link|button|post|form)")
_NOTE = re.compile(
    r"(?:foot|end)[-_]?notes?(?:[-_]?(?:list|item|text|body|content|def\w*))?|fn[-_:]?\d+|references|reflist|doc-(?:foot|end)notes?"
)
_OTHER = re.compile(
    r"(?:(?:post|user|message|forum)[-_]?)?sig(?:nature)?|(?:post|message|comment)[-_]?(?:actions?|buttons?|controls?|tools"
    r"|footer|foot|options|nav)|publiccontrols|privatecontrols|likes?(?:summary|bar)?|reactions?(?:bar)?|share\w*|reply"
    r"(?:[-_]?(?:link|button))|lastedited|bbcodeblock-expandlink\S*|signature\w*|edited[-_]?by|notice"
)
_THREAD = re.compile(r"schema\.org/(?:DiscussionForumPosting|QAPage|Question|Answer)")
_SCHEMA = (
    (re.compile(r"schema\.org/(?:DiscussionForumPosting|Answer|Question)\b"), POST),
    (re.compile(r"schema\.org/(?:UserComments|Comment)\b"), COMMENT),
    (re.compile(r"schema\.org/Person\b"), USER),
)
_NAMES = (
    (_POST, POST), (_COMMENT, COMMENT), (_SECTION, SECTION), (_USER, USER), (_QUOTE, QUOTE), (_NOTE, NOTE),
    (_OTHER, OTHER), (_BOARD, BOARD), (_PIECE, PIECE),
    (re.compile(r"(?:[a-z]+[-_])*caption(?:[-_]?text)?"), CAPTION),
)  # fmt: skip
_NAMED = re.compile("|".join(f"(?:{pattern.pattern})" for pattern, _ in _NAMES))
"""Any of them: most names are none."""


@lru_cache(maxsize=8_192)
def said_by(names: str) -> int:
    """What the names of an element say of it, one bit each; a site repeats them all over its pages."""
    found = 0
    for name in names.lower().split():
        found |= _bits_of(name)
    if found & POST and _OF_BLOG.search(names):
        found &= ~POST
    if "schema.org" in names:
        for pattern, bit in _SCHEMA:
            found |= bit if pattern.search(names) else 0
        found |= THREAD if _THREAD.search(names) else 0
    if found & QUOTE and _NO_QUOTE.search(names.lower()):
        found &= ~QUOTE
    return found


@lru_cache(maxsize=8_192)
def _bits_of(name: str) -> int:
    if "/" in name or _NAMED.fullmatch(name) is None:
        return 0
    return sum(bit for pattern, bit in _NAMES if pattern.fullmatch(name))


_ROWS = frozenset({"li", "tr", "td", "table"})
"""In which only boards have posts."""


class Speakers:
    """The entries and comments of a page. is_thread: True where that is known otherwise."""

    def __init__(self, page: Walked, *, is_thread: bool) -> None:
        self._page = page
        self._bits = [said_by(names) if names else 0 for names in page.names]
        self._named = [(element, bits) for element, bits in enumerate(self._bits) if bits]
        """What says something, and what it says."""
        for element, bits in self._named:
            if bits & POST and page.tags[element] in _ROWS:
                self._bits[element] |= BOARD
        self._is_thread = is_thread

    def bits(self, element: int) -> int:
        """What the names of an element say."""
        return self._bits[element]

    @cached_property
    def is_thread(self) -> bool:
        """True where the page's own text is what several people wrote one after the other."""
        if self._is_thread or any(bits & THREAD for _, bits in self._named):
            return True
        return sum(bool(self._bits[e] & BOARD) for e in self._outer_posts) >= LEAST_POSTS

    @property
    def posts_named(self) -> bool:
        """True where the page has elements with names of entries, as blogs have, too."""
        return len(self._outer_posts) >= LEAST_POSTS

    @cached_property
    def posts(self) -> frozenset[int]:
        """The elements of entries; what is called a comment is an entry of a thread where it stands in none."""
        if not self.is_thread:
            return frozenset()
        page, outer = self._page, self._outer_posts
        first = [page.starts[e] for e in outer]

        def is_alone(element: int) -> bool:
            at = bisect_right(first, page.starts[element]) - 1
            return at < 0 or page.ends[outer[at]] <= page.starts[element]

        return frozenset(outer).union(filter(is_alone, self._all_comments))

    @cached_property
    def comments(self) -> frozenset[int]:
        """The elements of comments, those in others, too; not what a board calls the text of an entry."""
        page, outer = self._page, [e for e in self._outer_posts if e in self.posts]
        first = [page.starts[e] for e in outer]

        def is_entry(element: int) -> bool:
            at = bisect_right(first, page.starts[element]) - 1
            is_in = at >= 0 and page.ends[element] <= page.ends[outer[at]]
            return is_in and 2 * self._chars(element) >= self._chars(outer[at])

        return frozenset(e for e in self._all_comments - self.posts if not is_entry(e))

    @cached_property
    def entries(self) -> frozenset[int]:
        """Both."""
        return self.posts | self.comments

    @cached_property
    def sections(self) -> frozenset[int]:
        """The elements that hold the comments of a page, with all that is said about them; none in a thread."""
        if self.is_thread:
            return frozenset()
        return frozenset(e for e, bits in self._named if bits & SECTION)

    def is_user(self, element: int) -> bool:
        """True for an element about who wrote an entry, which is too short to hold what was written."""
        return bool(self._bits[element] & USER) and self._chars(element) <= LONGEST_USER

    @cached_property
    def _all_comments(self) -> frozenset[int]:
        page, found, end = self._page, set[int](), -1
        for element, bits in self._named:
            if bits & COMMENT or (bits & PIECE and page.starts[element] >= end):
                found.add(element)
                end = max(end, page.ends[element])
        return frozenset(found)

    @cached_property
    def _outer_posts(self) -> list[int]:
        """Elements of entries, the outer ones, but not lists that hold several."""
        page = self._page
        found = [e for e, bits in self._named if bits & POST and page.ends[e] > page.starts[e]]
        outer: list[int] = []
        for element in found:
            if outer and page.ends[outer[-1]] >= page.ends[element] and page.starts[outer[-1]] <= page.starts[element]:
                if not self._holds_several(outer[-1], found):
                    continue
                outer.pop()
            outer.append(element)
        return outer

    def _holds_several(self, element: int, found: list[int]) -> bool:
        """True where two of these stand in an element side by side."""
        page, end = self._page, -1
        for one in found[bisect_right(found, element) :]:
            if page.starts[one] >= page.ends[element]:
                break
            if end >= 0 and page.starts[one] >= end:
                return True
            end = page.ends[one] if end < 0 else end
        return False

    def _chars(self, element: int) -> int:
        page = self._page
        return sum(map(len, page.texts[page.starts[element] : page.ends[element]]))
