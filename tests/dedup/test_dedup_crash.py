"""A worker dies between the verdict of the duplicate index and the shard: the page is delivered again and kept once."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import uuid
from collections import Counter

from crawler.dedup.redis_index import RedisIndex
from crawler.storage.files.shards import read_lines
from tests.support import warm
from tests.support.places import PROJECT
from tests.support.site import Site

CLAIM_AND_DIE = """
import asyncio, os, signal, sys
from crawler.config import from_mapping
from crawler.dedup.redis_index import RedisIndex

async def main(url, crawl, owner):
    index = RedisIndex(url, from_mapping({}).dedup, crawl_id=crawl)
    await index.open()
    assert await index.check("sha256:" + "5" * 64, bytes(range(256)) + bytes(224), 100, owner) is None
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main(*sys.argv[1:]))
"""


def records(folder):
    return [json.loads(line) for path in sorted(folder.glob("*.jsonl*")) for line in read_lines(path)]


def test_a_claim_of_a_killed_process_does_not_stand_against_its_own_page(valkey_url, dedup_config):
    crawl, owner = uuid.uuid4().hex, "http://a.example/"
    command = [sys.executable, "-c", CLAIM_AND_DIE, valkey_url, crawl, owner]
    assert subprocess.run(command, cwd=PROJECT, check=False).returncode == -signal.SIGKILL

    async def run():
        index = RedisIndex(valkey_url, dedup_config, crawl_id=crawl)
        await index.open()
        signature = bytes(range(256)) + bytes(224)
        try:
            assert await index.check("sha256:" + "5" * 64, signature, 100, owner) is None
            assert await index.check("sha256:" + "6" * 64, signature, 100, owner) is None  # changed in the meantime
            other = await index.check("sha256:" + "5" * 64, signature, 100, "http://b.example/")
        finally:
            await index.close()
        return other

    assert asyncio.run(run()).owner == owner


def test_a_crawl_killed_between_verdict_and_shard_keeps_every_page_once(tmp_path):
    site = Site(pages=8).start()
    settings = {
        "CORPUS_DIR": tmp_path, "NETWORK_ALLOW": "127.0.0.0/8", "NETWORK_PORTS": site.port, "DOWNLOAD_DELAY": 0,
        "FRONTIER_IDLE_SECONDS": 0.5, "STAGE_WORKERS": 1, "PII_PERSON": "off", "PROGRESS": "off",
    }  # fmt: skip
    command = [sys.executable, "-m", "scrapy", "crawl", "corpus", "-a", f"url={site.url(0)}"]
    command += [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]

    def crawl(module):
        environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": module, "PYTHONPATH": str(PROJECT)}
        return warm.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True)

    try:
        killed = crawl("tests.dedup.dedup_killer_settings")
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        finished = crawl("crawler.settings")
        assert finished.returncode == 0, finished.stderr
    finally:
        site.stop()
    kept, rejected = records(tmp_path / "shards"), records(tmp_path / "rejected")
    verdicts = Counter(record["url"] for record in kept + rejected)
    assert verdicts == Counter(site.urls())
    assert all(record["dup_of"] != record["canonical_url"] for record in rejected)
    assert not [record for record in rejected if record["stage"] == "exact"]
    assert len(kept) >= 3
