# cython: language_level=3
"""Evidence of sets of atoms; see posterior.pyx."""

from libc.stdint cimport int64_t

from ksupport._kernels.sampler cimport Sampler
from ksupport._kernels.signs cimport Signs


cdef int64_t draw_lam(Sampler state, const int64_t *columns, int64_t p, const double[::1] lams,
                      const double[:] log_prior, double *logs, double u) noexcept nogil
cdef double weigh(Sampler state, Signs signs, const double[:, ::1] prior, bint positive,
                  double lam, double *odds, double *none) noexcept nogil
