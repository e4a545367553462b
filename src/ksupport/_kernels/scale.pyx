# cython: language_level=3, wraparound=False, cdivision=True
"""The search for the scale s of the k-support prox.

With ``a = |q|``, the prox of ``(lam/2) (‖·‖_k^sp)²`` is

    x_i = theta_i q_i / (theta_i + lam),   theta_i = clip(s a_i - lam, 0, 1),   Σ theta_i = k,

(McDonald, Pontil and Stamos 2016, Algorithm 1).  ``s`` is found without sorting.  Writing
``s = (lam + delta) / rho`` for a reference magnitude ``rho`` gives

    theta_i = clip((delta a_i + lam (a_i - rho)) / rho, 0, 1),

which keeps full precision for large ``lam``, where ``s a_i - lam`` would cancel.  If ``rho`` is
the k-th largest magnitude, the root has ``delta`` in (0, 1]: below it fewer than k entries
count, at 1 the k largest are saturated.
"""

from libc.float cimport DBL_EPSILON
from libc.math cimport INFINITY, ceil, fabs, frexp, ldexp, nextafter
from libc.string cimport memcpy

cimport ksupport._kernels.simd as simd

cdef double NEAR = 1.0 / 16  # how far, relatively, rho is looked for around its last value
cdef double HUGE_MAGNITUDE = ldexp(1.0, 100)  # so far above rho an entry is saturated


