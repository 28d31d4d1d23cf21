"""`gristmill dataset duplicates eval PAIRS`: which bands and thresholds fit pairs of texts that somebody labelled."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from crawler.operations.answer import Answer
from crawler.operations.declared import Load, Work


def declare(parser: argparse.ArgumentParser) -> None:
    """What to do (eval), the file of pairs, other bands."""
    parser.add_argument("what", choices=("eval",), help="eval: precision and recall by bands and thresholds")
    parser.add_argument(
        "pairs", type=Path, metavar="PAIRS", help='JSON lines {"a": text, "b": text, "duplicate": true}'
    )
    parser.add_argument(
        "--bands", type=bands, action="append", default=[], metavar="BxR", help="also try B bands of R rows"
    )


def bands(text: str) -> tuple[int, int]:
    """Bands and rows of "20x6". Raises: ArgumentTypeError."""
    match = re.fullmatch(r"(\d{1,3})[x×](\d{1,3})", text.strip())
    found = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= found[0] * found[1] <= 512:
        raise argparse.ArgumentTypeError(f"expected bands and rows such as 20x6, at most 512 in all, not {text!r}")
    return found


def evaluate_pairs(opts: argparse.Namespace, load: Load) -> Answer:
    """Read, try, print. Raises: ConfigError."""
    from crawler.dedup.evaluate import TRIED, PairsError, evaluate, read_pairs, report

    try:
        found = evaluate(read_pairs(opts.pairs), load().dedup, [*TRIED, *opts.bands])
    except PairsError as error:
        return Answer(problems=[str(error)])
    except OSError as error:
        return Answer(problems=[f"{opts.pairs}: {error.strerror or error}"])
    return Answer(found.as_dict(), report(found))


WORK = Work(
    "duplicates eval pairs.jsonl",
    declare,
    evaluate_pairs,
    {
        "pairs": ("integer", "pairs that were read"),
        "duplicates": ("integer", "those that are labelled duplicates"),
        "exact": ("integer", "pairs of the same text"),
        "unasked": ("integer", "pairs too short for anything but the same text"),
        "current": ("object", "bands, rows, threshold, precision, recall, f1 and bytes_a_document of the settings"),
        "best": ("object", "the same of what did best"),
        "tried": ("list of object", "the same of everything that was tried"),
    },
)
