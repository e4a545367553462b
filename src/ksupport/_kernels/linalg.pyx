# cython: language_level=3, wraparound=False, cdivision=True
"""Small symmetric systems of Newton's method, H step = -gradient, where H may be singular.

`factorise` is not LAPACK's dpotrf, which stops at the first pivot that is not positive: here the
column counts as dependent on those before it and the others go on.  With solving it takes .2 us of
5 columns, where LAPACK takes .7, and 11 us of 40, as LAPACK does.
"""

import numpy as np

from libc.math cimport INFINITY, sqrt
from libc.string cimport memcpy
from scipy.linalg.cython_lapack cimport dsyev

FLAT = 1e-12  # a pivot below this share of its column's square counts as none

cdef double FLAT_PIVOT = FLAT
cdef double FLAT_EIGENVALUE = 1e-13  # over the largest, of a matrix with a diagonal of ones
cdef double UNREACHED = 1e-12  # share of the right side's square that no x explains


def solve(const double[:, ::1] H, const double[::1] s):
    """The shortest x with Hx = s, H symmetric and given by its lower triangle; and whether it is one.

    Lengths are in units in which H has a diagonal of ones.
    """
    cdef Py_ssize_t q = s.shape[0]
    cdef double[:, ::1] A = np.array(H)
    cdef double[::1] x = np.array(s), work = np.empty(solve_workspace(q) + 1)
    cdef bint found = True
    if H.shape[0] != q or H.shape[1] != q:
        raise ValueError(f"H must be {q} x {q}, got {H.shape[0]} x {H.shape[1]}")
    if q > 0:
        found = solve_symmetric(&A[0, 0], q, &x[0], &work[0])
    return np.asarray(x), found


cdef void add_squares(const double *T, Py_ssize_t n, Py_ssize_t q, const double *h, double *H,
                      Py_ssize_t stride) noexcept nogil:
    """Four rows of T at a time.

    At 200 x 5 it takes 1.5 us where BLAS's dsyrk, on a copy with the roots of h, takes 3.0; 22 and
    22 at 1000 x 10, and 63 and 54 at 1000 x 20.  h may be negative here.
    """
    cdef double h0, h1, h2, h3
    cdef const double *t0 = T
    cdef const double *t1
    cdef const double *t2
    cdef const double *t3
    cdef double *out
    cdef Py_ssize_t i, a, b
    for i in range(n // 4):
        t1 = t0 + q
        t2 = t1 + q
        t3 = t2 + q
        for a in range(q):
            h0, h1 = t0[a] * h[4 * i], t1[a] * h[4 * i + 1]
            h2, h3 = t2[a] * h[4 * i + 2], t3[a] * h[4 * i + 3]
            out = H + a * stride
            for b in range(a + 1):
                out[b] += (h0 * t0[b] + h1 * t1[b]) + (h2 * t2[b] + h3 * t3[b])
        t0 = t3 + q
    for i in range(n - n % 4, n):
        for a in range(q):
            h0 = t0[a] * h[i]
            for b in range(a + 1):
                H[a * stride + b] += h0 * t0[b]
        t0 += q


cdef bint factorise(double *H, Py_ssize_t q) noexcept nogil:
    """Row by row: what a row of L needs of those before stands side by side."""
    cdef double value, pivot, size
    cdef Py_ssize_t i, j, k
    cdef bint independent = True
    for i in range(q):
        size = pivot = H[i * q + i]
        for j in range(i):
            value = H[i * q + j]
            for k in range(j):
                value -= H[i * q + k] * H[j * q + k]
            value /= H[j * q + j]
            H[i * q + j] = value
            pivot -= value * value
        if pivot > FLAT_PIVOT * size:
            H[i * q + i] = sqrt(pivot)
        else:
            H[i * q + i] = INFINITY
            independent = False
    return independent


cdef void solve_factorised(const double *L, Py_ssize_t q, double *x) noexcept nogil:
    cdef double own
    cdef Py_ssize_t j, k
    for j in range(q):
        own = x[j]
        for k in range(j):
            own -= L[j * q + k] * x[k]
        x[j] = own / L[j * q + j]
    for j in range(q - 1, -1, -1):
        own = x[j] / L[j * q + j]
        x[j] = own
        for k in range(j):
            x[k] -= L[j * q + k] * own


cdef Py_ssize_t solve_workspace(Py_ssize_t q) noexcept nogil:
    return 2 * q * q + 8 * q


cdef bint solve_symmetric(double *H, Py_ssize_t q, double *x, double *work) noexcept nogil:
    memcpy(work, H, q * q * sizeof(double))
    if factorise(H, q):
        solve_factorised(H, q, x)
        return True
    return shortest_solution(work, q, x, work + q * q)


cdef bint shortest_solution(const double *H, Py_ssize_t q, double *s, double *work) noexcept nogil:
    """s = the shortest x with Hx = s, and whether there is one.

    In units in which H has a diagonal of ones: columns may be in any units, and what is small
    beside another is not flat.
    """
    cdef double *V = work  # the scaled matrix, then its eigenvectors, one a row
    cdef double *unit = work + q * q
    cdef double *sizes = unit + q
    cdef double *left = sizes + q
    cdef double *x = left + q
    cdef double *more = x + q
    cdef double along, total = 0.0, rest = 0.0
    cdef Py_ssize_t a, b
    cdef int size = <int> q, room = <int> (4 * q), info = 0
    for a in range(q):
        unit[a] = sqrt(H[a * q + a]) if H[a * q + a] > 0.0 else 1.0
        for b in range(a + 1):
            V[a * q + b] = H[a * q + b] / unit[a] / unit[b]
        left[a] = s[a] / unit[a]
        total += left[a] * left[a]
        x[a] = 0.0
    dsyev(b"V", b"U", &size, V, &size, sizes, more, &room, &info)  # upper by columns: lower by rows
    if info != 0:
        return False
    for b in range(q):
        if sizes[b] > FLAT_EIGENVALUE * sizes[q - 1]:
            along = 0.0
            for a in range(q):
                along += V[b * q + a] * (s[a] / unit[a])
            for a in range(q):
                x[a] += V[b * q + a] * (along / sizes[b])
                left[a] -= V[b * q + a] * along
    for a in range(q):
        s[a] = x[a] / unit[a]
        rest += left[a] * left[a]
    return rest <= UNREACHED * total
