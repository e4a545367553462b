# cython: language_level=3, wraparound=False, cdivision=True
"""Gibbs sampling of the set of atoms that a quadratic log likelihood favours.

Columns of D are grouped into *atoms*: single features (one column), clusters that act together
(one column, their signed sum) and clusters whose coefficients vary (a few columns).  With
A = D_S'D_S + lam I over the columns S of a set of atoms, C = D_S'Y and T responses,

    log p(Y | S, lam) = -nu/2 log det(Y'Y - C'A^-1 C) - T/2 log det(A / lam) + constant

where the covariance of the noise is unknown (Jeffreys' prior), and

    log p(Y | S, lam) = trace(C'A^-1 C) / 2 - T/2 log det(A / lam) + constant

where it is known to be the identity (``nu`` = 0); signs.pyx has what is added where no coefficient
can be negative.  A move removes an atom, or none, and draws another given the rest, among all atoms
at once.  What that needs of each column, its residual products

    a = diag(D'D + lam I - D'D_S A^-1 D_S'D),    r = D'Y - D'D_S A^-1 C,

is kept by sampler.pyx, which updates it when a column enters or leaves, and made anew every
``REFRESH`` moves.
"""

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int64_t

from ksupport._kernels.sampler cimport Sampler, explained
from ksupport._kernels.sampling cimport (
    EXACT_FIT, LANES, STRETCH, add_prior, count_covered, exponentiate, factorise, log_dets,
)
from ksupport._kernels.signs cimport Signs

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

cdef int REFRESH = 50  # moves after which products are recomputed: errors stay below 1e-8
cdef double NEGLIGIBLE = 1e-9  # probability of a draw that adds nothing to those of features


class Quadratic(NamedTuple):
    """A log likelihood that is quadratic in coefficients, by its sufficient statistics."""

    G: NDArray[np.float64]  # D'D, columns x columns
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


cdef void _evidences(Sampler state, const double *lams, double *out) noexcept nogil:
    """Log evidence of the present columns, signs aside, but for a constant, at LANES precisions."""
    cdef int64_t p = state.p, T = state.T, N = state.N, u, v, b, t
    cdef double least[LANES]
    cdef double *L = state.L
    cdef double *W = state.W
    cdef double x
    for b in range(LANES):
        least[b] = EXACT_FIT * lams[b]
    for u in range(p):
        for v in range(u + 1):
            x = state.G[state.columns[u] * N + state.columns[v]]
            for b in range(LANES):
                L[b] = x + lams[b] if u == v else x
            L += LANES
        for t in range(T):
            x = state.c[t * N + state.columns[u]]
            for b in range(LANES):
                W[b] = x
            W += LANES
    factorise(state.L, state.L, state.W, state.over, least, p, T)
    log_dets(state.L, lams, out, p)
    for b in range(LANES):
        out[b] = _likelihood(state, b) - 0.5 * T * out[b]


cdef double _likelihood(Sampler state, int64_t b) noexcept nogil:
    """What a lane's evidence has of responses."""
    cdef int64_t T = state.T, t, s
    cdef double found = 0.0, share
    cdef double *left = state.small
    for t in range(T):
        for s in range(T):
            left[t * T + s] = explained(state.W, state.over, state.p, T, t, s, b)
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


