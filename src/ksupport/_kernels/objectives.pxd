# cython: language_level=3
"""What Algorithm 1 follows: a gradient, and a test of steps; see objectives.pyx."""

from ksupport._kernels.profile cimport ProfileLoss


cdef class Pace:
    """The numbers with which a walk of Algorithm 1 goes on to its next step."""

    cdef readonly bint constant  # whether every step is gamma; else they are found by backtracking
    cdef public double theta  # theta_t; 0 before the first step
    cdef public double gamma  # the last step, or the first one to try; 0: not known yet
    cdef public double scale_w  # at which the prox of the last w was found: the next search starts there
    cdef public double scale_r  # the same of r
    cdef public double curvature  # that the last step met; 0: none that is told from rounding
    cdef public bint refused  # whether a step was ever refused
    cdef public double late_growth  # of trial steps, once one was refused
    cdef public double trial  # the step to try next, after a refused one; 0: none was

    cpdef double trial_step(self) noexcept nogil
    cpdef double next_theta(self, double gamma) noexcept nogil
    cpdef double momentum(self, double gamma) noexcept nogil
    cpdef void refuse(self, double gamma) noexcept nogil
    cpdef void accept(self, double theta, double gamma) noexcept nogil


cdef class Objective:
    cdef const double[::1] y  # minus the gradient at w = 0
    cdef readonly double shortest_step  # one that must be shorter does not exist

    # g = the gradient at Xr; False if it is not finite.
    cdef bint gradient_at(self, const double *Xr, double *g) noexcept nogil
    # The first step, where Xw is along ∇R*(Xᵀy).
    cdef double first_step_along(self, const double *Xw) noexcept nogil
    # Whether the step gamma from v to z holds; g is the gradient at Xr.  Tells pace the curvature.
    cdef bint step_holds(self, const double *z, const double *v, double gamma, const double *Xr,
                         const double *g, const double *Xw, Pace pace) noexcept nogil


cdef class Squares(Objective):
    pass


cdef class Profiled(Objective):
    cdef ProfileLoss loss
    cdef const double[::1] origin  # eta at w = 0
    cdef double[:, ::1] unpenalized_coef  # what is not penalised, at r and at w
    cdef double[:, ::1] scratch

    cdef double *coef_at(self, Py_ssize_t row) noexcept nogil
