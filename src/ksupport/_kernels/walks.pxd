# cython: language_level=3, wraparound=False
"""What the walks of the rivals share."""

from libc.math cimport isfinite
from libc.string cimport memcpy

cimport ksupport._kernels.simd as simd
from ksupport._kernels.doors cimport agree
from ksupport._kernels.working_set cimport Clock, check_clock, check_refs


cdef inline int check_walk(
    Clock clock, Py_ssize_t every, const double[:, ::1] B, const double[::1] y,
    const double[:, ::1] refs, const double[:, ::1] edges, double reach, double[:, ::1] rows,
) except -1:
    """What all walks are called with."""
    check_clock(clock, every)
    check_refs(y.shape[0], refs, edges, reach)
    agree(y.shape[0] == B.shape[1] and rows.shape[1] == B.shape[0], "B, y and rows")
    return 0


cdef inline bint walking(
    Clock clock, Py_ssize_t end, Py_ssize_t every, const double *x, double[:, ::1] rows,
    Py_ssize_t *n_rows,
) noexcept nogil:
    """Record x if it is due; whether there are more steps, and rows, to go."""
    if n_rows[0] < rows.shape[0] and clock.is_due(end, every):
        memcpy(&rows[n_rows[0], 0], x, rows.shape[1] * sizeof(double))
        n_rows[0] += 1
        clock.recorded = clock.now
    return clock.now < end and n_rows[0] < rows.shape[0]


cdef inline bint subtract_y(const double *Xb, const double *y, double *u, Py_ssize_t n) noexcept nogil:
    """u = X b - y; False if its norm left the finite numbers."""
    cdef Py_ssize_t i
    for i in range(n):
        u[i] = Xb[i] - y[i]
    return isfinite(simd.dot(u, u, n))
