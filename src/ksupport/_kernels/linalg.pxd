# cython: language_level=3
"""Small symmetric systems: sums of squares, a Cholesky factor that passes over dependent columns."""


# H += Tᵀ diag(h) T, the lower triangle (rows of H are ``stride`` apart); T is n x q.
cdef void add_squares(const double *T, Py_ssize_t n, Py_ssize_t q, const double *h, double *H,
                      Py_ssize_t stride) noexcept nogil
# H = L Lᵀ in place, in the lower triangle; whether all columns are independent.  The pivot of a
# column that depends on those before becomes infinite: its coefficient is zero.
cdef bint factorise(double *H, Py_ssize_t q) noexcept nogil
# x = (L Lᵀ)⁻¹ x, in place.
cdef void solve_factorised(const double *L, Py_ssize_t q, double *x) noexcept nogil
# Doubles of scratch space that `solve_symmetric` needs.
cdef Py_ssize_t solve_workspace(Py_ssize_t q) noexcept nogil
# x = the shortest solution of H x' = x, where H, of which the lower triangle is read and which is
# overwritten, may be singular; whether there is one.
cdef bint solve_symmetric(double *H, Py_ssize_t q, double *x, double *work) noexcept nogil
