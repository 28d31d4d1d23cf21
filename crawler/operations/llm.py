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
    Operation("clean", "pick the main text of pages whose extraction is in doubt", "crawler.operations.llm_clean:WORK"),
    Operation("caption", "score how well captions fit their images", "crawler.operations.llm_caption:WORK"),
    Operation(
        "synthesize",
        "write texts in the style of pages, for what there is little of",
        "crawler.operations.llm_synthesize:WORK",
    ),
    Operation(
        "questions",
        "write questions with answers and the passages they rest on",
        "crawler.operations.llm_questions:WORK",
    ),
)
