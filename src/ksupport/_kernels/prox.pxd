# cython: language_level=3
"""The prox of the k-support norm, for other compiled code; see prox.pyx.

``work`` is scratch space of `prox_workspace(n)` doubles, n the length of q.
"""


cdef Py_ssize_t prox_workspace(Py_ssize_t n) noexcept nogil

# Set entries that only rounding keeps from zero to zero; returns the level up to which they are.
cdef double sweep_entries(double *x, Py_ssize_t n) noexcept nogil

# out = prox of (lam/2) (‖·‖_k^sp)² at q, searched from the scale s of the step before on (0: none);
# returns the new scale.  Entries are nonzero only where |q_i| > entry_level(lam, s).
cdef double prox_from(const double *q, Py_ssize_t n, double lam, Py_ssize_t k, double s,
                      double *out, double *work) noexcept nogil

# The same for groups of features, m labels from 0 on (m = 0: each entry is a group; else q has m
# entries for each response, side by side), and of entries of one sign alone, unless that is 0.
cdef double prox_groups_from(const double *q, Py_ssize_t n, double lam, Py_ssize_t k, double s,
                             const Py_ssize_t *labels, Py_ssize_t m, double sign, double *out,
                             double *work) noexcept nogil


cdef inline double entry_level(double lam, double s) noexcept nogil:
    """The magnitude that an entry must exceed to be nonzero after the k-support prox."""
    return lam / s if s > 0.0 else 0.0