cdef int64_t _draw_lam(Sampler state, const double[::1] lams, const double[::1] log_lams,
                       double *logs, double u) noexcept nogil:
    """The place of a prior precision, by its probability given the atoms, signs aside."""
    cdef int64_t count = lams.shape[0], at, b
    cdef double own[LANES]
    cdef double top = -INFINITY, Z = 0.0
    for at in range((count + LANES - 1) // LANES):
        for b in range(LANES):
            own[b] = lams[min(at * LANES + b, count - 1)]
        _evidences(state, own, logs + at * LANES)
    for at in range(count):
        logs[at] += log_lams[at]
        top = max(top, logs[at])
    for at in range(count):
        Z += exp(logs[at] - top)
        logs[at] = Z
    for at in range(count):
        if logs[at] >= u * Z:
            return at
    return count - 1


cdef double _weigh(Sampler state, Signs signs, const double[:, ::1] prior, bint exchange,
                   bint positive, double lam, double *odds) noexcept nogil:
    """The weight of each draw, in ``odds``; returns their sum, with that of none."""
    cdef int64_t s = state.count, features = state.count - state.clusters, j, width
    cdef double own = prior[features, state.clusters] + log(<double> (state.most - s))
    cdef double one = prior[features + 1, state.clusters] - own
    cdef double group = prior[features, state.clusters + 1] - own
    cdef double top = -INFINITY if exchange else 0.0
    state.find_gains(lam, odds)
    for j in range(state.n_simple if state.p + 1 > state.widest else 0):
        odds[j] = -INFINITY
    for j in range(state.n_blocks):
        if state.p + state.ranks[j] > state.widest:
            odds[state.n_simple + j] = -INFINITY
    if positive:
        add_prior(odds, state.bonus, state.cluster, one, group, top, state.n_atoms)
        top = signs.add_own(state, odds, top)
    else:
        top = add_prior(odds, state.bonus, state.cluster, one, group, top, state.n_atoms)
    cdef double Z = exponentiate(odds, state.sums, top, state.n_atoms)
    return Z if exchange else Z + exp(-top)


cdef int64_t _draw(Sampler state, const double *odds, double v) noexcept nogil:
    """The atom at which the sum of weights exceeds v; -1 for none."""
    cdef int64_t at, j
    for at in range((state.n_atoms + STRETCH - 1) // STRETCH):
        if v >= state.sums[at]:
            v -= state.sums[at]
            continue
        for j in range(at * STRETCH, min((at + 1) * STRETCH, state.n_atoms)):
            v -= odds[j]
            if v < 0.0:
                return j
    return -1


cdef void _count(Sampler state, const double *odds, double Z, double *p) noexcept nogil:
    """Add the probability of each feature, given all atoms but the one that is drawn."""
    cdef int64_t k, j
    count_covered(p, state.cover, state.d)
    for k in range((state.n_atoms + STRETCH - 1) // STRETCH):
        if state.sums[k] <= NEGLIGIBLE * Z:
            continue
        for j in range(k * STRETCH, min((k + 1) * STRETCH, state.n_atoms)):
            if odds[j] > NEGLIGIBLE * Z:
                _add(state, j, odds[j] / Z, p)


cdef void _add(Sampler state, int64_t j, double share, double *p) noexcept nogil:
    """Add this to the probability of each feature of an atom that no present one has."""
    cdef int64_t at
    for at in range(state.indptr[j], state.indptr[j + 1]):
        if state.cover[state.members[at]] == 0:
            p[state.members[at]] += share


cdef int64_t _renew(Sampler state, Signs signs, const double[::1] lams,
                    const double[::1] log_lams, int64_t at_lam, bint positive, double *logs,
                    const double *u) noexcept nogil:
    """Draw a precision, and make all products anew for it; returns its place."""
    cdef int64_t drawn = _draw_lam(state, lams, log_lams, logs, u[3])
    cdef double own = signs.of_present(state) if positive else 0.0
    state.make_products(lams[drawn])
    if positive and drawn != at_lam and u[5] >= exp(signs.of_present(state) - own):
        state.make_products(lams[at_lam])
        return at_lam
    return drawn


cdef int64_t _accepted(Sampler state, Signs signs, int64_t i, int64_t j, double u,
                       double *p) noexcept nogil:
    """Atom j, or i in whose place it was drawn; either is -1 for none.

    They were weighed by their own signs alone; those of all others decide (Metropolis and
    Hastings).  A draw refused with probability q counts q less for its features, unless ``p`` is
    NULL, and the atom that stays q more: in the mean over moves, each has its exact probability.
    """
    cdef double q
    if i == j:
        return j
    q = max(1.0 - exp(signs.beside(state, j) - signs.beside(state, i)), 0.0)
    if p != NULL and i >= 0:
        _add(state, i, q, p)
    if p != NULL and j >= 0:
        _add(state, j, -q, p)
    return i if u < q else j


def chain(data, atoms, const double[:, ::1] prior, const double[::1] lams,
          const double[::1] log_lams, bint positive, const int64_t[::1] start, int64_t at_lam,
          int most, int widest, int d, const double[:, ::1] u, int keep):
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
        Whether coefficients cannot be negative; atoms have one column each then.
    start, at_lam
        Where to begin: atoms, and the place of a precision.
    most, widest : int
        Atoms of a set, and columns, at most.
    d : int
        Features.
    u : array of shape (moves, 4), or (moves, 6) if ``positive``
        Uniform random numbers: which kind of move, which atom leaves, which enters, which lam, and
        whether signs accept the last two.
    keep : int
        Of the last so many moves, sets and probabilities are kept.

    Returns
    -------
    sets : array of shape (keep, most), places of lams, array of shape (keep,)
    p : array of shape (d,)
        The mean, over moves, of the probability that a feature is present given all but the atom
        that is drawn (Rao and Blackwell).
    """
    cdef Sampler state = Sampler(data, atoms, most, widest, d)
    cdef Signs signs = Signs()
    cdef int64_t moves = u.shape[0], t, s, i, j, place, row, at
    cdef bint exchange
    cdef double Z
    sets, places, p = np.full((keep, most), -1, np.int32), np.zeros(keep, np.int8), np.zeros(d)
    cdef int[:, ::1] kept = sets
    cdef signed char[::1] kept_lams = places
    cdef double[::1] total = p, odds = np.empty(state.n_atoms)
    cdef double[::1] logs = np.empty(lams.shape[0] + LANES)
    with nogil:
        state.make_products(lams[at_lam])
        for at in range(start.shape[0]):
            state.enter(start[at])
        for t in range(moves):
            if t % REFRESH == 0:
                at_lam = _renew(state, signs, lams, log_lams, at_lam, positive, &logs[0], &u[t, 0])
            s = state.count
            exchange = u[t, 0] < 0.5  # the number of atoms stays
            if exchange and s == 0:
                continue  # nothing to exchange: to add an atom instead would favour full sets
            place = <int64_t> (u[t, 1] * (s if exchange else most))
            i = state.present[place] if place < s else -1
            if i >= 0:
                state.leave(place)
            Z = _weigh(state, signs, prior, exchange, positive, lams[at_lam], &odds[0])
            row = t - (moves - keep)
            if row >= 0:
                _count(state, &odds[0], Z, &total[0])
            j = _draw(state, &odds[0], u[t, 2] * Z)
            if positive:
                j = _accepted(state, signs, i, j, u[t, 4], &total[0] if row >= 0 else NULL)
            if j >= 0:
                state.enter(j)
            if row >= 0:
                for at in range(state.count):
                    kept[row, at] = <int> state.present[at]
                kept_lams[row] = <signed char> at_lam
    return sets, places, p / keep


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
            _evidences(state, own, found)
            out[row] = found[0]
            if positive:
                out[row] += signs.of_present(state)
    return np.asarray(out)
