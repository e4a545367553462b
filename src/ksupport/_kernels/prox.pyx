# cython: language_level=3, wraparound=False, cdivision=True
"""The k-support norm and the box norm: their squares, their prox, and its Jacobian.

The box norm is ‖w‖² = min Σ w_i²/theta_i over theta_i in [low, low + width] with a bounded sum;
low = 0, width = 1 and a sum of at most k is the k-support norm.  ``theta = low + width theta'``,
where theta' solves the search in scale.pyx for ``lam' = (lam + low)/width``.
"""

from cython cimport floating
from libc.float cimport DBL_EPSILON
from libc.math cimport INFINITY, copysign, fabs, floor, isfinite, ldexp, sqrt
from libc.stdlib cimport free, malloc
from libc.string cimport memset

cimport ksupport._kernels.simd as simd
from ksupport._kernels.doors cimport agree, numbers_below
from ksupport._kernels.scale cimport Scale, find_scale, find_scale_near, unit_scale

cdef double LARGE_LAM = 32.0  # theta goes from 0 to 1 within so few entries that guesses miss them

# What is zero but for rounding is zero: otherwise supports have features that are not there on
# another CPU.
cdef double AT_LEVEL = 64 * DBL_EPSILON  # a magnitude that exceeds a threshold by this share
cdef double DUST_SHARE = ldexp(1.0, -39)  # of the largest entry: what is smaller counts as zero
DUST = DUST_SHARE


cdef Py_ssize_t prox_workspace(Py_ssize_t n) noexcept nogil:
    return 4 * n


cdef double *allocated(Py_ssize_t n) except NULL nogil:
    """Room for n doubles."""
    cdef double *room = <double *> malloc(max(n, 1) * sizeof(double))
    if room == NULL:
        with gil:
            raise MemoryError
    return room


cdef void shrink(
    const double *q, Py_ssize_t n, Scale found, double lam, double low, double width, double *out
) noexcept nogil:
    """Write the prox for a scale, with theta in [low, low + width].

    As ``x = a - lam/s`` wherever theta moves freely, no theta is needed: x is that soft
    threshold, clipped to the two extreme shrinkages.  Where a whole interval of s solves the
    search (k entries at theta = 1, the others at 0), s may be its end, and lam/s the next
    magnitude up to rounding: that one is zero.
    """
    cdef double least = low / (low + lam) if low > 0.0 else 0.0
    cdef double most = (low + width) / (low + width + lam)
    cdef double theta = low + width * found.delta  # at magnitude rho
    cdef double base, shift, cut
    cdef Py_ssize_t i
    if found.rho == 0.0:
        for i in range(n):
            out[i] = q[i] * most
        return
    # a - lam/s as (a - base) + shift: without cancellation for large lam, and exact in small
    # entries for small lam.
    if theta < lam:
        base, shift = found.rho, found.rho * (theta / (theta + lam))
    else:
        base, shift = 0.0, -found.rho * (lam / (theta + lam))
    # A share of theta's own range at most: for huge lam that is as narrow as rounding.
    cut = -INFINITY if low > 0.0 else (base - shift) * min(AT_LEVEL, ldexp(1.0, -10) / lam)
    simd.shrink(q, n, base, shift, cut, least, most, out)


cdef double sweep_entries(double *x, Py_ssize_t n) noexcept nogil:
    cdef double largest = simd.max_abs(x, n)
    if not largest < INFINITY:
        return 0.0
    simd.flush(x, n, DUST_SHARE * largest)
    return DUST_SHARE * largest


