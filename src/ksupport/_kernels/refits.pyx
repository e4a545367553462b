# cython: language_level=3, wraparound=False, cdivision=True
"""Least squares on many supports, what one feature more or another one does to them, and genotypes.

With X_S the columns of a support S, its residual sum of squares is ‖y‖² - ‖b‖², b = L⁻¹ X_Sᵀy, where
X_SᵀX_S = LLᵀ.
"""

import numpy as np

from ksupport._kernels.doors cimport agree, ends_of_parts, numbers_below
from libc.math cimport INFINITY, sqrt


cdef class Factor:
    """The Cholesky factor of one support's Gram matrix, and b = L⁻¹Xᵀy."""

    cdef double[:, ::1] arrays
    cdef const double *G
    cdef const double *c
    cdef double *U  # Lᵀ, widest x widest: its rows are what later features need side by side
    cdef double *inverse  # of the diagonal of L; zero for a feature that depends on those before
    cdef double *b
    cdef double *row
    cdef Py_ssize_t d, widest
    cdef double tol

    def __init__(self, const double[:, ::1] G, const double[::1] c, Py_ssize_t widest, double tol):
        agree(G.shape[0] == G.shape[1] == c.shape[0], "G and c")
        self.arrays = np.zeros((widest + 3, widest))
        self.G, self.c, self.d, self.widest, self.tol = &G[0, 0], &c[0], c.shape[0], widest, tol
        self.U, self.b = &self.arrays[0, 0], &self.arrays[widest, 0]
        self.row, self.inverse = &self.arrays[widest + 1, 0], &self.arrays[widest + 2, 0]

    cdef void add_row(self, const Py_ssize_t *S, Py_ssize_t r) noexcept nogil:
        """Row r of L, of feature S[r]."""
        cdef Py_ssize_t j = S[r], q, p, widest = self.widest
        cdef const double *gram = self.G + j * self.d
        cdef double *U = self.U
        cdef double *row = self.row
        cdef double pivot = gram[j], right = self.c[j], value
        for q in range(r):
            row[q] = gram[S[q]]
        for q in range(r):
            value = row[q] * self.inverse[q]
            U[r] = value
            for p in range(q + 1, r):
                row[p] -= value * U[p]
            pivot -= value * value
            right -= value * self.b[q]
            U += widest
        self.inverse[r] = 1.0 / sqrt(pivot) if pivot > self.tol * gram[j] else 0.0
        self.b[r] = right * self.inverse[r]

    cdef void coefficients(self, Py_ssize_t size, double *w) noexcept nogil:
        """w with Lᵀw = b, zero for features that depend on others."""
        cdef const double *U
        cdef Py_ssize_t r, p
        cdef double value
        for r in range(size - 1, -1, -1):
            U = self.U + r * self.widest
            value = self.b[r]
            for p in range(r + 1, size):
                value -= U[p] * w[p]
            w[r] = value * self.inverse[r]


def refit_many(const double[:, ::1] G, const double[::1] c, const Py_ssize_t[::1] indptr,
               const Py_ssize_t[::1] indices, const Py_ssize_t[::1] order, double tol,
               double[::1] rss_drop, Py_ssize_t[::1] rank, double[::1] coef):
    """Least squares on each support: drop in the residual sum of squares, rank, coefficients.

    G = XᵀX and c = Xᵀy on the candidate features; support i is ``indices[indptr[i]:indptr[i+1]]``.
    They are taken in the order given, and only the rows of the Cholesky factor beyond the prefix
    shared with the support before are computed: neighbours in sorted order cost little.  A feature
    that depends on those before it (relative to ``tol``) is passed over.
    """
    cdef const Py_ssize_t *S
    cdef const Py_ssize_t *last = NULL
    cdef const Py_ssize_t *features = &indices[0] if indices.shape[0] else NULL
    cdef double *w = &coef[0] if coef.shape[0] else NULL
    cdef Py_ssize_t at, i, r, size, shared, before = 0, widest = 1
    ends_of_parts(indptr, min(indices.shape[0], coef.shape[0]))
    numbers_below(indices, c.shape[0], "indices")
    numbers_below(order, indptr.shape[0] - 1, "order")
    agree(rss_drop.shape[0] == rank.shape[0] == indptr.shape[0] - 1, "rss_drop, rank and indptr")
    for i in range(indptr.shape[0] - 1):
        widest = max(widest, indptr[i + 1] - indptr[i])
    cdef Factor factor = Factor(G, c, widest, tol)
    with nogil:
        for at in range(order.shape[0]):
            i = order[at]
            S, size = features + indptr[i], indptr[i + 1] - indptr[i]
            shared = 0
            while shared < size and shared < before and S[shared] == last[shared]:
                shared += 1
            for r in range(shared, size):
                factor.add_row(S, r)
            rss_drop[i], rank[i] = 0.0, 0
            for r in range(size):
                rss_drop[i] += factor.b[r] * factor.b[r]
                rank[i] += factor.inverse[r] > 0.0
            factor.coefficients(size, w + indptr[i])
            last, before = S, size


