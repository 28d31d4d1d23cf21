"""The autoscaler is the algorithm of Kubernetes' HorizontalPodAutoscaler for one external metric with AverageValue.

Written from its documentation (https://kubernetes.io/docs/concepts/workloads/autoscaling/horizontal-pod-autoscale/ and
the API reference of autoscaling/v2); `tests/bench/test_bench_autoscale.py` holds it to what a real controller of 1.36
did.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

TOLERANCE = 0.1
"""Share by which the metric may be off its target before anything happens (the controller's own default)."""
UP_BY_DEFAULT: dict[str, Any] = {
    "stabilizationWindowSeconds": 0,
    "policies": [
        {"type": "Percent", "value": 100, "periodSeconds": 15},
        {"type": "Pods", "value": 4, "periodSeconds": 15},
    ],
}


@dataclass(frozen=True, slots=True)
class Direction:
    """Bounds of one direction. policies: (is percent, value, seconds)."""

    window: float
    policies: tuple[tuple[bool, int, float], ...]

    @classmethod
    def of(cls, rules: Mapping[str, Any]) -> Direction:
        """One half of `behavior`; the policy that allows most counts (selectPolicy Max)."""
        assert rules.get("selectPolicy", "Max") == "Max"
        policies = [(p["type"] == "Percent", p["value"], p["periodSeconds"]) for p in rules["policies"]]
        return cls(rules["stabilizationWindowSeconds"], tuple(policies))


@dataclass(slots=True)
class Autoscaler:
    """Call `sync` as the controller does, every 15 seconds. Times in seconds on any clock."""

    target: float
    least: int
    most: int
    up: Direction
    down: Direction
    _wished: deque[tuple[float, int]] = field(default_factory=deque)
    _events: deque[tuple[float, int]] = field(default_factory=deque)  # when, pods added (negative: removed)

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Autoscaler:
        """What the `spec` of a HorizontalPodAutoscaler says."""
        (metric,) = spec["metrics"]
        behavior = spec["behavior"]
        return cls(
            target=float(metric["external"]["target"]["averageValue"]),
            least=spec["minReplicas"],
            most=spec["maxReplicas"],
            up=Direction.of(behavior.get("scaleUp", UP_BY_DEFAULT)),
            down=Direction.of(behavior["scaleDown"]),
        )

    @classmethod
    def read(cls, manifest: Path) -> Autoscaler:
        """What the manifest says."""
        return cls.of(yaml.safe_load(manifest.read_text())["spec"])

    def sync(self, now: float, pods: int, metric: float) -> int:
        """How many pods there shall be from now on."""
        wished = self._stabilized(now, pods, self._wish(pods, metric))
        bounded = min(max(wished, self.least), self.most)
        if bounded > pods:
            decided = min(bounded, max(pods, self._highest(now, pods)))
        else:
            decided = max(bounded, min(pods, self._lowest(now, pods)))
        if decided != pods:
            self._events.append((now, decided - pods))
        return decided

    def _wish(self, pods: int, metric: float) -> int:
        """Within the tolerance nothing changes."""
        off = metric / (self.target * pods)
        return pods if abs(off - 1.0) <= TOLERANCE else math.ceil(metric / self.target)

    def _stabilized(self, now: float, pods: int, wish: int) -> int:
        """Up: no higher than the lowest wish of the window; down: no lower than the highest. What it finds counts."""
        if not self._wished:
            self._wished.append((now - 1e-3, pods))
        self._wished.append((now, wish))
        longest = max(self.up.window, self.down.window)
        while self._wished[0][0] < now - longest:
            self._wished.popleft()
        floor = min(w for at, w in self._wished if at >= now - self.up.window)
        ceiling = max(w for at, w in self._wished if at >= now - self.down.window)
        return min(max(pods, floor), ceiling)

    def _highest(self, now: float, pods: int) -> int:
        limits = []
        for percent, value, period in self.up.policies:
            before = pods - self._change(now, period)
            limits.append(math.ceil(before * (1 + value / 100)) if percent else before + value)
        return max(limits)

    def _lowest(self, now: float, pods: int) -> int:
        limits = []
        for percent, value, period in self.down.policies:
            before = pods - self._change(now, period)
            limits.append(int(before * (1 - value / 100)) if percent else before - value)
        return min(limits)

    def _change(self, now: float, period: float) -> int:
        """Pods added within the period, less those removed."""
        return sum(change for at, change in self._events if at > now - period)
