# cython: language_level=3, wraparound=False, cdivision=True
"""Products of the columns of D = XW, which have few features each: rows of D'D = W'SW.

Chains visit a part of all columns, so that a row is made when it is first asked for, from the
products S = X'X of features.
"""

from libc.math cimport fabs, rint, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memset

from ksupport._kernels.sampling cimport add_rows

import numpy as np

cdef double TINY = 2.2250738585072014e-308
cdef double DIGITS = 1e9  # sums of correlations are compared to nine digits: ties are by place


def signed_sums(const double[:, ::1] R, const double[:, ::1] S, const int64_t[::1] indptr,
                const int64_t[::1] members, bint positive):
    """The loadings of sums of features, whose mean square by the products ``S`` is 1.

    Each feature has the sign of its correlation (``R``) with the most typical one, that which
    correlates most with all others together; if ``positive``, none is negative.
    """
    cdef int64_t a, i, k, typical, count = indptr.shape[0] - 1
    cdef double most, own, length
    cdef double[::1] found = np.ones(members.shape[0])
    with nogil:
        for a in range(count):
            typical, most = indptr[a], -1.0
            for i in range(indptr[a], indptr[a + 1] if not positive else indptr[a]):
                own = 0.0
                for k in range(indptr[a], indptr[a + 1]):
                    own += fabs(R[members[k], members[i]])
                own = rint(own * DIGITS)
                if own > most:
                    typical, most = i, own
            length = 0.0
            for i in range(indptr[a], indptr[a + 1]):
                if not positive and R[members[i], members[typical]] < 0.0:
                    found[i] = -1.0
            for i in range(indptr[a], indptr[a + 1]):
                own = 0.0
                for k in range(indptr[a], indptr[a + 1]):
                    own += found[k] * S[members[k], members[i]]
                length += found[i] * own
            for i in range(indptr[a], indptr[a + 1]):
                found[i] /= sqrt(max(length / S[0, 0], TINY))
    return np.asarray(found)


cdef class Products:
    """Products of columns with each other.

    Parameters
    ----------
    S : array of shape (m, m)
        Products of features.
    indptr, features, loadings : arrays
        The features of each column, and what it has of each.
    first, rank : arrays of int
        Of atoms with several columns: the first, and how many.
    """

    def __init__(self, S, indptr, features, loadings, first, rank):
        cdef const double[:, ::1] products = S
        cdef const int64_t[::1] ends = indptr, of = features, starts = first, ranks = rank
        cdef const double[::1] own = loadings
        cdef int64_t j, b, N = ends.shape[0] - 1
        if products.shape[0] != products.shape[1]:
            raise ValueError(f"S must be square, got shape {S.shape}")
        if N < 0 or ends[N] > min(of.shape[0], own.shape[0]):
            raise ValueError(f"indptr must end within {len(features)} features, got {indptr}")
        if len(features) and not 0 <= features.min() <= features.max() < len(S):
            raise ValueError(f"features must be below {len(S)}, got {features.max()}")
        self.m, self.n_columns = products.shape[0], N
        self.rank = rank.max(initial=1)
        cdef double[:, ::1] G = np.empty((N, N))
        cdef unsigned char[::1] known = np.zeros(N, np.uint8)
        cdef double[::1] along = np.empty(max(self.m, 1))
        cdef double[:, ::1] lower = np.zeros((N, self.rank))
        self.arrays = [S, indptr, features, loadings, G, known, along, lower]
        if N == 0:
            return
        self.S = &products[0, 0] if self.m else NULL
        self.indptr, self.features = &ends[0], &of[0] if of.shape[0] else NULL
        self.loadings = &own[0] if own.shape[0] else NULL
        self.G, self.known, self.along, self.lower = &G[0, 0], &known[0], &along[0], &lower[0, 0]
        with nogil:
            for j in range(N):
                self._make_lower(j, j)
            for b in range(starts.shape[0]):
                for j in range(starts[b], starts[b] + ranks[b]):
                    self._make_lower(j, starts[b])

    def rows(self, columns):
        """Products of some columns with all."""
        cdef const int64_t[::1] chosen = np.ascontiguousarray(columns, np.int64)
        cdef int64_t at, i, N = self.n_columns
        found = np.empty((len(columns), N))
        cdef double[:, ::1] out = found
        cdef const double *row
        for at in range(chosen.shape[0]):
            row = self.row(chosen[at])
            for i in range(N):
                out[at, i] = row[i]
        return found

    cdef const double *row(self, int64_t j) noexcept nogil:
        """Products of a column with all."""
        if not self.known[j]:
            self._make_row(j)
        return self.G + j * self.n_columns

    cdef void _make_row(self, int64_t j) noexcept nogil:
        cdef int64_t i, k
        cdef double own
        cdef double *row = self.G + j * self.n_columns
        memset(self.along, 0, self.m * sizeof(double))
        add_rows(self.along, self.S, self.features + self.indptr[j], self.loadings + self.indptr[j],
                 self.indptr[j + 1] - self.indptr[j], self.m)
        for i in range(self.n_columns):
            own = 0.0
            for k in range(self.indptr[i], self.indptr[i + 1]):
                own += self.loadings[k] * self.along[self.features[k]]
            row[i] = own
        self.known[j] = 1

    cdef void _make_lower(self, int64_t j, int64_t first) noexcept nogil:
        """Products of a column with those of its atom, which have the same features."""
        cdef int64_t i, k, u, size = self.indptr[j + 1] - self.indptr[j]
        cdef const int64_t *own = self.features + self.indptr[j]
        cdef double total
        for i in range(first, j + 1):
            self.lower[j * self.rank + i - first] = 0.0
        for k in range(size):
            total = 0.0
            for u in range(size):
                total += self.loadings[self.indptr[j] + u] * self.S[own[u] * self.m + own[k]]
            for i in range(first, j + 1):
                self.lower[j * self.rank + i - first] += self.loadings[self.indptr[i] + k] * total
