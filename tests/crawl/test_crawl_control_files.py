"""Which of a host's control files were there is in each record, with hash and date, from the crawl as from a replay."""

from __future__ import annotations

import hashlib
from datetime import datetime

from bench.web.prose import prose
from tests.support import corpus_crawl
from tests.support.loopback_web import PolicyWeb

TDMREP = b'[{"location": "/", "tdm-reservation": 0}]'
AI_TXT = b"User-agent: *\nAllow: /\n"


def test_every_file_that_was_there_is_named_with_its_hash_and_one_that_was_not_is_not(tmp_path):
    body = "".join(f"<p>{line}</p>" for line in prose("control files", 300))
    page = f"<html lang=en><title>A page</title><article>{body}</article></html>".encode()

    def sends(content, kind):
        return lambda handler: handler.send(200, content, kind)

    with PolicyWeb() as web:
        base = web.site("127.0.0.7", {
            "/1": lambda handler: handler.send(200, page),
            "/.well-known/tdmrep.json": sends(TDMREP, "application/json"),
            "/ai.txt": sends(AI_TXT, "text/plain"),
        })  # fmt: skip
        crawl = corpus_crawl.crawl(tmp_path / "corpus", [f"{base}/1"], web.port, JS_MODE="never", STAGE_WORKERS=0)
    (record,) = crawl.kept.values()
    found = {file["url"]: (file["protocol"], file["sha256"]) for file in record["control_files"]}
    assert found == {
        f"{base}/.well-known/tdmrep.json": ("tdmrep", hashlib.sha256(TDMREP).hexdigest()),
        f"{base}/ai.txt": ("ai.txt", hashlib.sha256(AI_TXT).hexdigest()),
    }
    crawled = datetime.fromisoformat(record["crawled_at"])
    assert all(datetime.fromisoformat(file["fetched_at"]) <= crawled for file in record["control_files"])
    again = corpus_crawl.replay(tmp_path / "corpus" / "archive", tmp_path / "again", JS_MODE="never", STAGE_WORKERS=0)
    (repeated,) = again.kept.values()
    assert repeated["control_files"] == record["control_files"]
