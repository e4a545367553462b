# cython: language_level=3, wraparound=False, cdivision=True
"""SRDI, KSN, IRCR and IROSR, with which IRKSN is compared (IHT has a module of its own).

SRDI takes a gradient step, then a threshold; KSN is FISTA with the k-support prox; IRCR is a
primal-dual method for the l1 norm; IROSR is gradient descent on u and v, where w = u² - v².

``B`` has the columns of the working set as rows (m x n).  A walk goes on from its clock's step to
``end`` and records iterates at multiples of ``every`` in ``rows``.  It returns how many, and why it
ended: DONE, REFRESH where a column left out may be needed, or NONFINITE.  ``refs``, ``edges`` and
``reach`` bound the correlations of the columns left out, see `working_set.bound_outside`.  Besides
the walks there are their pieces, for steps that multiply with all of X.
"""

import numpy as np

from libc.float cimport DBL_EPSILON
from libc.math cimport isfinite, sqrt
from libc.string cimport memcpy

cimport ksupport._kernels.simd as simd
from ksupport._kernels.doors cimport agree
from ksupport._kernels.prox cimport entry_level, prox_from, prox_workspace, sweep_entries
from ksupport._kernels.walks cimport check_walk, subtract_y, walking
from ksupport._kernels.working_set cimport DONE, NONFINITE, REFRESH, Clock, Status, outside

cdef double AT_LEVEL = 64 * DBL_EPSILON  # a magnitude above a threshold by this share is at it


# -- SRDI: a gradient step, then a threshold --------------------------------------------------


cdef void soften(
    const double *z, double level, double scale, double *out, Py_ssize_t d
) noexcept nogil:
    """out = scale shrink(z, level), swept."""
    cdef Py_ssize_t j
    simd.shrink(z, d, level, 0.0, AT_LEVEL * level, 0.0, 1.0, out)
    if scale != 1.0:
        for j in range(d):
            out[j] *= scale
    sweep_entries(out, d)


def srdi_walk(
    const double[:, ::1] B, const double[::1] y, double[::1] beta, double[::1] r, double[::1] u,
    Clock clock not None, double kappa, double delta,
    const double[:, ::1] refs, const double[:, ::1] edges, double reach,
    Py_ssize_t end, Py_ssize_t every, double[:, ::1] rows,
):
    """Linearised Bregman iteration on the working set.

    beta on the working set; r = X beta - y; u with z = Xᵀu.  A feature left out stays at zero
    while |x_iᵀu| <= 1.
    """
    cdef Py_ssize_t m = B.shape[0], n = B.shape[1], n_rows = 0, i
    cdef double[::1] z = np.empty(m), new_u = np.empty(n), Xb = np.empty(n)
    cdef Status status = DONE
    check_walk(clock, every, B, y, refs, edges, reach, rows)
    agree(beta.shape[0] == m and r.shape[0] == u.shape[0] == n, "beta, r and u")
    with nogil:
        while walking(clock, end, every, &beta[0], rows, &n_rows):
            for i in range(n):
                new_u[i] = u[i] - delta * r[i]
            if outside(&new_u[0], n, refs, edges, reach) > 1.0:
                status = REFRESH
                break
            memcpy(&u[0], &new_u[0], n * sizeof(double))
            simd.correlate(&B[0, 0], &u[0], &z[0], m, n)
            soften(&z[0], 1.0, kappa, &beta[0], m)
            simd.combine(&B[0, 0], &beta[0], 1.0, &Xb[0], m, n)
            if not subtract_y(&Xb[0], &y[0], &r[0], n):
                status = NONFINITE
                break
            clock.now += 1
    return n_rows, status


# -- KSN: FISTA -------------------------------------------------------------------------------