cdef double prox_from(
    const double *q, Py_ssize_t n, double lam, Py_ssize_t k, double s, double *out, double *work
) noexcept nogil:
    """A few Newton scans settle the scale if q has moved little.

    For large lam they hardly ever do, as few entries have a theta inside (0, 1), and soon others:
    then rho is looked for near the last one, and if it is not there, the search starts afresh.
    """
    cdef Scale found = Scale(0.0, 0.0)
    cdef double guess, delta = 0.5, total, slope
    cdef int scan
    if s > 0.0:
        guess = (lam + 0.5) / s
        for scan in range(6 if lam < LARGE_LAM else 0):
            simd.theta_sum(q, n, guess, lam, delta, &total, &slope)
            if fabs(total - k) <= 8 * DBL_EPSILON * k:
                found.rho, found.delta = guess, delta
                break
            if slope <= 0.0 or not isfinite(total):
                break
            delta += (k - total) / slope
            if delta <= -lam:
                break
        if found.rho == 0.0:
            found = find_scale_near(q, n, lam, k, guess, out, work)
    if found.rho == 0.0:
        found = find_scale(q, n, lam, <double> k, out, work)
    shrink(q, n, found, lam, 0.0, 1.0, out)
    sweep_entries(out, n)
    return (lam + found.delta) / found.rho if found.rho > 0.0 else 0.0


