# cython: language_level=3
"""The scale at which the k-support prox is found, and the selection of large entries."""


cdef struct Scale:  # s = (lam + delta) / rho
    double rho  # reference magnitude; 0: theta = 1 everywhere
    double delta


# The r-th largest of n entries (r from 1), which are reordered.
cdef double select_largest(double *a, Py_ssize_t n, Py_ssize_t r) noexcept nogil

# A power of two that brings rho near 1.
cdef double unit_scale(double rho) noexcept nogil

# The scale for any finite vector q of n entries.  ``candidates`` is room for n doubles, ``work`` for
# 2 n.
cdef Scale find_scale(const double *q, Py_ssize_t n, double lam, double kappa, double *candidates,
                      double *work) noexcept nogil

# The same if rho is close to ``guess``; else rho = 0.
cdef Scale find_scale_near(const double *q, Py_ssize_t n, double lam, Py_ssize_t k, double guess,
                           double *few, double *work) noexcept nogil