cdef class Fista:
    """Where FISTA stands, besides its iterates.

    Attributes
    ----------
    inverse_step : float
        L, whose inverse is the step.
    momentum : float
        Of the next step.
    theta : float
        From which the momentum follows.
    scale : float
        At which the last prox was found; the next search starts there.
    """

    cdef public double inverse_step, momentum, theta, scale

    def __init__(
        self, double inverse_step, double momentum=0.0, double theta=1.0, double scale=0.0
    ):
        self.inverse_step = inverse_step
        self.momentum = momentum
        self.theta = theta
        self.scale = scale

    def __reduce__(self):
        return Fista, (self.inverse_step, self.momentum, self.theta, self.scale)

    def move_on(self, double[:, ::1] XB, const double[::1] Xb, bint restart):
        """Xβ⁺ becomes the current one; False if it left the finite numbers.

        XB = (Xβ_t, Xβ_{t-1}); ``restart``: momentum starts afresh.
        """
        agree(XB.shape[0] == 2 and XB.shape[1] == Xb.shape[0], "XB and Xb")
        return moved_on(self, XB, &Xb[0], restart)


cdef bint moved_on(Fista fista, double[:, ::1] XB, const double *Xb, bint restart) noexcept nogil:
    cdef Py_ssize_t i, n = XB.shape[1]
    cdef double theta = 0.5 + sqrt(0.25 + fista.theta * fista.theta)
    for i in range(n):
        XB[1, i] = XB[0, i]
        XB[0, i] = Xb[i]
    fista.momentum = 0.0 if restart else (fista.theta - 1.0) / theta
    fista.theta = 1.0 if restart else theta
    return isfinite(simd.dot(Xb, Xb, n))


cdef bint too_bold(
    const double *B, const double *a, const double *b, double L, double *delta, double *Xdelta,
    Py_ssize_t m, Py_ssize_t n,
) noexcept nogil:
    """Whether L is too small at b: f(b) > f(a) + ⟨∇f(a), b-a⟩ + (L/2) ‖b-a‖².

    For least squares that is ‖X(b-a)‖² > L ‖b-a‖², formed from b-a itself: near convergence a
    difference of Xb and Xa would be all rounding.
    """
    cdef Py_ssize_t j
    for j in range(m):
        delta[j] = b[j] - a[j]
    simd.combine(B, delta, 1.0, Xdelta, m, n)
    return simd.dot(Xdelta, Xdelta, n) > L * simd.dot(delta, delta, m) * (1.0 + 1e-12)


