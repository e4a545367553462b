# cython: language_level=3, wraparound=False, cdivision=True
"""Losses l(eta_i, y_i) of fitted values eta, bound to rows: derivatives, values, second derivatives.

Squares, Huber's loss, the logistic one and that of counts are here; `multinomial` and `cox` have
theirs.  What the methods mean is written once, in losses.pxd.
"""

import numpy as np

from ksupport._kernels.doors cimport agree
from ksupport._kernels.linalg cimport add_squares
from libc.math cimport INFINITY, exp, fabs, log, log1p

FITTED = 1e-9  # slopes that are left, over the steepest that there are, where all rows are fitted

cdef double FITTED_SHARE = FITTED
cdef double LONGEST_STEP = 20.0  # e^20 is as far as a linear predictor should go in one step
cdef double SMALL_STEP = 1e-6  # what is left after such a step is its square
cdef int CONSTANT_STEPS = 20  # about five are needed


cdef class Loss:
    """A loss of one fitted value a row, on rows with these responses and weights.

    Parameters
    ----------
    y : array of shape (n,)
        The response.
    weights : array of shape (n,)
        How much each row counts.
    """

    def __init__(self, const double[::1] y, const double[::1] weights):
        if y.shape[0] != weights.shape[0]:
            raise ValueError(f"{y.shape[0]} responses need as many weights, got {weights.shape[0]}")
        self.y, self.weights = y, weights
        self.n = self.size = y.shape[0]
        self.steepest = 1.0
        self.largest_curvature = self.flat_share = 0.0
        self.longest_step, self.small_step = LONGEST_STEP, SMALL_STEP
        self.diagonal, self.of_classes = True, False

    def __reduce__(self):
        return type(self), (np.asarray(self.y), np.asarray(self.weights))

    @property
    def response(self):
        """The response, as the loss takes it."""
        return np.asarray(self.y)

    # -- for Python: models are rows --------------------------------------------------------

    def slopes_rows(self, const double[:, ::1] E, double[:, ::1] G, double[:, ::1] H):
        """First derivatives G and the diagonal H of the second ones, at each row of E."""
        cdef double[::1] work = self.scratch(0)
        cdef Py_ssize_t row
        self.check_width(E)
        agree(
            G.shape[0] == H.shape[0] == E.shape[0] and G.shape[1] == H.shape[1] == self.size,
            "E, G and H",
        )
        with nogil:
            for row in range(E.shape[0]):
                self.slopes(&E[row, 0], &G[row, 0], &H[row, 0], &work[0])

    def values_rows(self, const double[:, ::1] E, double[:, ::1] out):
        """What each row of the data contributes, unweighted, at each row of E."""
        cdef double[::1] work = self.scratch(0)
        cdef Py_ssize_t row
        self.check_width(E)
        agree(out.shape[0] == E.shape[0] and out.shape[1] == self.n, "E and out")
        with nogil:
            for row in range(E.shape[0]):
                self.values(&E[row, 0], &out[row, 0], &work[0])

    def hessian_of(self, const double[::1] eta, const double[:, ::1] columns):
        """The matrix of second derivatives in the coefficients of columns, given as rows."""
        cdef Py_ssize_t q = columns.shape[0], size = q * (self.size // max(self.n, 1)), i, j
        cdef double[:, ::1] T = np.ascontiguousarray(np.asarray(columns).T)
        cdef double[:, ::1] H = np.zeros((size, size))
        cdef double[::1] g = np.empty(self.size), h = np.empty(self.size), work = self.scratch(q)
        agree(eta.shape[0] == self.size and columns.shape[1] == self.n, "eta, columns and the loss")
        if size > 0 and self.size > 0:
            with nogil:
                self.derivatives(&eta[0], &T[0, 0], q, &g[0], &h[0], &H[0, 0], &work[0])
        for i in range(size):  # the lower half is made
            for j in range(i):
                H[j, i] = H[i, j]
        return np.asarray(H)

    def scratch(self, Py_ssize_t q):
        """Scratch space for q columns."""
        return np.empty(self.workspace(q) + 1)

    def check_width(self, const double[:, ::1] E):
        """Refuse models of another number of fitted values."""
        if E.shape[1] != self.size:
            raise ValueError(f"models must have {self.size} fitted values, got {E.shape[1]}")

    # -- what a loss may do otherwise; see losses.pxd ----------------------------------------

    cdef Py_ssize_t workspace(self, Py_ssize_t q) noexcept nogil:
        return 2 * self.size

    cdef void slopes(self, const double *eta, double *g, double *h, double *work) noexcept nogil:
        pass

    cdef void values(self, const double *eta, double *out, double *work) noexcept nogil:
        pass

    cdef void hessian(self, const double *eta, const double *h, const double *T, Py_ssize_t q,
                      double *H, double *work) noexcept nogil:
        add_squares(T, self.n, q, h, H, q)

    cdef void derivatives(self, const double *eta, const double *T, Py_ssize_t q, double *g,
                          double *h, double *H, double *work) noexcept nogil:
        self.slopes(eta, g, h, work)
        self.hessian(eta, h, T, q, H, work)

    cdef double curvature_along(self, const double *eta, const double *along,
                                double *work) noexcept nogil:
        cdef double found = 0.0
        cdef Py_ssize_t n = self.size
        self.derivatives(eta, along, 1, work, work + n, &found, work + 2 * n)
        return found

    cdef bint all_fitted(self, const double *g) noexcept nogil:
        cdef double size = 0.0, total = 0.0
        cdef Py_ssize_t i
        for i in range(self.size):
            size += fabs(g[i])
        for i in range(self.n):
            total += self.weights[i]
        return size <= FITTED_SHARE * self.steepest * total

    cdef bint bound_curvature(self, double *h) noexcept nogil:
        cdef double total = 0.0, possible = 0.0
        cdef Py_ssize_t i
        if self.largest_curvature == 0.0:
            return False
        for i in range(self.size):
            total += h[i]
        for i in range(self.n):
            possible += self.largest_curvature * self.weights[i]
        if total >= self.flat_share * possible:
            return False
        for i in range(self.size):
            h[i] = self.largest_curvature * self.weights[i % self.n]
        return True

    cdef bint majorize(self, const double *eta, const double *g, double *h) noexcept nogil:
        return False

    cdef Constant solve_constant(self, double one, bint alone, double *c, const double *base,
                                  double *eta, double *g, double *h) noexcept nogil:
        return OPEN


cdef class Squared(Loss):
    """½ (y - eta)²."""

    def __init__(self, const double[::1] y, const double[::1] weights):
        Loss.__init__(self, y, weights)
        self.longest_step = INFINITY  # the first one arrives

    cdef void slopes(self, const double *eta, double *g, double *h, double *work) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.n):
            g[i] = self.weights[i] * (eta[i] - self.y[i])
            h[i] = self.weights[i]

    cdef void values(self, const double *eta, double *out, double *work) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.n):
            out[i] = 0.5 * (eta[i] - self.y[i]) * (eta[i] - self.y[i])


