"""Compiled: Gibbs sampling of the set of atoms that a quadratic log likelihood favours.

Columns of D are grouped into *atoms*: single features (one column), clusters that act together
(one column, their signed sum) and clusters whose coefficients vary (a few columns).  With
A = D_S'D_S + lam I over the columns S of a set of atoms, C = D_S'Y and T responses,

    log p(Y | S, lam) = -nu/2 log det(Y'Y - C'A^-1 C) - T/2 log det(A / lam) + constant

where the covariance of the noise is unknown (Jeffreys' prior), and

    log p(Y | S, lam) = trace(C'A^-1 C) / 2 - T/2 log det(A / lam) + constant

where it is known to be the identity (``nu`` = 0).  A move removes an atom, or none, and draws
another given the rest, among all atoms at once.  What that needs of each column, its residual
products

    a = diag(D'D + lam I - D'D_S A^-1 D_S'D),    r = D'Y - D'D_S A^-1 C,

is updated when a column enters or leaves, at O(|S| N), and made anew every ``REFRESH`` moves.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

REFRESH = 50  # moves after which products are recomputed: their rounding errors stay below 1e-8
EXACT_FIT = 1e-12  # share of Y'Y that no model explains: evidence of an exact fit is finite
NEGLIGIBLE = 1e-9  # probability of a draw that adds nothing to those of features


class Quadratic(NamedTuple):
    """A log likelihood that is quadratic in coefficients, by its sufficient statistics."""

    G: Floats  # D'D, columns x columns
    c: Floats  # D'Y, columns x responses
    total: Floats  # Y'Y
    nu: float  # rows that count; 0: the covariance of the noise is the identity


class Atoms(NamedTuple):
    """What can be in a model.  Each of the first ``n_simple`` atoms is the column of its number."""

    n_simple: int
    first: Ints  # of the others: the first column,
    rank: Ints  # and how many they have
    cluster: Ints  # of all: 1 for a cluster, 0 for a feature
    bonus: Floats  # log prior weight beside others of its kind
    indptr: Ints  # members[indptr[j]:indptr[j + 1]] are the features of atom j
    members: Ints


class State(NamedTuple):
    """The present set of atoms, and what others would add to it."""

    counts: Ints  # columns, atoms, clusters among them
    atoms: Ints
    columns: Ints
    inverse: Floats  # A^-1
    mean: Floats  # A^-1 C: columns x responses
    left: Floats  # Y'Y - C'A^-1 C
    left_inverse: Floats
    a: Floats
    blocks: Floats  # the same of atoms with several columns, as matrices
    r: Floats
    e: Floats  # residual products of the column that enters or leaves with all
    inside: NDArray[np.bool_]
    cover: Ints  # how many present atoms have each feature
    work: Floats  # a triangular factor, and products that it solves


@numba.njit(cache=True, nogil=True)
def new_state(data, atoms, most, widest, d):
    """Room for ``most`` atoms with ``widest`` columns in all."""
    N, T = data.c.shape
    widest_atom = 1
    for j in range(atoms.rank.size):
        widest_atom = max(widest_atom, atoms.rank[j])
    return State(
        np.zeros(3, np.int64), np.full(most, -1, np.int64), np.zeros(widest, np.int64),
        np.zeros((widest, widest)), np.zeros((widest, T)), np.zeros((T, T)), np.zeros((T, T)),
        np.zeros(N), np.zeros((atoms.rank.size, widest_atom, widest_atom)), np.zeros((N, T)),
        np.zeros(N), np.zeros(atoms.cluster.size, np.bool_), np.zeros(d, np.int64),
        np.zeros((widest_atom, widest_atom + T)),
    )  # fmt: skip


@numba.njit(cache=True, nogil=True)
def refresh(state, data, atoms, lam):
    """Make all products anew for the present atoms."""
    state.left[:] = data.total
    _invert_left(state)
    state.r[:] = data.c
    for i in range(state.a.size):
        state.a[i] = data.G[i, i] + lam
    for b in range(atoms.rank.size):
        first = atoms.first[b]
        for i in range(atoms.rank[b]):
            for k in range(atoms.rank[b]):
                state.blocks[b, i, k] = data.G[first + i, first + k]
            state.blocks[b, i, i] += lam
    state.counts[0] = 0
    for at in range(state.counts[1]):
        _add_columns(state, data, atoms, state.atoms[at])


@numba.njit(cache=True, nogil=True)
def add(state, data, atoms, j):
    """Let an atom enter."""
    _add_columns(state, data, atoms, j)
    state.atoms[state.counts[1]] = j
    state.inside[j] = True
    state.counts[1] += 1
    state.counts[2] += atoms.cluster[j]
    for at in range(atoms.indptr[j], atoms.indptr[j + 1]):
        state.cover[atoms.members[at]] += 1


@numba.njit(cache=True, nogil=True)
def remove(state, data, atoms, place):
    """Let the atom in a place leave."""
    j = state.atoms[place]
    if j < atoms.n_simple:
        _remove_column(state, data, atoms, j)
    else:
        b = j - atoms.n_simple
        for i in range(atoms.rank[b]):
            _remove_column(state, data, atoms, atoms.first[b] + i)
            _set_block(state, atoms, b, i)
    state.counts[1] -= 1
    state.atoms[place] = state.atoms[state.counts[1]]
    state.inside[j] = False
    state.counts[2] -= atoms.cluster[j]
    for at in range(atoms.indptr[j], atoms.indptr[j + 1]):
        state.cover[atoms.members[at]] -= 1


@numba.njit(cache=True, nogil=True)
def _add_columns(state, data, atoms, j):
    if j < atoms.n_simple:
        _add_column(state, data, atoms, j)
    else:
        first = atoms.first[j - atoms.n_simple]
        for i in range(atoms.rank[j - atoms.n_simple]):
            _add_column(state, data, atoms, first + i)


@numba.njit(cache=True, nogil=True)
def _set_block(state, atoms, b, i):
    """After column i of an atom has left: its products with those that left before."""
    first = atoms.first[b]
    state.blocks[b, i, i] = state.a[first + i]
    for k in range(i):
        state.blocks[b, i, k] = state.blocks[b, k, i] = state.e[first + k]


@numba.njit(cache=True, nogil=True)
def _update(state, atoms, scale, coef):
    """a += scale e², r += e coef'."""
    a, r, e = state.a, state.r, state.e
    if coef.size == 1:
        b = coef[0]
        for i in range(e.size):
            a[i] += scale * e[i] * e[i]
            r[i, 0] += b * e[i]
    else:
        for i in range(e.size):
            a[i] += scale * e[i] * e[i]
            for t in range(coef.size):
                r[i, t] += coef[t] * e[i]
    for b in range(atoms.rank.size):
        first = atoms.first[b]
        for i in range(atoms.rank[b]):
            f = scale * e[first + i]
            for k in range(atoms.rank[b]):
                state.blocks[b, i, k] += f * e[first + k]