def ksn_walk(
    const double[:, ::1] B, const double[::1] y, double[:, ::1] XB, double[:, ::1] F,
    Fista fista not None, Clock clock not None, Py_ssize_t k, const double[::1] lams,
    Py_ssize_t steps, bint search,
    const double[:, ::1] refs, const double[:, ::1] edges, double reach,
    Py_ssize_t end, Py_ssize_t every, double[:, ::1] rows,
):
    """FISTA for the k-support penalty (KSN) on the working set.

    F = (β_t, β_{t-1}) on the working set, XB = (Xβ_t, Xβ_{t-1}).  The penalty is lams[t // steps].
    With a = β + momentum (β - β_{t-1}) and u = Xa - y, a left-out feature stays zero while
    |x_iᵀu|/L does not exceed the entry level of the prox.  ``search`` doubles L where it is too
    small.
    """
    cdef Py_ssize_t m = B.shape[0], n = B.shape[1], n_rows = 0, i, j, t
    cdef double[::1] u = np.empty(n), Xb = np.empty(n), work = np.empty(prox_workspace(m))
    cdef double[::1] a = np.empty(m), g = np.empty(m), q = np.empty(m), b = np.empty(m)
    cdef double lam, bound, L, s
    cdef Status status = DONE
    check_walk(clock, every, B, y, refs, edges, reach, rows)
    agree(XB.shape[0] == F.shape[0] == 2 and XB.shape[1] == n and F.shape[1] == m, "XB and F")
    agree(lams.shape[0] > 0 and steps > 0, "no penalties, or no steps for each")
    with nogil:
        while walking(clock, end, every, &F[0, 0], rows, &n_rows):
            lam = lams[min(clock.now // steps, lams.shape[0] - 1)]
            for i in range(n):
                u[i] = XB[0, i] + fista.momentum * (XB[0, i] - XB[1, i]) - y[i]
            simd.extrapolate(&F[0, 0], &F[1, 0], fista.momentum, &a[0], m)
            bound = outside(&u[0], n, refs, edges, reach)
            simd.correlate(&B[0, 0], &u[0], &g[0], m, n)
            while True:
                L = fista.inverse_step
                for j in range(m):
                    q[j] = a[j] - g[j] / L
                s = prox_from(&q[0], m, lam / L, k, fista.scale, &b[0], &work[0])
                if bound > L * entry_level(lam / L, s):
                    status = REFRESH
                    break
                fista.scale = s
                if not (search and too_bold(&B[0, 0], &a[0], &b[0], L, &q[0], &Xb[0], m, n)):
                    break
                fista.inverse_step = 2.0 * L
            if status == REFRESH:
                break
            simd.combine(&B[0, 0], &b[0], 1.0, &Xb[0], m, n)
            t = clock.now + 1
            if not moved_on(fista, XB, &Xb[0], t % steps == 0 and t // steps < lams.shape[0]):
                status = NONFINITE
                break
            memcpy(&F[1, 0], &F[0, 0], m * sizeof(double))
            memcpy(&F[0, 0], &b[0], m * sizeof(double))
            clock.now = t
    return n_rows, status


# -- IRCR: dual steps in sample space, soft thresholds of features ----------------------------


cdef bint move_dual(
    double[:, ::1] T, const double *Xb, const double *y, double sigma
) noexcept nogil:
    """theta⁺ = theta + sigma (Xβ - y); T = (theta, theta_prev)."""
    cdef Py_ssize_t i, n = T.shape[1]
    cdef double new
    for i in range(n):
        new = T[0, i] + sigma * (Xb[i] - y[i])
        T[1, i] = T[0, i]
        T[0, i] = new
    return isfinite(simd.dot(&T[0, 0], &T[0, 0], n) + simd.dot(Xb, Xb, n))


cdef void move_primal(double *c, double tau, double[:, ::1] F) noexcept nogil:
    """β ← shrink(β - tau c, tau), in row 0 of F; row 1, if there is one, is the sum of the β."""
    cdef Py_ssize_t j, m = F.shape[1]
    for j in range(m):
        c[j] = F[0, j] - tau * c[j]
    soften(c, tau, 1.0, &F[0, 0], m)
    if F.shape[0] > 1:
        for j in range(m):
            F[1, j] += F[0, j]


def ircr_walk(
    const double[:, ::1] B, const double[::1] y, double[:, ::1] T, double[:, ::1] F,
    Clock clock not None, double sigma, double tau, const double[:, ::1] refs, const double[:, ::1] edges, double reach,
    Py_ssize_t end, Py_ssize_t every, double[:, ::1] rows,
):
    """The dual-primal method for the l1 norm (IRCR) on the working set.

    T = (theta_t, theta_{t-1}); F = β_t on the working set and, if averages are asked for, the sum
    of β_1..β_t.  With u = 2 theta_t - theta_{t-1}, a left-out feature stays zero while
    |x_iᵀu| <= 1.
    """
    cdef Py_ssize_t m = B.shape[0], n = B.shape[1], n_rows = 0, i, j
    cdef double[::1] u = np.empty(n), Xb = np.empty(n), c = np.empty(m)
    cdef bint average = F.shape[0] > 1
    cdef Status status = DONE
    check_walk(clock, every, B, y, refs, edges, reach, rows)
    agree(T.shape[0] == 2 and T.shape[1] == n and F.shape[0] > 0 and F.shape[1] == m, "T and F")
    with nogil:
        while True:
            if average and clock.is_due(end, every):
                for j in range(m):
                    c[j] = F[1, j] / max(clock.now, 1)
            if not walking(clock, end, every, &c[0] if average else &F[0, 0], rows, &n_rows):
                break
            for i in range(n):
                u[i] = 2.0 * T[0, i] - T[1, i]
            if outside(&u[0], n, refs, edges, reach) > 1.0:
                status = REFRESH
                break
            simd.correlate(&B[0, 0], &u[0], &c[0], m, n)
            move_primal(&c[0], tau, F)
            simd.combine(&B[0, 0], &F[0, 0], 1.0, &Xb[0], m, n)
            if not move_dual(T, &Xb[0], &y[0], sigma):
                status = NONFINITE
                break
            clock.now += 1
    return n_rows, status


# -- IROSR: every coordinate moves ------------------------------------------------------------


cdef bint move_factors(double[:, ::1] U, const double *g, double step, double *w) noexcept nogil:
    """u ← u (1 - step g), v ← v (1 + step g), w = u² - v²; False if w left the finite numbers."""
    cdef Py_ssize_t j, d = U.shape[1]
    cdef double move, u, v
    for j in range(d):
        move = step * g[j]
        u, v = U[0, j] * (1.0 - move), U[1, j] * (1.0 + move)
        U[0, j], U[1, j] = u, v
        w[j] = (u - v) * (u + v)
    return isfinite(simd.sum_of(w, d))


def irosr_walk(
    const double[:, ::1] B, const double[:, ::1] X, const double[::1] y, double[:, ::1] U,
    double[::1] w, Clock clock not None, double step, Py_ssize_t end, Py_ssize_t every,
    double[:, ::1] rows,
):
    """IROSR on all columns: B (as rows) and X = Bᵀ, so that both products run contiguously.

    U = (u_t, v_t); w = u_t² - v_t²; step = 2 eta/n.
    """
    cdef Py_ssize_t m = B.shape[0], n = B.shape[1], n_rows = 0, i
    cdef double[::1] g = np.empty(m), r = np.empty(n)
    cdef Status status = DONE
    check_walk(clock, every, B, y, None, None, 0.0, rows)
    agree(X.shape[0] == n and X.shape[1] == m, "B and X")
    agree(U.shape[0] == 2 and U.shape[1] == w.shape[0] == m, "U and w")
    with nogil:
        while walking(clock, end, every, &w[0], rows, &n_rows):
            simd.combine(&B[0, 0], &w[0], 1.0, &r[0], m, n)
            for i in range(n):
                r[i] -= y[i]
            simd.combine(&X[0, 0], &r[0], 1.0, &g[0], n, m)
            if not move_factors(U, &g[0], step, &w[0]):
                status = NONFINITE
                break
            clock.now += 1
    return n_rows, status


# -- pieces of these walks, for steps that multiply with all of X -----------------------------


def residual_of(const double[::1] Xb, const double[::1] y, double[::1] u):
    """u = X b - y; False if its norm left the finite numbers."""
    agree(Xb.shape[0] == u.shape[0] == y.shape[0], "Xb, y and u")
    return subtract_y(&Xb[0], &y[0], &u[0], y.shape[0])


def soft_threshold(const double[::1] z, double level, double scale, double[::1] out):
    """out = scale shrink(z, level), swept."""
    agree(z.shape[0] == out.shape[0], "z and out")
    with nogil:
        soften(&z[0], level, scale, &out[0], z.shape[0])


def ircr_dual(double[:, ::1] T, const double[::1] Xb, const double[::1] y, double sigma):
    """theta⁺ = theta + sigma (Xβ - y), T = (theta, theta_prev); False: not finite any more."""
    agree(T.shape[0] == 2 and T.shape[1] == Xb.shape[0] == y.shape[0], "T, Xb and y")
    return move_dual(T, &Xb[0], &y[0], sigma)


def ircr_primal(double[::1] c, double tau, double[:, ::1] F):
    """β ← shrink(β - tau c, tau), in row 0 of F; row 1, if there is one, is the sum of the β."""
    agree(F.shape[0] > 0 and F.shape[1] == c.shape[0], "c and F")
    with nogil:
        move_primal(&c[0], tau, F)


def irosr_move(double[:, ::1] U, const double[::1] g, double step, double[::1] w):
    """u ← u (1 - step g), v ← v (1 + step g), w = u² - v²; False: not finite any more."""
    agree(U.shape[0] == 2 and U.shape[1] == g.shape[0] == w.shape[0], "U, g and w")
    with nogil:
        finite = move_factors(U, &g[0], step, &w[0])
    return finite
