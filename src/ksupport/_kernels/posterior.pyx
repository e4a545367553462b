# cython: language_level=3, wraparound=False, cdivision=True
"""Gibbs sampling of the set of atoms that a quadratic log likelihood favours.

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

is kept by sampler.pyx, which updates it when a column enters or leaves, and made anew every
``REFRESH`` moves.
"""

from libc.math cimport INFINITY, M_PI, M_SQRT1_2, erfc, exp, log, sqrt
from libc.stdint cimport int64_t

from ksupport._kernels.sampler cimport Sampler, explained
from ksupport._kernels.sampling cimport (
    LANES, STRETCH, add_prior, count_covered, exponentiate, factorise, log_dets,
)
from ksupport._kernels.simd cimport dot

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

cdef int REFRESH = 50  # moves after which products are recomputed: errors stay below 1e-8
cdef double EXACT_FIT = 1e-12  # share of Y'Y that no model explains: its evidence is finite
cdef double NEGLIGIBLE = 1e-9  # probability of a draw that adds nothing to those of features
cdef double HOPELESS = 60.0  # shortfall of a log weight that no random number of 53 bits bridges
cdef double CERTAIN = 8.3  # standard errors from which on 2 Phi is 2 in double precision
cdef double TAIL = -30.0  # standard errors up to which log Phi is that of its asymptote


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


cdef class Signs:
    """Log of a product of 2 Phi(x): 2^p times the probability that p coefficients are positive."""

    cdef double product
    cdef double total

    cdef void begin(self) noexcept nogil:
        self.product, self.total = 1.0, 0.0

    cdef void take(self, double x) noexcept nogil:
        if x > CERTAIN:
            self.product *= 2.0
        elif x > TAIL:
            self.product *= erfc(-x * M_SQRT1_2)
        else:
            self.total += -0.5 * x * x - log(-x) - 0.5 * log(0.5 * M_PI)
        if not 1e-100 < self.product < 1e100:  # the next factor is above 1e-198
            self.total += log(self.product)
            self.product = 1.0

    cdef double log(self) noexcept nogil:
        return self.total + log(self.product)


cdef inline double _noise(Sampler state, int64_t t, double left) noexcept nogil:
    """The variance of the noise of a response, of which this is left."""
    if state.nu == 0.0:
        return 1.0
    return max(left, EXACT_FIT * state.total[t * state.T + t]) / state.nu


cdef double _present_signs(Sampler state, Signs signs) noexcept nogil:
    """Log of 2^p times the probability that present coefficients are positive, each by itself."""
    cdef int64_t T = state.T, u, t
    cdef double noise
    signs.begin()
    for t in range(T):
        noise = _noise(state, t, state.left[t * T + t])
        for u in range(state.p):
            signs.take(state.mean[u * T + t] / sqrt(state.inverse[u * state.widest + u] * noise))
    return signs.log()


cdef double _signs_with(Sampler state, Signs signs, int64_t j) noexcept nogil:
    """The same with one more column."""
    cdef int64_t T = state.T, N = state.N, w = state.widest, p = state.p, u, t
    cdef double a = state.a[j], r, noise, h
    for u in range(p):
        state.own[u] = state.G[j * N + state.columns[u]]
    for u in range(p):
        state.row[u] = dot(state.inverse + u * w, state.own, p)
    signs.begin()
    for t in range(T):
        r = state.r[t * N + j]
        noise = _noise(state, t, state.left[t * T + t] - r * r / a)
        signs.take(r / sqrt(a * noise))
        for u in range(p):
            h = state.row[u]
            signs.take((state.mean[u * T + t] - h * r / a)
                       / sqrt((state.inverse[u * w + u] + h * h / a) * noise))
    return signs.log()


cdef double _add_signs(Sampler state, Signs signs, double *odds, double top) noexcept nogil:
    """Add what signs say to the log weight of each atom, all of which have one column.

    Returns the largest, or ``top``.  Each coefficient adds at most log 2, by which most atoms are
    known to be hopeless.
    """
    cdef int64_t j, best = 0
    cdef double own = _present_signs(state, signs)
    cdef double most = (state.p + 1) * state.T * log(2.0) - own
    for j in range(state.n_atoms):
        if odds[j] > odds[best]:
            best = j
    odds[best] += _signs_with(state, signs, best) - own
    top = max(top, odds[best])
    for j in range(state.n_atoms):
        if j == best:
            continue
        if odds[j] + most < top - HOPELESS:
            odds[j] = -INFINITY
        elif odds[j] > -INFINITY:
            odds[j] += _signs_with(state, signs, j) - own
            top = max(top, odds[j])
    return top


