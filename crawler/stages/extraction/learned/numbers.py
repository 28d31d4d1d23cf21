"""Features are what the model reads of a block: numbers on its text, on what stands around it and on its neighbours.

All of them are computed from the walked page and the tables, a column for a feature and a row for a block, as float32:
the same page gives the same bits on every machine that rounds as IEEE 754 says.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.native import library
from crawler.stages.extraction.learned.alike import numbered
from crawler.stages.extraction.learned.tables import Scores
from crawler.stages.extraction.learned.walk import Kind, Mark, Walked

Column = NDArray[np.float32]
LEVELS = 5
"""Elements above a block, from its own on, whose sums are features."""
SHARES = (0.5, 0.75, 0.92)
"""The smallest element that holds this share of the page's running text."""
_NAMES_OF_LEVELS = [
    f"{name}_{level}"
    for level in range(LEVELS)
    for name in (
        *("size", "linked", "running", "runshare", "blocks", "ends", "links", "meanwords", "name", "repeat", "inside"),
    )
]
_KINDS = np.array(Kind)[:, None]
_NAMES_OF_KINDS = [f"kind_{kind.name}" for kind in Kind]
_MARKS = np.array(Mark)[:, None]
_NAMES_OF_MARKS = [f"mark_{mark.name}" for mark in Mark]
_CLASSES = 8
_DIGIT, _UPPER, _COMMA, _END, _SPACE, _SIGN, _CJK, _LETTER = range(_CLASSES)
_LIMIT = 0x3000


def _class_table() -> NDArray[np.uint8]:
    table = np.full(_LIMIT + 1, _LETTER, np.uint8)
    table[_LIMIT] = _CJK
    for code in range(_LIMIT):
        char = chr(code)
        if char.isdigit():
            table[code] = _DIGIT
        elif char.isupper():
            table[code] = _UPPER
        elif char.isspace():
            table[code] = _SPACE
        elif char in ",;،":
            table[code] = _COMMA
        elif char in ".!?…":
            table[code] = _END
        elif not char.isalnum():
            table[code] = _SIGN
    return table


_TABLE = _class_table()
"""The class of a character by its number; the last one is that of all numbers from there on."""


