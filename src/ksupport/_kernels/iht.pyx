# cython: language_level=3, wraparound=False, cdivision=True
"""IHT, iterative hard thresholding: β⁺ = H_k(β - η Xᵀ(Xβ - y)), which keeps the k largest entries.

``B`` has the columns of the working set as rows (m x n).  A walk goes on from its clock's step to
``end`` and records iterates at multiples of ``every`` in ``rows``.  It returns how many, and why it
ended: DONE, REFRESH where a column left out may be needed, or NONFINITE.  ``refs``, ``edges`` and
``reach`` bound the correlations of the columns left out, see `working_set.bound_outside`.  Besides
the walk there are its pieces, for steps that multiply with all of X.
"""

import numpy as np

from libc.math cimport INFINITY, fabs
from libc.string cimport memcpy

cimport ksupport._kernels.simd as simd
from ksupport._kernels.doors cimport agree
from ksupport._kernels.prox cimport sweep_entries
from ksupport._kernels.scale cimport select_largest
from ksupport._kernels.walks cimport check_walk, subtract_y, walking
from ksupport._kernels.working_set cimport DONE, NONFINITE, REFRESH, Clock, Status, outside

NIHT_C = 0.01  # the constant c of the normalised step; steps are cut by kappa (1 - c) = 2
cdef double SHORTER = 1.0 - NIHT_C


cdef double keep_largest(
    const double *c, Py_ssize_t k, double *out, double *work, Py_ssize_t d
) noexcept nogil:
    """out = H_k(c), swept, ties to the lowest index; return what other entries must exceed."""
    cdef Py_ssize_t j, tied = k  # places left for entries at the level itself
    cdef double a, level, dust
    for j in range(d):
        work[j] = fabs(c[j])
    level = select_largest(work, d, k)
    for j in range(d):
        tied -= fabs(c[j]) > level
    for j in range(d):
        a = fabs(c[j])
        if a == level and tied > 0:
            tied -= 1
            out[j] = c[j]
        else:
            out[j] = c[j] if a > level else 0.0
    dust = sweep_entries(out, d)
    return dust if dust > level else level


cdef double propose(
    const double *beta, const double *g, double eta, Py_ssize_t k, double *new, double *work,
    Py_ssize_t d,
) noexcept nogil:
    """new = H_k(beta - eta g); return what the magnitude of another entry must exceed."""
    # Mostly the support stays: one scan sees that, and no selection is needed.
    cdef Py_ssize_t j, n_active = 0
    cdef double a, dust, least = INFINITY, most = 0.0
    for j in range(d):
        new[j] = beta[j] - eta * g[j]
        a = fabs(new[j])
        if beta[j] != 0.0:
            n_active += 1
            least = a if a < least else least
        else:
            most = a if a > most else most
    if n_active != k or not most < least:
        return keep_largest(new, k, new, work, d)
    for j in range(d):
        new[j] = new[j] if beta[j] != 0.0 else 0.0
    dust = sweep_entries(new, d)
    return dust if dust > least else least


cdef double support_of(
    const double *beta, const double *g, Py_ssize_t k, double *support, double *work, Py_ssize_t d
) noexcept nogil:
    """A vector on the support of beta, of H_k(g) if beta = 0; return what entries must exceed."""
    cdef Py_ssize_t j
    memcpy(support, beta, d * sizeof(double))
    for j in range(d):
        if beta[j] != 0.0:
            return INFINITY
    return keep_largest(g, k, support, work, d)


cdef bint same(const double *a, const double *b, Py_ssize_t d) noexcept nogil:
    """Whether a and b are nonzero at the same places."""
    cdef Py_ssize_t j
    for j in range(d):
        if (a[j] != 0.0) != (b[j] != 0.0):
            return False
    return True


cdef bint enters(double far, double level) noexcept nogil:
    """Whether a left-out entry of magnitude up to ``far`` could be among the k largest.

    A tie counts, since it goes to the lower index; zeros never matter.
    """
    return far > 0.0 and far >= level


cdef double stretch(
    const double *B, const double *a, double *Xa, Py_ssize_t m, Py_ssize_t n
) noexcept nogil:
    """‖a‖²/‖X a‖²: the step up to which a gradient step is stable in the direction a."""
    simd.combine(B, a, 1.0, Xa, m, n)
    return simd.dot(a, a, m) / simd.dot(Xa, Xa, n)


cdef double normalised_step(
    const double *B, const double *g, const double *support, double safe, double floor,
    double *part, double *Xp, Py_ssize_t m, Py_ssize_t n,
) noexcept nogil:
    """‖g_S‖²/‖X g_S‖²; ``safe`` where ‖g_S‖² is down to ``floor``."""
    cdef Py_ssize_t j
    for j in range(m):
        part[j] = g[j] if support[j] != 0.0 else 0.0
    return stretch(B, part, Xp, m, n) if simd.dot(part, part, m) > floor else safe


