"""Importing this module, first in a fork server, keeps the garbage collector from what the next ones load.

It would look again and again at hundreds of thousands of objects that stay: a tenth of the time of the start. `freeze`
has it look once, at the end.
"""

from __future__ import annotations

import gc

gc.disable()
