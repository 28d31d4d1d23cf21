"""The project's settings with a pipeline that kills the worker between the dedup verdict and the shard."""

import os
import signal

from crawler import settings as project

SURVIVORS = 2


class Killer:
    """SIGKILL when the third document has passed the duplicate index and is not written yet."""

    seen = 0

    def process_item(self, item):
        Killer.seen += 1
        if Killer.seen > SURVIVORS:
            os.kill(os.getpid(), signal.SIGKILL)
        return item


globals().update({name: value for name, value in vars(project).items() if name.isupper()})
ITEM_PIPELINES = {**project.ITEM_PIPELINES, f"{__name__}.Killer": 650}
