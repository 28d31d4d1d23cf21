"""The transformer of a trial and the script that trains it; it needs torch, and nothing else of the project.

`python transformer.py` in the folder of a pack (`crawler/trial/pack.py`) trains a model for each size and sample, asks
each the held-out texts, and writes ANSWER.json. Called again it goes on where it was ended, and the answer is the same,
to the last bit on one machine: one thread, PyTorch's deterministic algorithms, and the order of the windows by seed.

The model is a decoder on bytes: pre-norm (Xiong et al. 2020, arXiv:2002.04745), rotary positions (Su et al. 2021,
arXiv:2104.09864), tied embeddings; AdamW, 5 % warm-up, cosine to a tenth. All sides of a seed begin with the same
weights, and every model reads as many bytes.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import math
import os
import platform
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

PACK, ANSWER = "pack.json", "ANSWER.json"
ANSWER_FORMAT = "crawler-trial-answer/1"
END = 256
"""The sign before, between and behind texts; the others are bytes."""
_WARM, _LAST = 0.05, 0.1
_ASKED_AT_ONCE = 32
_CHECKPOINTS = 20
"""Of each training."""
Tell = Callable[[str], object]


class PackError(Exception):
    """A pack that cannot be used: a sentence for people."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A size of the model, and how it is trained. context: bytes; batch: windows a step; rate: the highest one.

    tokens: bytes that are read in all.
    """

    layers: int
    width: int
    heads: int
    context: int
    batch: int
    rate: float
    tokens: int


class Block(nn.Module):  # type: ignore[misc]  # torch is not there where types are checked
    """Attention and a layer of four times the width, each behind a norm."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width = shape.width
        self.heads = shape.heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.all = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor, turn: Tensor) -> Tensor:
        """x: batch × bytes × width; turn: 2 × bytes × half of a head."""
        batch, length, width = x.shape
        parts = self.all(self.before(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(
            _turned(query, turn), _turned(key, turn), value, is_causal=True
        )  # fmt: skip
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.narrow(functional.gelu(self.wide(self.between(x))))


def _turned(x: Tensor, turn: Tensor) -> Tensor:
    one, other = x.chunk(2, dim=-1)
    return torch.cat((one * turn[0] - other * turn[1], one * turn[1] + other * turn[0]), dim=-1)


class Decoder(nn.Module):  # type: ignore[misc]  # as above
    """Says of each place which byte comes next."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.signs = nn.Embedding(END + 1, shape.width)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.norm = nn.LayerNorm(shape.width)
        half = shape.width // shape.heads // 2
        angles = torch.arange(shape.context)[:, None] * 10_000.0 ** (-torch.arange(half) / half)
        self.register_buffer("turn", torch.stack((angles.cos(), angles.sin())), persistent=False)
        for name, weight in self.named_parameters():
            if weight.dim() > 1:
                deep = math.sqrt(2 * shape.layers) if name.endswith(("out.weight", "narrow.weight")) else 1.0
                nn.init.normal_(weight, std=0.02 / deep)

    def forward(self, signs: Tensor) -> Tensor:
        """signs: batch × bytes; the answer has a logit for every sign as its last dimension."""
        x, turn = self.signs(signs), self.turn[:, : signs.shape[1]]
        for block in self.blocks:
            x = block(x, turn)
        return functional.linear(self.norm(x), self.signs.weight)


def device() -> str:
    """The GPU where there is one."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def machine() -> str:
    """What the last bit of an answer depends on."""
    name = torch.cuda.get_device_name() if device() == "cuda" else torch.backends.cpu.get_cpu_capability()
    return f"{device()} {name} {platform.machine()}, torch {torch.__version__}"


def repeatable() -> None:
    """One thread, and no algorithm whose sums depend on time."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)


# --- learning --------------------------------------------------------------------------------------------------------
def learned(texts: Sequence[str], shape: Shape, seed: int, checkpoint: Path, tell: Tell) -> Decoder:
    """A model that has read so many bytes of the texts, over and over; it goes on from the checkpoint where one is."""
    stream = torch.tensor([END, *(sign for text in texts for sign in (*_bytes(text), END))], dtype=torch.int16)
    torch.manual_seed(seed)
    model = Decoder(shape)
    model.to(device())
    best = torch.optim.AdamW(model.parameters(), shape.rate, betas=(0.9, 0.95), weight_decay=0.1)
    steps = max(1, math.ceil(shape.tokens / (shape.batch * shape.context)))
    begin = _resumed(checkpoint, model, best)
    windows = _windows(stream, shape, seed, begin * shape.batch)
    for step in range(begin, steps):
        if step > begin and step % max(1, steps // _CHECKPOINTS) == 0:
            state = io.BytesIO()
            torch.save({"step": step, "model": model.state_dict(), "best": best.state_dict()}, state)
            _write(checkpoint, state.getvalue())
            tell(f"{step / steps:.0%}")
        for group in best.param_groups:
            group["lr"] = shape.rate * _share(step, steps)
        signs = torch.stack([next(windows) for _ in range(shape.batch)]).long().to(device())
        loss = functional.cross_entropy(model(signs[:, :-1]).flatten(0, 1), signs[:, 1:].flatten())
        best.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        best.step()
    return model


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _windows(stream: Tensor, shape: Shape, seed: int, begin: int) -> Iterator[Tensor]:
    """Windows of the stream in an order by seed: each once, then all again from another begin on."""
    context = min(shape.context, len(stream) - 1)
    count = max(1, len(stream) // context - 1)
    number = begin // count
    skip = begin % count
    while True:
        order = torch.Generator().manual_seed(seed * 1_000_003 + number)
        first = int(torch.randint(len(stream) - count * context, (), generator=order))
        for at in torch.randperm(count, generator=order)[skip:].tolist():
            start = first + at * context
            yield stream[start : start + context + 1]
        number, skip = number + 1, 0


def _share(step: int, steps: int) -> float:
    """Of the highest rate."""
    warm = max(1, round(_WARM * steps))
    if step < warm:
        return (step + 1) / warm
    return _LAST + (1 - _LAST) * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm))) / 2


def _resumed(checkpoint: Path, model: Decoder, best: Any) -> int:
    """The next step. A damaged checkpoint is none: the training begins again, and ends with the same model."""
    try:
        found = torch.load(checkpoint, map_location=device(), weights_only=True)
    except FileNotFoundError:
        return 0
    except Exception as error:  # whatever torch says of a file that was cut
        sys.stderr.write(f"{checkpoint}: cannot be read ({type(error).__name__}): this training begins again\n")
        return 0
    model.load_state_dict(found["model"])
    best.load_state_dict(found["best"])
    return int(found["step"])


def costs(model: Decoder, texts: Sequence[str], shape: Shape) -> list[float]:
    """What each text and its end cost the model, in bits. A window sees a quarter of the one before again."""
    found, overlap = [0.0] * len(texts), shape.context // 4
    windows = []
    for number, text in enumerate(texts):
        signs = [END, *_bytes(text), END]
        starts = range(0, max(1, len(signs) - 1 - overlap), shape.context - overlap)
        windows += [(number, signs[at : at + shape.context + 1], overlap if at else 0) for at in starts]
    model.eval()
    with torch.inference_mode():
        for at in range(0, len(windows), _ASKED_AT_ONCE):
            some = windows[at : at + _ASKED_AT_ONCE]
            longest = max(len(signs) for _, signs, _ in some)
            padded = torch.tensor([signs + [END] * (longest - len(signs)) for _, signs, _ in some], device=device())
            logits = model(padded[:, :-1]).transpose(1, 2)
            losses = functional.cross_entropy(logits, padded[:, 1:], reduction="none").double().cpu()
            for (number, signs, known), row in zip(some, losses, strict=True):
                found[number] += float(row[known : len(signs) - 1].sum()) / math.log(2)
    return found


# --- a pack ----------------------------------------------------------------------------------------------------------
def work(folder: Path, tell: Tell) -> Path:
    """Train and ask all that the pack wants; the file of the answer. Raises: PackError, OSError."""
    repeatable()
    pack, digest = _pack(folder)
    state = folder / f"state-{hashlib.sha256(f'{digest} {machine()}'.encode()).hexdigest()[:16]}"
    state.mkdir(exist_ok=True)
    held = _texts(folder, pack, "held-out.json.gz")
    wanted = [(size, side, seed) for seed in range(pack["seeds"]) for size in pack["sizes"]
              for side in range(pack["sides"])]  # fmt: skip
    bits: dict[str, Any] = {size: [[] for _ in range(pack["sides"])] for size in pack["sizes"]}
    for number, (size, side, seed) in enumerate(wanted, 1):
        name = f"{size}, side {side + 1}, seed {seed + 1} ({number} of {len(wanted)})"
        result, checkpoint = (state / f"{size}-{side}-{seed}.{kind}" for kind in ("json", "pt"))
        own = _result(result, len(held))
        if own is None:
            texts, shape = _texts(folder, pack, f"sample-{side}-{seed}.json.gz"), Shape(**pack["sizes"][size])
            model = learned(texts, shape, seed, checkpoint, partial(_tell_of, tell, name))
            own = [round(one, 3) for one in costs(model, held, shape)]
            _write(result, json.dumps(own).encode())
        checkpoint.unlink(missing_ok=True)
        bits[size][side].append(own)
        tell(f"{name}: {sum(own) / sum(len(_bytes(text)) + 1 for text in held):.4f} bits a byte")
    answer = {"format": ANSWER_FORMAT, "pack": digest, "machine": machine(), "bits": bits}
    _write(folder / ANSWER, json.dumps(answer | {"sha256": sum_of(answer)}).encode())
    return folder / ANSWER


def _tell_of(tell: Tell, name: str, done: str) -> None:
    tell(f"{name}: {done}")


def sum_of(answer: dict[str, Any]) -> str:
    """SHA-256 of an answer without its sum: it shows damage, not intent."""
    rest = {name: value for name, value in answer.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _pack(folder: Path) -> tuple[dict[str, Any], str]:
    try:
        content = (folder / PACK).read_bytes()
        pack: dict[str, Any] = json.loads(content)
        names = [name for name in pack["files"] if name.endswith(".gz")]
    except (OSError, ValueError, KeyError, TypeError):
        raise PackError(f"{folder / PACK}: cannot be read; copy the whole pack again") from None
    for name in names:
        _texts(folder, pack, name)
    return pack, hashlib.sha256(content).hexdigest()


def _texts(folder: Path, pack: dict[str, Any], name: str) -> list[str]:
    with contextlib.suppress(OSError, EOFError, zlib.error):
        content = gzip.decompress((folder / name).read_bytes())
        if hashlib.sha256(content).hexdigest() == pack["files"].get(name):
            texts: list[str] = json.loads(content)
            return texts
    raise PackError(f"{folder / name}: is missing or damaged; copy the whole pack again")


def _result(path: Path, count: int) -> list[float] | None:
    """What was found before; None where nothing was, or the file was cut."""
    with contextlib.suppress(OSError, ValueError):
        found = json.loads(path.read_bytes())
        if isinstance(found, list) and len(found) == count:
            return found
    return None


def _write(path: Path, content: bytes) -> None:
    """The whole file or none, also where two processes work at once."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    with part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def main() -> int:
    """Work on the pack that this file lies in."""
    try:
        path = work(Path(__file__).resolve().parent, lambda line: sys.stderr.write(f"{line}\n"))
    except (PackError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
