# cython: language_level=3
"""The present set of atoms; see sampler.pyx."""

from libc.stdint cimport int64_t

from ksupport._kernels.products cimport Products
from ksupport._kernels.sampling cimport LANES


cdef inline double explained(const double *W, const double *over, int64_t n, int64_t m, int64_t t,
                             int64_t s, int64_t b) noexcept nogil:
    """After `factorise`: entry (t, s) of W'D^-1 W, of lane b."""
    cdef double found = 0.0
    cdef int64_t i
    for i in range(n):
        found += (W[(i * m + t) * LANES + b] * W[(i * m + s) * LANES + b]) * over[i * LANES + b]
    return found


cdef class Sampler:
    cdef list arrays  # which own what pointers point to
    cdef int64_t N, T, n_simple, n_blocks, rank, d, most, widest
    cdef int64_t groups, n_atoms  # of LANES blocks; and all atoms
    cdef double nu
    cdef Products products
    cdef const double *total
    cdef double *c  # D'Y, responses x columns
    cdef const double *bonus
    cdef const int64_t *first
    cdef const int64_t *ranks
    cdef const int64_t *cluster
    cdef const int64_t *indptr
    cdef const int64_t *members
    cdef int64_t p, count, clusters  # present columns, atoms, and clusters among these
    cdef int64_t *present  # atoms
    cdef int64_t *columns
    cdef int64_t *cover  # how many present atoms have each feature
    cdef int64_t *responses  # 0, ..., T - 1
    cdef double *inverse  # A^-1, with rows of ``widest``
    cdef double *mean  # A^-1 C: columns x responses
    cdef double *left  # Y'Y - C'A^-1 C
    cdef double *left_inverse
    cdef double *a
    cdef double *r  # responses x columns
    cdef double *blocks  # a of atoms with several columns: lower triangles, LANES side by side
    cdef double *a_before  # the same before the last single column left,
    cdef double *r_before
    cdef double *blocks_before
    cdef int64_t just_left  # which can come back: -1 for none
    cdef double *e  # residual products of the column that enters or leaves with all
    cdef double *h  # -A^-1 D_S'd of that column d
    cdef double *own  # products of that column with the present ones
    cdef double *coef
    cdef double *within  # e of atoms with several columns, as ``blocks`` has them
    cdef double *sums  # weights of each stretch of atoms
    cdef double *L  # what `factorise` makes
    cdef double *W
    cdef double *over
    cdef double *small  # T x T, and as much for dgetri
    cdef int *pivots
    cdef double *row  # a number for each column

    cdef const int64_t *_ints(self, array)
    cdef double *_room(self, int64_t size)
    cdef int64_t *_int_room(self, int64_t size)
    cdef void _make_room(self)
    cdef void make_products(self, double lam) noexcept nogil
    cdef void enter(self, int64_t j) noexcept nogil
    cdef void leave(self, int64_t place) noexcept nogil
    cdef void note(self, int64_t j) noexcept nogil
    cdef void forget(self, int64_t place) noexcept nogil
    cdef int64_t columns_of(self, int64_t j, int64_t *out) noexcept nogil
    cdef void find_gains(self, double lam, double *out) noexcept nogil
    cdef double det(self, double *M) noexcept nogil
    cdef void _exchange_products(self) noexcept nogil
    cdef void _update(self, double scale, double sign) noexcept nogil
    cdef void _invert_left(self) noexcept nogil
    cdef void _enter_columns(self, int64_t j) noexcept nogil
    cdef void _enter_column(self, int64_t j) noexcept nogil
    cdef void _leave_column(self, int64_t j) noexcept nogil
    cdef void _products_of(self, int64_t j) noexcept nogil
    cdef void _set_block(self, int64_t b, int64_t i) noexcept nogil
    cdef double _share_left(self, int64_t R, int64_t b) noexcept nogil
    cdef void _block_gains(self, int64_t group, double lam, double *out) noexcept nogil
