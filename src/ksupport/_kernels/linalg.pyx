# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Small symmetric systems of Newton's method, H step = -gradient, where H may be singular.

`factorise` is not LAPACK's dpotrf, which stops at the first pivot that is not positive: here the
column counts as dependent on those before it and the others go on.
"""

from libc.math cimport INFINITY, sqrt
from scipy.linalg.cython_lapack cimport dsyev

FLAT = 1e-12  # a pivot below this share of its column's square counts as none

cdef double FLAT_PIVOT = FLAT
cdef double FLAT_EIGENVALUE = 1e-13  # over the largest, of a matrix with a diagonal of ones
cdef double UNREACHED = 1e-12  # share of the right side's square that no x explains


cdef void add_squares(const double *T, Py_ssize_t n, Py_ssize_t q, const double *h, double *H,
                      Py_ssize_t stride) noexcept nogil:
    """Row after row of T, so that entries of H stand side by side."""
    cdef double own
    cdef Py_ssize_t i, a, b
    for i in range(n):
        for a in range(q):
            own = T[i * q + a] * h[i]
            for b in range(a + 1):
                H[a * stride + b] += own * T[i * q + b]


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


cdef Py_ssize_t shortest_workspace(Py_ssize_t q) noexcept nogil:
    return q * q + 8 * q


cdef bint shortest_solution(const double *H, Py_ssize_t q, double *s, double *work) noexcept nogil:
    """In units in which H has a diagonal of ones: columns may be in any units, and what is small
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
