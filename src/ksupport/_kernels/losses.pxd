# cython: language_level=3
"""What a compiled loss knows about its own rows.

A loss is Σ weights_i l(eta_i, y_i), bound to y and weights; eta are the fitted values.  A new loss
is a subclass with `slopes` and `values`; the other methods have defaults that suit any loss that
is a sum over rows with one fitted value each.

Arrays are C contiguous.  With several fitted values a row (classes), those of one class stand side
by side, in eta and in its derivatives.  ``work`` is scratch space of `workspace` doubles; nothing
is kept in the object, so threads may share it.
"""


cdef enum Constant:
    OPEN  # not solved here: Newton's method does it
    SOLVED  # c[0] and eta are; g and h are still to be computed
    COMPLETE  # c[0], eta, g and h are


cdef class Loss:
    cdef readonly Py_ssize_t n  # rows
    cdef readonly Py_ssize_t size  # fitted values: n, or n times the number of classes
    cdef const double[::1] y
    cdef const double[::1] weights
    cdef double steepest  # the largest slope that a row of weight one has; of a bounded loss alone
    cdef double largest_curvature  # the same of second derivatives; zero: do not fall back on it
    cdef double flat_share  # of that, below which the mean curvature counts as none
    cdef double longest_step  # of eta, in one Newton step
    cdef double small_step  # of eta: one Newton step more would be its square, or rounding
    cdef bint diagonal  # whether second derivatives in eta are a diagonal matrix
    cdef bint of_classes  # whether rows may be separated: then there is no finite minimum

    # Doubles of scratch space that these methods need with q columns, at least one.
    cdef Py_ssize_t workspace(self, Py_ssize_t q) noexcept nogil
    # First derivatives g in eta, and the diagonal h of the second ones.
    cdef void slopes(self, const double *eta, double *g, double *h, double *work) noexcept nogil
    # What each of the n rows contributes, unweighted, above a perfect fit.
    cdef void values(self, const double *eta, double *out, double *work) noexcept nogil
    # The lower triangle of H += second derivatives in the coefficients of the q columns of T
    # (n x q); of classes, those of one class side by side.  h as `slopes` gives it at eta.
    cdef void hessian(self, const double *eta, const double *h, const double *T, Py_ssize_t q,
                      double *H, double *work) noexcept nogil
    # `slopes` and `hessian` at once, for losses that share work between them.
    cdef void derivatives(self, const double *eta, const double *T, Py_ssize_t q, double *g,
                          double *h, double *H, double *work) noexcept nogil
    # The second derivative along a vector of fitted values.
    cdef double curvature_along(self, const double *eta, const double *along,
                                double *work) noexcept nogil
    # Whether hardly a row has a slope g left, compared with the steepest that there is.
    cdef bint all_fitted(self, const double *g) noexcept nogil
    # h = the largest curvature, where rows have next to none; whether so.
    cdef bint bound_curvature(self, double *h) noexcept nogil
    # h = curvatures of squares that touch the loss at eta and are nowhere below it; False: none.
    cdef bint majorize(self, const double *eta, const double *g, double *h) noexcept nogil
    # Minimise over c[0], the coefficient of a column that is ``one`` in all rows, in closed form or
    # nearly so; eta = base + ... is updated.  ``alone``: there is no other column.
    cdef Constant solve_constant(self, double one, bint alone, double *c, const double *base,
                                  double *eta, double *g, double *h) noexcept nogil


# log(1 + e^x), of any x.
cdef double log1p_exp(double x) noexcept nogil
