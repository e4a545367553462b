# cython: language_level=3, wraparound=False, cdivision=True
"""Refits by a loss: Newton's method for min_b l(Tb) + ridge/2 ‖b‖², of many models of few columns.

T has the columns of one model, first those that are not penalised, on which there is no ridge.
"""

import numpy as np

from ksupport._kernels.doors cimport ends_of_parts, numbers_below
from ksupport._kernels.linalg cimport add_squares, factorise, solve_symmetric, solve_workspace
from ksupport._kernels.losses cimport Loss
from ksupport._kernels.simd cimport add_product, correlate
from libc.math cimport INFINITY, fabs, log
from libc.string cimport memcpy, memset

NEWTON_STEPS = 60  # about ten are needed, unless there is no minimum
LONGEST = 10.0  # change of eta, in units of the loss, in one step
CLOSE = 1e-9  # relative to eta; the next step would be its square
LEAST_GAIN = 1e-16  # of a step, over the loss: a row that its own column fits goes on for ever
SMALL_RIDGE = 1e-4  # of the mean weighted square of the columns, where there is no minimum

cdef int MAX_STEPS = NEWTON_STEPS
cdef double LONGEST_CHANGE = LONGEST
cdef double CLOSE_SHARE = CLOSE
cdef double GAIN = LEAST_GAIN
cdef double ADDED_RIDGE = SMALL_RIDGE
cdef double SHORTEST = 1e-300  # a step that had to become shorter than this is none
cdef double ARMIJO = 0.1  # share of the fall that a step's slope promises
cdef double ROUNDING = 1e-13  # of a loss, relative to the terms that it is summed from


