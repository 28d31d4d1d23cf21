"""How many tokens of each group a mixture takes: every target at once, never more than there is, nor than the cap.

Iterative proportional fitting (Deming and Stephan 1940) scales what there is until the sums of every target are right,
which keeps the proportions of everything that no target speaks of. Groups are cut at what they have and capped values
at the cap between its steps. Where that does not arrive, linear programming (HiGHS) finds the nearest mixture that
is right, or the least by which every mixture must miss the targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Tokens = npt.NDArray[np.float64]
    Codes = npt.NDArray[np.int64]

ROUNDS = 500
"""Of fitting; more than a few dozen are needed only at the edge of what can be reached."""
CLOSE = 1e-6
"""Part of the budget by which a sum may be off: a hundredth of a hundredth of the tolerance."""


@dataclass(frozen=True, slots=True)
class Marginal:
    """A target in numbers: codes[i] is the value of group i, tokens[code] what is wanted of it."""

    codes: Codes
    tokens: Tokens

    def sums(self, found: Tokens) -> Tokens:
        """What a mixture has of each value."""
        return np.bincount(self.codes, weights=found, minlength=len(self.tokens)).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Problem:
    """supply: tokens of each group, most: with epochs; caps[i]: number of the capped value of group i, else -1."""

    supply: Tokens
    most: Tokens
    marginals: Sequence[Marginal]
    caps: Codes
    cap: float

    @property
    def budget(self) -> float:
        """Tokens of the mixture: what each target sums to."""
        return float(self.marginals[0].tokens.sum())


@dataclass(frozen=True, slots=True)
class Solution:
    """tokens of each group. missed: for each target the wanted tokens less those that can be reached, by value."""

    tokens: Tokens
    missed: list[Tokens]

    @property
    def total_missed(self) -> float:
        """0 where every target can be reached."""
        return float(sum(np.abs(each).sum() for each in self.missed))


def solve(problem: Problem) -> Solution:
    """Allot the budget to the groups; the same problem has the same solution."""
    fitted = _fit(problem)
    if _error(problem, fitted) <= CLOSE:
        return Solution(fitted, [np.zeros_like(m.tokens) for m in problem.marginals])
    missed = _least_missed(problem)
    if sum(np.abs(each).sum() for each in missed) > CLOSE * problem.budget * 10:
        return Solution(fitted, missed)
    return Solution(_nearest(problem, fitted, missed), [np.zeros_like(each) for each in missed])


def _fit(problem: Problem) -> Tokens:
    found: Tokens = problem.supply * min(1.0, problem.budget / max(1.0, problem.supply.sum()))
    for _ in range(ROUNDS):
        for marginal in problem.marginals:
            sums = marginal.sums(found)
            factors = np.divide(marginal.tokens, sums, out=np.ones_like(sums), where=sums > 0)
            found = np.minimum(found * factors[marginal.codes], problem.most)
        found = _under_caps(problem, found)
        if _error(problem, found) <= CLOSE:
            break
    return found


def _under_caps(problem: Problem, found: Tokens) -> Tokens:
    capped = problem.caps >= 0
    if not capped.any():
        return found
    sums = np.bincount(problem.caps[capped], weights=found[capped])
    factors = np.minimum(1.0, np.divide(problem.cap, sums, out=np.ones_like(sums), where=sums > 0))
    found = found.copy()
    found[capped] *= factors[problem.caps[capped]]
    return found


def _error(problem: Problem, found: Tokens) -> float:
    """The largest difference to a target, as part of the budget."""
    largest: float = max(float(np.abs(m.sums(found) - m.tokens).max()) for m in problem.marginals)
    return largest / problem.budget


# --- linear programming ----------------------------------------------------------------------------------------------
def _least_missed(problem: Problem) -> list[Tokens]:
    """Variables: groups, then what is short and what is too much of each value. Their sum is to be least."""
    from scipy import sparse

    equal, wanted = _equalities(problem)
    rows = len(wanted)
    values = _linprog(
        problem,
        np.concatenate([np.zeros(len(problem.supply)), np.ones(2 * rows)]),
        sparse.hstack([equal, sparse.eye(rows), -sparse.eye(rows)]),
        wanted,
        np.concatenate([problem.most / problem.budget, np.full(2 * rows, np.inf)]),
    )
    short, over = np.split(values[len(problem.supply) :] * problem.budget, 2)
    missed: list[Tokens] = np.split(short - over, np.cumsum([len(m.tokens) for m in problem.marginals])[:-1])
    return missed


def _nearest(problem: Problem, fitted: Tokens, missed: list[Tokens]) -> Tokens:
    """Variables: groups, then by how much they are above and below what was fitted. That sum is to be least.

    missed: rounding errors of the first program, so that this one has a solution whenever that had.
    """
    from scipy import sparse

    equal, wanted = _equalities(problem)
    count = len(fitted)
    apart = sparse.hstack([sparse.eye(count), -sparse.eye(count), sparse.eye(count)])
    none = sparse.csr_matrix((len(wanted), 2 * count))
    values = _linprog(
        problem,
        np.concatenate([np.zeros(count), np.ones(2 * count)]),
        sparse.vstack([sparse.hstack([equal, none]), apart]),
        np.concatenate([wanted - np.concatenate(missed) / problem.budget, fitted / problem.budget]),
        np.concatenate([problem.most / problem.budget, np.full(2 * count, np.inf)]),
    )
    return np.asarray(np.clip(values[:count] * problem.budget, 0, problem.most))


def _equalities(problem: Problem) -> tuple[Any, Tokens]:
    from scipy import sparse

    columns = np.arange(len(problem.supply))
    parts = [
        sparse.csr_matrix((np.ones(len(columns)), (m.codes, columns)), (len(m.tokens), len(columns)))
        for m in problem.marginals
    ]
    return sparse.vstack(parts), np.concatenate([m.tokens for m in problem.marginals]) / problem.budget


def _linprog(problem: Problem, cost: Tokens, equal: Any, wanted: Tokens, most: Tokens) -> Tokens:
    from scipy import optimize, sparse

    (capped,) = np.nonzero(problem.caps >= 0)
    limits = None
    if len(capped):
        shape = (int(problem.caps.max()) + 1, len(cost))
        limits = sparse.csr_matrix((np.ones(len(capped)), (problem.caps[capped], capped)), shape)
    answer = optimize.linprog(
        cost,
        A_ub=limits,
        b_ub=None if limits is None else np.full(limits.shape[0], problem.cap / problem.budget),
        A_eq=equal,
        b_eq=wanted,
        bounds=np.column_stack([np.zeros(len(most)), most]),
        method="highs",
    )
    if answer.x is None:
        raise ArithmeticError(f"the linear program of the mixture has no solution: {answer.message}")
    return np.asarray(answer.x)
