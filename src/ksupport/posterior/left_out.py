"""Features that were left out: which would count beside, or instead of, what models hold?

Chains see candidates only.  A feature that is none can still be as good as one that a model
holds, and the residual does not show it, as the other has explained it already.  So each atom
of some sampled models is taken out in turn, and the probability that a feature left out takes its
place is the one that the chain itself would use.  One pass over X has the products for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from ..design import Design, Floats, Ints, Survey, surveyed
from .atoms import AtomSet
from .chains import Sample, most_atoms
from .likelihood import Likelihood
from .prior import PRECISIONS, Others, prior_of

MODELS = 12  # sampled models that are looked at; not varied
VECTORS = 100  # columns of theirs, at most: what the pass costs
# Probability from which a feature that was left out becomes a candidate.  On 48 development draws
# of expression designs .02 (two rounds) gave 149 of 162 sets that hold, .005 (three) 161 of 171.
COUNTS = 0.005
MORE = 250  # of these at most

Found = tuple[Ints, Floats, Floats, int]


@dataclass(frozen=True, eq=False)
class Model:
    """A sampled set of atoms, with what is needed to take each out.

    Parameters
    ----------
    at : array of int
        Its columns, among those of all models that are looked at.
    inverse, mean, left
        A^-1, A^-1 C and Y'Y - C'A^-1 C (see `_kernels.posterior`).
    places : array of int
        The columns, by place in ``at``, that are atoms by themselves and can be taken out.
    steps : array
        Log prior odds of one more feature once each of these is out; first: beside all.
    repeats : array
        How many slots of the set are filled that way.
    """

    at: Ints
    inverse: Floats
    mean: Floats
    left: Floats
    lam: float
    places: Ints
    steps: Floats
    repeats: Floats

    def log_odds(self, B: Floats, c: Floats, rows: float, nu: float) -> list[Floats]:
        """Of features with products ``B`` with the columns and ``c`` with Y, draw by draw."""
        own = B[:, self.at]
        BM = own @ self.inverse
        a = rows + self.lam - np.einsum("ij,ij->i", BM, own)
        r = c - own @ self.mean
        found = [self._of(a, r, self.left, nu, self.steps[0])]
        for place, step in zip(self.places.tolist(), self.steps[1:], strict=True):
            ak, coef = 1.0 / self.inverse[place, place], self.mean[place]
            e = BM[:, place] * ak
            left = self.left + ak * np.outer(coef, coef)
            found.append(self._of(a + e**2 / ak, r + np.outer(e, coef), left, nu, step))
        return found

    def bayes_factors(self, B: Floats, c: Floats, rows: float, nu: float) -> Floats:
        """Of the same features beside the model, at each of ``PRECISIONS`` (rows)."""
        own = B[:, self.at]
        a = np.maximum(rows - np.einsum("ij,ij->i", own @ self.inverse, own), 0.0)
        r = c - own @ self.mean
        return np.exp([_gain(a + lam, r, self.left, nu, lam) for lam in PRECISIONS])

    def _of(self, a: Floats, r: Floats, left: Floats, nu: float, step: float) -> Floats:
        return _gain(a, r, left, nu, self.lam) + step


def _gain(a: Floats, r: Floats, left: Floats, nu: float, lam: float) -> Floats:
    """Log evidence that each feature adds."""
    a = np.maximum(a, 1e-9 * lam)
    share = np.einsum("ij,ij->i", r @ np.linalg.inv(left), r) / a
    gain = -nu * np.log(np.maximum(1.0 - share, 1e-12)) - r.shape[1] * np.log(a / lam)
    return np.asarray(0.5 * gain)


def left_out(
    design: Design, Y: Floats, columns: Floats, likelihood: Likelihood, atoms: AtomSet,
    drawn: Sample, rows: float,
) -> tuple[Ints, Others]:  # fmt: skip
    """Features that are no candidates and would be drawn with a probability that counts.

    Also what is known of all others.  ``columns`` are those of the likelihood's features, and Y the
    responses, as rows that products with X are taken of.
    """
    models, used = _models(atoms, drawn, rows)
    length = float(likelihood.S[0, 0])
    V = (atoms.loadings[:, used] / likelihood.scale[:, None]).T @ columns
    simple = atoms.atoms.n_simple
    known = (atoms.data.G[:simple][:, used], atoms.data.c[:simple])
    totals = [_totals(model, used, *known, length, atoms.data.nu) for model in models]
    find = partial(
        _most_probable, models, totals, len(Y), length, atoms.data.nu, likelihood.features
    )
    vectors = np.ascontiguousarray(np.vstack([Y, V]).T)
    ((features, p, factors, count),) = surveyed([Survey(design, vectors, find, _joined)])
    new = features[: min(int(np.sum(p >= COUNTS)), MORE)]
    return new, Others(count, np.log(np.maximum(factors / max(count, 1), 1e-300)))


def _models(atoms: AtomSet, drawn: Sample, rows: float) -> tuple[list[Model], Ints]:
    """Models spread over the sample, as many as the pass has room for, and their columns."""
    most = most_atoms(rows, len(atoms.members))
    prior = prior_of(atoms.n_features, atoms.n_clusters, most, atoms.others).log
    reached = np.searchsorted(
        np.cumsum(drawn.weights), (np.arange(MODELS) + 0.5) / MODELS * drawn.weights.sum()
    )
    sets: list[tuple[Ints, int]] = []
    used: set[int] = set()
    for at in np.unique(np.minimum(reached, drawn.weights.size - 1)).tolist():
        own = drawn.sets[at][drawn.sets[at] >= 0]
        more = used | set(atoms.columns_of(own).tolist())
        if sets and len(more) > VECTORS:
            continue
        used = more
        sets.append((own, int(drawn.precisions[at])))
    columns = np.array(sorted(used), np.int64)
    return [
        _model(atoms, own, PRECISIONS[place], columns, prior[place], most) for own, place in sets
    ], columns


def _model(atoms: AtomSet, own: Ints, lam: float, used: Ints, prior: Floats, most: int) -> Model:
    columns, data, T = atoms.columns_of(own), atoms.data, atoms.data.c.shape[1]
    C = data.c[columns]
    A = data.G[np.ix_(columns, columns)] + lam * np.eye(columns.size)
    inverse = np.asarray(np.linalg.inv(A), np.float64)
    mean = inverse @ C
    left = data.total - C.T @ mean
    left[np.diag_indices(T)] = np.maximum(left.diagonal(), 1e-12 * data.total.diagonal())
    clusters = int(atoms.atoms.cluster[own].sum())
    features = own.size - clusters
    simple = [j for j in own.tolist() if j < atoms.atoms.n_simple]

    def step(f: int, c: int) -> float:
        return float(prior[f + 1, c] - prior[f, c] - np.log(most - f - c))

    steps = [step(features, clusters) if own.size < most else -np.inf]
    for j in simple:
        is_cluster = int(atoms.atoms.cluster[j])
        steps.append(step(features - 1 + is_cluster, clusters - is_cluster))
    place = {int(column): at for at, column in enumerate(columns)}
    return Model(
        np.searchsorted(used, columns), inverse, mean, left, lam,
        np.array([place[j] for j in simple], np.int64), np.array(steps),
        np.array([most - own.size, *np.ones(len(simple))]),
    )  # fmt: skip


def _totals(
    model: Model, used: Ints, B: Floats, c: Floats, length: float, nu: float
) -> list[float]:
    """The log sum of odds of all candidates and of none, draw by draw."""
    inside = used[model.at]
    inside = inside[inside < len(B)]
    totals = []
    taken = [-1, *used[model.at][model.places].tolist()]
    for out, odds in zip(taken, model.log_odds(B, c, length, nu), strict=True):
        odds[inside[inside != out]] = -np.inf
        totals.append(float(np.logaddexp(0.0, np.logaddexp.reduce(odds))))
    return totals


def _most_probable(
    models: list[Model], totals: list[list[float]], T: int, length: float, nu: float,
    candidates: Ints, first: int, products: Floats, norms: Floats,
) -> Found:  # fmt: skip
    """Of consecutive features, those that are drawn most, with their probability.

    Of all that are drawn too seldom to count the sums of Bayes factors, and how many they are.
    """
    scaled = products * (np.sqrt(length) / np.where(norms > 0, norms, np.inf))[:, None]
    c, B = scaled[:, :T], scaled[:, T:]
    features, p = first + np.arange(len(products)), np.zeros(len(products))
    for model, own in zip(models, totals, strict=True):
        draws = zip(model.log_odds(B, c, length, nu), own, model.repeats, strict=True)
        for odds, total, repeat in draws:
            p += repeat * np.exp(np.minimum(odds - total, 0.0))
    is_new = (norms > 0) & ~np.isin(features, candidates)
    p = np.where(is_new, np.minimum(p / max(len(models), 1), 1.0), 0.0)
    rest = is_new & (p < COUNTS)
    factors = [model.bayes_factors(B[rest], c[rest], length, nu) for model in models]
    return _joined([(features, p, np.mean(np.sum(factors, axis=2), axis=0), int(rest.sum()))])


def _joined(parts: list[Found]) -> Found:
    features, p = (np.concatenate([part[i] for part in parts]) for i in range(2))
    order = np.argsort(-np.round(p, 9), kind="stable")[:MORE]
    factors = np.sum([part[2] for part in parts], axis=0)
    return features[order], p[order], factors, sum(part[3] for part in parts)
