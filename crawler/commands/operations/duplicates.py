"""`scrapy dataset duplicates eval PAIRS`: which bands and thresholds fit pairs of texts that somebody labelled."""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

from crawler.commands.operation import Load, Operation


def declare(parser: argparse.ArgumentParser) -> None:
    """What to do (eval), the file of pairs, other bands, --json."""
    parser.add_argument("what", choices=("eval",), help="eval: precision and recall by bands and thresholds")
    parser.add_argument(
        "pairs", type=Path, metavar="PAIRS", help='JSON lines {"a": text, "b": text, "duplicate": true}'
    )
    parser.add_argument(
        "--bands", type=bands, action="append", default=[], metavar="BxR", help="also try B bands of R rows"
    )
    parser.add_argument("--json", action="store_true", help="everything that was tried, as JSON")


def bands(text: str) -> tuple[int, int]:
    """Bands and rows of "20x6". Raises: ArgumentTypeError."""
    match = re.fullmatch(r"(\d{1,3})[x×](\d{1,3})", text.strip())
    found = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= found[0] * found[1] <= 512:
        raise argparse.ArgumentTypeError(f"expected bands and rows such as 20x6, at most 512 in all, not {text!r}")
    return found


def evaluate_pairs(opts: argparse.Namespace, load: Load) -> list[str]:
    """Read, try, print. Raises: ConfigError."""
    from crawler.dedup.evaluate import TRIED, PairsError, evaluate, read_pairs, report

    try:
        found = evaluate(read_pairs(opts.pairs), load().dedup, [*TRIED, *opts.bands])
    except PairsError as error:
        return [str(error)]
    except OSError as error:
        return [f"{opts.pairs}: {error.strerror or error}"]
    sys.stdout.write(json.dumps(found.as_dict(), indent=1) if opts.json else "\n".join(report(found)))
    sys.stdout.write("\n")
    return []


OPERATION = Operation(
    "tune near duplicates on pairs of texts that you labelled: precision and recall by bands and thresholds",
    "duplicates eval pairs.jsonl",
    declare,
    evaluate_pairs,
)
