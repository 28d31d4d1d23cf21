"""Rewrites copies of a corpus and dies at the first, second, third … step that reaches the disk.

Prints how many steps there are. Each copy is left as the death left it, in <target>/<step>.
"""

import os
import shutil
import signal
import sys
from pathlib import Path

from crawler.dataset.rewrite import Rejection, rewrite
from crawler.storage.files.place import Place

source, target, keep_old = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] == "keep"


def decide(record):
    number = int(record["url"].rpartition("/")[2])
    if number % 5 == 0:
        return None
    if number % 5 == 1:
        return Rejection({"url": record["url"], "stage": "quality", "reason": "low_quality", "crawl_id": "crawl"})
    return record | {"text": "new"} if number % 2 else record


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
    rewrite(Place(str(folder)), decide, reason="test", by="test", now=1.8e9, keep_old=keep_old)


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
