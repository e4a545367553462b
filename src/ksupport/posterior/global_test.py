"""Is there anything?  A permutation test that rests on no model of X, y or the noise.

If rows are exchangeable, what features explain of y is worth no more than what they explain of y
with its rows permuted, whatever the distributions.  Two statistics are compared: the evidence of a
short search for few features, and the sum of squared correlations of all features (Goeman
and others 2004), which sees many small effects.  The smaller of their ranks is ranked again, so
that the p-value is exact whatever the dependence between both.
"""

from __future__ import annotations

from functools import partial
from itertools import chain, islice

import numpy as np
from scipy.special import gammaln
from scipy.stats import rankdata

from .._common.phases import phase
from ..design import Floats, Ints, Survey, surveyed
from .candidates import Task
from .effective_rows import EffectiveRows

LEVEL = 0.05  # at which nothing can be told from noise
PERMUTATIONS = 99
AT_ONCE = 100  # responses, that share a pass over X and some megabytes
SEARCHED = 5  # features of the forward search
AMONG = 60  # that correlate most with a permuted response, the search goes among these
IN_MEMORY = 1 << 23  # entries of X up to which it is searched; beyond, single features only


def permutation_p_value(task: Task, rows: EffectiveRows, count: int = PERMUTATIONS) -> float:
    """How often a permuted response is explained as well; at least 1 / (count + 1)."""
    Y = _of_one_size(_scores(task), task.positive)
    if not Y.any():
        return 1.0
    rng = np.random.default_rng([task.seed, 1])
    draw = partial(_permuted, task, Y) if rows.basis is None else partial(_rotated, rows.basis, Y)
    responses = chain([Y], (draw(rng) for _ in range(count)))
    parts = []
    with phase("permutations", count + 1) as update:
        while block := list(islice(responses, AT_ONCE)):
            parts.append(_statistics(task, np.stack(block), rows.count))
            update(len(parts) * AT_ONCE)
    worse = [_share_at_least(np.concatenate(each)) for each in zip(*parts, strict=True)]
    return float(_share_at_least(-np.minimum(*worse))[0])


def _scores(task: Task) -> Floats:
    """What is permuted: responses, or ranks of counts, as one may be larger than all others.

    Of 24 draws of counts on real designs (seeds 900000 on) it finds 23 with ranks, 22 without.
    """
    if task.response is None or not task.response.loss.may_spread:
        return task.Y
    roots = 1.0 if task.design.sqrt_weights is None else task.design.sqrt_weights
    ranks = rankdata(np.round(task.Y / roots, 9), axis=1)
    squares = np.broadcast_to(np.square(roots), ranks.shape)
    return (ranks - np.average(ranks, axis=1, weights=squares, keepdims=True)) * roots


def _share_at_least(values: Floats) -> Floats:
    """For each value the share of all that are as large, itself among them."""
    rounded = np.round(values, 9)
    below = np.searchsorted(np.sort(rounded), rounded, side="left")
    return np.asarray((rounded.size - below) / rounded.size)


def _of_one_size(Y: Floats, signed: bool) -> Floats:
    """Responses of one size and, unless their signs count, uncorrelated."""
    if len(Y) == 1 or signed:
        lengths = np.linalg.norm(Y, axis=1, keepdims=True)
        return np.asarray(Y / np.maximum(lengths, np.finfo(float).tiny))
    _, s, V = np.linalg.svd(Y, full_matrices=False)
    return np.asarray(V[s > 1e-9 * s.max(initial=0.0)])


def _permuted(task: Task, Y: Floats, rng: np.random.Generator) -> Floats:
    """Responses with rows permuted; of weighted rows, before they are weighted.

    Rows that stand for many have normal noise by the central limit theorem: it is drawn.
    """
    design = task.design
    n = design.n
    if design.compact:
        drawn = rng.standard_normal(Y.shape)
        missing = rng.chisquare(max(design.n_samples - n, 1.0), len(Y))
        return drawn / np.sqrt(np.sum(drawn**2, axis=1) + missing)[:, None]
    roots = np.ones(n) if design.sqrt_weights is None else design.sqrt_weights
    plain = Y / roots
    if task.row_groups is None:
        return np.asarray(plain[:, rng.permutation(n)] * roots)
    groups = task.row_groups
    sizes = np.bincount(groups)
    means = np.array([np.bincount(groups, y) / np.maximum(sizes, 1) for y in plain])
    within = plain - means[:, groups]
    order = np.lexsort((rng.random(n), groups))
    mixed = np.empty_like(within)
    mixed[:, np.argsort(groups, kind="stable")] = within[:, order]
    return np.asarray((means[:, rng.permutation(sizes.size)][:, groups] + mixed) * roots)


def _rotated(basis: Floats, Y: Floats, rng: np.random.Generator) -> Floats:
    """Random directions of the range in which X and y lie: their rows are not exchangeable."""
    drawn = np.linalg.qr(rng.standard_normal((basis.shape[1], len(Y))))[0].T
    return np.asarray(drawn @ basis.T)


