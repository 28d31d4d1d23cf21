"""What this machine lacks is no page's fault: a stage that fails for it judges nobody."""

from __future__ import annotations

import errno
import os

import pytest

from crawler.config import from_mapping
from crawler.document import Document, Drop, DropReason
from crawler.stages.chain import Chain
from crawler.trouble import LackError

PAGE = b"<html><body><p>Salt is gathered from shallow ponds by the sea.</p></body></html>"


def failing(number: int):
    def stage(_: Document) -> Document:
        raise RuntimeError("a model cannot be loaded") from OSError(number, os.strerror(number))

    return stage


def run(number: int) -> Document:
    chain = Chain(from_mapping({"CORPUS_DIR": "x"}), ("parse",))
    chain._stages.append(("pii", failing(number)))
    return chain.run(Document(url="https://example.org/", html=PAGE, content_type="text/html"))


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC])
def test_a_stage_that_lacks_what_the_machine_should_give_judges_no_page(number: int) -> None:
    with pytest.raises(LackError, match=os.strerror(number)):
        run(number)


def test_any_other_failure_of_a_stage_is_told_of_its_page() -> None:
    assert run(errno.EINVAL).verdict == Drop("pii", DropReason.STAGE_ERROR, "RuntimeError in stage pii")
