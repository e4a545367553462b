# cython: language_level=3, wraparound=False, cdivision=True
"""The evidence of sets of atoms, by a quadratic log likelihood, and the weight of what may enter.

Columns of D are grouped into *atoms*: single features (one column), clusters that act together
(one column, their signed sum) and clusters whose coefficients vary (a few columns).  With
A = D_S'D_S + lam I over the columns S of a set of atoms, C = D_S'Y and T responses,

    log p(Y | S, lam) = -nu/2 log det(Y'Y - C'A^-1 C) - T/2 log det(A / lam) + constant

where the covariance of the noise is unknown (Jeffreys' prior), and

    log p(Y | S, lam) = trace(C'A^-1 C) / 2 - T/2 log det(A / lam) + constant

where it is known to be the identity (``nu`` = 0); signs.pyx has what is added where no coefficient
can be negative.
"""

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int64_t
from libc.string cimport memset

from ksupport._kernels.sampler cimport Sampler, explained
from ksupport._kernels.sampling cimport (
    EXACT_FIT, LANES, STRETCH, add_prior, exponentiate, factorise, log_dets,
)
from ksupport._kernels.signs cimport Signs

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

cdef double LARGEST = 700.0  # log of a weight beside which those of at most 1 are nothing


class Quadratic(NamedTuple):
    """A log likelihood that is quadratic in coefficients, by its sufficient statistics."""

    products: Any  # `Products`: D'D
    c: NDArray[np.float64]  # D'Y, columns x responses
    total: NDArray[np.float64]  # Y'Y
    nu: float  # rows that count; 0: the covariance of the noise is the identity


class Atoms(NamedTuple):
    """What can be in a model.  Each of the first ``n_simple`` atoms is the column of its number."""

    n_simple: int
    first: NDArray[np.int64]  # of the others: the first column,
    rank: NDArray[np.int64]  # and how many they have
    cluster: NDArray[np.int64]  # of all: 1 for a cluster, 0 for a feature
    bonus: NDArray[np.float64]  # log prior weight beside others of its kind
    indptr: NDArray[np.int64]  # members[indptr[j]:indptr[j + 1]] are the features of atom j
    members: NDArray[np.int64]


cdef void _evidences(Sampler state, const int64_t *columns, int64_t p, const double *lams,
                     double *out) noexcept nogil:
    """Log evidence of p columns, signs aside, but for a constant, at LANES precisions."""
    cdef int64_t T = state.T, N = state.N, u, v, b, t
    cdef const double *row
    cdef double least[LANES]
    cdef double *L = state.L
    cdef double *W = state.W
    cdef double x
    for b in range(LANES):
        least[b] = EXACT_FIT * lams[b]
    for u in range(p):
        row = state.products.row(columns[u])
        for v in range(u + 1):
            x = row[columns[v]]
            for b in range(LANES):
                L[b] = x + lams[b] if u == v else x
            L += LANES
        for t in range(T):
            x = state.c[t * N + columns[u]]
            for b in range(LANES):
                W[b] = x
            W += LANES
    factorise(state.L, state.L, state.W, state.over, least, p, T)
    log_dets(state.L, lams, out, p)
    for b in range(LANES):
        out[b] = _likelihood(state, p, b) - 0.5 * T * out[b]


cdef double _likelihood(Sampler state, int64_t p, int64_t b) noexcept nogil:
    """What a lane's evidence has of responses."""
    cdef int64_t T = state.T, t, s
    cdef double found = 0.0, share
    cdef double *left = state.small
    for t in range(T):
        for s in range(T):
            left[t * T + s] = explained(state.W, state.over, p, T, t, s, b)
        found += left[t * T + t]
    if state.nu == 0.0:
        return 0.5 * found
    if T == 1:
        share = 1.0 - found / state.total[0]
    else:
        for t in range(T * T):
            left[t] = state.total[t] - left[t]
            left[T * T + t] = state.total[t]
        share = state.det(left) / state.det(left + T * T)
    return -0.5 * state.nu * log(max(share, EXACT_FIT))


cdef int64_t draw_lam(Sampler state, const int64_t *columns, int64_t p, const double[::1] lams,
                      const double[:] log_prior, double *logs, double u) noexcept nogil:
    """The place of a prior precision, by its probability given p columns, signs aside.

    ``log_prior`` is that of each, with that of the set given it.
    """
    cdef int64_t count = lams.shape[0], at, b
    cdef double own[LANES]
    cdef double top = -INFINITY, Z = 0.0
    for at in range((count + LANES - 1) // LANES):
        for b in range(LANES):
            own[b] = lams[min(at * LANES + b, count - 1)]
        _evidences(state, columns, p, own, logs + at * LANES)
    for at in range(count):
        logs[at] += log_prior[at]
        top = max(top, logs[at])
    for at in range(count):
        Z += exp(logs[at] - top)
        logs[at] = Z
    for at in range(count):
        if logs[at] >= u * Z:
            return at
    return count - 1


cdef double weigh(Sampler state, Signs signs, const double[:, ::1] prior, bint positive,
                  double lam, double *odds, double *none) noexcept nogil:
    """The weight of each atom that may enter, in ``odds``, and of none; returns the former's sum.

    The largest is 1; all are 0 where none may enter.
    """
    cdef int64_t s = state.count, features = state.count - state.clusters, j
    cdef double own = prior[features, state.clusters] + log(<double> (state.most - s))
    cdef double one = prior[features + 1, state.clusters] - own
    cdef double group = prior[features, state.clusters + 1] - own
    cdef double top
    state.find_gains(lam, odds)
    for j in range(state.n_simple if state.p + 1 > state.widest else 0):
        odds[j] = -INFINITY
    for j in range(state.n_blocks):
        if state.p + state.ranks[j] > state.widest:
            odds[state.n_simple + j] = -INFINITY
    top = add_prior(odds, state.bonus, state.cluster, one, group, -INFINITY, state.n_atoms)
    if positive:
        top = signs.add_own(state, odds, -INFINITY)
    if top == -INFINITY:
        memset(odds, 0, state.n_atoms * sizeof(double))
        memset(state.sums, 0, (state.n_atoms // STRETCH + 1) * sizeof(double))
        none[0] = 1.0
        return 0.0
    none[0] = exp(min(-top, LARGEST))
    return exponentiate(odds, state.sums, top, state.n_atoms)


def log_evidences(data, atoms, const int64_t[:, :] sets, const double[::1] lams, bint positive,
                  int most, int widest, int d):
    """Of listed sets, as rows of atoms that end with -1, each with a precision of its own."""
    cdef Sampler state = Sampler(data, atoms, most, widest, d)
    cdef Signs signs = Signs()
    cdef int64_t row, at, b
    cdef double own[LANES]
    cdef double found[LANES]
    cdef double[::1] out = np.empty(sets.shape[0])
    with nogil:
        for row in range(sets.shape[0]):
            state.count = 0
            for at in range(sets.shape[1]):
                if sets[row, at] >= 0:
                    state.present[state.count] = sets[row, at]
                    state.count += 1
            state.make_products(lams[row])
            for b in range(LANES):
                own[b] = lams[row]
            _evidences(state, state.columns, state.p, own, found)
            out[row] = found[0]
            if positive:
                out[row] += signs.of_present(state)
    return np.asarray(out)
