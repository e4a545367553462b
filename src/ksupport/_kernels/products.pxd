# cython: language_level=3
"""Products of columns, as they are needed; see products.pyx."""

from libc.stdint cimport int64_t


cdef class Products:
    cdef list arrays  # which own what pointers point to
    cdef readonly int64_t n_columns, rank  # rank: the most columns of an atom
    cdef int64_t m
    cdef const double *S  # m x m
    cdef const int64_t *indptr  # features[indptr[j]:indptr[j + 1]] are those of column j,
    cdef const int64_t *features
    cdef const double *loadings  # and what it has of each
    cdef double *G  # D'D, rows that are known
    cdef unsigned char *known
    cdef double *along  # products of a column with all features
    cdef double *lower  # of each column with the columns of its atom up to itself, ``rank`` a row

    cdef const double *row(self, int64_t j) noexcept nogil
    cdef void _make_row(self, int64_t j) noexcept nogil
    cdef void _make_lower(self, int64_t j, int64_t first) noexcept nogil
