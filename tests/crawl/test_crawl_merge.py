"""Two machines crawl, their corpora become one, and everything that reads a corpus works on it as on any other."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.web.prose import prose
from crawler.config import from_mapping
from crawler.dataset.merge.corpus import merge_corpora
from crawler.dataset.rejudge import rejudge
from crawler.dataset.rewrite import records_in
from crawler.dataset.verify import verify
from crawler.explore.catalogue import Catalogue
from crawler.observe import write
from crawler.observe.report.summary import summarise
from crawler.storage.files.place import PAGES, Place
from tests.support import corpus_crawl
from tests.support.loopback_web import PolicyWeb

PAGES_EACH = 6
STRICT = {"EXTRACTION_MIN_WORDS": 250, "STAGE_WORKERS": 0, "QUALITY_RULES": "", "QUALITY_MIN_SCORE": 0,
          "LANGUAGE_MIN_SCORE": 0, "NEARDUP_THRESHOLD": 1, "PII_PERSON": "off"}  # fmt: skip


def test_the_merged_corpus_of_two_crawls_is_reported_explored_verified_and_judged_again(tmp_path: Path) -> None:
    def page(name: str, words: int) -> Callable[..., None]:
        body = "".join(f"<p>{line}</p>" for line in prose(name, words))
        content = f"<html lang=en><title>{name}</title><article>{body}</article></html>".encode()
        return lambda handler: handler.send(200, content)

    folders = [tmp_path / "one", tmp_path / "two"]
    with PolicyWeb() as web:
        for number, folder in enumerate(folders):
            sizes = {f"/{n}": (f"machine {number} page {n}", 150 if n % 2 else 400) for n in range(PAGES_EACH)}
            base = web.site(f"127.0.0.{20 + number}", {path: page(*size) for path, size in sizes.items()})
            seeds = [f"{base}{path}" for path in sizes]
            settings = {"JS_MODE": "never", "WORKER_ID": "w1", "EXTRACTION_MIN_WORDS": 50}
            assert corpus_crawl.crawl(folder, seeds, web.port, **settings).returncode == 0
    parts = [summarise(str(folder)) for folder in folders]
    target = Place(str(tmp_path / "all"))
    merge_corpora([Place(str(folder)) for folder in folders], target, from_mapping({}), now=1.9e9)

    whole = summarise(target.url)
    assert whole.kept == sum(part.kept for part in parts) == 2 * PAGES_EACH
    assert (whole.fetched, whole.archived) == tuple(
        sum(getattr(part, name) or 0 for part in parts) for name in ("fetched", "archived")
    )
    assert not verify(target).damage
    write.write(write.read(target.url, samples=2))

    catalogue = Catalogue(target, Path(tempfile.mkdtemp(dir=tmp_path)) / "c.duckdb")
    catalogue.start()
    try:
        assert catalogue.wait(60)
        assert catalogue.rows("SELECT count(*) FROM records WHERE state = 'kept'") == [(2 * PAGES_EACH,)]
    finally:
        catalogue.close()

    done = rejudge(target, from_mapping({**STRICT, "CORPUS_DIR": target.url}), now=1.9e9 + 60)
    assert (done.expired, done.unarchived, done.unreached) == (0, 0, 0)
    assert (done.judged, done.lost) == (2 * PAGES_EACH, PAGES_EACH)
    found = {record["url"]: record.get("reason") for record in records_in(target, PAGES)}
    assert len(found) == 2 * PAGES_EACH
    assert sorted(set(map(str, found.values()))) == ["None", "too_short"]
    assert not verify(target).damage