def _statistics(task: Task, responses: Floats, nu: float) -> tuple[Floats, Floats]:
    """Evidence of few features, and the sum of squared correlations of all, for each response."""
    design, (count, T, n) = task.design, responses.shape
    # Rows that stand for many leave out what no feature explains: responses have length 1 with it.
    totals = np.full(count, float(T)) if design.compact else np.sum(responses**2, axis=(1, 2))
    find = partial(_summary, count, T, task.positive, AMONG)
    survey = Survey(design, responses.reshape(-1, n).T, find, partial(_joined, AMONG))
    ((squares, features, sizes),) = surveyed([survey])
    together = squares / totals
    if design.n * design.d > IN_MEMORY:
        few = _evidence_of_path(sizes[:, :1] / totals[:, None], design.d, nu)
        return few, together
    G, c = np.empty((count, features.shape[1], features.shape[1])), np.empty((*features.shape, T))
    for at in range(count):
        columns = design.columns(features[at])
        G[at], c[at] = columns @ columns.T, columns @ responses[at].T
    shares = _forward(G, c, task.positive) / totals[:, None]
    return _evidence_of_path(shares, design.d, nu), together


def _summary(
    count: int, T: int, positive: bool, among: int, first: int, products: Floats, norms: Floats
) -> tuple[Floats, Ints, Floats]:
    """Of some features: the sum of squared products, and the largest ones, for each response."""
    along = np.maximum(products, 0.0) if positive else products
    scaled = along / np.where(norms > 0, norms, np.inf)[:, None]
    squares = np.sum(scaled.reshape(len(scaled), count, T) ** 2, axis=2).T
    order = _largest(squares, among)
    return squares.sum(axis=1), first + order, np.take_along_axis(squares, order, axis=1)


def _largest(sizes: Floats, count: int) -> Ints:
    """Where the largest entries of each row are, in order."""
    if count < sizes.shape[1]:
        near = np.sort(np.argpartition(-sizes, count - 1, axis=1)[:, :count], axis=1)
    else:
        near = np.broadcast_to(np.arange(sizes.shape[1]), sizes.shape)
    order = np.argsort(-np.take_along_axis(sizes, near, axis=1), axis=1, kind="stable")
    return np.take_along_axis(near, order, axis=1)


def _joined(among: int, parts: list[tuple[Floats, Ints, Floats]]) -> tuple[Floats, Ints, Floats]:
    squares = np.sum([part[0] for part in parts], axis=0)
    features = np.hstack([part[1] for part in parts])
    sizes = np.hstack([part[2] for part in parts])
    order = _largest(sizes, among)
    return (
        squares, np.take_along_axis(features, order, 1), np.take_along_axis(sizes, order, 1),
    )  # fmt: skip


def _forward(G: Floats, c: Floats, positive: bool) -> Floats:
    """Squares that the best sets found of one, two, ... features explain, of many responses.

    A forward search that tries, after each feature, to exchange every one for another.  ``G`` and
    ``c`` are products of features with each other and with the response: responses x features x
    features, and x columns of the response.
    """
    G = G.copy()
    diagonal = np.arange(G.shape[1])
    lengths = G[:, diagonal, diagonal]  # equal columns stay apart, and empty ones explain nothing
    G[:, diagonal, diagonal] = np.where(lengths > 0, (1.0 + 1e-9) * lengths, 1.0)
    chosen = np.zeros((len(G), 0), np.intp)
    explained: list[Floats] = []
    for _ in range(min(SEARCHED, G.shape[1])):
        more, total = _best(G, c, chosen, positive)
        chosen = np.column_stack([chosen, more])
        for at in range(chosen.shape[1] if chosen.shape[1] > 1 else 0):
            other, exchanged = _best(G, c, np.delete(chosen, at, axis=1), positive)
            better = exchanged > total
            chosen[better, at], total = other[better], np.maximum(total, exchanged)
        explained.append(total)
    explained += [explained[-1]] * (SEARCHED - len(explained))
    return np.column_stack(explained)


def _best(G: Floats, c: Floats, given: Ints, positive: bool) -> tuple[Ints, Floats]:
    """The feature that explains most beside those given, and what they explain together."""
    rows = np.take_along_axis(G, given[:, :, None], axis=1)
    own = np.take_along_axis(c, given[:, :, None], axis=1)
    block = np.take_along_axis(rows, given[:, None, :], axis=2)
    both = np.concatenate([rows, own], axis=2)
    solved = np.linalg.solve(block, both) if given.size else both
    B, coef = solved[:, :, : G.shape[1]], solved[:, :, G.shape[1] :]
    left = c - np.swapaxes(rows, 1, 2) @ coef
    lengths = np.diagonal(G, axis1=1, axis2=2)
    rest = lengths - np.einsum("pij,pij->pj", B, rows)
    along = np.maximum(left, 0.0) if positive else left
    usable = rest > 1e-6 * lengths
    gains = np.where(usable, np.sum(along**2, axis=2) / np.where(usable, rest, 1.0), 0.0)
    np.put_along_axis(gains, given, -1.0, axis=1)  # none twice
    at = np.argmax(gains, axis=1)
    taken = np.sum(own * coef, axis=(1, 2))
    return at, taken + gains[np.arange(len(G)), at]


def _evidence_of_path(shares: Floats, d: int, nu: float) -> Floats:
    """The largest log evidence on the way, given shares that 1, 2, ... features explain."""
    sizes = np.arange(1, shares.shape[1] + 1)
    price = gammaln(d + 1) - gammaln(sizes + 1) - gammaln(np.maximum(d - sizes, 0) + 1)
    left = np.log(np.maximum(1.0 - shares, 1e-12))
    scores = -0.5 * nu * left - 0.5 * sizes * np.log1p(nu) - price
    return np.asarray(scores.max(axis=1))
