"""What a call costs, by a dated file of prices, and the most that it can cost before it is sent.

Money is exact: decimal numbers of the currency of the file, rounded up to 10⁻⁹.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date as Day  # noqa: N812  # a field of a file of prices is called date
from decimal import ROUND_UP, Decimal
from importlib.resources import files
from pathlib import Path

import orjson

from crawler.config.yaml_file import Value, parse, read
from crawler.llm.model import Request
from crawler.problems import InputError

MOST_BYTES = 1_000_000
OVERHEAD = 1_024
"""Tokens that a provider adds to a request of ours at most: roles, template, instructions about the schema."""
_UNIT = Decimal("1e-9")
_MILLION = Decimal(1_000_000)
_CURRENCY = re.compile(r"[A-Z]{3}")
_MONEY = re.compile(r"(\d+(?:\.\d+)?) ?([A-Z]{3})")


@dataclass(frozen=True, slots=True)
class Price:
    """Of a million tokens."""

    input: Decimal
    output: Decimal
    batch: Decimal = Decimal(1)

    def of_batch(self) -> Price:
        """In a batch: `batch` times as much, as much where the file does not say."""
        return Price(self.input * self.batch, self.output * self.batch)

    def cost(self, tokens_in: int, tokens_out: int) -> Decimal:
        """What a call costs."""
        exact = (self.input * tokens_in + self.output * tokens_out) / _MILLION
        return exact.quantize(_UNIT, rounding=ROUND_UP)

    def most(self, request: Request) -> Decimal:
        """The most that it can cost."""
        return self.cost(most_tokens_in(request), request.most_tokens)


OLD_DAYS = 90
"""From which age on it is said how old prices are that are used."""


@dataclass(frozen=True, slots=True)
class Prices:
    """A file of prices. name: of the file, for messages."""

    name: str
    date: str
    currency: str
    models: Mapping[str, Price]

    def doubt(self, today: Day) -> str:
        """A sentence where they are old; "" where not. The budget is kept by these prices, not by the provider's."""
        days = (today - Day.fromisoformat(self.date)).days
        if days < OLD_DAYS:
            return ""
        return (
            f"the prices of {self.name} are {days:,} days old, and the budget is kept by them: compare them with the "
            "provider's, and give those of today by --prices FILE"
        )

    def of(self, model: str) -> Price:
        """By `provider:NAME@URL`, else by `provider:NAME`. Raises: InputError where it is not in the file."""
        bare = model.partition("@http")[0]
        found = self.models.get(model) or self.models.get(bare)
        if found is None:
            line = f'"{model}": {{input: 0, output: 0}}'
            meaning = f"of a million tokens, in {self.currency}; 0 for a server of your own"
            raise InputError(
                [f"{self.name}: no price of {bare}; give as --prices a copy of it with this line: {line} ({meaning})"]
            )
        return found


def most_tokens_in(request: Request) -> int:
    """The most tokens that a request can be: no tokenizer makes more than one of a byte."""
    image = 0 if request.image is None else request.image.tokens
    words = len(request.system.encode()) + len(request.user.encode()) + len(orjson.dumps(request.schema))
    return words + image + OVERHEAD


def prices_of(path: str | None) -> Prices:
    """Read a file of prices; None: the one of this package. Raises: InputError naming file and line."""
    if path is not None:
        return read(Path(path), lambda root: _prices(root, path), most=MOST_BYTES, what="a file of prices")
    name = "prices.yaml of gristmill"
    data = files("crawler.llm").joinpath("prices.yaml").read_bytes()
    return parse(data, lambda root: _prices(root, name), name)


def _prices(root: Value, name: str) -> Prices | None:
    found = root.mapping(("date", "currency", "models"), "expected date, currency and models")
    if missing := [each for each in ("date", "currency", "models") if each not in found]:
        root.problem(f"needs {' and '.join(missing)}")
        return None
    day = found["date"].text(lambda text: Day.fromisoformat(text).isoformat())
    currency = found["currency"].text(_currency)
    models = {key: _price(value) for key, value in found["models"].items("expected prices by provider:NAME")}
    return Prices(name, day or "", currency or "", models)


def _price(value: Value) -> Price:
    found = value.mapping(("input", "output", "batch"), "expected input and output, of a million tokens")
    if not {"input", "output"} <= found.keys():
        value.problem("needs input and output, of a million tokens")
        return Price(Decimal(), Decimal())
    numbers = [Decimal(str(found[each].number(least=0.0))) for each in ("input", "output", "batch") if each in found]
    return Price(*numbers)


def _currency(text: str) -> str:
    if not _CURRENCY.fullmatch(text):
        raise ValueError("expected a currency by its three letters, such as EUR")
    return text


def budget_of(text: str, prices: Prices) -> Decimal:
    """Read `5EUR`. Raises: InputError where it is no amount, or not in the currency of the prices."""
    found = _MONEY.fullmatch(text)
    if found is None:
        raise InputError([f"--budget {text!r}: expected an amount and a currency, such as 5{prices.currency}"])
    if found[2] != prices.currency:
        way = f"give the budget in {prices.currency}, or --prices with a file in {found[2]}"
        raise InputError([f"--budget {text!r}: {prices.name} has prices in {prices.currency}; {way}"])
    return Decimal(found[1])
