"""Several workers begin a corpus together."""

from __future__ import annotations

from pathlib import Path

from crawler.storage.files.place import Place


def test_workers_that_begin_at_the_same_time_know_each_others_folders(tmp_path, monkeypatch):
    root, made, met = tmp_path / "corpus", Path.mkdir, []

    def mkdir(folder, *args, **kwargs):
        made(folder, *args, **kwargs)
        if folder.parent == root:  # another worker begins at this moment
            met.append(folder.name)
            Place(str(root))._check_foreign()

    monkeypatch.setattr(Path, "mkdir", mkdir)
    Place(str(root)).claim()
    assert len(met) > 2
