"""The tables of `docs/rules.md`, from the comparison of `bench/quality/eval_rules.py`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from bench.quality.rules_compare import MODES, Judged

FEW = 30
"""Languages with fewer documents share a row."""
RARE = 2
"""Kinds of deviation with fewer documents are counted together."""


def agreement(judged: Iterable[Judged], mode: str) -> float:
    """Share of verdicts with the oracle's first reason."""
    results = [j.ours[mode] == j.oracle for j in judged]
    return sum(results) / max(len(results), 1)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def by(judged: Iterable[Judged], key: Callable[[Judged], str]) -> dict[str, list[Judged]]:
    groups: dict[str, list[Judged]] = defaultdict(list)
    for each in judged:
        groups[key(each)].append(each)
    return groups


def shares(judged: Sequence[Judged]) -> list[str]:
    """Cells: exact (only where the oracle's tokenizer is at hand), fast."""
    exact = [j for j in judged if j.exact]
    return [f"{agreement(exact, 'exact'):.2%}" if exact else "no tokenizer", f"{agreement(judged, 'fast'):.2%}"]


def by_rules(judged: Sequence[Judged]) -> str:
    rows = [[f"`{name}`", str(len(group)), *shares(group)] for name, group in by(judged, lambda j: j.rules).items()]
    return table(["rule set", "documents", *MODES], [*rows, ["all", str(len(judged)), *shares(judged)]])


def by_language(judged: Sequence[Judged]) -> str:
    """A row for each language; those that agree on everything share one, and so do those with few documents."""
    documents = {code: len({j.name for j in group}) for code, group in by(judged, lambda j: j.language).items()}
    few = {code for code, number in documents.items() if number < FEW}
    wrong = {j.language for j in judged if j.ours["fast"] != j.oracle or (j.exact and j.ours["exact"] != j.oracle)}
    right = set(documents) - few - wrong
    rest = {f"{len(few)} with few": few, f"{len(right)} that agree": right}
    names = {code: name for name, codes in rest.items() for code in codes}
    groups = by(judged, lambda j: names.get(j.language, j.language))
    sets = list(by(judged, lambda j: j.rules))
    rows = []
    for code, group in sorted(groups.items(), key=lambda item: (item[0] in rest, item[0])):
        of = by(group, lambda j: j.rules)
        rows.append([code, str(len({j.name for j in group})), *(" / ".join(shares(of[name])) for name in sets)])
    return table(["language", "documents", *(f"`{name}`" for name in sets)], rows)


def kinds(judged: Iterable[Judged], mode: str) -> Iterator[list[str]]:
    """One row for every kind of deviation, the most frequent first."""
    wrong = [j for j in judged if j.ours[mode] != j.oracle and (mode == "fast" or j.exact)]
    groups = by(wrong, lambda j: f"{j.rules}\t{j.oracle or 'kept'}\t{j.ours[mode] or 'kept'}")
    for key, group in sorted(groups.items(), key=lambda item: -len(item[1])):
        rules, oracle, ours = key.split("\t")
        languages = Counter(j.language for j in group).most_common()
        yield [
            f"`{rules}`", oracle, ours, str(len(group)),
            " ".join(f"{code} {number}" for code, number in languages[:6]) + (" …" if len(languages) > 6 else ""),
        ]  # fmt: skip


def deviations(judged: Sequence[Judged], mode: str) -> str:
    head = ["rule set", "oracle", "ours", "number", "languages"]
    rows = list(kinds(judged, mode))
    shown = [row for row in rows if int(row[3]) >= RARE]
    rest = f"\n\n{len(rows) - len(shown)} more kinds have one document each." if shown != rows else ""
    return table(head, shown) + rest if shown else rest.strip() or "None."
