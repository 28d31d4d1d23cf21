"""CONTRIBUTING, "Add an opt-out signal": made for an invented header, in the files that it names and no others."""

from __future__ import annotations

from tests.examples.copied import Copied, files_of

MODULE = '''"""`X-Training: no`: an invented header that refuses training."""

from __future__ import annotations

from crawler.document import Signal
from crawler.policy.headers import Headers, values_of
from crawler.policy.signals.base import ALLOW, DISALLOW, Context, Detector, signal

NAME = "x-training"
VERSION = "1"


def from_headers(headers: Headers, _context: Context) -> list[Signal]:
    """One signal a header line; what is neither yes nor no refuses."""
    values = [value.strip().lower() for value in values_of(headers, b"x-training")]
    return [signal(NAME, "header", value, ALLOW if value == "yes" else DISALLOW) for value in values]


DETECTOR = Detector(NAME, VERSION, "the X-Training header refuses", headers=from_headers)
'''

ASK = """
from crawler.policy.decide import decide_headers
from crawler.policy.signals.registry import refusals
for value in (b"no", b"yes", b"perhaps"):
    print(decide_headers([(b"X-Training", value)], "CorpusBot", "strict", 0.0).drop)
print(refusals()["x-training"])
"""


def test_a_signal_is_these_files_and_refuses_from_then_on(copied: Copied) -> None:
    copied.add("crawler/policy/signals/x_training.py", MODULE)
    registry = "crawler/policy/signals/registry.py"
    copied.insert(registry, r"^    x_robots_tag,\n", "    x_training,\n")
    copied.insert(registry, r"^    x_robots_tag\.DETECTOR,\n", "    x_training.DETECTOR,\n")
    row = "| `x-training` | header | it does not say `yes` | ✓ | ✓ | ✓ |\n"
    copied.insert("docs/policy.md", r"^\| `trust\.txt` \|.*\n", row)

    no, yes, perhaps, sentence = copied.python(ASK).splitlines()
    assert "x-training in header: no" in no
    assert yes == "None"
    assert "perhaps" in perhaps
    assert sentence == "the X-Training header refuses"
    assert "Contracts: 5 kept, 0 broken" in copied.lint_imports()
    assert copied.touched == files_of("Add an opt-out signal", "x_training")
