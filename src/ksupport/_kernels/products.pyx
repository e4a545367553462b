# cython: language_level=3, wraparound=False, cdivision=True
"""Products of the columns of D = XW, which have few features each: rows of D'D = W'SW.

Chains visit a part of all columns, so that a row is made when it is first asked for, from the
products S = X'X of features.
"""

from libc.math cimport fabs, rint, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memset

from ksupport._kernels.doors cimport agree, ends_of_parts, numbers_below
from ksupport._kernels.sampling cimport add_rows

import numpy as np

cdef double TINY = 2.2250738585072014e-308
cdef double DIGITS = 1e9  # sums of correlations are compared to nine digits: ties are by place


def signed_sums(const double[:, ::1] R, const double[:, ::1] S, const Py_ssize_t[::1] indptr,
                const Py_ssize_t[::1] members, bint positive):
    """The loadings of sums of features, whose mean square by the products ``S`` is 1.

    Each feature has the sign of its correlation (``R``) with the most typical one, that which
    correlates most with all others together; if ``positive``, none is negative.
    """
    cdef Py_ssize_t a, i, k, typical, count = indptr.shape[0] - 1, m = S.shape[0]
    cdef double most, own, length
    cdef double[::1] found = np.ones(members.shape[0])
    agree(R.shape[0] == R.shape[1] == S.shape[1] == m, "R and S")
    ends_of_parts(indptr, members.shape[0])
    numbers_below(members, m, "members")
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
        agree(products.shape[0] == products.shape[1], "S, which is square")
        agree(of.shape[0] == own.shape[0] and starts.shape[0] == ranks.shape[0], "parts of columns")
        ends_of_parts(indptr, of.shape[0])
        numbers_below(features, products.shape[0], "features")
        self.m, self.n_columns, self.rank = products.shape[0], N, 1
        for b in range(starts.shape[0]):
            self.rank = max(self.rank, ranks[b])
            agree(0 <= starts[b] and 0 <= ranks[b] <= N - starts[b], "first and rank")
            for j in range(starts[b] + 1, starts[b] + ranks[b]):
                agree(ends[j + 1] - ends[j] == ends[j] - ends[j - 1], "columns of an atom")
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
        cdef const Py_ssize_t[::1] chosen = np.ascontiguousarray(columns, np.intp)
        numbers_below(chosen, self.n_columns, "columns")
        cdef int64_t at, i, N = self.n_columns
        found = np.empty((chosen.shape[0], N))
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
