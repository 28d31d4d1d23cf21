"""What is made of a corpus is not written into it, nor into another one."""

from __future__ import annotations

import pytest

from crawler.dataset.export import export
from crawler.dataset.select import Selection, select
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place

REFUSED = r"lies in the corpus .*give a folder outside of it"


@pytest.mark.parametrize("inside", ["new", "shards/new", "deep/er/new", "../link/new", "../way"])
def test_a_subset_or_an_export_inside_a_corpus_is_refused_and_nothing_is_left_there(corpus, inside):
    (corpus.path.parent / "link").symlink_to(corpus.path)
    (corpus.path.parent / "way").symlink_to(corpus.path / "new")
    out = corpus.path / inside
    before = sorted(corpus.path.rglob("*"))
    with pytest.raises(StorageError, match=REFUSED):
        select(corpus.place, Place(str(out)), Selection(), max_bytes=10**6, now=1.8e9)
    with pytest.raises(StorageError, match=REFUSED):
        export(corpus.place, out, "jsonl.gz", max_bytes=10**6, now=1.8e9)
    assert sorted(corpus.path.rglob("*")) == before


def test_a_subset_inside_the_corpus_of_a_store_is_refused(corpus):
    with pytest.raises(StorageError, match="lies in the corpus"):
        source = Place("memory://bucket/corpus")
        select(source, Place("memory://bucket/corpus/new"), Selection(), max_bytes=10**6, now=1.8e9)
    assert not Place("memory://bucket/corpora").is_in(source)
    assert not Place(str(corpus.path)).is_in(source)
