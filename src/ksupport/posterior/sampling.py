"""From data to their posterior: candidates, likelihood, atoms, chains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.sparse import csr_array

from ..choosing.supports import Support
from ..design import Floats, Ints
from ..walking.threads import Workers, one_blas_thread
from .atoms import AtomSet
from .candidates import Candidates, Task, candidates_of
from .chains import Sample, sample
from .coefficients import Coefficients, coefficients_by_squares
from .effective_rows import (
    EffectiveRows,
    effective_rows,
    intraclass_correlation,
    whitened,
)
from .expansions import (
    BRIEF,
    atoms_for,
    drawn_from_nothing,
    expanded,
    most_probable,
    rows_of_loss,
)
from .left_out import left_out
from .likelihood import Likelihood, of_squares
from .loss_weights import by_loss
from .result import Posterior

COMPLETIONS = 3  # rounds in which features that were left out become candidates


def posteriors(
    tasks: Sequence[Task], n_jobs: int | None = None
) -> list[tuple[Posterior, EffectiveRows]]:
    """The posterior of each task; views of one store share passes over X."""
    nominated = candidates_of(tasks)
    for task, candidates in zip(tasks, nominated, strict=True):
        task.design.store.expect(candidates.features)
    with Workers(n_jobs) as workers, one_blas_thread:
        pairs = [
            (task, _completed(task, candidates))
            for task, candidates in zip(tasks, nominated, strict=True)
        ]
        return workers.each(lambda pair: _sampled(*pair), pairs)


Result = tuple[Posterior, EffectiveRows]


def _completed(task: Task, candidates: Candidates) -> Candidates:
    """With what could take their place in models by squares, or act with them, by short chains."""
    if not task.check or candidates.features.size == task.design.d or task.labels is not None:
        return candidates
    for _ in range(COMPLETIONS):
        features = candidates.features
        columns = _columns(task, features)
        if not columns.any() or not task.Y.any():
            break
        likelihood, rows = _by_squares(task, features, columns)
        atoms = atoms_for(task, likelihood, candidates)
        # Candidates are a function of the data: with any seed they are the same.
        starts = _starts(likelihood, atoms, candidates.visited)
        drawn = sample(atoms, rows.count, starts, 0, task.positive, BRIEF)
        columns, Y = _as_multiplied(task, columns, task.Y)
        place = {int(f): i for i, f in enumerate(features)}
        columns = columns[[place[int(f)] for f in likelihood.features]]
        new, near, others = left_out(task.design, Y, columns, likelihood, atoms, drawn, rows.count)
        candidates = Candidates(
            np.union1d(features, np.concatenate([new, near])), candidates.visited, others,
            most_probable(likelihood, drawn),
        )  # fmt: skip
        if candidates.features.size == features.size:
            break
    return candidates


def _columns(task: Task, features: Ints) -> Floats:
    return np.array(task.design.columns(features), np.float64, order="C")


def _as_multiplied(task: Task, columns: Floats, Y: Floats) -> tuple[Floats, Floats]:
    """Vectors whose products with X are those of the likelihood."""
    if task.row_groups is None or task.response is not None:
        return columns, Y
    turned = _whitening(task)
    return turned(turned(columns)), turned(turned(Y))


def _whitening(task: Task) -> Callable[[Floats], Floats]:
    """Takes a random effect of the groups of rows out of vectors."""
    assert task.row_groups is not None
    correlation, _ = intraclass_correlation(task.Y, task.row_groups)
    return partial(whitened, row_groups=task.row_groups, correlation=correlation)


def _starts(likelihood: Likelihood, atoms: AtomSet, best: list[Support]) -> list[Ints]:
    """Where chains begin: at the best visited support, and at nothing."""
    return [*(_places(likelihood, atoms, S) for S in best[:1]), np.zeros(0, np.int64)]


def _sampled(task: Task, candidates: Candidates) -> Result:
    columns = _columns(task, candidates.features)
    if not columns.any() or not task.Y.any():
        count = max(task.design.freedom - 1.0, 1.0)
        return Posterior.nothing(task.design.d, len(task.Y)), EffectiveRows(count, count)
    if task.response is not None:
        return _by_loss(task, candidates, columns)
    likelihood, rows = _by_squares(task, candidates.features, columns)
    atoms = atoms_for(task, likelihood, candidates)
    starts = _starts(likelihood, atoms, candidates.visited)
    drawn = sample(atoms, rows.count, starts, task.seed, task.positive, task.budget)
    return _result(task, likelihood, atoms, drawn, drawn.weights, inclusion=drawn.probability), rows


def _by_loss(task: Task, candidates: Candidates, columns: Floats) -> Result:
    """By the log likelihood to second order, where that finds most; then by the loss itself."""
    expansion, rows = expanded(task, candidates, columns), rows_of_loss(task)
    drawn = drawn_from_nothing(task, expansion.atoms, rows, task.seed, task.budget)
    found = by_loss(expansion, drawn, task.positive, task.budget.evaluated)
    coefficients = found.coefficients(task.design.d, task.averaged, task.positive)
    return _result(
        task, expansion.likelihood, expansion.atoms, drawn, found.weights, coefficients
    ), rows


def _places(likelihood: Likelihood, atoms: AtomSet, support: Support) -> Ints:
    """The single-feature atoms of a support."""
    at = {int(f): i for i, f in enumerate(likelihood.features)}
    of = {i: j for j, members in enumerate(atoms.members) if len(members) == 1 for i in members}
    found = [of[at[f]] for f in support if f in at and at[f] in of]
    return np.array(sorted(found), np.int64)


def _by_squares(task: Task, features: Ints, columns: Floats) -> tuple[Likelihood, EffectiveRows]:
    Y = task.Y
    rows = effective_rows(task.design, Y, columns, task.share, task.row_groups)
    if task.row_groups is not None and task.response is None:
        columns, Y = map(_whitening(task), (columns, Y))
    likelihood = of_squares(features, columns, Y, rows.count, task.design.n_samples)
    if len(Y) == 1:
        return likelihood, rows
    # Few rows know correlations of noise badly: as many more as there are other responses are
    # believed to have said that responses are independent.
    totals = likelihood.total.diagonal()
    more = len(Y) - 1
    believed = np.diag(np.where(totals > 0, more / rows.count * totals, 1.0))
    return replace(likelihood, total=likelihood.total + believed, nu=rows.count + more), rows


def _result(
    task: Task, likelihood: Likelihood, atoms: AtomSet, drawn: Sample, weights: Floats,
    coefficients: Coefficients | None = None, inclusion: Floats | None = None,
) -> Posterior:  # fmt: skip
    """What was drawn, as features.

    ``inclusion`` is the probability of each candidate, if it is known better than by frequencies;
    ``coefficients`` are those of the quadratic likelihood by default.
    """
    d, m = task.design.d, likelihood.features.size
    order = np.argsort(likelihood.features)
    inside = _inclusion_matrix(atoms, drawn.sets)[:, order]
    inside.sort_indices()
    place = np.argsort(order)
    copies = {
        int(place[lead]): likelihood.features[list(equal)].tolist()
        for lead, equal in atoms.copies.items() if len(equal) > 1
    }  # fmt: skip
    supports = _supports(inside, weights, likelihood.features[order].tolist(), copies, task.seed)
    ordered = [S for _, S in sorted([(-round(w, 12), S) for S, w in supports.items()])]
    p = np.empty(m)
    p[order] = inside.T @ weights
    p = p if inclusion is None else inclusion
    shared = np.zeros(m)
    for lead, equal in atoms.copies.items():
        shared[list(equal)] = p[lead] / len(equal)
    found = np.zeros(d)
    found[likelihood.features] = np.clip(shared, 0.0, 1.0)
    if not task.averaged:  # nothing but the support is asked for
        coefficients = Coefficients.nothing(d, len(task.Y) if task.response is None else 1)
    elif coefficients is None:
        coefficients = coefficients_by_squares(
            likelihood, atoms, drawn, weights, d, task.averaged, task.positive
        )
    T = coefficients.n_responses
    mean, sd = (each.reshape((T, d) if T > 1 else d) for each in coefficients.moments)
    several_classes = task.response is not None and task.response.n_dual > 1
    without = np.diff(inside.indptr) == 0
    with_atoms = (drawn.sets >= 0).any(axis=1)
    return Posterior(
        supports=ordered, weights=np.array([supports[S] for S in ordered]), n_features=d,
        max_chain_difference=drawn.max_chain_difference, inclusion=found,
        candidates=likelihood.features[order],
        correlations=likelihood.correlations[np.ix_(order, order)], coef=mean, coef_sd=sd,
        n_left_out=drawn.others, coefficients=None if several_classes else coefficients,
        background=float(weights[without & with_atoms].sum()),
    )  # fmt: skip


def _inclusion_matrix(atoms: AtomSet, sets: Ints) -> csr_array:
    """Draws x candidates: whether any atom of a draw has the feature."""
    present = sets >= 0
    ends = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    flat = sets[present]
    drawn = csr_array((np.ones(flat.size), flat, ends), shape=(len(sets), len(atoms.members)))
    own = atoms.atoms
    members = csr_array(
        (np.ones(own.members.size), own.members, own.indptr),
        shape=(len(atoms.members), len(atoms.loadings)),
    )
    inside = csr_array(drawn @ members)
    inside.data[:] = 1.0
    return inside


def _supports(
    inside: csr_array, weights: Floats, features: list[int], copies: dict[int, list[int]], seed: int
) -> dict[Support, float]:
    """The features of each draw, with the weight of all draws that have the same.

    Of features with copies a draw has one, any of them.
    """
    rng = np.random.default_rng(seed)
    found: dict[Support, float] = {}
    places, ends = inside.indices.tolist(), inside.indptr.tolist()
    named = np.array(features, np.intp)[inside.indices].tolist()
    for start, end, weight in zip(ends[:-1], ends[1:], weights.tolist(), strict=True):
        support = tuple(named[start:end])
        if copies and not copies.keys().isdisjoint(own := places[start:end]):
            support = tuple(
                sorted(int(rng.choice(copies[j])) if j in copies else features[j] for j in own)
            )
        found[support] = found.get(support, 0.0) + weight
    return found