@numba.njit(cache=True, nogil=True)
def _invert_left(state):
    if state.left.shape[0] == 1:
        state.left_inverse[0, 0] = 1.0 / state.left[0, 0]
    else:
        state.left_inverse[:] = np.linalg.inv(state.left)


@numba.njit(cache=True, nogil=True)
def _add_column(state, data, atoms, j):
    p, columns, inverse, mean, e = (
        state.counts[0], state.columns, state.inverse, state.mean, state.e,
    )  # fmt: skip
    G, T = data.G, mean.shape[1]
    h = np.zeros(p)
    for u in range(p):
        for v in range(p):
            h[u] += inverse[u, v] * G[columns[v], j]
    e[:] = G[j]
    for u in range(p):
        row, f = G[columns[u]], h[u]
        for i in range(e.size):
            e[i] -= f * row[i]
    left, rest = state.a[j], state.r[j].copy()
    coef = rest / left
    _update(state, atoms, -1.0 / left, -coef)
    for u in range(p):
        for t in range(T):
            mean[u, t] -= h[u] * coef[t]
        inverse[u, p] = inverse[p, u] = -h[u] / left
        for v in range(p):
            inverse[u, v] += h[u] * h[v] / left
    inverse[p, p] = 1.0 / left
    for t in range(T):
        mean[p, t] = coef[t]
        for s in range(T):
            state.left[t, s] -= rest[t] * coef[s]
    for t in range(T):
        state.left[t, t] = max(state.left[t, t], EXACT_FIT * data.total[t, t])
    columns[p] = j
    state.counts[0] = p + 1
    _invert_left(state)


