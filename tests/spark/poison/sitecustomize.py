"""On the path of a job's Python processes: pages called `/poison` kill the process that parses them."""

import os
import signal

from crawler.stages.chain import Chain

_run = Chain.run


def run(self, doc, *names):
    if doc.url.endswith("/poison"):
        os.kill(os.getpid(), signal.SIGKILL)
    return _run(self, doc, *names)


Chain.run = run