cdef class Huber(Loss):
    """Squares of residuals up to delta, linear beyond."""

    cdef double delta

    def __init__(self, const double[::1] y, const double[::1] weights, double delta):
        Loss.__init__(self, y, weights)
        self.delta = self.steepest = delta
        self.largest_curvature, self.flat_share = 1.0, 0.25  # rows are curved, or not at all
        self.longest_step, self.small_step = INFINITY, 1e-12 * delta  # quadratic piece by piece

    def __reduce__(self):
        return type(self), (np.asarray(self.y), np.asarray(self.weights), self.delta)

    cdef void slopes(self, const double *eta, double *g, double *h, double *work) noexcept nogil:
        cdef double residual, slope, delta = self.delta
        cdef Py_ssize_t i
        for i in range(self.n):
            residual = eta[i] - self.y[i]
            slope = delta if residual > delta else (-delta if residual < -delta else residual)
            g[i] = self.weights[i] * slope
            h[i] = 0.0 if fabs(residual) > delta else self.weights[i]

    cdef void values(self, const double *eta, double *out, double *work) noexcept nogil:
        cdef double size, inside
        cdef Py_ssize_t i
        for i in range(self.n):
            size = fabs(eta[i] - self.y[i])
            inside = self.delta if size > self.delta else size
            out[i] = inside * (size - 0.5 * inside)

    cdef bint majorize(self, const double *eta, const double *g, double *h) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.n):
            if eta[i] != self.y[i]:
                h[i] = g[i] / (eta[i] - self.y[i])
        return True


