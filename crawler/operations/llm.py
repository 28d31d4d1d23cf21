"""`gristmill llm`: language models as tools on a finished corpus, each job with a budget."""

from __future__ import annotations

from crawler.operations.declared import Operation, by_name

OPERATIONS = by_name(
    Operation(
        "judge", "score pages from 0 to 5 by a rubric, with reason and evidence", "crawler.operations.llm_judge:WORK"
    ),
    Operation(
        "extract", "read records out of pages, each value from its passage", "crawler.operations.llm_extract:WORK"
    ),
)