@numba.njit(cache=True, nogil=True)
def _remove_column(state, data, atoms, j):
    p, columns, inverse, mean, e = (
        state.counts[0], state.columns, state.inverse, state.mean, state.e,
    )  # fmt: skip
    G, T = data.G, mean.shape[1]
    at = 0
    while columns[at] != j:
        at += 1
    left, coef, own = 1.0 / inverse[at, at], mean[at].copy(), inverse[at, :p].copy()
    e[:] = 0.0
    for u in range(p):
        row, f = G[columns[u]], own[u] * left
        for i in range(e.size):
            e[i] += f * row[i]
    _update(state, atoms, 1.0 / left, coef)
    state.a[j] = left
    for u in range(p):
        for t in range(T):
            mean[u, t] -= own[u] * left * coef[t]
        for v in range(p):
            inverse[u, v] -= own[u] * own[v] * left
    last = p - 1
    for t in range(T):
        state.r[j, t] = coef[t] * left
        for s in range(T):
            state.left[t, s] += left * coef[t] * coef[s]
        mean[at, t] = mean[last, t]
    columns[at] = columns[last]
    for u in range(p):
        inverse[at, u] = inverse[last, u]
    for u in range(p):
        inverse[u, at] = inverse[u, last]
    state.counts[0] = last
    _invert_left(state)


@numba.njit(cache=True, nogil=True)
def _block_gain(state, data, atoms, b, lam):
    """Log evidence that an atom with several columns would add."""
    first, R, T = atoms.first[b], atoms.rank[b], state.r.shape[1]
    L, log_det = state.work, 0.0
    for i in range(R):  # Cholesky factor of the block, and what it makes of r
        for k in range(i + 1):
            s = state.blocks[b, i, k]
            for u in range(k):
                s -= L[i, u] * L[k, u]
            L[i, k] = math.sqrt(max(s, EXACT_FIT * lam)) if i == k else s / L[k, k]
        log_det += 2.0 * math.log(L[i, i] / math.sqrt(lam))
        for t in range(T):
            s = state.r[first + i, t]
            for u in range(i):
                s -= L[i, u] * L[u, R + t]
            L[i, R + t] = s / L[i, i]
    if data.nu == 0.0:
        found = 0.0
        for i in range(R):
            for t in range(T):
                found += L[i, R + t] * L[i, R + t]
        return 0.5 * (found - T * log_det)
    if T == 1:
        found = 0.0
        for i in range(R):
            found += L[i, R] * L[i, R]
        share = max(1.0 - found * state.left_inverse[0, 0], EXACT_FIT)
        return -0.5 * (data.nu * math.log(share) + log_det)
    W = L[:R, R : R + T].copy()
    share = max(np.linalg.det(np.eye(T) - state.left_inverse @ (W.T @ W)), EXACT_FIT)
    return -0.5 * (data.nu * math.log(share) + T * log_det)


@numba.njit(cache=True, nogil=True)
def gains(state, data, atoms, lam, out):
    """Log evidence that each atom would add; what is present adds nothing that counts."""
    a, r, nu, T = state.a, state.r, data.nu, state.r.shape[1]
    for j in range(atoms.n_simple):
        if state.inside[j]:
            out[j] = -np.inf
            continue
        if T == 1:
            found = r[j, 0] * r[j, 0] / a[j]
            if nu > 0.0:
                found *= state.left_inverse[0, 0]
        else:
            found = 0.0
            for t in range(T):
                if nu > 0.0:
                    s = 0.0
                    for u in range(T):
                        s += state.left_inverse[t, u] * r[j, u]
                    found += s * r[j, t]
                else:
                    found += r[j, t] * r[j, t]
            found /= a[j]
        if nu > 0.0:
            found = -nu * math.log(max(1.0 - found, EXACT_FIT))
        out[j] = 0.5 * (found - T * math.log(a[j] / lam))
    for b in range(atoms.rank.size):
        j = atoms.n_simple + b
        out[j] = -np.inf if state.inside[j] else _block_gain(state, data, atoms, b, lam)


