"""YAML that people write (gates, mixtures): read so that no key can stand in the way of another unseen.

YAML forbids a key twice in one mapping (1.2, section 3.2.1.1); PyYAML lets the last one win.
"""

from __future__ import annotations

from typing import Any

import yaml


def load_yaml(content: bytes) -> Any:
    """The value that a document holds, of plain types. Raises: yaml.YAMLError, ValueError, RecursionError."""
    waiting, seen = [yaml.compose(content, Loader=yaml.SafeLoader)], set[int]()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:  # an alias
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            _check_keys(node)
            waiting += [part for pair in node.value for part in pair]
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value
    return yaml.safe_load(content)


def _check_keys(node: yaml.MappingNode) -> None:
    known = set[tuple[str, str]]()
    for key, _ in node.value:
        name = (key.tag, str(key.value))
        if name in known:
            raise yaml.MarkedYAMLError(problem=f"{key.value!r} stands there twice", problem_mark=key.start_mark)
        known.add(name)
