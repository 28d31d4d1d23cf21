"""On the path of a job's Python processes: pages called `/poison` kill the process that parses them, and the first one
called `/executioner` kills the executor that it is in.
"""

import os
import signal
from pathlib import Path

import psutil

from crawler.stages.chain import Chain

_run = Chain.run


def run(self, doc, *names):
    if doc.url.endswith("/poison"):
        os.kill(os.getpid(), signal.SIGKILL)
    if doc.url.endswith("/executioner") and not (done := Path(os.environ["EXECUTED"])).exists():
        executor = next(one for one in psutil.Process().parents() if one.name() == "java")
        done.write_text(" ".join(executor.cmdline()))
        executor.kill()
    return _run(self, doc, *names)


Chain.run = run