cdef class Newton:
    """Newton's method on the models of one problem, one after the other.

    Parameters
    ----------
    loss : Loss
        Of one fitted value a row.
    Q : array of shape (q, n)
        Columns that are not penalised, as rows.
    start : array of shape (q,)
        Coefficients of Q to start at.
    widest : int
        The largest number of features of a model.
    unit : float
        The unit of eta.
    terms : float
        The size of the terms whose differences values of the loss are: where the fit is almost
        perfect, values are far smaller.
    """

    cdef Loss loss
    cdef const double[:, ::1] Q
    cdef const double[::1] start
    cdef double unit, terms
    cdef Py_ssize_t n, q, p  # rows; unpenalized and all columns of the model
    cdef double[::1] scratch  # what the pointers below point into
    cdef double *T  # n x p
    cdef double *b  # coefficients
    cdef double *g  # derivatives in eta
    cdef double *h
    cdef double *values
    cdef double *along  # T step
    cdef double *ahead  # eta after a step
    cdef double *gradient  # in b
    cdef double *step
    cdef double *trial  # b after a step
    cdef double *H  # second derivatives in b
    cdef double *work

    def __init__(self, Loss loss not None, const double[:, ::1] Q, const double[::1] start,
                 Py_ssize_t widest, double unit, double terms):
        cdef Py_ssize_t n = loss.n, p = Q.shape[0] + widest, more
        if loss.size != n or Q.shape[1] != n or start.shape[0] != Q.shape[0]:
            raise ValueError(
                f"a loss of {n} rows and {loss.size} fitted values does not go with "
                f"{start.shape[0]} coefficients of {Q.shape[0]} columns of {Q.shape[1]} rows"
            )
        if widest < 0:
            raise ValueError(f"a model cannot have {widest} features")
        more = max(loss.workspace(max(p, 1)), solve_workspace(p))
        self.loss, self.Q, self.start, self.unit, self.terms = loss, Q, start, unit, terms
        self.n, self.q = n, Q.shape[0]
        self.scratch = np.empty(n * p + 5 * n + 4 * p + p * p + more + 1)
        self.T = &self.scratch[0]
        self.g = self.T + n * p
        self.h = self.g + n
        self.values = self.h + n
        self.along = self.values + n
        self.ahead = self.along + n
        self.b = self.ahead + n
        self.gradient = self.b + p
        self.step = self.gradient + p
        self.trial = self.step + p
        self.H = self.trial + p
        self.work = self.H + p * p

    cdef bint refit(self, const double[:, ::1] columns, const Py_ssize_t *features,
                    Py_ssize_t size, double *ridge, double *eta) noexcept nogil:
        """The model of these columns, with a small ridge where there is no minimum otherwise."""
        cdef int attempt
        self.p = self.q + size
        for attempt in range(2):
            self.gather(columns, features)
            if attempt > 0:
                ridge[0] = max(ridge[0], ADDED_RIDGE * self.mean_square())
            if self.minimise(ridge[0], MAX_STEPS * (1 + 9 * attempt), eta):
                return True
        return False

    cdef void gather(self, const double[:, ::1] columns, const Py_ssize_t *features) noexcept nogil:
        """All columns of a model in T; b is where Newton's method starts."""
        cdef const double *column
        cdef Py_ssize_t i, a
        for a in range(self.p):
            self.b[a] = self.start[a] if a < self.q else 0.0
            column = &self.Q[a, 0] if a < self.q else &columns[features[a - self.q], 0]
            for i in range(self.n):
                self.T[i * self.p + a] = column[i]

    cdef double mean_square(self) noexcept nogil:
        """Of the penalised columns, weighted sums of squares."""
        cdef double total = 0.0
        cdef Py_ssize_t i, a
        for i in range(self.n):
            for a in range(self.q, self.p):
                total += self.loss.weights[i] * self.T[i * self.p + a] * self.T[i * self.p + a]
        return total / max(self.p - self.q, 1)

    cdef bint minimise(self, double ridge, int steps, double *eta) noexcept nogil:
        """b, eta and the second derivatives H at the minimum; whether steps ended there."""
        cdef double now, after, change, size, fall, part, large
        cdef bint close = False, last
        cdef Py_ssize_t i, a, n = self.n, p = self.p
        cdef int at
        correlate(self.T, self.b, eta, n, p)
        now = self.total(ridge, self.b, eta)
        for at in range(steps + 1):
            memset(self.H, 0, p * p * sizeof(double))
            self.loss.derivatives(eta, self.T, p, self.g, self.h, self.H, self.work)
            # What separates classes and is not penalised leaves nothing but rounding to explain.
            if close or (at == 0 and self.loss.of_classes and self.loss.all_fitted(self.g)):
                return True
            self.find_step(ridge, eta)
            correlate(self.T, self.step, self.along, n, p)
            change, size, fall = 0.0, self.unit, 0.0
            for i in range(n):
                change = change if change > fabs(self.along[i]) else fabs(self.along[i])
                size = size if size > fabs(eta[i]) else fabs(eta[i])
            for a in range(p):
                fall += ARMIJO * self.gradient[a] * self.step[a]
            large = max(fabs(now), self.terms)
            close = change <= CLOSE_SHARE * size
            # Without a ridge one is to be added, where steps go on for ever.
            last = (ridge > 0.0 or p == self.q) and -fall <= ARMIJO * GAIN * large
            part = 1.0
            if not close and change > LONGEST_CHANGE * self.unit:
                part = LONGEST_CHANGE * self.unit / change
            while True:
                for a in range(p):
                    self.trial[a] = self.b[a] + part * self.step[a]
                for i in range(n):
                    self.ahead[i] = eta[i] + part * self.along[i]
                after = self.total(ridge, self.trial, self.ahead)
                if close or after <= now + part * fall + ROUNDING * large:
                    break
                part *= 0.5
                if not part > SHORTEST:
                    return False
            memcpy(self.b, self.trial, p * sizeof(double))
            memcpy(eta, self.ahead, n * sizeof(double))
            now, close = after, close or last
        return False

    cdef double total(self, double ridge, const double *b, const double *eta) noexcept nogil:
        """Σ weights values, and the ridge's share."""
        cdef double total = 0.0, squares = 0.0
        cdef Py_ssize_t i, a
        self.loss.values(eta, self.values, self.work)
        for i in range(self.n):
            total += self.loss.weights[i] * self.values[i]
        for a in range(self.q, self.p):
            squares += b[a] * b[a]
        return total + 0.5 * ridge * squares

    cdef void find_step(self, double ridge, const double *eta) noexcept nogil:
        """step = -H⁻¹ gradient, both with the ridge's share; H is overwritten."""
        if not self.solve(ridge) and self.loss.majorize(eta, self.g, self.h):
            # Steep, and because of rows alone where the loss is linear.
            memset(self.H, 0, self.p * self.p * sizeof(double))
            add_squares(self.T, self.n, self.p, self.h, self.H, self.p)
            self.solve(ridge)

    cdef bint solve(self, double ridge) noexcept nogil:
        cdef Py_ssize_t a
        for a in range(self.p):
            self.gradient[a] = ridge * self.b[a] if a >= self.q else 0.0
            self.H[a * self.p + a] += ridge if a >= self.q else 0.0
        add_product(self.T, self.g, self.gradient, self.n, self.p)
        for a in range(self.p):
            self.step[a] = -self.gradient[a]
        return solve_symmetric(self.H, self.p, self.step, self.work)

    cdef void prior_left(self, double ridge, double *volume, double *freedom) noexcept nogil:
        """log det(I + K/ridge) and the trace of K(K + ridge I)⁻¹, K the penalised part of H."""
        cdef Py_ssize_t m = self.p - self.q, a, j, k
        cdef double *L = self.work
        cdef double *x = self.step
        cdef double inverse = 0.0
        if not ridge > 0.0:
            volume[0], freedom[0] = INFINITY if m > 0 else 0.0, m
            return
        for a in range(m):
            for j in range(a + 1):
                L[a * m + j] = self.H[(self.q + a) * self.p + self.q + j]
            L[a * m + a] += ridge
        factorise(L, m)
        volume[0] = -m * log(ridge)
        for a in range(m):
            volume[0] += 2.0 * log(L[a * m + a])
            for j in range(a, m):  # the column a of L⁻¹, whose squares sum up to the trace of K⁻¹
                x[j] = 1.0 if j == a else 0.0
                for k in range(a, j):
                    x[j] -= L[j * m + k] * x[k]
                x[j] /= L[j * m + j]
                inverse += x[j] * x[j]
        freedom[0] = m - ridge * inverse


