"""Importing this module, first in a fork server, keeps the garbage collector from what the next ones load.

It would look again and again at hundreds of thousands of objects that stay: a tenth of the time of the start. `freeze`
has it look once, at the end. And the server, which ends with the last of its processes, does not end before them where
a whole process group is told to.
"""

from __future__ import annotations

import gc
import signal

gc.disable()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