cdef bint accepts(
    const double *B, const double *beta, const double *new, double eta, double *part, double *Xp,
    Py_ssize_t m, Py_ssize_t n,
) noexcept nogil:
    """eta <= omega = (1-c) ‖new - beta‖²/‖X (new - beta)‖²: the step cannot raise the error."""
    cdef Py_ssize_t j
    for j in range(m):
        part[j] = new[j] - beta[j]
    return not eta > SHORTER * stretch(B, part, Xp, m, n)


def iht_walk(
    const double[:, ::1] B, const double[::1] y, double[::1] beta, double[::1] u,
    Clock clock not None, Py_ssize_t k, double step, bint normalised, double safe, double floor,
    const double[:, ::1] refs, const double[:, ::1] edges, double reach,
    Py_ssize_t end, Py_ssize_t every, double[:, ::1] rows,
):
    """Iterative hard thresholding on the working set.

    beta on the working set; u = X beta - y.  A feature left out has beta_i = 0 and stays there
    while eta |x_iᵀu| is below the k-th largest magnitude.
    """
    cdef Py_ssize_t m = B.shape[0], n = B.shape[1], n_rows = 0
    cdef double[:, ::1] scratch = np.empty((5, m))
    cdef double[::1] fitted = np.empty(n)
    cdef double *g = &scratch[0, 0]
    cdef double *new = &scratch[1, 0]
    cdef double *support = &scratch[2, 0]
    cdef double *part = &scratch[3, 0]
    cdef double *work = &scratch[4, 0]
    cdef double *Xb = &fitted[0]
    cdef double far, eta
    cdef Status status = DONE
    check_walk(clock, every, B, y, refs, edges, reach, rows)
    agree(beta.shape[0] == m and u.shape[0] == n, "beta and u")
    check_level(k, m)
    with nogil:
        while walking(clock, end, every, &beta[0], rows, &n_rows):
            simd.correlate(&B[0, 0], &u[0], g, m, n)
            far = outside(&u[0], n, refs, edges, reach)
            eta = step
            if normalised:
                if enters(far, support_of(&beta[0], g, k, support, work, m)):
                    status = REFRESH
                    break
                eta = normalised_step(&B[0, 0], g, support, safe, floor, part, Xb, m, n)
            while True:
                if enters(eta * far, propose(&beta[0], g, eta, k, new, work, m)):
                    status = REFRESH
                    break
                # Below (1-c) safe every step passes; so written, NaN ends the search too.
                if not normalised or not eta > SHORTER * safe or same(new, support, m):
                    break
                if accepts(&B[0, 0], &beta[0], new, eta, part, Xb, m, n):
                    break
                eta *= 0.5
            if status == REFRESH:
                break
            simd.combine(&B[0, 0], new, 1.0, Xb, m, n)
            if not subtract_y(Xb, &y[0], &u[0], n):
                status = NONFINITE
                break
            memcpy(&beta[0], new, m * sizeof(double))
            clock.now += 1
    return n_rows, status


# -- its pieces -------------------------------------------------------------------------------


cdef int check_level(Py_ssize_t k, Py_ssize_t d) except -1:
    if not 1 <= k <= d:
        raise ValueError(f"k must be between 1 and {d}, got {k}")
    return 0


def iht_proposal(
    const double[::1] beta, const double[::1] g, double eta, Py_ssize_t k, double[::1] new
):
    """new = H_k(beta - eta g); return what the magnitude of another entry must exceed."""
    cdef Py_ssize_t d = beta.shape[0]
    cdef double[::1] work = np.empty(d)
    agree(g.shape[0] == new.shape[0] == d, "beta, g and new")
    check_level(k, d)
    with nogil:
        level = propose(&beta[0], &g[0], eta, k, &new[0], &work[0], d)
    return level


def iht_support(const double[::1] beta, const double[::1] g, Py_ssize_t k, double[::1] support):
    """A vector on the support of beta, of H_k(g) if beta = 0; return what entries must exceed."""
    cdef Py_ssize_t d = beta.shape[0]
    cdef double[::1] work = np.empty(d)
    agree(g.shape[0] == support.shape[0] == d, "beta, g and support")
    check_level(k, d)
    with nogil:
        level = support_of(&beta[0], &g[0], k, &support[0], &work[0], d)
    return level


def same_support(const double[::1] a, const double[::1] b):
    """Whether a and b are nonzero at the same places."""
    agree(a.shape[0] == b.shape[0], "a and b")
    return same(&a[0], &b[0], a.shape[0])
