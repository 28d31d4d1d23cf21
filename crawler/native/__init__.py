"""Inner loops of the stages in C, each beside the Python that it stands for: the same answers, bit for bit, sooner.

`library` finds, checks and loads the binary of this machine; the other modules hand arrays to it. The Python remains
the reference, and does the work wherever there is no library. docs/adr/native-001-c-behind-ctypes.md says why and how.
"""

from crawler.native.library import MODES, NativeError, library, problem, state, use

__all__ = ["MODES", "NativeError", "library", "problem", "state", "use"]
