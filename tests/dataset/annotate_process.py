"""Annotates copies of a corpus, or withdraws from them, and dies at each step; prints how many steps there are."""

import sys
from pathlib import Path

from crawler.dataset.annotate import Annotations
from crawler.dataset.annotations.job import job_of
from crawler.dataset.exclude import Wish, withdraw
from crawler.dataset.rewrite import records_in
from crawler.storage.files.columns import arrow
from crawler.storage.files.place import Place
from tests.support.kills import die_at_every_step

arrow()  # once, for all that die


def work(folder: Path) -> None:
    place = Place(str(folder))
    if sys.argv[3] == "withdraw":
        withdraw(place, Wish("a letter", frozenset({"birch.example"})), now=1.8e9)
        return
    keys = [{name: record[name] for name in ("canonical_url", "doc_id")} for record in records_in(place)]
    job = job_of({"score": "double"}, {}, None, {}, now=1.8e9)
    Annotations(place).write("topic", job, [key | {"score": 0.9} for key in keys], now=1.8e9)


print(die_at_every_step(Path(sys.argv[1]), Path(sys.argv[2]), work))
