# cython: language_level=3, wraparound=False, cdivision=True
"""Working sets of columns: which to choose, and a bound on those left out.

``B`` has the columns of the working set as rows (m x n), so that every inner loop is contiguous.
A walk moves its clock forward until ``end`` and records iterates at multiples of ``every``; it
returns early when the working set no longer suffices.
"""

import numpy as np

from cython cimport floating
from libc.float cimport DBL_MIN
from libc.math cimport INFINITY, fabs, sqrt
from libc.string cimport memcpy

cimport ksupport._kernels.simd as simd
from ksupport._kernels.doors cimport agree
from ksupport._kernels.scale cimport select_largest


cdef class Clock:
    def __init__(self, Py_ssize_t now=0, Py_ssize_t recorded=-1):
        self.now = now
        self.recorded = recorded

    def due(self, Py_ssize_t end, Py_ssize_t every):
        """Whether the iterate of this step is to be recorded, and has not been yet."""
        check_clock(self, every)
        return self.is_due(end, every)

    def copy(self):
        """Another clock that shows the same."""
        return Clock(self.now, self.recorded)

    def __eq__(self, other):
        return isinstance(other, Clock) and self.__reduce__() == other.__reduce__()

    def __reduce__(self):
        return Clock, (self.now, self.recorded)


# ----------------------------------------------------------------------------------------
# Products
# ----------------------------------------------------------------------------------------


cdef void correlate_all(
    const double[:, ::1] B, const double *u, Py_ssize_t responses, double *out
) noexcept nogil:
    cdef Py_ssize_t m = B.shape[0], n = B.shape[1], at
    if m > 0 and n > 0:
        for at in range(responses):
            simd.correlate(&B[0, 0], u + at * n, out + at * m, m, n)


cdef void combine_all(
    const double[:, ::1] B, const double *r, double scale, Py_ssize_t responses, double *out
) noexcept nogil:
    cdef Py_ssize_t m = B.shape[0], n = B.shape[1], at
    cdef const double *rows = &B[0, 0] if m > 0 and n > 0 else NULL
    for at in range(responses):
        simd.combine(rows, r + at * m, scale, out + at * n, m, n)


def correlate(const double[:, ::1] B, const double[::1] u, double[::1] out):
    """out = B u: the correlations of the columns in B with u.

    Of several responses, u has their vectors side by side, and out their correlations.
    """
    cdef Py_ssize_t m = B.shape[0], n = B.shape[1], responses
    if out.shape[0] > 0 and u.shape[0] > 0:
        responses = out.shape[0] // max(m, 1)
        agree(out.shape[0] == responses * m and u.shape[0] == responses * n, "B, u and out")
        with nogil:
            correlate_all(B, &u[0], responses, &out[0])


def combine(const double[:, ::1] B, const double[::1] r, double scale, double[::1] out):
    """out = scale Bᵀ r = scale X r; of several responses, side by side."""
    cdef Py_ssize_t m = B.shape[0], n = B.shape[1], responses
    if out.shape[0] > 0:
        responses = out.shape[0] // max(n, 1)
        agree(out.shape[0] == responses * n and r.shape[0] == responses * m, "B, r and out")
        with nogil:
            combine_all(B, &r[0] if r.shape[0] else NULL, scale, responses, &out[0])


# ----------------------------------------------------------------------------------------
# Features left out
# ----------------------------------------------------------------------------------------


cdef double outside(
    const double *u, Py_ssize_t n, const double[:, ::1] refs, const double[:, ::1] edges,
    double reach
) noexcept nogil:
    cdef double uu, ur, rr, c, along, bound = INFINITY
    cdef const double *ref
    cdef Py_ssize_t j
    if reach == 0.0:
        return 0.0
    uu = simd.dot(u, u, n)
    for j in range(edges.shape[0]):
        ref = &refs[j, 0]
        ur = simd.dot(u, ref, n)
        rr = simd.dot(ref, ref, n)
        c = ur / rr if rr > 0.0 else 0.0
        along = fabs(c) * (edges[j, 0] if c >= 0.0 else edges[j, 1])
        # About the bound, but for cancellation: a reference that is far from being the best is not
        # looked at any further.
        if along + 0.5 * reach * sqrt(max(uu - c * ur, 0.0)) > bound:
            continue
        bound = min(bound, along + reach * sqrt(simd.distance2(u, c, ref, n)))
    return bound


def bound_outside(
    const double[::1] u, const double[:, ::1] refs, const double[:, ::1] edges, double reach
):
    """A bound on |x_iᵀu| over all columns left out of the working set.

    The edge of a reference is the largest |x_iᵀref|, ``reach`` the largest norm among them.
    Splitting u along ref, |x_iᵀu| <= |c| |x_iᵀref| + ‖x_i‖ ‖u - c ref‖; the best of all counts.
    Edges are two: where only one sign of x_iᵀu counts, that of x_iᵀref for c > 0 is another one
    than for c < 0.  Groups have norms in place of magnitudes, and ‖X_g‖_F in place of ‖x_i‖.
    """
    check_refs(u.shape[0], refs, edges, reach)
    with nogil:
        bound = outside(&u[0], u.shape[0], refs, edges, reach)
    return bound


