# cython: language_level=3, wraparound=False
"""What the walks of the rivals share."""

from libc.math cimport isfinite
from libc.string cimport memcpy

cimport ksupport._kernels.simd as simd
from ksupport._kernels.working_set cimport Clock


cdef inline bint walking(
    Clock clock, Py_ssize_t end, Py_ssize_t every, const double *x, double[:, ::1] rows,
    Py_ssize_t *n_rows,
) noexcept nogil:
    """Record x if it is due; whether there are more steps, and rows, to go."""
    if clock.is_due(end, every):
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
