# cython: language_level=3
"""Coefficients that cannot be negative; see signs.pyx."""

from libc.stdint cimport int64_t

from ksupport._kernels.sampler cimport Sampler


cdef class Signs:
    cdef double product
    cdef double total

    cdef void _begin(self) noexcept nogil
    cdef void _take(self, double x) noexcept nogil
    cdef double _log(self) noexcept nogil
    cdef double _noise(self, Sampler state, int64_t t, double left) noexcept nogil
    cdef double of_present(self, Sampler state) noexcept nogil
    cdef double beside(self, Sampler state, int64_t j) noexcept nogil
    cdef double add_own(self, Sampler state, double *odds, double top) noexcept nogil
