"""`python -m bench.autoscale [--processes]` prints the number of pods over time, by raw depth and by runnable work.

The simulation is deterministic: bounds and target are those of k8s/components/hpa/hpa.yaml. With `--processes` real
workers take the place of pods for some minutes; exit code 1 where a page is lost, twice there or asked for too early.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace

from bench.autoscale import processes
from bench.autoscale.hpa import UP_BY_DEFAULT, Autoscaler, Direction
from bench.autoscale.simulated import Domains, Run, depth, runnable, scenarios, simulate
from bench.places import PROJECT

MANIFEST = PROJECT / "k8s/components/hpa/hpa.yaml"
FIGURES: dict[str, Callable[[Iterable[Domains]], float]] = {"depth": depth, "runnable": runnable}
MINUTES = (1, 5, 20, 40, 60, 119)


def before() -> Autoscaler:
    """The bounds of the manifest until this one: default scale-up, one worker less in 300 s after 600 s."""
    return replace(
        Autoscaler.read(MANIFEST), up=Direction.of(UP_BY_DEFAULT), down=Direction(600.0, ((False, 1, 300.0),))
    )


def pods_table() -> list[str]:
    """One row for each scenario and figure."""
    head = ["scenario", "by", "pages", "done after", "pod-hours", "most", "turns", *(f"{m} min" for m in MINUTES)]
    rows = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for scenario in scenarios():
        for name, figure in FIGURES.items():
            rows.append(_row(scenario.name, name, simulate(scenario, Autoscaler.read(MANIFEST), figure)))
    return rows


def _row(scenario: str, figure: str, run: Run) -> str:
    done = "–" if run.done is None else f"{run.done / 60:.0f} min"
    cells = [scenario, figure, f"{run.pages:,.0f}", done, f"{run.hours:.1f}", str(max(run.pods)), str(run.turns)]
    return f"| {' | '.join([*cells, *(str(run.pods[m * 60]) for m in MINUTES)])} |"


def minutes_to(scaler: Autoscaler, pods: int, wanted: int, metric: float, warm: float) -> float:
    """Minutes until `wanted` workers run where `metric` holds from now on, after `warm` had held for an hour."""
    now = 0.0
    while now < 3600.0:
        scaler.sync(now, pods, warm)
        now += 15.0
    began = now
    while pods != wanted:
        pods = scaler.sync(now, pods, metric)
        now += 15.0
    return (now - 15.0 - began) / 60


def bounds_table() -> list[str]:
    """How long the way up and down takes."""
    rows = ["| bounds | 1 to 20 workers | 20 to 2 workers |", "|---|---|---|"]
    for name, made in (("before", before), ("now", lambda: Autoscaler.read(MANIFEST))):
        target = made().target
        up = minutes_to(made(), 1, 20, 20 * target, target)
        down = minutes_to(made(), 20, 2, 2 * target, 20 * target)
        rows.append(f"| {name} | {up:.1f} min | {down:.1f} min |")
    return rows


def main(arguments: list[str]) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m bench.autoscale", description=__doc__)
    parser.add_argument("--processes", action="store_true", help="real workers on this machine")
    if not parser.parse_args(arguments).processes:
        sys.stdout.write("\n".join([*pods_table(), "", *bounds_table(), ""]))
        return 0
    rows, problems = processes.measure()
    sys.stdout.write(
        "\n".join([*rows, "", *(problems or ["nothing lost, nothing twice, no host asked too early"]), ""])
    )
    return int(bool(problems))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