@numba.njit(cache=True, nogil=True)
def log_normal_cdf(x):
    """log 2 Φ(x)."""
    if x > -30.0:
        return math.log(max(math.erfc(-x / math.sqrt(2.0)), 1e-300))
    return -0.5 * x * x - math.log(-x) - 0.5 * math.log(0.5 * math.pi)


@numba.njit(cache=True, nogil=True)
def _noise(data, left):
    return 1.0 if data.nu == 0.0 else left / data.nu


@numba.njit(cache=True, nogil=True)
def log_signs(data, inverse, mean, left, p):
    """Log of 2^p times the probability that p coefficients are positive, each taken by itself."""
    found = 0.0
    for u in range(p):
        for t in range(mean.shape[1]):
            spread = math.sqrt(inverse[u, u] * _noise(data, left[t, t]))
            found += log_normal_cdf(mean[u, t] / spread)
    return found


@numba.njit(cache=True, nogil=True)
def add_sign_gains(state, data, lam, out):
    """What signs add to the log evidence of each atom, all of which have one column."""
    p, columns, inverse, mean = state.counts[0], state.columns, state.inverse, state.mean
    T = mean.shape[1]
    own = log_signs(data, inverse, mean, state.left, p)
    for j in range(out.size):
        if state.inside[j]:
            continue
        found = 0.0
        for t in range(T):
            left = state.left[t, t] - state.r[j, t] ** 2 / state.a[j]
            left = max(left, EXACT_FIT * data.total[t, t])
            noise = _noise(data, left)
            found += log_normal_cdf(state.r[j, t] / math.sqrt(state.a[j] * noise))
            for u in range(p):
                h = 0.0
                for v in range(p):
                    h += inverse[u, v] * data.G[columns[v], j]
                spread = math.sqrt((inverse[u, u] + h * h / state.a[j]) * noise)
                found += log_normal_cdf((mean[u, t] - h * state.r[j, t] / state.a[j]) / spread)
        out[j] += found - own


@numba.njit(cache=True, nogil=True)
def log_evidence(state, data, lam, positive):
    """Of the present atoms, but for a constant."""
    p, T = state.counts[0], state.left.shape[0]
    A = np.zeros((p, p))
    C = np.zeros((p, T))
    for u in range(p):
        for v in range(p):
            A[u, v] = data.G[state.columns[u], state.columns[v]]
        A[u, u] += lam
        C[u] = data.c[state.columns[u]]
    log_det = np.linalg.slogdet(A)[1] - p * math.log(lam)
    inverse = np.linalg.inv(A)
    mean = inverse @ C
    taken = C.T @ mean
    signs = 0.0
    if positive:
        signs = log_signs(data, inverse, mean, data.total - taken, p)
    if data.nu == 0.0:
        return 0.5 * (np.trace(taken) - T * log_det) + signs
    share = max(np.linalg.det(np.eye(T) - np.linalg.solve(data.total, taken)), EXACT_FIT)
    return -0.5 * (data.nu * math.log(share) + T * log_det) + signs


@numba.njit(cache=True, nogil=True)
def draw_lam(state, data, lams, log_lams, positive, u):
    """The place of a prior precision, by its probability given the atoms."""
    logs = log_lams.copy()
    for at in range(lams.size):
        logs[at] += log_evidence(state, data, lams[at], positive)
    w = np.cumsum(np.exp(logs - logs.max()))
    return min(np.searchsorted(w, u * w[-1]), lams.size - 1)


