"""Withdraws a domain from copies of a corpus and dies at the first, second, third … step that reaches the disk.

Prints how many steps there are. Each copy is left as the death left it, in <target>/<step>.
"""

import os
import shutil
import signal
import sys
from pathlib import Path

from crawler.dataset.exclude import Wish, withdraw
from crawler.storage.files.place import Place

source, target = Path(sys.argv[1]), Path(sys.argv[2])


def dying(function, left):
    def step(*args, **kwargs):
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*args, **kwargs)

    return step


def work(folder, step):
    left = [step]
    os.fsync, os.unlink, os.rename, os.replace = (dying(f, left) for f in (os.fsync, os.unlink, os.rename, os.replace))
    place, wish = Place(str(folder)), Wish("a letter", frozenset({"birch.example"}))
    withdraw(place, wish, now=1.8e9)


step = 0
while True:
    step += 1
    folder = target / str(step)
    shutil.copytree(source, folder)
    child = os.fork()
    if not child:
        work(folder, step)
        os._exit(0)
    if os.WIFEXITED(os.waitpid(child, 0)[1]):
        break
print(step)
