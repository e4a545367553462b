# cython: language_level=3
"""The loss of fitted values Xw, minimised over what is not penalised; see profile.pyx."""

from ksupport._kernels.losses cimport Loss


cdef class ProfileLoss:
    """One for each walk: it holds scratch space, so two threads must not share it."""

    cdef readonly Loss loss
    cdef readonly Py_ssize_t n_free  # length of c: unpenalized columns, times classes
    cdef Py_ssize_t q  # unpenalized columns
    cdef bint constant  # whether the first of them is the same, and not zero, in all rows
    cdef const double[:, ::1] Q  # unpenalized columns, as rows
    cdef const double[::1] roots  # square roots of weights: Xw = roots eta
    cdef double[::1] scratch  # what the pointers below point into
    cdef double *T  # the transposed of Q
    cdef double *base
    cdef double *h
    cdef double *step
    cdef double *trial
    cdef double *direction
    cdef double *H
    cdef double *work

    # c, from the one given on, at which the loss of eta = base + Qᵀc is least; eta, g, h there.
    cdef void solve_for_c(self, double *c, const double *base, double *eta, double *g,
                        double *h) noexcept nogil
    # Gradient g of the loss at fitted values Xw = roots eta, with c optimal there, in place;
    # False if it is not finite.  All but c have ``loss.size`` entries.
    cdef bint loss_gradient(self, double *c, const double *Xw, double *eta, double *g) noexcept nogil
    # By how much the first step of squares is lengthened along Xw: ‖Xw‖² over the second derivative
    # there, at ``origin``, which is eta at zero.  So the step is first_step(y, Xw) times this, with
    # y minus the gradient at zero; 1 where Xw is zero, or the loss is not curved along it.
    cdef double first_step_factor(self, const double *origin, const double *Xw) noexcept nogil
    cdef void newton_direction(self, const double *eta, const double *g, const double *h,
                               bint bounded) noexcept nogil
    cdef void take_step(self, double slope, double largest, double *c, double *eta, double *g,
                        double *h) noexcept nogil
    cdef void add_columns(self, const double *c, double *out) noexcept nogil
