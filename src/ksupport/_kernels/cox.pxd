# cython: language_level=3
"""Cox's partial likelihood as a compiled loss; see cox.pyx."""

from ksupport._kernels.losses cimport Loss


cdef struct Ties:  # the events of one time
    Py_ssize_t count
    double weight
    double risk


cdef class Cox(Loss):
    cdef readonly bint efron
    cdef readonly Py_ssize_t n_events
    cdef const Py_ssize_t[:, ::1] layout
    # Rows of the layout.  It has a column for each row of X, by strata and from the latest time on.
    cdef const Py_ssize_t *order  # the row's place in X
    cdef const Py_ssize_t *tie  # the first place of those of the same time
    cdef const Py_ssize_t *tie_end  # and the end of them
    cdef const Py_ssize_t *stratum_end

    # Of each row the risk weight e^eta, and at the first row of each time the sum over all at risk,
    # both in units of e^top: the largest e^eta of those at risk.  All in the layout's order.
    cdef void risks(self, const double *eta, double *risk, double *sums, double *top) noexcept nogil
    cdef Ties tied(self, const double *risk, Py_ssize_t first, Py_ssize_t end) noexcept nogil
    cdef Py_ssize_t terms(self, Py_ssize_t count) noexcept nogil
    cdef void hazards(self, const double *risk, const double *sums, const double *top, double *d,
                      double *square) noexcept nogil
    cdef void gradient_of(self, double *g, double *h) noexcept nogil
    cdef void means(self, const double *risk, const double *sums, const double *top,
                    const double *T, Py_ssize_t q, double *F, double *work) noexcept nogil
