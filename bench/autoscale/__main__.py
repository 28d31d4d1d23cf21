"""`python -m bench.autoscale [--processes]` prints the number of pods over time, by raw depth and by runnable work.

The simulation is deterministic: bounds and target are those of k8s/components/hpa/hpa.yaml. With `--processes` real
workers take the place of pods for some minutes; exit code 1 where a page is lost, twice there or asked for too early.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable

from bench.autoscale import processes
from bench.autoscale.hpa import Autoscaler
from bench.autoscale.simulated import Domains, Run, depth, runnable, scenarios, simulate
from bench.places import PROJECT

MANIFEST = PROJECT / "k8s/components/hpa/hpa.yaml"
FIGURES: dict[str, Callable[[Iterable[Domains]], float]] = {"depth": depth, "runnable": runnable}
MINUTES = (5, 60)


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


def main(arguments: list[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.autoscale", description=__doc__)
    parser.add_argument("--processes", action="store_true", help="real workers on this machine")
    if not parser.parse_args(arguments).processes:
        sys.stdout.write("\n".join([*pods_table(), ""]))
        return 0
    rows, problems = processes.measure()
    sys.stdout.write(
        "\n".join([*rows, "", *(problems or ["nothing lost, nothing twice, no host asked too early"]), ""])
    )
    return int(bool(problems))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
