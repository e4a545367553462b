# cython: language_level=3, wraparound=False, cdivision=True
"""Algorithm 1 (IRKSN) on a working set of columns.

With R(w) = (1-alpha)/2 (‖w‖_k^sp)² + alpha/2 ‖w‖² and lam = (1-alpha)/alpha, a step is

    v = z + beta (z - z_prev)                    momentum, see `Pace`
    r = prox(-Xᵀv/alpha)                         the prox of (lam/2) (‖·‖_k^sp)²
    z⁺ = v + gamma g(Xr)                         g(Xr) = Xr - y for squares
    w⁺ = prox(-Xᵀz⁺/alpha)                       the iterate

for any `Objective`: squares with constant steps are the paper's algorithm.
"""

import numpy as np

from libc.math cimport isfinite, sqrt
from libc.string cimport memcpy

cimport ksupport._kernels.simd as simd
from ksupport._kernels.doors cimport agree, numbers_below
from ksupport._kernels.objectives cimport Objective, Pace
from ksupport._kernels.prox cimport entry_level, prox_groups_from, prox_workspace
from ksupport._kernels.working_set cimport (
    DONE, NONFINITE, REFRESH, Clock, Status, check_clock, check_refs, combine_all, correlate_all,
    outside,
)


def thetas(Py_ssize_t steps):
    """0, theta_1, ..., theta_steps of constant steps: at t that of the step which led to z_t."""
    out = np.zeros(steps + 1)
    cdef double[::1] theta = out
    cdef Py_ssize_t t
    for t in range(steps):
        theta[t + 1] = 0.5 + sqrt(0.25 + theta[t] * theta[t])
    return out