def refit_models(Loss loss not None, const double[:, ::1] Q, const double[::1] start,
                 const double[:, ::1] columns, const Py_ssize_t[::1] indptr,
                 const Py_ssize_t[::1] features, const double[::1] ridges, double unit,
                 double terms):
    """Refits of many models: of model i the features are ``features[indptr[i]:indptr[i + 1]]``.

    Parameters
    ----------
    loss, Q, start, unit, terms
        See `Newton`.
    columns : array of shape (d, n)
        The features, as rows.
    indptr, features : arrays of int
        The models.
    ridges : array of shape (models,)
        The ridge of each; where there is no minimum, as of classes that columns separate, a small
        one is added.

    Returns
    -------
    coef : array
        Coefficients of all models' features, one after the other.
    free : array of shape (models, q)
        Coefficients of Q.
    E : array of shape (models, n)
        Fitted values.
    told : array of shape (models, 4)
        Whether Newton's method ended; the ridge that was used; and of the ridge asked for
        log det(I + K/ridge) and the trace of K(K + ridge I)⁻¹, with K the second derivatives in the
        coefficients of features.
    """
    cdef Py_ssize_t count = ridges.shape[0], q = Q.shape[0], at
    cdef double[::1] coef = np.empty(features.shape[0])
    cdef double[:, ::1] free = np.empty((count, q)), E = np.empty((count, loss.n))
    cdef double[:, ::1] told = np.empty((count, 4))
    if columns.shape[1] != loss.n or indptr.shape[0] != count + 1:
        raise ValueError(
            f"columns of {columns.shape[1]} rows and {indptr.shape[0] - 1} models do not go with "
            f"a loss of {loss.n} rows and {count} ridges"
        )
    ends_of_parts(indptr, features.shape[0])
    numbers_below(features, columns.shape[0], "features")
    widest = int(np.diff(indptr).max(initial=0))
    cdef Newton newton = Newton(loss, Q, start, widest, unit, terms)
    cdef const Py_ssize_t *S = &features[0] if features.shape[0] else NULL
    cdef double *w = &coef[0] if features.shape[0] else NULL
    cdef double *b = &free[0, 0] if count * q else NULL
    with nogil:
        for at in range(count):
            told[at, 1] = ridges[at]
            told[at, 0] = newton.refit(columns, S + indptr[at], indptr[at + 1] - indptr[at],
                                       &told[at, 1], &E[at, 0])
            if q:
                memcpy(b + at * q, newton.b, q * sizeof(double))
            if newton.p > q:
                memcpy(w + indptr[at], newton.b + q, (newton.p - q) * sizeof(double))
            newton.prior_left(ridges[at], &told[at, 2], &told[at, 3])
    return np.asarray(coef), np.asarray(free), np.asarray(E), np.asarray(told)