def best_gains(const double[:, ::1] products, const double[:, ::1] UX, const double[::1] b,
               const double[::1] norms, const Py_ssize_t[::1] own, double tol, double rounding,
               double equal, double[::1] falls, Py_ssize_t[::1] out, Py_ssize_t[::1] into):
    """The feature that lowers the residual sum of squares most, and by how much.

    The rows of ``products`` are rᵀX and QᵀX, those of UX and b are u_iᵀX and u_iᵀy (see
    `ksupport.choosing.exchange.Around`); features in ``own`` are in the support already.  The best
    exchanges are written to ``falls`` (largest first), ``out`` and ``into``.  Where falls differ by
    no more than ``equal``, which is rounding, the earlier feature or pair comes first.
    """
    cdef Py_ssize_t d = norms.shape[0], m = b.shape[0], i, j, feature = 0
    cdef double[:, ::1] scratch = np.empty((2, d))
    cdef double *left = &scratch[0, 0]  # ‖(I - QQᵀ) x_j‖²
    cdef double *least = &scratch[1, 0]  # below which it counts as none
    cdef const double *c = &products[0, 0]
    cdef const double *q
    cdef double fall = 0.0
    if products.shape[0] != 1 + m or UX.shape[0] != m or products.shape[1] != d or UX.shape[1] != d:
        raise ValueError(
            f"products are {products.shape[0]} x {products.shape[1]} and {UX.shape[0]} x "
            f"{UX.shape[1]}; {1 + m} x {d} and {m} x {d} are needed"
        )
    numbers_below(own, d, "own")
    agree(falls.shape[0] == out.shape[0] == into.shape[0] > 0, "falls, out and into")
    with nogil:
        for j in range(d):
            left[j] = norms[j] * norms[j]
            least[j] = tol * left[j] if tol * left[j] > rounding else rounding
        for i in range(m):
            q = c + (1 + i) * d
            for j in range(d):
                left[j] -= q[j] * q[j]
        for j in range(d):
            left[j] = left[j] if left[j] > 0.0 else 0.0
        for i in range(own.shape[0]):
            left[own[i]] = -INFINITY
        for j in range(d):
            if c[j] * c[j] > (fall + equal) * left[j] and left[j] > least[j]:
                fall, feature = c[j] * c[j] / left[j], j
        for i in range(falls.shape[0]):
            falls[i], out[i], into[i] = -INFINITY, 0, 0
        for i in range(m):
            best_exchanges(i, b[i], c, &UX[i, 0], left, least, d, equal, falls, out, into)
    return fall, feature


cdef void best_exchanges(Py_ssize_t i, double b, const double *c, const double *u,
                         const double *left, const double *least, Py_ssize_t d, double equal,
                         double[::1] falls, Py_ssize_t[::1] out,
                         Py_ssize_t[::1] into) noexcept nogil:
    """The best exchanges for feature i of the support, merged into those found before.

    Falls are (c + b u)² / without - b²; most are turned down without a division.
    """
    cdef Py_ssize_t j, at, last = falls.shape[0] - 1
    cdef double level = falls[last] + equal + b * b, without, along, value
    for j in range(d):
        without = left[j] + u[j] * u[j]  # what is left of x_j if feature i is left out
        along = c[j] + b * u[j]
        if not (along * along > level * without and without > least[j]):
            continue
        value = along * along / without - b * b
        if not value > falls[last] + equal:
            continue
        at = last
        while at > 0 and value > falls[at - 1] + equal:
            falls[at], out[at], into[at] = falls[at - 1], out[at - 1], into[at - 1]
            at -= 1
        falls[at], out[at], into[at] = value, i, j
        level = falls[last] + equal + b * b


def fill_calls(calls, signed char missing, double[::1, :] out):
    """Counts of alleles as numbers, those missing as the mean of their column.

    Parameters
    ----------
    calls : array of int8 of shape (n, variants)
        Quickest by columns.
    missing : int
        What stands for a call that failed.
    out : array of shape (n, variants), in Fortran order
        Written to.
    """
    cdef const signed char[::1, :] known = np.asfortranarray(calls)
    cdef Py_ssize_t n = known.shape[0], i, j
    cdef const signed char *column
    cdef double *to
    cdef double mean
    cdef long long total, count
    if out.shape[0] != n or out.shape[1] != known.shape[1]:
        raise ValueError(
            f"out must be {n} x {known.shape[1]}, got {out.shape[0]} x {out.shape[1]}"
        )
    with nogil:
        for j in range(known.shape[1]):
            column, to = &known[0, j], &out[0, j]
            total = count = 0
            for i in range(n):
                to[i] = column[i]
            for i in range(n):
                total += column[i] if column[i] != missing else 0
                count += column[i] != missing
            if count == n:
                continue
            mean = <double> total / count if count > 0 else 0.0
            for i in range(n):
                to[i] = mean if column[i] == missing else to[i]