@numba.njit(cache=True, nogil=True)
def chain(data, atoms, prior, lams, log_lams, positive, start, at_lam, most, widest, d, u, keep):
    """Sample sets of atoms.

    Parameters
    ----------
    data : Quadratic
    atoms : Atoms
    prior : array of shape (most + 2, most + 2)
        Log prior of a set, by its numbers of features and of clusters.
    lams, log_lams : array
        Prior precisions of coefficients, and their log prior.
    positive : bool
        Whether coefficients cannot be negative.
    start, at_lam
        Where to begin: atoms, and the place of a precision.
    most, widest : int
        Atoms of a set, and columns, at most.
    d : int
        Features.
    u : array of shape (moves, 4)
        Uniform random numbers: which kind of move, which atom leaves, which enters, which lam.
    keep : int
        Of the last so many moves, sets and probabilities are kept.

    Returns
    -------
    sets : array of shape (keep, most), places of lams, array of shape (keep,)
    p : array of shape (d,)
        The mean, over moves, of the probability that a feature is present given all but the atom
        that is drawn (Rao and Blackwell).
    """
    moves, N = len(u), atoms.cluster.size
    state = new_state(data, atoms, most, widest, d)
    refresh(state, data, atoms, lams[at_lam])
    for j in start:
        add(state, data, atoms, j)
    sets, at_lams = np.full((keep, most), -1, np.int32), np.zeros(keep, np.int8)
    p, odds = np.zeros(d), np.empty(N)
    for t in range(moves):
        if t % REFRESH == 0:
            at_lam = draw_lam(state, data, lams, log_lams, positive, u[t, 3])
            refresh(state, data, atoms, lams[at_lam])
        lam, s = lams[at_lam], state.counts[1]
        exchange = u[t, 0] < 0.5  # the number of atoms stays
        if exchange and s == 0:
            continue  # nothing to exchange: to add an atom instead would favour full sets
        place = int(u[t, 1] * (s if exchange else most))
        if place < s:
            remove(state, data, atoms, place)
        gains(state, data, atoms, lam, odds)
        if positive:
            add_sign_gains(state, data, lam, odds)
        Z = _weigh(state, atoms, prior, most, widest, exchange, odds)
        if t >= moves - keep:
            _count(state, atoms, odds, Z, p)
        v = u[t, 2] * Z
        for j in range(N):
            v -= odds[j]
            if v < 0.0:
                add(state, data, atoms, j)
                break
        if t >= moves - keep:
            row = t - (moves - keep)
            sets[row, : state.counts[1]] = state.atoms[: state.counts[1]]
            at_lams[row] = at_lam
    return sets, at_lams, p / keep


@numba.njit(cache=True, nogil=True)
def _weigh(state, atoms, prior, most, widest, exchange, odds):
    """Turn log evidence into weights of draws, in place; returns their sum, with that of none."""
    s, clusters, p = state.counts[1], state.counts[2], state.counts[0]
    features = s - clusters
    own = prior[features, clusters] + math.log(most - s)
    one, group = prior[features + 1, clusters] - own, prior[features, clusters + 1] - own
    top = -np.inf if exchange else 0.0
    for j in range(odds.size):
        width = 1 if j < atoms.n_simple else atoms.rank[j - atoms.n_simple]
        if p + width > widest:
            odds[j] = -np.inf
        odds[j] += (group if atoms.cluster[j] else one) + atoms.bonus[j]
        top = max(top, odds[j])
    Z = 0.0 if exchange else math.exp(-top)
    for j in range(odds.size):
        odds[j] = math.exp(odds[j] - top)
        Z += odds[j]
    return Z


@numba.njit(cache=True, nogil=True)
def _count(state, atoms, odds, Z, p):
    """Add the probability of each feature, given all atoms but the one that is drawn."""
    for i in range(p.size):
        if state.cover[i] > 0:
            p[i] += 1.0
    for j in range(odds.size):
        if odds[j] > NEGLIGIBLE * Z:
            share = odds[j] / Z
            for at in range(atoms.indptr[j], atoms.indptr[j + 1]):
                if state.cover[atoms.members[at]] == 0:
                    p[atoms.members[at]] += share


@numba.njit(cache=True, nogil=True)
def log_evidences(data, atoms, sets, lams, positive, most, widest, d):
    """Of listed sets, as rows of atoms that end with -1, each with a precision of its own."""
    out = np.empty(len(sets))
    state = new_state(data, atoms, most, widest, d)
    for row in range(len(sets)):
        p = 0
        for j in sets[row]:
            if j < 0:
                continue
            first, rank = j, 1
            if j >= atoms.n_simple:
                first, rank = atoms.first[j - atoms.n_simple], atoms.rank[j - atoms.n_simple]
            for i in range(rank):
                state.columns[p] = first + i
                p += 1
        state.counts[0] = p
        out[row] = log_evidence(state, data, lams[row], positive)
    return out
