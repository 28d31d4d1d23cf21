"""A declarative shadow root is the one template whose content is on the page (HTML standard, section 4.12.3)."""

from __future__ import annotations

from typing import Any

_HOSTS = frozenset(
    "article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span".split()  # noqa: SIM905
)
"""What can have a shadow root, custom elements aside."""
_MODES = frozenset({"open", "closed"})


def is_shadow_root(template: Any) -> bool:
    """True where a browser shows what this template holds; of several in one host it shows the first."""
    mode = template.get("shadowrootmode") or template.get("shadowroot") or ""  # as it was called at first
    host = template.getparent()
    return host is not None and mode.lower() in _MODES and ("-" in host.tag or host.tag in _HOSTS)
