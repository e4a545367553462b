# cython: language_level=3, wraparound=False, cdivision=True
"""The profile loss min_c l(base + Qᵀc): c is optimal for each base.

Q has the columns that are always in the model (ones for an intercept), as rows.  The profile loss
is convex, and smooth as l is; its gradient in base is that of l at the minimising c.
"""

import numpy as np

from ksupport._kernels.doors cimport agree
from ksupport._kernels.linalg cimport add_squares, factorise, solve_factorised
from ksupport._kernels.losses cimport COMPLETE, OPEN, SOLVED, Constant, Loss
from libc.math cimport INFINITY, fabs, isfinite
from libc.string cimport memcpy, memset

cdef int NEWTON_STEPS = 100  # about five are needed, unless there is no minimum
cdef int HALVINGS = 60  # of a step: no double is left between the ends


cdef class ProfileLoss:
    """A loss, minimised over the coefficients of what is not penalised.

    Parameters
    ----------
    loss : Loss
        On the rows of a problem.
    Q : array of shape (q, n)
        Columns that are not penalised, as rows.
    roots : array of shape (n,)
        Square roots of the rows' weights: fitted values Xw of a design are roots times eta.
    """

    def __init__(self, Loss loss not None, const double[:, ::1] Q, const double[::1] roots):
        cdef Py_ssize_t n = loss.n, size = loss.size, i, a
        if Q.shape[1] != n or roots.shape[0] != n:
            raise ValueError(
                f"columns and roots must have {n} rows, got {Q.shape[1]} and {roots.shape[0]}"
            )
        self.loss, self.Q, self.roots, self.q = loss, Q, roots, Q.shape[0]
        self.n_free = self.q * (size // n if n > 0 else 1)
        more = loss.workspace(max(self.q, 1))  # one column: a direction along which it is curved
        self.scratch = np.empty(n * self.q + 4 * size + self.n_free * (self.n_free + 1) + more)
        self.T = &self.scratch[0]
        self.base = self.T + n * self.q
        self.h = self.base + size
        self.step = self.h + size
        self.trial = self.step + size
        self.direction = self.trial + size
        self.H = self.direction + self.n_free
        self.work = self.H + self.n_free * self.n_free
        for i in range(n):
            for a in range(self.q):
                self.T[i * self.q + a] = Q[a, i]
        self.constant = self.q > 0 and n > 0 and Q[0, 0] != 0.0
        for i in range(n if self.constant else 0):
            self.constant = self.constant and Q[0, i] == Q[0, 0]

    # -- for Python --------------------------------------------------------------------------

    def solve_rows(self, const double[:, ::1] E, double[:, ::1] C):
        """The optimal coefficients C for each row of E, from those given on, in place."""
        cdef double[:, ::1] at = np.empty((2, self.loss.size))
        cdef Py_ssize_t row
        self.check(E.shape[1], C.shape[1])
        agree(E.shape[0] == C.shape[0], "E and C")
        cdef double *c = &C[0, 0] if C.size else NULL  # there may be nothing to find
        with nogil:
            for row in range(E.shape[0]):
                self.solve_for_c(c + row * self.n_free, &E[row, 0], &at[0, 0], &at[1, 0], self.h)

    def gradient(self, const double[::1] fitted, double[::1] c, double[::1] eta, double[::1] g):
        """Gradient and eta at fitted values, with c optimal there, in place; whether it is finite."""
        cdef bint finite
        self.check(fitted.shape[0], c.shape[0])
        agree(eta.shape[0] == g.shape[0] == self.loss.size, "fitted, eta and g")
        with nogil:
            finite = self.loss_gradient(
                &c[0] if self.n_free else NULL, &fitted[0], &eta[0], &g[0])
        return finite

    def step_factor(self, const double[::1] origin, const double[::1] fitted):
        """By how much the first step of squares is lengthened along these fitted values."""
        self.check(fitted.shape[0], self.n_free)
        agree(origin.shape[0] == self.loss.size, "origin and fitted")
        return self.first_step_factor(&origin[0], &fitted[0])

    def check(self, Py_ssize_t size, Py_ssize_t free):
        """Refuse arrays of other lengths."""
        if (size, free) != (self.loss.size, self.n_free):
            raise ValueError(
                f"there are {self.loss.size} fitted values and {self.n_free} coefficients to "
                f"find, got {size} and {free}"
            )

    # -- see profile.pxd -----------------------------------------------------------------------

    cdef bint loss_gradient(self, double *c, const double *Xw, double *eta, double *g) noexcept nogil:
        cdef double total = 0.0
        cdef Py_ssize_t i, n = self.loss.n
        for i in range(self.loss.size):
            self.base[i] = Xw[i] / self.roots[i % n]
        self.solve_for_c(c, self.base, eta, g, self.h)
        for i in range(self.loss.size):
            g[i] /= self.roots[i % n]
            total += g[i]
        return isfinite(total)

    cdef double first_step_factor(self, const double *origin, const double *Xw) noexcept nogil:
        cdef double far = 0.0, squares = 0.0, along, curvature
        cdef Py_ssize_t i, n = self.loss.n
        for i in range(self.loss.size):
            far = far if far > fabs(Xw[i]) else fabs(Xw[i])
        if not far > 0.0:
            return 1.0
        for i in range(self.loss.size):  # relative to the largest, or squares could overflow
            along = Xw[i] / far
            self.step[i] = along / self.roots[i % n]
            squares += along * along
        curvature = self.loss.curvature_along(origin, self.step, self.work)
        return squares / curvature if curvature > 0.0 else 1.0

    cdef void solve_for_c(self, double *c, const double *base, double *eta, double *g,
                        double *h) noexcept nogil:
        """Newton's method.  A step is as long as needed for the loss to be half as steep there."""
        cdef Constant constant = OPEN
        cdef double slope, largest
        cdef Py_ssize_t i, a, size = self.loss.size
        cdef bint bounded
        cdef int at
        memcpy(eta, base, size * sizeof(double))
        self.add_columns(c, eta)
        if self.constant:
            constant = self.loss.solve_constant(self.Q[0, 0], self.q == 1, c, base, eta, g, h)
        if constant == COMPLETE:
            return
        self.loss.slopes(eta, g, h, self.work)
        if self.q == 0 or (self.q == 1 and constant == SOLVED):
            return
        for at in range(NEWTON_STEPS):
            bounded = self.loss.bound_curvature(h)
            # Rows may be separated class by class, while the loss is curved in others.
            if (bounded or size > self.loss.n) and self.loss.all_fitted(g):
                return
            self.newton_direction(eta, g, h, bounded)
            memset(self.step, 0, size * sizeof(double))
            self.add_columns(self.direction, self.step)
            slope = largest = 0.0
            for i in range(size):
                slope += g[i] * self.step[i]
                largest = largest if largest > fabs(self.step[i]) else fabs(self.step[i])
            if not slope < 0.0:
                return
            if largest <= self.loss.small_step and not (bounded and self.loss.of_classes):
                for a in range(self.n_free):
                    c[a] += self.direction[a]
                for i in range(size):
                    eta[i] += self.step[i]
                    g[i] += h[i] * self.step[i]
                if bounded or not self.loss.diagonal:  # h is not all, or not itself
                    self.loss.slopes(eta, g, h, self.work)
                return
            self.take_step(slope, largest, c, eta, g, h)

    cdef void take_step(self, double slope, double largest, double *c, double *eta, double *g,
                        double *h) noexcept nogil:
        """To where the loss is at most half as steep along the step; c, eta, g and h there."""
        cdef double part = 1.0, low = 0.0, high = INFINITY, ahead  # between them the loss is least
        cdef Py_ssize_t i, a, size = self.loss.size
        cdef int attempt
        if largest > self.loss.longest_step:
            part = self.loss.longest_step / largest
        for attempt in range(HALVINGS):
            for i in range(size):
                self.trial[i] = eta[i] + part * self.step[i]
            self.loss.slopes(self.trial, g, h, self.work)
            ahead = 0.0
            for i in range(size):
                ahead += g[i] * self.step[i]
            if fabs(ahead) <= -0.5 * slope:
                break
            if ahead < 0.0:
                low = part
            else:
                high = part
            part = 2.0 * low if high == INFINITY else 0.5 * (low + high)
        for a in range(self.n_free):
            c[a] += part * self.direction[a]
        memcpy(eta, self.trial, size * sizeof(double))

    cdef void newton_direction(self, const double *eta, const double *g, const double *h,
                               bint bounded) noexcept nogil:
        """direction = -H⁻¹ Qg; of classes, with a sum of zero over them."""
        cdef Py_ssize_t n = self.loss.n, q = self.q, size = self.n_free, at, a, i
        cdef double mean
        memset(self.H, 0, size * size * sizeof(double))
        if bounded:  # no class has to do with another
            for at in range(size // q):
                add_squares(self.T, n, q, h + at * n, self.H + at * q * (size + 1), size)
        else:
            self.loss.hessian(eta, h, self.T, q, self.H, self.work)
            if size > q:  # only differences of classes count: the last one's direction is zero
                memset(self.H + (size - q) * size, 0, q * size * sizeof(double))
        for at in range(size):
            mean = 0.0
            for i in range(n):
                mean -= self.Q[at % q, i] * g[at // q * n + i]
            self.direction[at] = mean
        factorise(self.H, size)
        solve_factorised(self.H, size, self.direction)
        if size == q:
            return
        for a in range(q):
            mean = 0.0
            for at in range(size // q):
                mean += self.direction[at * q + a] * q / size
            for at in range(size // q):
                self.direction[at * q + a] -= mean

    cdef void add_columns(self, const double *c, double *out) noexcept nogil:
        """out += Qᵀc; of classes, each with coefficients of its own."""
        cdef Py_ssize_t n = self.loss.n, at, i
        for at in range(self.n_free):
            for i in range(n):
                out[at // self.q * n + i] += self.Q[at % self.q, i] * c[at]