# ----------------------------------------------------------------------------------------
# Features to choose
# ----------------------------------------------------------------------------------------


def choose_columns(
    const double[::1] correlations, const double[::1] norms, Py_ssize_t m, chosen
):
    """Mark about m features with the largest correlations as chosen, besides those marked.

    Returns the largest |correlation| and the largest norm among the features left out.  The
    m-th largest maximum of small blocks is the level: at least m features reach it.
    """
    cdef Py_ssize_t d = correlations.shape[0], i, size, n_blocks
    cdef double[::1] maxima
    cdef unsigned char[::1] marks = chosen.view(np.uint8)
    cdef double level, ai, edge = 0.0, reach = 0.0
    if not 1 <= m <= d:
        raise ValueError(f"m must be between 1 and {d}, got {m}")
    agree(norms.shape[0] == marks.shape[0] == d, "correlations, norms and chosen")
    size = max(1, min(64, d // (8 * m)))
    n_blocks = (d + size - 1) // size
    maxima = np.empty(n_blocks)
    with nogil:
        simd.block_maxima(&correlations[0], d, size, &maxima[0])
        level = select_largest(&maxima[0], n_blocks, m)
        for i in range(d):
            ai = fabs(correlations[i])
            if ai >= level:
                marks[i] = True
            elif not marks[i]:
                edge = max(edge, ai)
                reach = max(reach, norms[i])
    return edge, reach


def choose_for(
    const floating[:, ::1] up, const floating[:, ::1] down, const double[::1] lengths,
    const double[::1] wrong, const double[::1] norms, Py_ssize_t m, chosen, double[:, ::1] edges,
):
    """Mark about m features that lead for some of several vectors, besides those marked.

    A row of ``up`` has the sizes |x_iᵀref| for one vector, one of ``down`` those for -ref, which
    may be wrong by so many norms; lengths are those of the vectors.  A row of ``edges`` becomes the
    largest size on either side among the features left out, of which the largest norm is returned.
    """
    cdef Py_ssize_t d = up.shape[1], count = up.shape[0], j
    cdef double[::1] largest = np.zeros(d), left
    cdef double scale, above, below, reach
    agree(
        down.shape[0] == edges.shape[0] == lengths.shape[0] == wrong.shape[0] == count
        and down.shape[1] == norms.shape[0] == len(chosen) == d and edges.shape[1] == 2,
        "up, down, lengths, wrong, norms, chosen and edges",
    )
    with nogil:
        for j in range(up.shape[0]):
            scale = 1.0 / lengths[j] if lengths[j] >= DBL_MIN else 1.0
            if floating is double:
                simd.raise_to(&up[j, 0], scale, &largest[0], d)
            else:
                simd.raise_to_single(&up[j, 0], scale, &largest[0], d)
    reach = choose_columns(largest, norms, m, chosen)[1]
    left = 1.0 - chosen  # 1 of the features left out, 0 of the others
    with nogil:
        for j in range(up.shape[0]):
            if floating is double:
                above = simd.max_product(&up[j, 0], &left[0], d)
                below = simd.max_product(&down[j, 0], &left[0], d)
            else:
                above = simd.max_product_single(&up[j, 0], &left[0], d)
                below = simd.max_product_single(&down[j, 0], &left[0], d)
            edges[j, 0], edges[j, 1] = above + reach * wrong[j], below + reach * wrong[j]
    return reach


def carry_rows(double[:, ::1] A, const Py_ssize_t[::1] before, const Py_ssize_t[::1] now):
    """Bring the first rows of A, one for each of ``before``, to their places in ``now``.

    Both ascend; A has room for either.  Returns which rows are still to be filled.
    """
    missing = np.ones(now.shape[0], bool)
    cdef unsigned char[::1] absent = missing.view(np.uint8)
    cdef Py_ssize_t i, at = 0, kept = 0, width = A.shape[1] * sizeof(double)
    if max(before.shape[0], now.shape[0]) > A.shape[0]:
        raise ValueError(f"A has no room for {max(before.shape[0], now.shape[0])} rows")
    with nogil:
        for i in range(now.shape[0]):  # forward to where they leave no gaps
            while at < before.shape[0] and before[at] < now[i]:
                at += 1
            if at < before.shape[0] and before[at] == now[i]:
                if kept < at:
                    memcpy(&A[kept, 0], &A[at, 0], width)
                kept += 1
                absent[i] = False
        for i in range(now.shape[0] - 1, -1, -1):  # and back, the last one first
            if not absent[i]:
                kept -= 1
                if kept < i:
                    memcpy(&A[i, 0], &A[kept, 0], width)
    return missing
