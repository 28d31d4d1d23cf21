"""Withdraws a domain from copies of a corpus and dies at each step; prints how many steps there are."""

import sys
from pathlib import Path

from crawler.dataset.exclude import Wish, withdraw
from crawler.dataset.text_prints import printed
from crawler.storage.files.place import Place
from tests.support.kills import die_at_every_step


def work(folder: Path) -> None:
    withdraw(Place(str(folder)), Wish("a letter", frozenset({"birch.example"}), reach="text"), now=1.8e9)


printed("loads the libraries once, for all that die")
print(die_at_every_step(Path(sys.argv[1]), Path(sys.argv[2]), work))
