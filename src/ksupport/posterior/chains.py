"""Markov chains over sets of atoms, several, until they agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.phases import phase
from .._kernels import chains as kernels
from ..design import Floats, Ints
from .atoms import AtomSet
from .prior import PRECISIONS, Prior, prior_of

MOST_ATOMS = 100  # of a model; more than a third as many as there are rows explain anything
CHAINS = 2
AGREED = 0.05  # the largest difference of two chains' probabilities of a feature
THIN = 5  # of so many moves one is kept as a draw; probabilities are averaged over all


@dataclass(frozen=True)
class Budget:
    """How long chains may be: moves of each, and how many rounds of as many again as before.

    ``evaluated`` models, those of most weight, are evaluated by a loss other than squares.
    """

    chains: int = CHAINS
    burn_in: int = 500
    moves: int = 4000
    rounds: int = 4
    evaluated: int = 200


FULL = Budget()


@dataclass(frozen=True, eq=False)
class Sample:
    """What chains have drawn.

    Parameters
    ----------
    sets : array of shape (draws, most)
        Atoms of each draw, sorted; -1 for none.
    precisions : array of int
        The place of each draw's prior precision.
    weights : array
        What each distinct draw counts; they sum to 1.
    log_prior : array
        Of each draw.
    by_chain : array of shape (chains, m)
        Probability of each candidate feature.
    others : float
        How many features that are no candidates are expected to matter.
    """

    sets: Ints
    precisions: Ints
    weights: Floats
    log_prior: Floats
    by_chain: Floats
    widest: int
    others: float = 0.0

    def leading(self, weights: Floats, most: int) -> tuple[Ints, Floats]:
        """Of the sets of most weight: a draw of each, of its likeliest precision; shares of sets.

        ``weights`` are those of the draws.
        """
        _, place = np.unique(_as_keys(self.sets), return_inverse=True)
        total = np.bincount(place, weights)
        order = np.lexsort((-np.round(weights, 12), place))
        first = order[np.searchsorted(place[order], np.arange(total.size))]
        chosen = np.argsort(-np.round(total, 12), kind="stable")[:most]
        return first[chosen], total[chosen] / total[chosen].sum()

    @property
    def probability(self) -> Floats:
        """Of each candidate feature, over all chains."""
        return np.asarray(self.by_chain.mean(axis=0))

    @property
    def max_chain_difference(self) -> float:
        """The largest difference between chains in the probability of a feature."""
        return float(np.ptp(self.by_chain, axis=0).max(initial=0.0))


def most_atoms(rows: float, n_atoms: int) -> int:
    """The largest number of atoms that a model may have."""
    return max(min(MOST_ATOMS, int(rows) // 3, n_atoms), 1)


def sample(
    atoms: AtomSet, rows: float, starts: Sequence[Ints], seed: int, positive: bool = False,
    budget: Budget = FULL,
) -> Sample:  # fmt: skip
    """Draw sets of atoms: chains go on until they agree, or the budget is used up.

    Parameters
    ----------
    rows : float
        That count.
    starts : sequence of arrays of int
        Where chains begin, in turn.
    seed : int
        Of all random numbers.
    """
    m, count = len(atoms.loadings), len(atoms.members)
    most = most_atoms(rows, count)
    widest = max(min(int(rows) - 1, 2 * most), int(atoms.widths.max(initial=1)))
    prior = prior_of(atoms.n_features, atoms.n_clusters, most, atoms.others)
    moves = kernels.Conditionals(
        atoms.data, atoms.atoms, prior.log, PRECISIONS, positive, most, widest, m
    )
    chains = [
        _Chain(moves, np.random.default_rng([seed, at]), starts[at % len(starts)])
        for at in range(budget.chains)
    ]
    with phase("sampling models", budget.rounds) as update:
        keep = budget.moves
        for at in range(budget.rounds):
            for chain in chains:
                chain.advance(budget.burn_in if at == 0 else 0, keep)
            update(at + 1)
            by_chain = np.array([each.probability for each in chains])
            if np.ptp(by_chain, axis=0).max(initial=0.0) <= AGREED:
                break
            keep = chains[0].moves  # as many again
    return _merged(chains, by_chain, widest, atoms, prior)


class _Chain:
    """A chain, and what it has drawn."""

    def __init__(self, conditionals: Any, rng: np.random.Generator, start: Ints) -> None:
        self.conditionals, self.rng = conditionals, rng
        self.state = kernels.Chain(conditionals, start)
        self.moves = 0
        self.sets: list[Ints] = []
        self.places: list[Ints] = []
        self.sums: list[Floats] = []

    def advance(self, burn_in: int, keep: int) -> None:
        u = self.rng.random((burn_in + keep, 6 if self.conditionals.positive else 4))
        sets, places, p = self.conditionals.advance(self.state, u, keep, THIN)
        self.sets.append(sets)
        self.places.append(places)
        self.sums.append(keep * p)
        self.moves += keep

    @property
    def probability(self) -> Floats:
        return np.asarray(np.sum(self.sums, axis=0) / self.moves)


def _merged(
    chains: list[_Chain], by_chain: Floats, widest: int, atoms: AtomSet, prior: Prior
) -> Sample:
    """All draws, each distinct one once."""
    sets = np.sort(np.vstack([s for each in chains for s in each.sets]), axis=1)[:, ::-1]
    places = np.concatenate([p for each in chains for p in each.places])
    width = max(int((sets >= 0).sum(axis=1).max(initial=0)), 1)
    rows = np.column_stack([places, sets[:, :width]]).astype(np.int32)
    _, first, counts = np.unique(_as_keys(rows), return_index=True, return_counts=True)
    distinct = rows[first].astype(np.int64)
    sets, weights = distinct[:, 1:], counts / counts.sum()
    clusters = np.where(sets >= 0, atoms.atoms.cluster[sets], 0).sum(axis=1)
    at = distinct[:, 0], (sets >= 0).sum(axis=1) - clusters, clusters
    log_prior = prior.log[at] + np.where(sets >= 0, atoms.atoms.bonus[sets], 0.0).sum(axis=1)
    others = float(weights @ prior.others[at])
    return Sample(sets, distinct[:, 0], weights, log_prior, by_chain, widest, others)


def _as_keys(rows: NDArray[np.integer]) -> NDArray[np.void]:
    """Each row of integers as one value, to be compared as a whole."""
    rows = np.ascontiguousarray(rows, np.int32)
    width = rows.dtype.itemsize * rows.shape[1]
    return np.asarray(rows.view(np.dtype((np.void, width))).ravel())