cdef class Logistic(Loss):
    """log(1 + e^eta) - y eta, for y in {0, 1}."""

    def __init__(self, const double[::1] y, const double[::1] weights):
        Loss.__init__(self, y, weights)
        self.largest_curvature, self.flat_share = 0.25, 1e-10
        self.of_classes = True

    cdef void slopes(self, const double *eta, double *g, double *h, double *work) noexcept nogil:
        cdef double odds, share
        cdef Py_ssize_t i
        for i in range(self.n):
            odds = exp(-fabs(eta[i]))
            share = 1.0 / (1.0 + odds)
            g[i] = self.weights[i] * ((share if eta[i] >= 0.0 else odds * share) - self.y[i])
            h[i] = self.weights[i] * (odds * share * share)

    cdef void values(self, const double *eta, double *out, double *work) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.n):
            out[i] = log1p_exp(-eta[i] if self.y[i] > 0.0 else eta[i])

    cdef Constant solve_constant(self, double one, bint alone, double *c, const double *base,
                                  double *eta, double *g, double *h) noexcept nogil:
        """With one exponential a row, as the odds e^-eta of all rows change by one factor.

        Not where c is far away, nor where rows are all but fitted: slopes are rounding errors then.
        """
        cdef double far = 0.0, total = 0.0, change = 0.0, slope, curvature, factor, p, step
        cdef Py_ssize_t i
        cdef int attempt
        if not alone:
            return OPEN
        for i in range(self.n):
            far = far if far > fabs(eta[i]) else fabs(eta[i])
            total += self.weights[i]
            h[i] = exp(-eta[i])
        for attempt in range(CONSTANT_STEPS):
            slope = curvature = 0.0
            factor = exp(-change)
            for i in range(self.n):
                p = 1.0 / (1.0 + factor * h[i])
                slope += self.weights[i] * (p - self.y[i])
                curvature += self.weights[i] * p * (1.0 - p)
            step = -slope / curvature
            if not (curvature > 1e-6 * total and fabs(step) <= 1.0 and far + fabs(change) < 500.0):
                return OPEN
            change += step
            if fabs(step) <= self.small_step:
                break
        else:
            return OPEN
        c[0] += change / one
        factor = exp(-change)
        for i in range(self.n):
            eta[i] += change
            p = 1.0 / (1.0 + factor * h[i])
            g[i] = self.weights[i] * (p - self.y[i])
            h[i] = self.weights[i] * factor * h[i] * p * p
        return COMPLETE


cdef class Poisson(Loss):
    """e^eta - y eta, for counts y."""

    cdef void slopes(self, const double *eta, double *g, double *h, double *work) noexcept nogil:
        cdef double mean
        cdef Py_ssize_t i
        for i in range(self.n):
            mean = exp(eta[i])
            g[i] = self.weights[i] * (mean - self.y[i])
            h[i] = self.weights[i] * mean

    cdef void values(self, const double *eta, double *out, double *work) noexcept nogil:
        cdef double y, least
        cdef Py_ssize_t i
        for i in range(self.n):
            y = self.y[i]
            least = y - y * log(y) if y > 0.0 else 0.0
            out[i] = exp(eta[i]) - y * eta[i] - least

    cdef Constant solve_constant(self, double one, bint alone, double *c, const double *base,
                                  double *eta, double *g, double *h) noexcept nogil:
        """Known: counts and means have the same sum."""
        cdef double most = -INFINITY, counts = 0.0, means = 0.0, change
        cdef Py_ssize_t i
        for i in range(self.n):
            most = most if most > eta[i] else eta[i]
        for i in range(self.n):
            counts += self.weights[i] * self.y[i]
            means += self.weights[i] * exp(eta[i] - most)
        change = log(counts / means) - most
        c[0] += change / one
        for i in range(self.n):
            eta[i] += change
        return SOLVED


cdef double log1p_exp(double x) noexcept nogil:
    return (x if x > 0.0 else 0.0) + log1p(exp(-fabs(x)))
