"""A replay writes the same shards whether C or Python computed, and its manifest says which."""

from __future__ import annotations

import json

from crawler import native
from tests.native.native_support import PROBE, built, mutated
from tests.support.archives import exchange, html, write
from tests.support.process import scrapy

pytestmark = built


def replayed(archive, folder, mode: str) -> dict[str, bytes]:
    settings = {"CORPUS_DIR": folder, "STAGE_WORKERS": 1, "PII_PERSON": "off", "NATIVE": mode}
    done = scrapy("crawl", "replay", "-a", f"archive={archive}", settings=settings)
    assert done.returncode == 0, done.stderr
    return {
        f"{path.parent.name}/{path.name}": path.read_bytes()
        for name in ("shards", "rejected")
        for path in sorted((folder / name).rglob("*"))
        if path.is_file()
    }


def test_a_replay_in_c_and_one_in_python_write_the_same_bytes(tmp_path):
    pages = [mutated(PROBE, seed, 3 * seed).encode() for seed in range(1, 12)]
    pages += [html(seed) for seed in range(6)]
    pages += [html("data").replace(b"</main>", b'</main><div>{"a": "' + b"x" * 300 + b'"}</div>')]
    exchanges = [exchange(f"https://a.test/{i}", body, i) for i, body in enumerate(pages)]
    archive = write(tmp_path / "pages.warc", exchanges)
    python = replayed(archive, tmp_path / "python", "off")
    c = replayed(archive, tmp_path / "c", "required")
    assert python.keys() == c.keys()
    assert any(name.startswith("shards/") for name in c)
    assert [name for name in c if c[name] != python[name]] == []
    runs = [json.loads((tmp_path / name / "manifest.json").read_text())["runs"] for name in ("python", "c")]
    assert [run[-1]["versions"]["native"] for run in runs] == ["0+python", native.state()]
