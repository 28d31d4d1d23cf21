"""ARPA is the text format of n-gram models that KenLM, SRILM and others share; ours are written and read in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from crawler.classify.kneser_ney import NEVER, SPACE, SPECIAL, Grams, Model
from crawler.problems import InputError

MOST_ORDER = 10
_LEAST_LINE = 4
"""Bytes of the shortest line of an n-gram."""


class _Damaged(Exception):  # noqa: N818  # told as an InputError that names the file
    """What is wrong, with the line."""


def write(path: Path, model: Model) -> None:
    """Raises: OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    size, names = len(model.words), list(model.words)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write("\\data\\\n")
        file.writelines(f"ngram {at}={len(grams.keys)}\n" for at, grams in enumerate(model.orders, 1))
        for at, grams in enumerate(model.orders, 1):
            if at > 1:
                names = [f"{names[key // size]} {model.words[key % size]}" for key in grams.keys.tolist()]
            file.write(f"\n\\{at}-grams:\n")
            backoff = at < len(model.orders)
            for name, logp, lost in zip(names, grams.logp.tolist(), grams.backoff.tolist(), strict=True):
                file.write(f"{max(logp, NEVER):.7f}\t{name}" + (f"\t{lost:.7f}\n" if backoff else "\n"))
        file.write("\n\\end\\\n")


def read(path: Path) -> Model:
    """Raises: InputError, one sentence, where the file is cut, damaged or something else."""
    try:
        size = path.stat().st_size
        with path.open(encoding="utf-8", newline="\n") as file:
            return _model(enumerate(file, 1), size)
    except OSError as error:
        raise InputError([f"{path}: cannot be read ({error.strerror}); expected a model in ARPA format"]) from None
    except _Damaged as error:
        raise InputError([f"{path}: {error}; restore it from a copy, or train it again"]) from None
    except UnicodeDecodeError:
        raise InputError([f"{path}: is no text in UTF-8; expected a model in ARPA format"]) from None


def _model(lines: Iterator[tuple[int, str]], size: int) -> Model:
    counts = _counts(lines, size)
    words: list[str] = []
    number: dict[str, int] = {}
    orders: list[Grams] = []
    for length, count in enumerate(counts, 1):
        rows = list(_rows(lines, length, count))
        if length == 1:
            words = [*SPECIAL, *(name for name, _, _ in rows if name not in SPECIAL)]
            number = {name: at for at, name in enumerate(words)}
            if len(number) != len(words) or len({name for name, _, _ in rows}) != len(rows):
                raise _Damaged("a word is listed twice among the 1-grams")
            orders.append(_unigrams(rows, number))
            continue
        orders.append(_longer(rows, number, orders, length))
    if next((line for _, line in lines if line.strip()), "").strip() != "\\end\\":
        raise _Damaged("it ends before \\end\\")
    unit = "characters" if SPACE in number and all(len(word) == 1 for word in words[3:]) else "words"
    return Model(tuple(words), tuple(orders), unit)


def _counts(lines: Iterator[tuple[int, str]], size: int) -> list[int]:
    if next((line for _, line in lines if line.strip()), "").strip() != "\\data\\":
        raise _Damaged("it does not begin with \\data\\")
    found: list[int] = []
    for at, line in lines:
        if not line.strip():
            break
        name, _, count = line.strip().partition("=")
        if name != f"ngram {len(found) + 1}" or not count.isdecimal() or len(found) >= MOST_ORDER:
            raise _Damaged(f"line {at}: expected ngram {len(found) + 1}=COUNT")
        found.append(int(count))
    if not found or sum(found) * _LEAST_LINE > size:
        raise _Damaged(f"its head announces {sum(found):,} n-grams, too many for its {size:,} bytes")
    return found


def _rows(lines: Iterator[tuple[int, str]], length: int, count: int) -> Iterator[tuple[str, float, float]]:
    if next((line for _, line in lines if line.strip()), "").strip() != f"\\{length}-grams:":
        raise _Damaged(f"it ends before \\{length}-grams:")
    for _ in range(count):
        at, line = next(lines, (0, ""))
        parts = line.rstrip("\n").split("\t")
        try:
            logp, lost = float(parts[0]), float(parts[2]) if len(parts) > 2 else 0.0
            name = parts[1]
        except (ValueError, IndexError):
            raise _Damaged(f"line {at}: is no {length}-gram" if at else f"it ends within its {length}-grams") from None
        if not (np.isfinite(logp) and np.isfinite(lost)) or name.count(" ") != length - 1:
            raise _Damaged(f"line {at}: is no {length}-gram")
        yield name, logp, lost


def _unigrams(rows: list[tuple[str, float, float]], number: dict[str, int]) -> Grams:
    logp, lost = np.full(len(number), NEVER), np.zeros(len(number))
    for name, chance, given in rows:
        logp[number[name]], lost[number[name]] = chance, given
    return Grams(np.arange(len(number)), logp, lost)


def _longer(rows: list[tuple[str, float, float]], number: dict[str, int], orders: list[Grams], length: int) -> Grams:
    size = len(number)
    try:
        units = np.array([[number[word] for word in name.split(" ")] for name, _, _ in rows], np.int64)
    except KeyError as error:
        raise _Damaged(f"the {length}-grams have a word that the 1-grams lack ({error})") from None
    units = units.reshape(len(rows), length)
    context = units[:, 0]
    for at, grams in enumerate(orders[1:], 1):
        wanted = context * size + units[:, at]
        context = np.minimum(np.searchsorted(grams.keys, wanted), max(len(grams.keys) - 1, 0))
        if len(rows) and (not len(grams.keys) or (grams.keys[context] != wanted).any()):
            raise _Damaged(f"a {length}-gram begins with none of the {length - 1}-grams")
    keys = context * size + units[:, -1]
    order = np.argsort(keys, kind="stable")
    if len(keys) and (np.diff(keys[order]) == 0).any():
        raise _Damaged(f"a {length}-gram is listed twice")
    logp, lost = (np.array([row[at] for row in rows], np.float64)[order] for at in (1, 2))
    return Grams(keys[order], logp, lost)
