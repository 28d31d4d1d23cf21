"""The page of metrics names every metric there is, and no other; write it with this file as a script."""

import re
import sys
from pathlib import Path

from crawler.observe.metrics.frontier import GAUGES
from crawler.observe.metrics.observed import Observed
from crawler.observe.metrics.output import COUNTERS
from crawler.observe.metrics.worker import FAMILIES

PAGE = Path(__file__).resolve().parents[3] / "docs/metrics.md"


def tables() -> dict[str, str]:
    worker = [f"| `corpus_{f.name}_total` | {', '.join(f.labels) or '–'} | {f.doc} |" for f in FAMILIES]
    frontier = [f"| `corpus_frontier_{name}` | {doc} |" for name, (doc, _) in GAUGES.items()]
    observed = [
        f"| `{f.name}{'_total' if f.type == 'counter' else ''}` | {f.type} | {f.documentation} |"
        for f in Observed(lambda: 0).collect()
    ]
    output = [f"| `corpus_output_{name}_total` | {doc} |" for name, (doc, _) in COUNTERS.items()]
    return {
        "the pages": "\n".join(["| metric | type | what |", "|---|---|---|", *observed]),
        "a worker": "\n".join(["| counter | labels | what |", "|---|---|---|", *worker]),
        "the output": "\n".join(["| counter | what |", "|---|---|", *output]),
        "the frontier": "\n".join(["| gauge | what |", "|---|---|", *frontier]),
    }


def written(page: str) -> str:
    for name, table in tables().items():
        begin, end = (f"<!-- metrics of {name}: {mark} -->" for mark in ("begin", "end"))
        page = re.sub(f"{begin}\n.*?{end}", lambda _, t=table, b=begin, e=end: f"{b}\n{t}\n{e}", page, flags=re.DOTALL)
    return page


def test_the_page_is_what_the_code_says():
    assert PAGE.read_text() == written(PAGE.read_text())


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
    sys.exit(0)
