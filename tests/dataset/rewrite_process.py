"""Rewrites copies of a corpus and dies at each step; prints how many steps there are."""

import sys
from pathlib import Path

from crawler.dataset.rewrite import Rejection, rewrite
from crawler.dataset.versions import Cause
from crawler.storage.files.place import Place
from tests.support.kills import die_at_every_step


def decide(record):
    number = int(record["url"].rpartition("/")[2])
    if number % 5 == 0:
        return None
    if number % 5 == 1:
        return Rejection({"url": record["url"], "stage": "quality", "reason": "low_quality", "crawl_id": "crawl"})
    return record | {"text": "new"} if number % 2 else record


def work(folder: Path) -> None:
    rewrite(Place(str(folder)), decide, Cause("test", "test", 1.8e9, keeps_old=sys.argv[3] == "keep"))


print(die_at_every_step(Path(sys.argv[1]), Path(sys.argv[2]), work))