cdef double select_largest(double *a, Py_ssize_t n, Py_ssize_t r) noexcept nogil:
    cdef Py_ssize_t left = 0, right = n - 1, target = n - r, i, j
    cdef double pivot, first, last, middle
    while left < right:
        first, last, middle = a[left], a[right], a[(left + right) // 2]
        pivot = max(min(first, last), min(max(first, last), middle))
        i, j = left, right
        while i <= j:
            while a[i] < pivot:
                i += 1
            while a[j] > pivot:
                j -= 1
            if i <= j:
                a[i], a[j] = a[j], a[i]
                i += 1
                j -= 1
        if target <= j:
            right = j
        elif target >= i:
            left = i
        else:
            break
    return a[target]


cdef double selected(const double *a, Py_ssize_t n, Py_ssize_t r, double *work) noexcept nogil:
    """The r-th largest entry, found on a copy."""
    memcpy(work, a, n * sizeof(double))
    return select_largest(work, n, r)


cdef double solve_delta(
    const double *a, Py_ssize_t n, double rho, double lam, double kappa
) noexcept nogil:
    """Root in (0, 1] of Σ theta_i(delta) = kappa: Newton, kept inside a shrinking bracket."""
    cdef double low = 0.0, high = 1.0, delta = 1.0, gap, gap_before = INFINITY
    cdef double total, slope, new
    cdef bint stalled
    cdef int scan
    for scan in range(200):
        simd.theta_sum(a, n, rho, lam, delta, &total, &slope)
        gap = fabs(total - kappa)
        if gap <= 4 * DBL_EPSILON * kappa:
            return delta
        if total > kappa:
            high = delta
        else:
            low = delta
        # The sum is piecewise linear, so Newton ends exactly once it is on the right piece;
        # bisection takes over where Newton leaves the bracket or stalls.
        new = delta + (kappa - total) / slope if slope > 0.0 else -1.0
        stalled = False
        if scan % 3 == 2:
            stalled = gap > 0.25 * gap_before
            gap_before = gap
        if stalled or not (low < new < high):
            new = 0.5 * (low + high)
        if new == delta or high - low <= 2 * DBL_EPSILON * high:
            return new
        delta = new
    return delta


cdef Py_ssize_t gather_above(
    const double *q, Py_ssize_t n, const double *maxima, Py_ssize_t size, double low, double *out
) noexcept nogil:
    """Put the magnitudes above ``low`` first into ``out``: how many.

    Only blocks that have such an entry are opened, a run of them at a time.
    """
    cdef Py_ssize_t n_blocks = (n + size - 1) // size, first = 0, end, count = 0, exceed
    while True:
        while first < n_blocks and maxima[first] <= low:
            first += 1
        if first == n_blocks:
            return count
        end = first
        while end < n_blocks and maxima[end] > low:
            end += 1
        count += simd.gather(
            q + first * size, min(end * size, n) - first * size, low, INFINITY, out + count, &exceed
        )
        first = end


cdef double unit_scale(double rho) noexcept nogil:
    """A power of two that brings ``rho`` near 1, so that lam / rho cannot overflow."""
    cdef int exponent
    frexp(rho, &exponent)
    return ldexp(1.0, -max(exponent, -1000))


cdef Py_ssize_t rescale_above(double *a, Py_ssize_t n, double low, double scale) noexcept nogil:
    """Move the entries above ``low`` to the front of ``a``, times ``scale``: how many."""
    cdef Py_ssize_t i, count = 0
    cdef double ai
    for i in range(n):
        ai = a[i]
        a[count] = min(ai * scale, HUGE_MAGNITUDE)
        count += ai > low
    return count


cdef double level_below(double rho, double delta, double lam) noexcept nogil:
    """A level just below lam/s: entries at or below it have theta = 0."""
    return nextafter(rho * (lam / (lam + delta)) * (1.0 - 4 * DBL_EPSILON), -1.0)


cdef Scale find_scale(
    const double *q, Py_ssize_t n, double lam, double kappa, double *candidates, double *work
) noexcept nogil:
    """Find ``(rho, delta)`` for any finite vector; rho = 0 says theta = 1.

    ``kappa`` may be fractional (the box norm needs that).  About two scans of q: for a part of
    the entries the root s is no smaller than for all, so the maxima of small blocks alone give
    a level below which theta = 0, close enough to leave few candidates for the selection and
    for Newton's scans.
    """
    cdef Scale found = Scale(0.0, 0.0)
    cdef double low = -1.0, rho, scale
    cdef double *maxima = work
    cdef double *part
    cdef Py_ssize_t size, n_blocks, count, r
    if not 0.0 < kappa <= n:
        return found
    r = <Py_ssize_t> ceil(kappa)
    size = max(1, min(64, n // (8 * r)))
    n_blocks = (n + size - 1) // size
    part = work + n_blocks
    simd.block_maxima(q, n, size, maxima)
    if size > 1 and lam > 0.0:
        rho = selected(maxima, n_blocks, r, part)
        if rho > 0.0:
            scale = unit_scale(rho)
            count = rescale_above(part, n_blocks, level_below(rho, 1.0, lam), scale)
            low = level_below(rho, solve_delta(part, count, rho * scale, lam, kappa), lam)
    count = gather_above(q, n, maxima, size, low, candidates)
    if count < r:  # NaN exceeds nothing
        return found
    rho = selected(candidates, count, r, part)
    if rho == 0.0:  # fewer than r nonzeros: theta = 1 on all of them
        return found
    scale = unit_scale(rho)
    # For delta in (0, 1] entries at or below rho lam/(1+lam) have theta = 0.
    count = rescale_above(candidates, count, level_below(rho, 1.0, lam), scale)
    found.rho, found.delta = rho, solve_delta(candidates, count, rho * scale, lam, kappa)
    return found


cdef Scale find_scale_near(
    const double *q, Py_ssize_t n, double lam, Py_ssize_t k, double guess, double *few, double *work
) noexcept nogil:
    """The same if rho is close to ``guess``; else rho = 0.

    One scan finds the few magnitudes near the guess.  Those above have theta = 1 for every delta
    in (0, 1], those below theta = 0, so that only the few compete.
    """
    cdef Scale found = Scale(0.0, 0.0)
    cdef double low = guess / (1.0 + NEAR), high = guess * (1.0 + NEAR), rho, lowest, scale
    cdef Py_ssize_t n_above, rank, count
    count = simd.gather(q, n, low, high, few, &n_above)
    rank = k - n_above
    if rank < 1 or rank > count:
        return found
    rho = selected(few, count, rank, work)
    lowest = level_below(rho, 1.0, lam)
    if not (lowest >= low and rho * (1.0 + 1.0 / lam) <= high):
        return found
    scale = unit_scale(rho)
    count = rescale_above(few, count, lowest, scale)
    found.rho, found.delta = rho, solve_delta(few, count, rho * scale, lam, <double> rank)
    return found