class Numbers:
    """Arrays of one page that several features share."""

    def __init__(self, page: Walked, scores: Scores, title: str = "") -> None:
        self.page, self.scores, self.title = page, scores, title
        self.size = len(page.texts)
        self.holder = np.array(page.holders, np.int64)
        self.parent = np.array(page.parents, np.int64)
        self.start, self.end = np.array(page.starts, np.int64), np.array(page.ends, np.int64)
        self.depth = np.array(page.depths, np.int64)
        self.marks = np.array(page.marks, np.int64)
        self.kind = np.array(page.kinds, np.int64)
        self.linked = np.array(page.linked, np.float64)
        self.links = np.array(page.links, np.float64)
        self.counts = _character_counts(page.texts)
        self.chars = self.counts.sum(1)
        self.letters = int(self.counts[:, [_LETTER, _UPPER, _DIGIT, _CJK]].sum())
        """Letters and digits of all blocks."""
        self.words = self.counts[:, _SPACE] + 1.0 + self.counts[:, _CJK] / 2.0
        plain = self.chars - self.linked
        is_running = (self.chars >= 60) & (plain > self.chars * 0.6) & (self.marks[self.holder] & _ASIDE == 0)
        self.running = np.where(is_running, plain, 0.0)
        self.known = 0.0
        """Share of the words looked up that the table knows, 0 to 1; set by `features`."""
        self.names: tuple[str, ...] = ()
        self.groups: list[tuple[str, int, int]] = []
        """What the columns are called; of each group its name, its version and where it ends; set by `features`."""

    def sums(self, *values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of every element: the sum of each value over the blocks inside, (values, elements)."""
        total = np.zeros((len(values), self.size + 1))
        np.cumsum(values, axis=1, out=total[:, 1:])
        return np.asarray(total[:, self.end] - total[:, self.start])


_ASIDE = Mark.NAV | Mark.FOOTER | Mark.HIDDEN | Mark.CONTROL


def _character_counts(texts: list[str]) -> NDArray[np.float64]:
    """How many characters of each class every text has."""
    if not texts:
        return np.zeros((0, _CLASSES))
    joined = "".join(texts)
    codes = np.frombuffer(joined.encode("utf-32-le", "replace"), np.uint32)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    place = np.repeat(np.arange(0, len(texts) * _CLASSES, _CLASSES), lengths)
    place += _TABLE.take(codes, mode="clip")
    counts = np.bincount(place, minlength=len(texts) * _CLASSES)
    return counts.reshape(len(texts), _CLASSES).astype(np.float64)


def features(page: Walked, scores: Scores, title: str = "") -> tuple[Column, Numbers]:
    """The matrix of a page, a row a block."""
    numbers = Numbers(page, scores, title)
    columns: dict[str, Any] = {}
    for group, version, compute in GROUPS:
        compute(columns, numbers)
        numbers.groups.append((group, version, len(columns)))
    numbers.names = tuple(columns)
    matrix = np.concatenate(list(columns.values()), dtype=np.float32, casting="unsafe")
    return matrix.reshape(len(columns), numbers.size).T, numbers


def page_numbers(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Numbers on a page as a whole: mean and maximum of each feature over its blocks, row by row in page order."""
    mean = rows.astype(np.float64, order="C").sum(0) / len(rows)  # across the rows of memory numpy adds one by one
    return np.concatenate([mean, rows.max(0)]).astype(np.float32)


def _of_text(out: dict[str, Any], n: Numbers) -> None:
    length = np.maximum(n.chars, 1.0)
    out["chars"] = np.minimum(n.chars, 5_000)
    out["words"] = np.minimum(n.words, 1_000)
    out["word_length"] = (length - n.counts[:, _SPACE]) / n.words
    out["link_share"] = n.linked / length
    out["links"] = np.minimum(n.links, 50)
    for name, column in (("digits", _DIGIT), ("upper", _UPPER), ("commas", _COMMA), ("ends", _END), ("signs", _SIGN)):
        out[name] = n.counts[:, column] / length
    out["sentence_ends"] = np.minimum(n.counts[:, _END], 40)
    out["last"] = np.array([_sort_of(text[-1]) for text in n.page.texts])
    out["first"] = np.array([_sort_of(text[0]) for text in n.page.texts])
    out["kind"] = n.kind
    out.update(zip(_NAMES_OF_KINDS, n.kind == _KINDS, strict=True))
    tags = n.page.tags
    out["level"] = np.array([int(t[1]) if (t := tags[h])[0] == "h" and t[1:].isdigit() else 0 for h in n.page.holders])


@lru_cache(maxsize=8_192)
def _sort_of(char: str) -> int:
    if char in ".!?。！？":
        return 3
    if char in ":;,…\"'”’)":
        return 2
    return 1 if char.isalpha() else (4 if char.isdigit() else 0)


def _of_words(out: dict[str, Any], n: Numbers) -> None:
    low, high, mean, line, asked, unknown = _word_scores(n.page.texts, n.scores)
    n.known = 1.0 - sum(unknown) / max(sum(asked), 1)
    wanted = set(n.title.lower().split())
    same = [_likeness(text, wanted) if wanted and len(text) < 300 else 0.0 for text in n.page.texts]
    seen: dict[str, int] = {}
    again = [0] * n.size
    for i, text in enumerate(n.page.texts):
        again[i] = seen.get(text, 0)
        seen[text] = again[i] + 1
    out["word_low"], out["word_high"], out["word_mean"], out["line"] = low, high, mean, line
    out["title"] = same
    titled = np.array(same) > 0.5
    out["since_title"] = _distance(titled)
    out["again"] = np.minimum(np.array(again), 20)
    out["copies"] = np.minimum(np.array([seen[text] for text in n.page.texts]), 20)


def _word_scores(texts: list[str], scores: Scores) -> tuple[Any, ...]:
    """What the words of each block say, as `Scores.of_block` has it: six rows."""
    if scores.native is not None and (native := library()) is not None:
        floats, asked, unknown, left = scores.native.of_texts(native, texts)
        for i in left:
            *values, asked[i], unknown[i] = scores.of_block(texts[i])
            for column, value in zip(floats, values, strict=True):
                column[i] = value
        return (*floats, asked.tolist(), unknown.tolist())
    of_blocks = [scores.of_block(text) for text in texts]
    return tuple(zip(*of_blocks, strict=True)) if of_blocks else ((),) * 6


def _likeness(text: str, wanted: set[str]) -> float:
    """Words that both have, as a share of those that either has."""
    words = text.lower().split()
    if wanted.isdisjoint(words):
        return 0.0
    own = set(words)
    return len(own & wanted) / len(own | wanted)


def _distance(flags: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Blocks since the last flag, at most 60; −1 before the first."""
    index = np.arange(len(flags))
    last = np.maximum.accumulate(np.where(flags, index, -1))
    return np.where(last < 0, -1.0, np.minimum(index - last, 60))


def _of_elements(out: dict[str, Any], n: Numbers) -> None:
    own = _name_scores(n.page, n.scores)
    values = n.chars, n.linked, n.running, n.counts[:, _END], n.words, n.links
    sums = n.sums(*values)
    chars, linked, running, ends, words, links = sums
    blocks = (n.end - n.start).astype(np.float64)
    total, all_running = max(float(n.chars.sum()), 1.0), float(n.running.sum())
    repeats, repeat_words, repeat_spread = _repetition(n, words)
    here = _elements_above(n)
    size, many = np.maximum(chars, 1.0)[here], np.maximum(blocks, 1.0)[here]
    columns = (
        chars[here] / total,
        linked[here] / size,
        running[here] / size,
        running[here] / max(all_running, 1.0),
        np.minimum(blocks, 500)[here],
        ends[here] / size,
        np.minimum(links, 500)[here],
        words[here] / many,
        own[0][here],
        np.minimum(repeats, 100)[here],
        (np.arange(n.size) - n.start[here]) / many,
    )
    by_level = (column[level] for level in range(LEVELS) for column in columns)
    out.update(zip(_NAMES_OF_LEVELS, by_level, strict=True))
    out["depth"] = n.depth[n.holder]
    for name, column in zip(("low", "high", "sum", "mean"), own[1:], strict=True):
        out[f"names_{name}"] = column[n.holder]
    out["repeat"], out["repeat_words"], out["repeat_spread"] = (
        column[n.holder] for column in (np.minimum(repeats.astype(float), 100), repeat_words, repeat_spread)
    )
    path_repeat = _path_repeat(n, repeats, repeat_words)
    out["path_repeat"], out["path_repeat_words"], out["path_repeat_depth"] = (c[n.holder] for c in path_repeat)
    out.update(zip(_NAMES_OF_MARKS, (n.marks[n.holder] & _MARKS) > 0, strict=True))
    for share in SHARES:
        _of_core(out, n, share, sums)


def _elements_above(n: Numbers) -> NDArray[np.int64]:
    """Of every block: the element that it stands in and those around it, (levels, blocks)."""
    here = [n.holder]
    for _ in range(1, LEVELS):
        here.append(np.maximum(n.parent[here[-1]], 0))
    return np.stack(here)


def _of_core(out: dict[str, Any], n: Numbers, share: float, sums: NDArray[np.float64]) -> None:
    """Where a block stands to the smallest element with most of the page's running text.

    sums: over every element its characters, those in links, and its running text.
    """
    chars, linked, running = sums[:3]
    enough = np.flatnonzero(running >= share * max(float(n.running.sum()), 1.0))
    core = int(enough[np.argmax(n.depth[enough])]) if len(enough) else 0
    index = np.arange(n.size)
    before, behind = n.start[core] - index, index - n.end[core] + 1
    inside = (before <= 0) & (behind <= 0)
    key = int(share * 100)
    out[f"core_{key}"] = np.where(inside, 0.0, np.where(before > 0, -np.minimum(before, 99), np.minimum(behind, 99)))
    out[f"core_depth_{key}"] = np.where(inside, n.depth[n.holder] - n.depth[core], -1)
    out[f"core_linked_{key}"] = np.full(n.size, linked[core] / max(float(chars[core]), 1.0))
    out[f"core_size_{key}"] = np.full(n.size, chars[core] / max(float(chars[0]), 1.0))


def _name_scores(page: Walked, scores: Scores) -> list[NDArray[np.float64]]:
    """Of every element: the sum of its own names; lowest, highest and sum over it and all above; mean of the sums."""
    depth = np.array(page.depths) + 1.0
    if page.called is not None and scores.native is not None and (native := library()) is not None:
        found = scores.native.of_names(native, page.called)
        if found is not None:
            return [*found, found[3] / depth]
    own: list[float] = []
    low: list[float] = []
    high: list[float] = []
    total: list[float] = []
    tags = page.tags
    for names, tag, up in zip(page.names, tags, page.parents, strict=True):
        one, least, most = scores.of_names(names, tag, tags[up] if up >= 0 else "")
        own.append(one)
        low.append(least if up < 0 else min(least, low[up]))
        high.append(most if up < 0 else max(most, high[up]))
        total.append(one if up < 0 else one + total[up])
    return [np.array(own), np.array(low), np.array(high), np.array(total), np.array(total) / depth]


def _repetition(n: Numbers, words: Any) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Of every element: siblings of the same tag and names, their mean words and how far these differ."""
    tags, names = n.page.numbered()
    _, places, which = np.unique(names, return_index=True, return_inverse=True)
    known: dict[str, int] = {}
    firsts = [known.setdefault(n.page.names[place].partition(" ")[0], len(known)) for place in places.tolist()]
    first = np.array(firsts, np.int64)[which.reshape(-1)]
    ids = numbered(((n.parent + 1) * (int(tags.max()) + 1) + tags) * len(known) + first)
    count = np.bincount(ids)
    total, squares = np.bincount(ids, words), np.bincount(ids, words * words)
    mean = total / count
    spread = np.sqrt(np.maximum(squares / count - mean * mean, 0.0)) / np.maximum(mean, 1.0)
    return count[ids], np.minimum(mean[ids], 2_000), spread[ids]


def _path_repeat(n: Numbers, repeats: Any, words: Any) -> tuple[Any, Any, Any]:
    """The most repeated element above (from three words on): how often, its words, its depth."""
    best, mean, depth = [0.0] * len(repeats), [0.0] * len(repeats), [-1.0] * len(repeats)
    for i, (count, size, up) in enumerate(zip(repeats.tolist(), words.tolist(), n.page.parents, strict=True)):
        if up >= 0:
            best[i], mean[i], depth[i] = best[up], mean[up], depth[up]
        if count > best[i] and size >= 3:
            best[i], mean[i], depth[i] = count, size, n.page.depths[i]
    return np.minimum(np.array(best), 100), np.array(mean), np.array(depth)


def _of_page(out: dict[str, Any], n: Numbers) -> None:
    index = np.arange(n.size)
    total = max(float(n.words.sum()), 1.0)
    out["index"] = np.minimum(index, 1_000)
    out["place"] = (np.cumsum(n.words) - n.words) / total
    out["order"] = index / max(n.size, 1)
    heading = n.kind == Kind.HEADING
    first = np.array([n.page.tags[h] == "h1" for h in n.page.holders])
    out["since_h1"], out["since_heading"] = _distance(first), _distance(heading)
    out["to_heading"] = _distance(heading[::-1])[::-1]
    marks = n.marks[n.holder]
    of_page = {
        "page_words": total,
        "page_blocks": n.size,
        "page_linked": n.linked.sum() / max(float(n.chars.sum()), 1.0),
        "page_running": n.running.sum() / max(float(n.chars.sum()), 1.0),
        "page_articles": n.page.tags.count("article"),
        "page_main": float(((marks & Mark.MAIN) > 0).any()),
        "page_noscript": n.words[(marks & Mark.NOSCRIPT) > 0].sum() / total,
        "page_headings": float(heading.sum()),
        "page_tables": n.page.tags.count("tr"),
        "page_code": float((n.kind == Kind.CODE).sum()),
        "page_comments": n.words[(marks & Mark.COMMENT) > 0].sum() / total,
        "page_others": n.words[(marks & Mark.OTHERS) > 0].sum() / total,
        "page_text": n.running[(marks & (Mark.COMMENT | Mark.OTHERS)) == 0].sum(),
        "page_controls": float((n.kind == Kind.CONTROL).sum()),
    }
    values = np.array(list(of_page.values()), np.float64)
    out.update(zip(of_page, np.broadcast_to(values[:, None], (len(values), n.size)), strict=True))


def _of_headings(out: dict[str, Any], n: Numbers) -> None:
    """What the last heading says about the blocks below it, and how much running text stood before it."""
    index = np.arange(n.size)
    last = np.maximum.accumulate(np.where(n.kind == Kind.HEADING, index, -1))
    for name in ("line", "word_mean", "word_low", "level", "names_mean", "linked_0", "title"):
        out[f"below_{name}"] = np.where(last < 0, -1.0, np.asarray(out[name], np.float64)[last])
    before = np.cumsum(n.running) - n.running
    total = max(float(n.running.sum()), 1.0)
    out["running_before"], out["running_behind"] = before / total, (total - before - n.running) / total
    out["before_heading"] = np.where(last < 0, 0.0, before[last] / total)
    level = np.maximum.accumulate(np.where((n.kind == Kind.HEADING) & (np.asarray(out["level"]) <= 2), index, -1))
    out["below_2_line"] = np.where(level < 0, -1.0, np.asarray(out["word_mean"], np.float64)[level])


_AROUND = ("chars", "link_share", "word_mean", "line", "names_mean", "names_low", "kind", "ends", "running_1")
_SHIFTS = (-3, -2, -1, 1, 2, 3)
_NAMES_OF_SHIFTS = [f"{name}{shift:+}" for name in _AROUND for shift in _SHIFTS]
_MEANT = ("chars", "link_share", "word_mean", "names_mean", "line", "ends")
_WIDTHS = (3, 10)
_NAMES_OF_MEANS = [f"{name}~{width}" for name in _MEANT for width in _WIDTHS]


def _of_neighbours(out: dict[str, Any], _n: Numbers) -> None:
    around = np.array([out[name] for name in _AROUND], np.float64)
    shifted = [_shifted(around, shift) for shift in _SHIFTS]
    out.update(zip(_NAMES_OF_SHIFTS, (moved[i] for i in range(len(_AROUND)) for moved in shifted), strict=True))
    means = _means_around(np.array([out[name] for name in _MEANT], np.float64))
    out.update(zip(_NAMES_OF_MEANS, (mean[i] for i in range(len(_MEANT)) for mean in means), strict=True))


def _shifted(rows: NDArray[np.float64], by: int) -> NDArray[np.float64]:
    out = np.full(rows.shape, -1.0)
    if by < 0:
        out[:, -by:] = rows[:, :by]
    else:
        out[:, :-by] = rows[:, by:]
    return out


def _means_around(rows: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Means over the blocks up to each of the widths before and behind."""
    size = rows.shape[1]
    total = np.zeros((len(rows), size + 1))
    np.cumsum(rows, axis=1, out=total[:, 1:])
    index = np.arange(size)
    bounds = [(np.maximum(index - width, 0), np.minimum(index + width + 1, size)) for width in _WIDTHS]
    return [(total[:, high] - total[:, low]) / (high - low) for low, high in bounds]


GROUPS: tuple[tuple[str, int, Callable[[dict[str, Any], Numbers], None]], ...] = (
    ("text", 1, _of_text),
    ("words", 1, _of_words),
    ("elements", 1, _of_elements),
    ("page", 1, _of_page),
    ("headings", 1, _of_headings),
    ("neighbours", 1, _of_neighbours),
)
"""Name, version and computation of every group of features, in the order of the model's columns.

A computation that gives other numbers needs another model; `stages/models/features.py` says how that is noticed.
"""
