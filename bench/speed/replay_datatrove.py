"""The peer of `bench.speed.replay`: runs in an environment of its own that has datatrove, and not this project.

`python replay_datatrove.py ARCHIVES OUT PROCESSES`: WARC files of a folder through trafilatura, a language filter, and
the filters of Gopher, C4 and FineWeb, as datatrove's `examples/fineweb.py` lines them up. What a filter removes is
written, too, so that verdicts can be compared. The language filter is py3langid's (datatrove's own needs a download).
"""

from __future__ import annotations

import sys

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.extractors import Trafilatura
from datatrove.pipeline.filters import (
    C4QualityFilter,
    FineWebQualityFilter,
    GopherQualityFilter,
    GopherRepetitionFilter,
    LambdaFilter,
)
from datatrove.pipeline.readers import WarcReader
from datatrove.pipeline.writers.jsonl import JsonlWriter


def is_english(doc):
    """True where py3langid says so."""
    import py3langid

    return py3langid.classify(doc.text)[0] == "en"


def main(archives: str, out: str, processes: int) -> None:
    """Run the pipeline with as many tasks as processes."""

    def removed(name: str) -> JsonlWriter:
        return JsonlWriter(f"{out}/removed/{name}")

    pipeline = [
        WarcReader(archives, glob_pattern="*.warc.gz"),
        Trafilatura(favour_precision=True, timeout=10),
        LambdaFilter(is_english, exclusion_writer=removed("language")),
        GopherRepetitionFilter(exclusion_writer=removed("gopher_repetition")),
        GopherQualityFilter(exclusion_writer=removed("gopher_quality")),
        C4QualityFilter(filter_no_terminal_punct=False, exclusion_writer=removed("c4")),
        FineWebQualityFilter(exclusion_writer=removed("fineweb")),
        JsonlWriter(f"{out}/kept"),
    ]
    LocalPipelineExecutor(pipeline, tasks=processes, workers=processes, logging_dir=f"{out}/logs").run()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