cdef void _evidences(Sampler state, Signs signs, const double *lams, bint positive,
                     double *out) noexcept nogil:
    """Log evidence of the present columns, but for a constant, at LANES precisions."""
    cdef int64_t p = state.p, T = state.T, N = state.N, u, v, b, t
    cdef int64_t m = T + (p if positive else 0)
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
        for t in range(m):
            x = state.c[t * N + state.columns[u]] if t < T else (1.0 if t - T == u else 0.0)
            for b in range(LANES):
                W[b] = x
            W += LANES
    factorise(state.L, state.L, state.W, state.over, least, p, m)
    log_dets(state.L, lams, out, p)
    for b in range(LANES):
        out[b] = _likelihood(state, m, b) - 0.5 * T * out[b]
        if positive:
            out[b] += _signs_of_lane(state, signs, m, b)


cdef double _likelihood(Sampler state, int64_t m, int64_t b) noexcept nogil:
    """What a lane's evidence has of responses."""
    cdef int64_t T = state.T, t, s
    cdef double found = 0.0, share
    cdef double *left = state.small
    for t in range(T):
        for s in range(T):
            left[t * T + s] = explained(state.W, state.over, state.p, m, t, s, b)
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


cdef double _signs_of_lane(Sampler state, Signs signs, int64_t m, int64_t b) noexcept nogil:
    """Of the columns, by L^-1 beside L^-1 C."""
    cdef int64_t p = state.p, T = state.T, u, t
    cdef double *W = state.W
    cdef double *over = state.over
    cdef double noise, mean, variance
    signs.begin()
    for t in range(T):
        noise = _noise(state, t, state.total[t * T + t] - explained(W, over, p, m, t, t, b))
        for u in range(p):
            mean = explained(W, over, p, m, t, T + u, b)
            variance = explained(W, over, p, m, T + u, T + u, b)
            signs.take(mean / sqrt(variance * noise))
    return signs.log()


cdef int64_t _draw_lam(Sampler state, Signs signs, const double[::1] lams,
                       const double[::1] log_lams, bint positive, double *logs,
                       double u) noexcept nogil:
    """The place of a prior precision, by its probability given the atoms."""
    cdef int64_t count = lams.shape[0], at, b
    cdef double own[LANES]
    cdef double top = -INFINITY, Z = 0.0
    for at in range((count + LANES - 1) // LANES):
        for b in range(LANES):
            own[b] = lams[min(at * LANES + b, count - 1)]
        _evidences(state, signs, own, positive, logs + at * LANES)
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
        top = _add_signs(state, signs, odds, top)
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
    cdef int64_t k, j, at
    count_covered(p, state.cover, state.d)
    for k in range((state.n_atoms + STRETCH - 1) // STRETCH):
        if state.sums[k] <= NEGLIGIBLE * Z:
            continue
        for j in range(k * STRETCH, min((k + 1) * STRETCH, state.n_atoms)):
            if odds[j] > NEGLIGIBLE * Z:
                for at in range(state.indptr[j], state.indptr[j + 1]):
                    if state.cover[state.members[at]] == 0:
                        p[state.members[at]] += odds[j] / Z


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
    cdef Sampler state = Sampler(data, atoms, most, widest, d)
    cdef Signs signs = Signs()
    cdef int64_t moves = u.shape[0], t, s, j, place, row, at
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
                at_lam = _draw_lam(state, signs, lams, log_lams, positive, &logs[0], u[t, 3])
                state.make_products(lams[at_lam])
            s = state.count
            exchange = u[t, 0] < 0.5  # the number of atoms stays
            if exchange and s == 0:
                continue  # nothing to exchange: to add an atom instead would favour full sets
            place = <int64_t> (u[t, 1] * (s if exchange else most))
            if place < s:
                state.leave(place)
            Z = _weigh(state, signs, prior, exchange, positive, lams[at_lam], &odds[0])
            row = t - (moves - keep)
            if row >= 0:
                _count(state, &odds[0], Z, &total[0])
            j = _draw(state, &odds[0], u[t, 2] * Z)
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
    cdef int64_t row, at, j, b, i, first, rank
    cdef double own[LANES]
    cdef double found[LANES]
    cdef double[::1] out = np.empty(sets.shape[0])
    with nogil:
        for row in range(sets.shape[0]):
            state.p = 0
            for at in range(sets.shape[1]):
                j = sets[row, at]
                if j < 0:
                    continue
                b = j - state.n_simple
                first, rank = j, 1
                if b >= 0:
                    first, rank = state.first[b], state.ranks[b]
                for i in range(rank):
                    state.columns[state.p] = first + i
                    state.p += 1
            for b in range(LANES):
                own[b] = lams[row]
            _evidences(state, signs, own, positive, found)
            out[row] = found[0]
    return np.asarray(out)