cdef void norms_of_groups(
    const double *q, Py_ssize_t n, const Py_ssize_t *labels, Py_ssize_t m, double sign,
    double *norms, Py_ssize_t count
) noexcept nogil:
    """The l2 norm of each of ``count`` groups; of entries of this sign alone, unless it is 0."""
    cdef double largest = simd.max_abs(q, n), qi
    cdef double scale = unit_scale(largest) if largest < INFINITY else 1.0  # of squares
    cdef Py_ssize_t response, i, g
    memset(norms, 0, count * sizeof(double))
    for response in range(n // m):
        for i in range(m):
            qi = q[response * m + i] * scale
            norms[labels[i]] += 0.0 if sign * qi < 0.0 else qi * qi
    for g in range(count):
        norms[g] = sqrt(norms[g]) / scale


cdef double prox_groups_from(
    const double *q, Py_ssize_t n, double lam, Py_ssize_t k, double s, const Py_ssize_t *labels,
    Py_ssize_t m, double sign, double *out, double *work
) noexcept nogil:
    """The prox of the norms of groups, each group shrunk as its norm is.

    Entries of the wrong sign are cut first: a norm that only depends on magnitudes, and grows with
    each of them, never gains by such an entry, and has a prox that keeps signs.
    """
    cdef Py_ssize_t i, g, count = 0
    cdef double *norms = work
    cdef double *shrunk
    if m == 0 and sign == 0.0:
        return prox_from(q, n, lam, k, s, out, work)
    if m == 0:
        for i in range(n):
            work[i] = 0.0 if sign * q[i] < 0.0 else q[i]
        return prox_from(work, n, lam, k, s, out, work + n)
    for i in range(m):
        count = max(count, labels[i] + 1)
    shrunk = work + count
    norms_of_groups(q, n, labels, m, sign, norms, count)
    s = prox_from(norms, count, lam, k, s, shrunk, shrunk + count)
    for g in range(count):
        shrunk[g] = shrunk[g] / norms[g] if norms[g] > 0.0 else 0.0
    for i in range(n):
        out[i] = 0.0 if sign * q[i] < 0.0 else q[i] * shrunk[labels[i % m]]
    sweep_entries(out, n)
    return s


# ----------------------------------------------------------------------------------------
# For Python
# ----------------------------------------------------------------------------------------


def all_finite(const floating[::1] q):
    """Whether no entry is NaN or infinite, one cheap scan."""
    cdef bint finite = True
    if q.shape[0] > 0:
        with nogil:
            if floating is double:
                finite = simd.all_finite(&q[0], q.shape[0])
            else:
                finite = simd.all_finite_single(&q[0], q.shape[0])
    return finite


def sweep(double[::1] x):
    """Set the dust in x to zero; return the level up to which entries are dust.

    Dust are entries at which only rounding differs from zero, where fewer than k features matter,
    say.  Entries that are not finite stay: divergence is for others to see.
    """
    if x.shape[0] == 0:
        return 0.0
    with nogil:
        level = sweep_entries(&x[0], x.shape[0])
    return level


def prox_warm(const double[::1] q, double lam, Py_ssize_t k, double s, double[::1] out):
    """k-support prox from the previous step's ``s`` on, swept; return the new s (0: none)."""
    cdef Py_ssize_t n = q.shape[0]
    cdef double *work
    if out.shape[0] != n:
        raise ValueError(f"q and out do not match: {n} and {out.shape[0]} entries")
    if n == 0:
        return 0.0
    with nogil:
        work = allocated(prox_workspace(n))
        s = prox_from(&q[0], n, lam, k, s, &out[0], work)
        free(work)
    return s


def prox_groups(
    const double[::1] q, double lam, Py_ssize_t k, double s, const Py_ssize_t[::1] labels,
    double sign, double[::1] out,
):
    """`prox_warm` of the norms of groups, each group shrunk as its norm is; return the new s.

    ``labels`` are the groups of features, numbered from 0 on; q may have several entries for each
    feature, all those of a response side by side.  Without labels every entry is a group.  With a
    sign other than 0, entries of the other sign become zero.
    """
    cdef Py_ssize_t n = q.shape[0], m = 0 if labels is None else labels.shape[0]
    cdef double *work
    if out.shape[0] != n or (m and n % m):
        raise ValueError(f"q, labels and out do not match: {n}, {m} and {out.shape[0]} entries")
    if n == 0:
        return 0.0
    if m:
        numbers_below(labels, m, "labels")
    with nogil:
        work = allocated(prox_workspace(n))
        s = prox_groups_from(
            &q[0], n, lam, k, s, &labels[0] if m else NULL, m, sign, &out[0], work
        )
        free(work)
    return s


def prox_rows(
    const double[:, ::1] q, double lam, double kappa, double low, double width, double[:, ::1] out
):
    """Prox of (lam/2)‖·‖² for the box norm with theta in [low, low+width], row by row.

    ``theta = low + width theta'``, where theta' solves the k-support search with
    ``lam' = (lam + low)/width``; low=0, width=1 is the k-support norm itself.
    """
    cdef Py_ssize_t row, d = q.shape[1]
    cdef double *work
    agree(out.shape[0] == q.shape[0] and out.shape[1] == d, "q and out")
    if q.shape[0] == 0 or d == 0:
        return
    with nogil:
        work = allocated(prox_workspace(d))
        for row in range(q.shape[0]):
            found = find_scale(&q[row, 0], d, (lam + low) / width, kappa, &out[row, 0], work)
            shrink(&q[row, 0], d, found, lam, low, width, &out[row, 0])
        free(work)


def group_norms(
    const double[::1] q, const Py_ssize_t[::1] labels, double sign, double[::1] norms
):
    """The l2 norm of each group of entries; of those of this sign alone, unless it is 0."""
    numbers_below(labels, norms.shape[0], "labels")
    if q.shape[0] == 0:
        norms[:] = 0.0
        return
    agree(labels.shape[0] > 0 and q.shape[0] % labels.shape[0] == 0, "q and labels")
    with nogil:
        norms_of_groups(
            &q[0], q.shape[0], &labels[0], labels.shape[0], sign, &norms[0], norms.shape[0]
        )


def norm_rows(
    const double[:, ::1] w, double kappa, double low, double width, double[::1] out
):
    """Squared box norm of each row, Σ w_i²/theta_i with theta_i = clip(s |w_i|, low, low+width).

    That is the search with lam = 0.  Entries must be of moderate size: squares are taken.
    """
    cdef Py_ssize_t row, i, d = w.shape[1]
    cdef double inverse_s, total, ai, ratio
    cdef double *work
    agree(out.shape[0] == w.shape[0], "w and out")
    if d == 0:
        out[:] = 0.0
        return
    with nogil:
        work = allocated(d + prox_workspace(d))
        for row in range(w.shape[0]):
            found = find_scale(&w[row, 0], d, low / width, kappa, work, work + d)
            inverse_s = found.rho / (low + width * found.delta) if found.rho > 0.0 else 0.0
            total = 0.0
            for i in range(d):
                ai = fabs(w[row, i])
                ratio = max(ai / (low + width), inverse_s)  # |w_i| / theta_i
                if low > 0.0:
                    ratio = min(ratio, ai / low)
                total += ai * ratio
            out[row] = total
        free(work)


cdef double tied_shrinkage(
    double n_free, Py_ssize_t n_zero, double lam, double low, double width
) noexcept nogil:
    """Mean shrinkage of ``n_zero`` zero entries that compete for theta' = ``n_free`` in all."""
    cdef double n_full = min(floor(n_free), <double> n_zero), part
    cdef double most = (low + width) / (low + width + lam), least = low / (low + lam)
    cdef double total = n_full * most
    if n_full < n_zero:
        part = low + width * (n_free - n_full)
        total += part / (part + lam) + (n_zero - n_full - 1) * least
    return total / n_zero


cdef double linearise(
    const double *q, Py_ssize_t d, double lam, double kappa, double low, double width,
    double *factor, double *weight, double *work
) noexcept nogil:
    """The Jacobian of the prox at q is diag(factor) - share weight weightᵀ; return the share.

    Where theta moves freely, x = a - lam/s and Σ theta is kept, so that the perturbation da
    gives dx = da - (lam/s) Σ da / Σ a, both sums over the free entries; elsewhere x is linear.
    """
    cdef double inner = (lam + low) / width
    cdef Scale found = find_scale(q, d, inner, kappa, factor, work)
    cdef double rho = found.rho, theta_rho = low + width * found.delta
    cdef double most = (low + width) / (low + width + lam), zero = low / (low + lam)
    cdef double tol = 16 * DBL_EPSILON * max(kappa, 1.0), free_sum = 0.0, ai, t
    cdef Py_ssize_t i, n_zero = 0
    if rho == 0.0:
        for i in range(d):
            n_zero += q[i] == 0.0
        if n_zero > 0:
            zero = tied_shrinkage(max(kappa - (d - n_zero), 0.0), n_zero, lam, low, width)
    for i in range(d):
        ai = fabs(q[i])
        t = 1.0 if ai > 0.0 else 0.0
        if rho > 0.0:
            t = found.delta * (ai / rho) + inner * (ai / rho - 1.0)
        weight[i] = 0.0
        if t >= 1.0 - tol:
            factor[i] = most
        elif t <= tol:
            factor[i] = zero
        else:  # free
            factor[i] = 1.0
            weight[i] = copysign(1.0, q[i])
            free_sum += ai / rho
    return lam / (theta_rho + lam) / free_sum if free_sum > 0.0 else 0.0


def prox_jvp(
    const double[::1] q, double lam, double kappa, double low, double width,
    const double[:, ::1] u, double[:, ::1] out,
):
    """Rows of ``out`` = J u for the rows of ``u``, J the Jacobian of the prox at the vector q."""
    cdef Py_ssize_t d = q.shape[0], row, i
    cdef double share, total
    cdef double *factor
    cdef double *weight
    agree(u.shape[1] == out.shape[1] == d and u.shape[0] == out.shape[0], "q, u and out")
    if d == 0:
        return
    with nogil:
        factor = allocated(2 * d + prox_workspace(d))
        weight = factor + d
        share = linearise(&q[0], d, lam, kappa, low, width, factor, weight, weight + d)
        for row in range(u.shape[0]):
            total = share * simd.dot(weight, &u[row, 0], d)
            for i in range(d):
                out[row, i] = factor[i] * u[row, i] - weight[i] * total
        free(factor)
