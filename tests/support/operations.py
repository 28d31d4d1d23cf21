"""An operation as its command runs it, in this process."""

from __future__ import annotations

import argparse

from crawler.config import from_mapping
from crawler.operations.answer import Answer
from crawler.operations.declared import Work


def answer_of(work: Work, *words: object, **settings: object) -> Answer:
    """The answer, with what it says for a person printed. settings: as `-s` gives them."""
    parser = argparse.ArgumentParser()
    work.declare(parser)
    told: list[Answer] = []
    opts = parser.parse_args([*map(str, words)], argparse.Namespace(json=False, tell=told.append))
    answer = work.run(opts, lambda **more: from_mapping({**settings, **more})) or told[0]
    answer.show()
    return answer


def problems_of(work: Work, *words: object, **settings: object) -> list[str]:
    """What was not done."""
    return list(answer_of(work, *words, **settings).problems)