cdef class Walk:
    """A walk between two refreshes of the working set.

    Parameters
    ----------
    state : IRKSNState
        Moved on, in place: Z = (z_t, z_{t-1}), their correlations F with the working set, pace,
        clock, times (tau_t = gamma theta² of step t), and ``at``, the vector for which new columns
        are needed.
    working : WorkingSet
        Columns, and the bound on those left out: a feature enters w (or r) only if its |x_iᵀz| (or
        |x_iᵀv|) exceeds lam/s, s the scale of the prox.
    """

    cdef const double[:, ::1] B, refs, edges
    cdef double reach
    cdef Objective objective
    cdef Pace pace
    cdef Clock clock
    cdef const double[::1] y
    cdef double[:, ::1] Z, P
    cdef double[::1] at, times
    cdef const Py_ssize_t[::1] labels
    cdef Py_ssize_t k, m, n, responses
    cdef double alpha, lam, sign
    cdef double[::1] samples, features  # which own what the pointers below point into
    cdef double *v
    cdef double *z
    cdef double *g
    cdef double *Xr
    cdef double *Xw
    cdef double *q  # Xᵀv
    cdef double *p  # Xᵀz
    cdef double *r
    cdef double *w
    cdef double *work

    def __init__(self, state, working):
        self.B, self.refs, self.edges = working.columns, working.refs, working.edges
        self.reach = working.reach
        self.objective, self.pace, self.clock = state.objective, state.pace, state.clock
        self.y, self.Z, self.P, self.at, self.times = state.y, state.Z, state.F, state.at, state.times
        self.k, self.alpha, self.lam = state.k, state.alpha, state.lam
        self.labels, self.sign = state.labels, state.sign
        self.n, self.m = self.y.shape[0], self.P.shape[1]
        self.responses = self.n // max(self.B.shape[1], 1)
        self.check()
        self.samples = np.empty(5 * self.n)
        self.v = &self.samples[0]
        self.z = self.v + self.n
        self.g = self.z + self.n
        self.Xr = self.g + self.n
        self.Xw = self.Xr + self.n
        self.features = np.empty(4 * self.m + prox_workspace(self.m))
        self.q = &self.features[0]
        self.p = self.q + self.m
        self.r = self.p + self.m
        self.w = self.r + self.m
        self.work = self.w + self.m

    cdef int check(self) except -1:
        """Whether the state lives on the features and rows of the working set."""
        cdef Py_ssize_t labelled = self.labels.shape[0]
        if self.objective is None or self.pace is None or self.clock is None:
            raise ValueError("a walk needs an objective, a pace and a clock")
        agree(self.m == self.responses * self.B.shape[0], "F and the columns")
        agree(self.n == self.responses * self.B.shape[1], "y and the columns")
        agree(self.Z.shape[0] == self.P.shape[0] == 2 and self.Z.shape[1] == self.n, "Z, F and y")
        agree(self.at.shape[0] == self.objective.y.shape[0] == self.n, "at, the objective and y")
        agree(labelled == 0 or self.m % labelled == 0, "labels and F")
        numbers_below(self.labels, labelled, "labels")
        return check_refs(self.n, self.refs, self.edges, self.reach)

    def run(self, Py_ssize_t end, Py_ssize_t every, double[:, ::1] rows, double[:, :, ::1] seen):
        """Walk to ``end``, and record iterates at multiples of ``every`` in rows.

        Returns the number of rows recorded, and why it ended.  The vectors looked at after each
        step, z and the v of the first trial, are left in ``seen``, as far as it goes.
        """
        cdef Py_ssize_t n_rows = 0, began = self.clock.now
        cdef Status status = DONE
        cdef bint known = False  # whether w is that of z_t
        check_clock(self.clock, every)
        agree(rows.shape[1] == self.m, "rows and F")
        agree(seen.shape[0] == 0 or (seen.shape[1] > 0 and seen.shape[2] == self.n), "seen and y")
        with nogil:
            while True:
                if n_rows < rows.shape[0] and self.clock.is_due(end, every):
                    if not known and not self.find_w(&self.P[0, 0], &self.Z[0, 0]):
                        status = REFRESH
                        break
                    self.record(&rows[n_rows, 0])
                    n_rows += 1
                if self.clock.now >= end or n_rows == rows.shape[0]:
                    break
                status = self.step()
                if status != DONE:
                    break
                known = not self.pace.constant
                if self.clock.now - began < seen.shape[0]:
                    self.look(seen[self.clock.now - began])
                self.clock.now += 1
                if self.clock.now < self.times.shape[0]:
                    self.times[self.clock.now] = self.pace.gamma * self.pace.theta * self.pace.theta
        return n_rows, status

    cdef void record(self, double *row) noexcept nogil:
        """w_t, the iterate of this step."""
        cdef Py_ssize_t j
        for j in range(self.m):
            row[j] = self.w[j] / -self.alpha
        self.clock.recorded = self.clock.now

    cdef Status step(self) noexcept nogil:
        """One step of Algorithm 1, as long as `Pace` and the objective allow."""
        cdef double gamma, theta, beta
        if self.pace.gamma == 0.0 and not self.find_first_step():
            return REFRESH
        gamma = self.pace.trial_step()
        while gamma > self.objective.shortest_step:
            theta, beta = self.pace.next_theta(gamma), self.pace.momentum(gamma)
            extrapolate(self.Z, beta, self.v)
            extrapolate(self.P, beta, self.q)
            if not self.find(self.q, self.v, 1.0, &self.pace.scale_r, self.r):
                return REFRESH
            combine_all(self.B, self.r, -1.0 / self.alpha, self.responses, self.Xr)
            if self.objective.gradient_at(self.Xr, self.g):
                if not self.move(gamma):
                    return NONFINITE
                correlate_all(self.B, self.z, self.responses, self.p)
                if not self.pace.constant:
                    if not self.find_w(self.p, self.z):
                        return REFRESH
                    combine_all(self.B, self.w, -1.0 / self.alpha, self.responses, self.Xw)
                if self.pace.constant or self.objective.step_holds(
                    self.z, self.v, gamma, self.Xr, self.g, self.Xw, self.pace
                ):
                    shift(self.Z, self.z)
                    shift(self.P, self.p)
                    self.pace.accept(theta, gamma)
                    return DONE
            gamma *= 0.5
            self.pace.refuse(gamma)
        return NONFINITE

    cdef bint find_first_step(self) noexcept nogil:
        """From w = ∇R*(Xᵀy); False if a feature left out may be in it."""
        cdef Py_ssize_t i
        cdef double size, scale = 0.0
        for i in range(self.n):
            self.v[i] = -self.y[i]
        correlate_all(self.B, self.v, self.responses, self.q)
        size = simd.max_abs(self.q, self.m)
        if size > 0.0:  # the prox of c q is c times that of q
            for i in range(self.m):
                self.q[i] /= size
        else:
            size = 1.0
        if not self.find(self.q, self.v, size, &scale, self.r):
            return False
        combine_all(self.B, self.r, -1.0 / self.alpha, self.responses, self.Xr)
        self.pace.gamma = self.objective.first_step_along(self.Xr) / size
        return True

    cdef bint find_w(self, const double *p, const double *z) noexcept nogil:
        """w = -alpha prox(-p/alpha), p = Xᵀz; False if a feature left out may be in it."""
        return self.find(p, z, 1.0, &self.pace.scale_w, self.w)

    cdef bint find(
        self, const double *q, const double *u, double unit, double *scale, double *out
    ) noexcept nogil:
        """out = -alpha prox(-q/alpha), q = Xᵀu/unit, from this scale on; False as above."""
        cdef const Py_ssize_t *labels = NULL
        cdef double s
        if self.labels.shape[0] > 0:
            labels = &self.labels[0]
        s = prox_groups_from(
            q, self.m, self.lam, self.k, scale[0], labels, self.labels.shape[0], -self.sign, out,
            self.work
        )
        if outside(u, self.n, self.refs, self.edges, self.reach) / unit > entry_level(self.lam, s):
            memcpy(&self.at[0], u, self.n * sizeof(double))
            return False
        scale[0] = s
        return True

    cdef bint move(self, double gamma) noexcept nogil:
        """z = v + gamma g; whether it is finite."""
        cdef Py_ssize_t i
        for i in range(self.n):
            self.z[i] = self.v[i] + gamma * self.g[i]
        return isfinite(simd.sum_of(self.z, self.n))

    cdef void look(self, double[:, ::1] seen) noexcept nogil:
        """The vectors whose correlations the next step looks at: z, and v of the first trial."""
        cdef double beta = self.pace.momentum(self.pace.trial_step())
        memcpy(&seen[0, 0], &self.Z[0, 0], self.n * sizeof(double))
        if seen.shape[0] > 1:
            extrapolate(self.Z, beta, &seen[1, 0])


cdef void extrapolate(const double[:, ::1] A, double beta, double *out) noexcept nogil:
    """out = a + beta (a - a_before), A = (a, a_before); rounded as NumPy does."""
    cdef const double *now = &A[0, 0]
    cdef const double *before = &A[1, 0]
    cdef Py_ssize_t i
    for i in range(A.shape[1]):
        out[i] = now[i] + beta * (now[i] - before[i])


cdef void shift(double[:, ::1] A, const double *new) noexcept nogil:
    """A = (a, a_before) becomes (new, a)."""
    cdef Py_ssize_t size = A.shape[1] * sizeof(double)
    memcpy(&A[1, 0], &A[0, 0], size)
    memcpy(&A[0, 0], new, size)
