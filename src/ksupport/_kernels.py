"""The compiled code of walks, losses and refits: small pure functions on arrays.

Everything here is ``nogil`` and cached on disk.  Reductions in ``_jit`` and ``_part`` may be
reassociated (so that they vectorise), but NaN and infinity keep their meaning: walkers rely on them
to detect divergence.  It is one file because numba's cache notices when the file of a function
changes, and not when that of a function which it calls does: copies of old code would go on.

The k-support search.  With ``a = |q|``, the prox of ``(lam/2) (‖·‖_k^sp)²`` is

    x_i = theta_i q_i / (theta_i + lam),   theta_i = clip(s a_i - lam, 0, 1),   Σ theta_i = k,

(McDonald, Pontil and Stamos 2016, Algorithm 1).  ``s`` is found without sorting.  Writing
``s = (lam + delta) / rho`` for a reference magnitude ``rho`` gives

    theta_i = clip((delta a_i + lam (a_i - rho)) / rho, 0, 1),

which keeps full precision for large ``lam``, where ``s a_i - lam`` would cancel.  If ``rho`` is
the k-th largest magnitude, the root has ``delta`` in (0, 1]: below it fewer than k entries
count, at 1 the k largest are saturated.
"""

import math
from functools import partial

import numpy as np
from numba import njit

_FAST = {"reassoc", "nsz", "contract"}
_compiled = partial(njit, cache=True, nogil=True, error_model="numpy")
_jit = _compiled(fastmath=_FAST)
# Every function carries copies of those that it calls, each optimised anew, and the first copy that
# a process loads serves all.  So what is called by compiled code is either part of its caller, or
# rounds alike in every copy; else last bits would depend on what else was compiled or loaded.
_part = _compiled(fastmath=_FAST, forceinline=True)
_exact = _compiled(fastmath=False)  # said, as numba would take what is left open from the caller
# Maxima vectorise only if NaN is ruled out; used on validated input alone.
_exact_finite = _compiled(fastmath={"nnan"})

EPS = float(np.finfo(np.float64).eps)
NEAR = 1 / 16  # how far, relatively, rho is looked for around its last value
LARGE_LAM = 32.0  # theta goes from 0 to 1 within so small a share of rho that few entries are there
HUGE = 2.0**100  # a magnitude this far above rho is saturated; fits float32 scratch space

# What is zero but for rounding is zero: otherwise supports have features that are not there on
# another CPU.
AT_LEVEL = 64 * EPS  # a magnitude that exceeds a threshold by this share of it is at it
DUST = 2.0**-39  # an entry of an iterate that is this much smaller than the largest is none

# ----------------------------------------------------------------------------------------
# The search for the scale s of the k-support prox
# ----------------------------------------------------------------------------------------


@_jit
def all_finite(q):
    """Whether no entry is NaN or infinite, one cheap scan."""
    n = 0
    for i in range(q.size):
        n += math.isfinite(q[i])
    return n == q.size


@_exact
def raw_theta(ai, rho, cd, cl):
    """theta of magnitude ``ai`` before clipping; cd = delta / rho, cl = lam / rho."""
    return cd * ai + cl * (ai - rho)


@_exact
def clipped_theta(ai, rho, cd, cl):
    """theta of a magnitude, and its slope in delta but for 1 / rho."""
    t = raw_theta(ai, rho, cd, cl)
    return min(max(t, 0.0), 1.0), ai if (t > 0.0) & (t < 1.0) else 0.0


@_exact
def theta_sum(a, rho, lam, delta):
    """Σ theta_i and its slope in delta, one scan; four sums side by side, as sums wait."""
    cd, cl = delta / rho, lam / rho
    t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for i in range(0, a.size - 3, 4):
        u0, v0 = clipped_theta(abs(a[i]), rho, cd, cl)
        u1, v1 = clipped_theta(abs(a[i + 1]), rho, cd, cl)
        u2, v2 = clipped_theta(abs(a[i + 2]), rho, cd, cl)
        u3, v3 = clipped_theta(abs(a[i + 3]), rho, cd, cl)
        t0, t1, t2, t3 = t0 + u0, t1 + u1, t2 + u2, t3 + u3
        s0, s1, s2, s3 = s0 + v0, s1 + v1, s2 + v2, s3 + v3
    for i in range(a.size - a.size % 4, a.size):
        u0, v0 = clipped_theta(abs(a[i]), rho, cd, cl)
        t0, s0 = t0 + u0, s0 + v0
    return (t0 + t1) + (t2 + t3), ((s0 + s1) + (s2 + s3)) / rho


@_exact
def solve_delta(a, rho, lam, kappa):
    """Root in (0, 1] of Σ theta_i(delta) = kappa: Newton, kept inside a shrinking bracket."""
    lo, hi, delta = 0.0, 1.0, 1.0
    gap_before = np.inf
    for scan in range(200):
        total, slope = theta_sum(a, rho, lam, delta)
        gap = abs(total - kappa)
        if gap <= 4 * EPS * kappa:
            return delta
        if total > kappa:
            hi = delta
        else:
            lo = delta
        # The sum is piecewise linear, so Newton ends exactly once it is on the right piece;
        # bisection takes over where Newton leaves the bracket or stalls.
        new = delta + (kappa - total) / slope if slope > 0.0 else -1.0
        stalled = False
        if scan % 3 == 2:
            stalled = gap > 0.25 * gap_before
            gap_before = gap
        if stalled or not (lo < new < hi):
            new = 0.5 * (lo + hi)
        if new == delta or hi - lo <= 2 * EPS * hi:
            return new
        delta = new
    return delta


@_exact
def select_largest(a, r):
    """The r-th largest entry (r from 1), by quickselect on a copy."""
    b = a.copy()
    left, right, target = 0, b.size - 1, b.size - r
    while left < right:
        mid = (left + right) // 2
        pivot = max(min(b[left], b[right]), min(max(b[left], b[right]), b[mid]))
        i, j = left, right
        while i <= j:
            while b[i] < pivot:
                i += 1
            while b[j] > pivot:
                j -= 1
            if i <= j:
                b[i], b[j] = b[j], b[i]
                i += 1
                j -= 1
        if target <= j:
            right = j
        elif target >= i:
            left = i
        else:
            break
    return b[target]


@_exact_finite
def block_maxima(q, size):
    """max |q_i| over consecutive blocks of ``size`` entries."""
    n_blocks = (q.size + size - 1) // size
    out = np.zeros(n_blocks, np.float64)
    for b in range(n_blocks):
        m = 0.0
        for i in range(b * size, min((b + 1) * size, q.size)):
            ai = float(abs(q[i]))
            if ai > m:
                m = ai
        out[b] = m
    return out


@_exact
def next_run(maxima, low, b):
    """The next run [start, end) of blocks, from b on, that have an entry above ``low``."""
    while b < maxima.size and maxima[b] <= low:
        b += 1
    end = b
    while end < maxima.size and maxima[end] > low:
        end += 1
    return b, end


@_exact
def gather_above(q, maxima, size, low, out):
    """Put the magnitudes above ``low`` first into ``out``; return that part of it.

    Only blocks that have such an entry are opened.
    """
    n = 0
    b, end = next_run(maxima, low, 0)
    while b < end:
        for i in range(b * size, min(end * size, q.size)):
            # Written always, kept or not: a branch would be mispredicted half the time.
            ai = abs(q[i])
            out[n] = ai
            n += ai > low
        b, end = next_run(maxima, low, end)
    return out[:n]


@_exact
def unit_scale(rho):
    """A power of two that brings ``rho`` near 1, so that lam / rho cannot overflow."""
    return math.ldexp(1.0, -max(math.frexp(rho)[1], -1000))


@_exact
def rescale_above(a, low, scale):
    """Move the entries above ``low`` to the front of ``a``, times ``scale``; return them."""
    n = 0
    for i in range(a.size):
        ai = a[i]
        a[n] = min(ai * scale, HUGE)
        n += ai > low
    return a[:n]


@_exact
def level_below(rho, delta, lam):
    """A level just below lam/s: entries at or below it have theta = 0."""
    return np.nextafter(rho * (lam / (lam + delta)) * (1.0 - 4 * EPS), -1.0)


@_exact
def ksupport_scale(q, lam, kappa, scratch):
    """Find ``(rho, delta)`` of the search above for any finite vector; rho = 0 says theta = 1.

    ``kappa`` may be fractional (the box norm needs that).  About two scans of q: for a part of
    the entries the root s is no smaller than for all, so the maxima of small blocks alone give
    a level below which theta = 0, close enough to leave few candidates for the selection and
    for Newton's scans.  ``scratch`` is an array like q.
    """
    r = math.ceil(kappa)
    if r > q.size or r < 1:
        return 0.0, 0.0
    size = max(1, min(64, q.size // (8 * r)))
    maxima = block_maxima(q, size)
    low = -1.0
    if size > 1 and lam > 0.0:
        rho = select_largest(maxima, r)
        if rho > 0.0:
            scale = unit_scale(rho)
            part = rescale_above(maxima.copy(), level_below(rho, 1.0, lam), scale)
            low = level_below(rho, solve_delta(part, rho * scale, lam, kappa), lam)
    candidates = gather_above(q, maxima, size, low, scratch)
    rho = float(select_largest(candidates, r))
    if rho == 0.0:  # fewer than r nonzeros: theta = 1 on all of them
        return 0.0, 0.0
    scale = unit_scale(rho)
    # For delta in (0, 1] entries at or below rho lam/(1+lam) have theta = 0.
    candidates = rescale_above(candidates, level_below(rho, 1.0, lam), scale)
    return rho, solve_delta(candidates, rho * scale, lam, kappa)


@_exact
def shrink(q, rho, delta, lam, low, width, out):
    """Write the prox for a found ``(rho, delta)``, see ``prox_rows``.

    As ``x = a - lam/s`` wherever theta moves freely, no theta is needed: x is that soft
    threshold, clipped to the two extreme shrinkages.  Where a whole interval of s solves the
    search (k entries at theta = 1, the others at 0), s may be its end, and lam/s the next
    magnitude up to rounding: that one is zero.
    """
    least, most = low / (low + lam) if low > 0.0 else 0.0, (low + width) / (low + width + lam)
    if rho == 0.0:
        for i in range(q.size):
            out[i] = q[i] * most
        return
    theta = low + width * delta  # theta at magnitude rho
    # a - lam/s as (a - base) + shift: without cancellation for large lam, and exact in small
    # entries for small lam.
    if theta < lam:
        base, shift = rho, rho * (theta / (theta + lam))
    else:
        base, shift = 0.0, -rho * (lam / (theta + lam))
    # A share of theta's own range at most: for huge lam that is as narrow as rounding.
    cut = -np.inf if low > 0.0 else (base - shift) * min(AT_LEVEL, 2.0**-10 / lam)
    for i in range(q.size):
        ai = abs(q[i])
        x = (ai - base) + shift
        x = 0.0 if x <= cut else min(max(x, least * ai), most * ai)
        out[i] = math.copysign(x, q[i])


@_exact
def sweep(x):
    """Set the dust in x to zero; return the level up to which entries are dust.

    Dust are entries at which only rounding differs from zero, where fewer than k features matter,
    say.  Entries that are not finite stay: divergence is for others to see.
    """
    m0, m1, m2, m3 = 0.0, 0.0, 0.0, 0.0  # side by side, as each waits for the one before
    for i in range(0, x.size - 3, 4):
        m0, m1 = max(m0, abs(x[i])), max(m1, abs(x[i + 1]))
        m2, m3 = max(m2, abs(x[i + 2])), max(m3, abs(x[i + 3]))
    for i in range(x.size - x.size % 4, x.size):
        m0 = max(m0, abs(x[i]))
    largest = max(max(m0, m1), max(m2, m3))
    if not largest < np.inf:
        return 0.0
    level = DUST * largest
    for i in range(x.size):
        x[i] = 0.0 if abs(x[i]) <= level else x[i]
    return level


@_jit
def prox_rows(q, lam, kappa, low, width, out):
    """Prox of (lam/2)‖·‖² for the box norm with theta in [low, low+width], row by row.

    ``theta = low + width theta'``, where theta' solves the k-support search with
    ``lam' = (lam + low)/width``; low=0, width=1 is the k-support norm itself.
    """
    for row in range(q.shape[0]):
        rho, delta = ksupport_scale(q[row], (lam + low) / width, kappa, out[row])
        shrink(q[row], rho, delta, lam, low, width, out[row])


@_exact
def gather_between(q, low, high, out):
    """Put the magnitudes in (low, high] first into ``out``; return them, and how many exceed."""
    n, n_above = 0, 0
    for i in range(q.size):
        ai = abs(q[i])
        out[n] = ai
        n += (ai > low) & (ai <= high)
        n_above += ai > high
    return out[:n], n_above


@_exact
def scale_near(q, lam, k, guess, scratch):
    """``(rho, delta)`` as in `ksupport_scale`, if rho is close to ``guess``; else rho = 0.

    One scan finds the few magnitudes near the guess.  Those above have theta = 1 for every delta
    in (0, 1], those below theta = 0, so that only the few compete.
    """
    low, high = guess / (1.0 + NEAR), guess * (1.0 + NEAR)
    few, n_above = gather_between(q, low, high, scratch)
    rank = k - n_above
    if rank < 1 or rank > few.size:
        return 0.0, 0.0
    rho = select_largest(few, rank)
    lowest = level_below(rho, 1.0, lam)
    if not (lowest >= low and rho * (1.0 + 1.0 / lam) <= high):
        return 0.0, 0.0
    scale = unit_scale(rho)
    few = rescale_above(few, lowest, scale)
    return rho, solve_delta(few, rho * scale, lam, float(rank))


@_exact
def prox_warm(q, lam, k, s, out):
    """k-support prox from the previous step's ``s``, swept; return the new s (0: none competes).

    A few Newton scans settle it if q has moved little.  For large lam they hardly ever do, as few
    entries have a theta inside (0, 1), and soon others: then rho is looked for near the last
    one, and if it is not there, the search starts afresh.
    """
    rho = 0.0
    if s > 0.0:
        guess, delta = (lam + 0.5) / s, 0.5
        for _ in range(6 if lam < LARGE_LAM else 0):
            total, slope = theta_sum(q, guess, lam, delta)
            if abs(total - k) <= 8 * EPS * k:
                shrink(q, guess, delta, lam, 0.0, 1.0, out)
                sweep(out)
                return (lam + delta) / guess
            if slope <= 0.0 or not math.isfinite(total):
                break
            delta += (k - total) / slope
            if delta <= -lam:
                break
        rho, delta = scale_near(q, lam, k, guess, out)
    if rho == 0.0:
        rho, delta = ksupport_scale(q, lam, float(k), out)
    shrink(q, rho, delta, lam, 0.0, 1.0, out)
    sweep(out)
    return (lam + delta) / rho if rho > 0.0 else 0.0


@_exact
def group_norms(q, labels, sign, norms):
    """The l2 norm of each group of entries; of those of this sign alone, unless it is 0.

    ``labels`` are the groups of features, numbered from 0 on; q may have several entries for each
    feature, all those of a response side by side.
    """
    m = labels.size
    largest = 0.0
    for i in range(q.size):
        largest = max(largest, abs(q[i]))
    scale = unit_scale(largest) if largest < np.inf else 1.0  # then squares neither vanish
    for g in range(norms.size):
        norms[g] = 0.0
    for first in range(0, q.size, m):
        for i in range(m):
            qi = q[first + i] * scale
            norms[labels[i]] += 0.0 if sign * qi < 0.0 else qi * qi
    for g in range(norms.size):
        norms[g] = math.sqrt(norms[g]) / scale


@_exact
def prox_groups(q, lam, k, s, labels, sign, out):
    """`prox_warm` of the norms of groups, each group shrunk as its norm is; return the new s.

    Without labels every entry is a group.  With a sign other than 0, entries of the other sign are
    cut first: a norm that only depends on magnitudes, and grows with each of them, never gains by
    such an entry, and has a prox that keeps signs.
    """
    if labels.size == 0:
        if sign == 0.0:
            return prox_warm(q, lam, k, s, out)
        cut = np.empty(q.size)
        for i in range(q.size):
            cut[i] = 0.0 if sign * q[i] < 0.0 else q[i]
        return prox_warm(cut, lam, k, s, out)
    count, m = 0, labels.size
    for i in range(m):
        count = max(count, labels[i] + 1)
    norms, shrunk = np.empty(count), np.empty(count)
    group_norms(q, labels, sign, norms)
    s = prox_warm(norms, lam, k, s, shrunk)
    for g in range(count):
        shrunk[g] = shrunk[g] / norms[g] if norms[g] > 0.0 else 0.0
    for first in range(0, q.size, m):
        for i in range(m):
            qi = q[first + i]
            out[first + i] = 0.0 if sign * qi < 0.0 else qi * shrunk[labels[i]]
    sweep(out)
    return s


@_jit
def norm_rows(w, kappa, low, width, out):
    """Squared box norm of each row, Σ w_i²/theta_i with theta_i = clip(s |w_i|, low, low+width).

    That is the search with lam = 0.  Entries must be of moderate size: squares are taken.
    """
    scratch = np.empty(w.shape[1], w.dtype)
    for row in range(w.shape[0]):
        rho, delta = ksupport_scale(w[row], low / width, kappa, scratch)
        inverse_s = rho / (low + width * delta) if rho > 0.0 else 0.0
        total = 0.0
        for i in range(w.shape[1]):
            ai = abs(w[row, i])
            ratio = max(ai / (low + width), inverse_s)  # |w_i| / theta_i
            if low > 0.0:
                ratio = min(ratio, ai / low)
            total += ai * ratio
        out[row] = total


@_exact
def tied_shrinkage(n_free, n_zero, lam, low, width):
    """Mean shrinkage of ``n_zero`` zero entries that compete for theta' = ``n_free`` in all."""
    n_full = min(math.floor(n_free), n_zero)
    most, least = (low + width) / (low + width + lam), low / (low + lam)
    total = n_full * most
    if n_full < n_zero:
        part = low + width * (n_free - n_full)
        total += part / (part + lam) + (n_zero - n_full - 1) * least
    return total / n_zero


@_jit
def prox_jvp(q, lam, kappa, low, width, u, out):
    """Rows of ``out`` = J u for the rows of ``u``, J the Jacobian of the prox at the vector q.

    Where theta moves freely, x = a - lam/s and Σ theta is kept, so that the perturbation da
    gives dx = da - (lam/s) Σ da / Σ a, both sums over the free entries; elsewhere x is linear.
    """
    lam_k = (lam + low) / width
    rho, delta = ksupport_scale(q, lam_k, kappa, np.empty_like(q))
    theta_rho = low + width * delta
    most, least = (low + width) / (low + width + lam), low / (low + lam)
    zero = least
    if rho == 0.0:
        n_zero = q.size - np.count_nonzero(q)
        if n_zero > 0:
            zero = tied_shrinkage(max(kappa - (q.size - n_zero), 0.0), n_zero, lam, low, width)
    tol = 16 * EPS * max(kappa, 1.0)
    factor, weight = np.empty(q.size), np.zeros(q.size)  # weight: sign of q_i where free
    free = 0.0
    for i in range(q.size):
        ai = abs(q[i])
        t = 1.0 if ai > 0.0 else 0.0
        if rho > 0.0:
            t = raw_theta(ai / rho, 1.0, delta, lam_k)
        if t >= 1.0 - tol:
            factor[i] = most
        elif t <= tol:
            factor[i] = zero
        else:
            factor[i] = 1.0
            weight[i] = math.copysign(1.0, q[i])
            free += ai / rho
    share = lam / (theta_rho + lam) / free if free > 0.0 else 0.0
    for row in range(u.shape[0]):
        total = 0.0
        for i in range(q.size):
            total += weight[i] * u[row, i]
        total *= share
        for i in range(q.size):
            out[row, i] = factor[i] * u[row, i] - weight[i] * total


# ----------------------------------------------------------------------------------------
# Walking on a working set of columns
#
# ``B`` has the columns of the working set as rows (m x n, C order), so that every inner loop is
# contiguous.  Each walker moves the state ``t`` forward until ``end`` and records iterates at
# multiples of ``every``; it returns early when the working set no longer suffices.
# ----------------------------------------------------------------------------------------

DONE, REFRESH, NONFINITE = 0, 1, 2


@_part
def correlate(B, u, out):
    """out = B u: the correlations of the columns in B with u.

    Of several responses, u has their vectors side by side, and out their correlations.
    """
    m, n = B.shape
    for at in range(u.size // n):
        correlate_one(B, u[at * n : (at + 1) * n], out[at * m : (at + 1) * m])


@_part
def correlate_one(B, u, out):
    """The same of one response; four columns share a scan of u."""
    m, n = B.shape
    for j in range(0, m - 3, 4):
        t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
        for i in range(n):
            t0 += B[j, i] * u[i]
            t1 += B[j + 1, i] * u[i]
            t2 += B[j + 2, i] * u[i]
            t3 += B[j + 3, i] * u[i]
        out[j], out[j + 1], out[j + 2], out[j + 3] = t0, t1, t2, t3
    for j in range(m - m % 4, m):
        total = 0.0
        for i in range(n):
            total += B[j, i] * u[i]
        out[j] = total


@_exact
def choose_columns(correlations, norms, m, chosen):
    """Mark about m features with the largest correlations as chosen, besides those marked.

    Returns the largest |correlation| and the largest norm among the features left out.  The
    m-th largest maximum of small blocks is the level: at least m features reach it.
    """
    d = correlations.size
    size = max(1, min(64, d // (8 * m)))
    maxima = block_maxima(correlations, size) if size > 1 else np.abs(correlations)
    level = select_largest(maxima, m)
    edge, reach = 0.0, 0.0
    for i in range(d):
        ai = abs(correlations[i])
        if ai >= level:
            chosen[i] = True
        if not chosen[i]:
            edge = max(edge, ai)
            reach = max(reach, norms[i])
    return edge, reach


@_exact
def choose_for(up, down, lengths, wrong, norms, m, chosen, edges):
    """Mark about m features that lead for some of several vectors, besides those marked.

    A row of ``up`` has the sizes |x_iᵀref| for one vector, one of ``down`` those for -ref, which
    may be wrong by so many norms; lengths are those of the vectors.  A row of ``edges`` becomes the
    largest size on either side among the features left out, of which the largest norm is returned.
    """
    count, d = up.shape
    largest = np.zeros(d)
    for j in range(count):
        unit = lengths[j] if lengths[j] > 0.0 else 1.0
        for i in range(d):
            largest[i] = max(largest[i], up[j, i] / unit)
    _, reach = choose_columns(largest, norms, m, chosen)
    for j in range(count):
        above, below = 0.0, 0.0
        for i in range(d):
            if not chosen[i]:
                above, below = max(above, up[j, i]), max(below, down[j, i])
        edges[j, 0], edges[j, 1] = above + reach * wrong[j], below + reach * wrong[j]
    return reach


@_part
def add_product(B, r, out):
    """out += Bᵀ r for a dense r: four rows of B at a time, so that out is touched less often."""
    four = B.shape[0] // 4 * 4
    for j in range(0, four, 4):
        r0, r1, r2, r3 = r[j], r[j + 1], r[j + 2], r[j + 3]
        b0, b1, b2, b3 = B[j], B[j + 1], B[j + 2], B[j + 3]
        for i in range(out.size):
            out[i] += (r0 * b0[i] + r1 * b1[i]) + (r2 * b2[i] + r3 * b3[i])
    for j in range(four, B.shape[0]):
        rj, bj = r[j], B[j]
        for i in range(out.size):
            out[i] += rj * bj[i]


@_exact
def copy_to(a, out):
    """out = a, entry by entry; for slices numba would compile the words of an error as well."""
    for i in range(a.size):
        out[i] = a[i]


@_exact
def carry_rows(A, before, now):
    """Bring the first rows of A, one for each of ``before``, to their places in ``now``.

    Both ascend; A has room for either.  Returns which rows are still to be filled.
    """
    missing, at, kept = np.ones(now.size, np.bool_), 0, 0
    for i in range(now.size):  # forward to where they leave no gaps
        while at < before.size and before[at] < now[i]:
            at += 1
        if at < before.size and before[at] == now[i]:
            if kept < at:
                copy_to(A[at], A[kept])
            kept += 1
            missing[i] = False
    for i in range(now.size - 1, -1, -1):  # and back, the last one first
        if not missing[i]:
            kept -= 1
            if kept < i:
                copy_to(A[kept], A[i])
    return missing


@_part
def combine(B, r, scale, out):
    """out = scale Bᵀ r = scale X r; of several responses, side by side."""
    m, n = B.shape
    for at in range(out.size // n):
        combine_one(B, r[at * m : (at + 1) * m], scale, out[at * n : (at + 1) * n])


@_part
def combine_one(B, r, scale, out):
    """The same of one response, passing over columns where r is zero if there are many."""
    for i in range(out.size):
        out[i] = 0.0
    n_nonzero = 0
    for j in range(r.size):
        n_nonzero += r[j] != 0.0
    if 2 * n_nonzero > r.size:
        add_product(B, r, out)
        for i in range(out.size):
            out[i] *= scale
        return
    for j in range(B.shape[0]):
        if r[j] != 0.0:
            rj = scale * r[j]
            for i in range(out.size):
                out[i] += rj * B[j, i]


@_part
def outside(u, refs, edges, reach):
    """A bound on |x_iᵀu| over all columns left out of the block.

    The edge of a reference is the largest |x_iᵀref|, ``reach`` the largest norm among them.
    Splitting u along ref, |x_iᵀu| <= |c| |x_iᵀref| + ‖x_i‖ ‖u - c ref‖; the best of all counts.
    Edges are two: where only one sign of x_iᵀu counts, that of x_iᵀref for c > 0 is another one
    than for c < 0.  Groups have norms in place of magnitudes, and ‖X_g‖_F in place of ‖x_i‖.
    """
    if reach == 0.0:
        return 0.0
    uu = 0.0
    for i in range(u.size):
        uu += u[i] * u[i]
    bound = np.inf
    for j in range(edges.shape[0]):
        ref = refs[j]
        ur, rr = 0.0, 0.0
        for i in range(u.size):
            ur += u[i] * ref[i]
            rr += ref[i] * ref[i]
        c = ur / rr if rr > 0.0 else 0.0
        along = abs(c) * (edges[j, 0] if c >= 0.0 else edges[j, 1])
        # About the bound, but for cancellation: a reference that is far from being the best is not
        # looked at any further.
        if along + 0.5 * reach * math.sqrt(max(uu - c * ur, 0.0)) > bound:
            continue
        across = 0.0
        for i in range(u.size):
            across += (u[i] - c * ref[i]) ** 2
        bound = min(bound, along + reach * math.sqrt(across))
    return bound


# Places in a path's ``clock``: its step t, and the last t recorded.
NOW, RECORDED = range(2)


@_exact
def due(clock, end, every):
    """Whether the iterate of this step is to be recorded, and has not been yet."""
    return clock[RECORDED] < clock[NOW] and (clock[NOW] % every == 0 or clock[NOW] == end)


@_exact
def entry_level(lam, s):
    """The magnitude that an entry must exceed to be nonzero after the k-support prox."""
    return lam / s if s > 0.0 else 0.0


# Places in IRKSN's ``scalars``: theta_t; the momentum (theta_{t-1} - 1)/theta_t; the scale s at
# which the prox of the last w, and of the last r, was found (the next search starts there).
THETA, MOMENTUM, S_W, S_R = range(4)


@_jit
def thetas(steps):
    """0, theta_0, ..., theta_{steps-1}: at t that of the step which led to z_t."""
    out = np.zeros(steps + 1)
    for t in range(steps):
        out[t + 1] = 0.5 + math.sqrt(0.25 + out[t] * out[t])
    return out


@_part
def irksn_dual(Z, v, Xr, y, gamma, scalars):
    """z⁺ = v + gamma (X r - y), theta⁺, and the momentum of the next v; Z = (z, z_prev)."""
    theta = scalars[THETA]
    total = 0.0
    for i in range(y.size):
        new = v[i] + gamma * (Xr[i] - y[i])
        Z[1, i] = Z[0, i]
        Z[0, i] = new
        total += new
    scalars[THETA] = (1.0 + math.sqrt(1.0 + 4.0 * theta * theta)) / 2.0
    scalars[MOMENTUM] = (theta - 1.0) / scalars[THETA]
    return math.isfinite(total)


@_jit
def irksn_walk(
    B, y, Z, P, scalars, clock, k, alpha, gamma, labels, sign, refs, edges, reach, end, every, rows
):  # fmt: skip
    """Algorithm 1 (IRKSN) on the working set.

    Z = (z_t, z_{t-1}); P = their correlations with the columns of the working set.  A feature
    enters w (or r) only if its |x_iᵀz| (or |x_iᵀv|) exceeds lam/s; ``labels`` and ``sign`` are the
    groups of features, and the sign that coefficients must have (see `prox_groups`).
    Returns the rows recorded, the status, and on REFRESH whether z or v needs new columns.
    """
    m, n = P.shape[1], y.size
    lam = (1.0 - alpha) / alpha
    v, Xr = np.empty(n), np.empty(n)
    q, r = np.empty(m), np.empty(m)
    n_rows = 0
    while True:
        if due(clock, end, every):
            # w_t = prox(-Xᵀz/alpha)
            s = prox_groups(P[0], lam, k, scalars[S_W], labels, -sign, r)
            if outside(Z[0], refs, edges, reach) > entry_level(lam, s):
                return n_rows, REFRESH, True
            for j in range(m):
                rows[n_rows, j] = r[j] / -alpha
            n_rows += 1
            scalars[S_W], clock[RECORDED] = s, clock[NOW]
        if clock[NOW] >= end or n_rows == rows.shape[0]:
            return n_rows, DONE, False
        # v = z + momentum (z - z_prev), and Xᵀv by linearity
        beta = scalars[MOMENTUM]
        for i in range(n):
            v[i] = Z[0, i] + beta * (Z[0, i] - Z[1, i])
        for j in range(m):
            q[j] = P[0, j] + beta * (P[0, j] - P[1, j])
        # r_t = prox(-Xᵀv/alpha)
        s = prox_groups(q, lam, k, scalars[S_R], labels, -sign, r)
        if outside(v, refs, edges, reach) > entry_level(lam, s):
            return n_rows, REFRESH, False
        scalars[S_R] = s
        combine(B, r, -1.0 / alpha, Xr)
        if not irksn_dual(Z, v, Xr, y, gamma, scalars):
            return n_rows, NONFINITE, False
        copy_to(P[0], P[1])
        correlate(B, Z[0], P[0])
        clock[NOW] += 1


# -- IRKSN with steps that need no norm: backtracking on the dual function ------------------
#
# The dual function is D(v) = R*(-Xᵀv) + ⟨y, v⟩, its gradient y - Xr with r = ∇R*(-Xᵀv).  R is
# homogeneous of degree 2, so R*(-Xᵀv) = -½⟨v, Xr⟩: values of D come with the products of a step.

FIRST_SHARE = 1 / 16  # of the longest first step: small, so that no early support is jumped over
GROWTH, LATE_GROWTH = 1.5, 1.1  # of the next trial step: until the first refusal, and from then on
# The pace of a walk is seven numbers: THETA (0 before the first step), S_W and S_R as above, the
# step, the curvature that it met, whether a step was ever refused, and the trial to go on with (0:
# none was refused since the last step), so that a walk that waits for columns is the same walk.
GAMMA, CURVATURE, REFUSED, TRIAL = 1, 4, 5, 6
PACE = 7


@_part
def step_holds(z, v, Xw, Xr, gamma, pace):
    """Whether the step gamma from v to z is one that a (1/gamma)-smooth D would allow.

    D must not rise above its tangent at v by more than ‖z - v‖²/(2 gamma), which is what the theory
    needs; and gradients must agree, gamma ‖∇D(z) - ∇D(v)‖² <= ⟨∇D(z) - ∇D(v), z - v⟩: that sees
    steep directions of which the step has little yet, in which errors of rounding would grow.
    Products are right to EPS ‖Xr‖; what drowns in that says nothing, and the step does not grow.
    """
    fall, along, curvature, change2, move2, z2, Xr2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(z.size):
        # The dual in units of gamma is as large as y; itself it might be too large to be squared.
        here, move, change = z[i] / gamma, (z[i] - v[i]) / gamma, Xw[i] - Xr[i]
        fall += change * here
        along += Xr[i] * move
        curvature -= change * move
        change2 += change * change
        move2 += move * move
        z2 += here * here
        Xr2 += Xr[i] * Xr[i]
    rise, allowed = 0.5 * (along - fall), 0.5 * move2
    rounding = 16 * EPS * math.sqrt(Xr2)
    blur = rounding * math.sqrt(move2)
    pace[CURVATURE] = curvature if curvature > 4.0 * blur else 0.0
    if rise > 4.0 * rounding * math.sqrt(z2) and not rise <= allowed:
        return False
    sure = max(math.sqrt(change2) - rounding, 0.0)
    return not sure * sure > curvature + blur


@_exact
def to_unit_size(q):
    """Divide by the largest magnitude, which is returned; 1 if there is none."""
    largest = 0.0
    for i in range(q.size):
        largest = max(largest, abs(q[i]))
    if not largest > 0.0:
        return 1.0
    for i in range(q.size):
        q[i] /= largest
    return largest


@_exact
def first_step(y, Xw):
    """A share of ‖y‖²/⟨y, Xw⟩, w = ∇R*(Xᵀy): the longest step from v = 0 that lowers D enough."""
    largest, far = 0.0, 0.0
    for i in range(y.size):
        largest, far = max(largest, abs(y[i])), max(far, abs(Xw[i]))
    if not (largest > 0.0 and far > 0.0):
        return 1.0
    size, along = 0.0, 0.0  # relative to these, or large numbers could not be multiplied
    for i in range(y.size):
        size += (y[i] / largest) ** 2
        along += (y[i] / largest) * (Xw[i] / far)
    return FIRST_SHARE * (largest / far) * (size / along) if along > 0.0 else 1.0


@_exact
def trial_step(pace):
    """The step to try next: longer than the last one, unless that met no curvature."""
    if pace[TRIAL] > 0.0:
        return pace[TRIAL]
    if pace[THETA] == 0.0 or not pace[CURVATURE] > 0.0:
        return pace[GAMMA]
    return pace[GAMMA] * (LATE_GROWTH if pace[REFUSED] > 0.0 else GROWTH)


@_exact
def momentum_of(pace, gamma):
    """theta⁺ and the momentum of a step gamma; they know that steps grow and shrink.

    theta⁺ = (1 + √(1 + 4 (gamma_t/gamma) theta_t²))/2 (Scheinberg, Goldfarb and Bai 2014).
    """
    if pace[THETA] == 0.0:
        return 1.0, 0.0
    theta = 0.5 + math.sqrt(0.25 + pace[GAMMA] / gamma * pace[THETA] * pace[THETA])
    return theta, (pace[THETA] - 1.0) / theta


@_exact
def extrapolate(A, beta, out):
    """out = a + beta (a - a_before), A = (a, a_before)."""
    for i in range(out.size):
        out[i] = A[0, i] + beta * (A[0, i] - A[1, i])


@_exact
def look_at(Z, pace, seen):
    """The vectors whose correlations the next step looks at: z, and v of the first trial."""
    copy_to(Z[0], seen[0])
    if len(seen) > 1:
        extrapolate(Z, momentum_of(pace, trial_step(pace))[1], seen[1])


@_exact
def negate(a, out):
    """out = -a."""
    for i in range(a.size):
        out[i] = -a[i]


@_exact
def shift(A, new):
    """A = (a, a_before) becomes (new, a)."""
    copy_to(A[0], A[1])
    copy_to(new, A[0])


@_part
def along_gradient(v, Xr, y, gamma, z):
    """z = v + gamma (Xr - y); whether it is finite."""
    total = 0.0
    for i in range(y.size):
        z[i] = v[i] + gamma * (Xr[i] - y[i])
        total += z[i]
    return math.isfinite(total)


@_jit
def adaptive_walk(
    B, y, Z, P, pace, clock, times, k, alpha, labels, sign, refs, edges, reach, at, end, every,
    rows, seen,
):  # fmt: skip
    """Algorithm 1 on the working set, with steps found by backtracking on the dual function.

    Z = (z_t, z_{t-1}); P = their correlations with the working set; pace as named above; times[t]
    becomes tau_t = gamma theta² of step t.  A feature enters w (or r) only if its |x_iᵀz| (or
    |x_iᵀv|) exceeds lam/s.  Returns the rows recorded and the status; on REFRESH ``at`` is the
    vector for which new columns are needed.  A refused trial reads the working set again, and no
    other columns.  The vectors looked at after each step are left in ``seen``, as far as it goes.
    """
    m, n = P.shape[1], y.size
    lam = (1.0 - alpha) / alpha
    v, z, Xr, Xw = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    q, p, r, w = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    n_rows, known = 0, False  # whether w is that of z_t
    began = clock[NOW]
    while True:
        if due(clock, end, every):
            if not known:
                s = prox_groups(P[0], lam, k, pace[S_W], labels, -sign, w)
                if outside(Z[0], refs, edges, reach) > entry_level(lam, s):
                    copy_to(Z[0], at)
                    return n_rows, REFRESH
                pace[S_W] = s
            for j in range(m):
                rows[n_rows, j] = w[j] / -alpha
            n_rows += 1
            clock[RECORDED] = clock[NOW]
        if clock[NOW] >= end or n_rows == rows.shape[0]:
            return n_rows, DONE
        if pace[GAMMA] == 0.0:
            negate(y, v)
            correlate(B, v, q)
            size = to_unit_size(q)  # the prox of c q is c times that of q
            s = prox_groups(q, lam, k, 0.0, labels, -sign, r)
            if outside(v, refs, edges, reach) / size > entry_level(lam, s):
                copy_to(v, at)
                return n_rows, REFRESH
            combine(B, r, -1.0 / alpha, Xr)
            pace[GAMMA] = first_step(y, Xr) / size
        gamma = trial_step(pace)
        while True:
            theta, beta = momentum_of(pace, gamma)
            extrapolate(Z, beta, v)
            extrapolate(P, beta, q)
            # r_t = prox(-Xᵀv/alpha)
            s = prox_groups(q, lam, k, pace[S_R], labels, -sign, r)
            if outside(v, refs, edges, reach) > entry_level(lam, s):
                copy_to(v, at)
                return n_rows, REFRESH
            pace[S_R] = s
            combine(B, r, -1.0 / alpha, Xr)
            if not along_gradient(v, Xr, y, gamma, z):
                return n_rows, NONFINITE
            # w_{t+1} = prox(-Xᵀz/alpha)
            correlate(B, z, p)
            s = prox_groups(p, lam, k, pace[S_W], labels, -sign, w)
            if outside(z, refs, edges, reach) > entry_level(lam, s):
                copy_to(z, at)
                return n_rows, REFRESH
            pace[S_W] = s
            combine(B, w, -1.0 / alpha, Xw)
            if step_holds(z, v, Xw, Xr, gamma, pace):
                break
            gamma *= 0.5
            pace[REFUSED], pace[TRIAL] = 1.0, gamma
        shift(Z, z)
        shift(P, p)
        pace[THETA], pace[GAMMA], pace[TRIAL] = theta, gamma, 0.0
        known = True
        if clock[NOW] - began < len(seen):
            look_at(Z, pace, seen[clock[NOW] - began])
        clock[NOW] += 1
        times[clock[NOW]] = gamma * theta * theta


# -- Losses, and IRKSN on them ------------------------------------------------------------
#
# The data of a loss are a few arrays.  ``y`` is the response (the events, 0 or 1, of Cox),
# ``weights`` how much each row counts, ``layout`` the order of times (of Cox alone, see below).
# Derivatives are those of Σ weights_i l_i.

# With several classes a row has a number for each: those of a class stand side by side, in eta, in
# derivatives, and in the coefficients of what is not penalised.

SQUARED, HUBER, LOGISTIC, POISSON, COX, MULTINOMIAL = range(6)
SHORTEST = 1e-300  # a step that had to become shorter than this is none

# Rows of a layout, which has a column for each row of X, by strata and from the latest time on: the
# row's place in X; the first and the end of those of the same time; the end of the stratum.
ORDER, TIE, TIE_END, STRATUM_END = range(4)


@_exact
def cox_risks(eta, weights, layout, risk, sums, top):
    """The risk e^eta of each row, and its sum over all rows still there, at the first of each time.

    All in the order of the layout, and in units of e^top, the largest of those still there: in
    units of the whole stratum, who survives everybody else could have no risk at all.
    """
    most, total, at = -np.inf, 0.0, 0
    while at < eta.size:
        end = layout[TIE_END, at]
        if at == 0 or layout[STRATUM_END, at] != layout[STRATUM_END, at - 1]:
            most, total = -np.inf, 0.0
        before = most
        for i in range(at, end):
            most = max(most, eta[layout[ORDER, i]])
        if most > before:
            total *= math.exp(before - most)
        for i in range(at, end):
            row = layout[ORDER, i]
            top[i] = most
            risk[i] = weights[row] * math.exp(eta[row] - most)
            total += risk[i]
        sums[at] = total
        at = end


@_exact
def cox_tied(events, weights, layout, risk, first, end):
    """Of the events of one time: how many, their weight, and their risk."""
    count, weight, tied = 0, 0.0, 0.0
    for i in range(first, end):
        row = layout[ORDER, i]
        if events[row] > 0.0:
            count += 1
            weight += weights[row]
            tied += risk[i]
    return count, weight, tied


@_exact
def cox_hazards(efron, eta, events, weights, layout, d, square):
    """Of each row its risk times the hazard that it has lived through; the same with squares.

    The second derivatives in eta are diag(d) - BᵀB: B takes a vector to its means among those at
    risk (`cox_means`), and ``square`` is the diagonal of BᵀB.
    """
    n = eta.size
    risk, sums, top = np.empty(n), np.empty(n), np.empty(n)
    cox_risks(eta, weights, layout, risk, sums, top)
    cox_hazards_at(efron, events, weights, layout, risk, sums, top, d, square)


@_exact
def cox_hazards_at(efron, events, weights, layout, risk, sums, top, d, square):
    """The same, risks being known."""
    end = risk.size
    hazard, squared = 0.0, 0.0  # Σ of 1/sums, and of their squares, over the events so far
    while end > 0:
        first = layout[TIE, end - 1]
        if layout[STRATUM_END, first] == end:
            hazard, squared = 0.0, 0.0
        elif top[first] < top[end]:
            unit = math.exp(top[first] - top[end])
            hazard, squared = unit * hazard, unit * unit * squared
        if end - first == 1:  # nobody is tied with whom: no branch, as events are hard to foresee
            row, end = layout[ORDER, first], first
            left = 1.0 / sums[first]
            more = left * weights[row] * (events[row] > 0.0)
            hazard += more
            squared += more * left
            d[row], square[row] = risk[first] * hazard, risk[first] ** 2 * squared
            continue
        count, weight, tied = cox_tied(events, weights, layout, risk, first, end)
        own, own_squared = hazard, squared  # for rows with an event at this time
        parts = count if efron > 0.0 else min(count, 1)
        for part in range(parts):
            left = sums[first] - part / parts * tied
            more = weight / parts / left
            hazard += more
            squared += more / left
            own += more * (1.0 - part / parts)
            own_squared += more / left * (1.0 - part / parts) ** 2
        for i in range(first, end):
            row = layout[ORDER, i]
            event = events[row] > 0.0
            d[row] = risk[i] * (own if event else hazard)
            square[row] = risk[i] ** 2 * (own_squared if event else squared)
        end = first


@_exact
def cox_slopes(efron, eta, events, weights, layout, g, h):
    """First derivatives of the partial likelihood, and the diagonal of the second."""
    cox_hazards(efron, eta, events, weights, layout, h, g)
    slopes_from(h, g, events, weights)


@_exact
def slopes_from(h, g, events, weights):
    """First derivatives in g, and the diagonal of the second in h, from ``square`` and ``d``."""
    for i in range(h.size):
        square = g[i]
        g[i] = h[i] - weights[i] * (events[i] > 0.0)
        h[i] -= square


@_exact
def cox_means(efron, eta, events, weights, layout, T, F):
    """F = B T: for each term of the partial likelihood the mean row of T among those at risk.

    Times the root of the term's weight.  A row of F for each event; those that Breslow's ties
    leave over become zero.  One pass over the rows, from the latest on.
    """
    n = eta.size
    risk, sums, top = np.empty(n), np.empty(n), np.empty(n)
    cox_risks(eta, weights, layout, risk, sums, top)
    cox_means_at(efron, events, weights, layout, risk, sums, top, T, F)


@_exact
def cox_means_at(efron, events, weights, layout, risk, sums, top, T, F):
    """The same, risks being known."""
    n, q = T.shape
    moment, tied_moment = np.zeros(q), np.zeros(q)  # Σ risk t over those at risk, and with events
    at, term = 0, 0
    while at < n:
        end = layout[TIE_END, at]
        if at == 0 or layout[STRATUM_END, at] != layout[STRATUM_END, at - 1]:
            moment[:] = 0.0
        elif top[at] > top[at - 1]:
            moment *= math.exp(top[at - 1] - top[at])
        if end - at == 1:
            row = layout[ORDER, at]
            for a in range(q):
                moment[a] += risk[at] * T[row, a]
            if events[row] > 0.0:
                scale = math.sqrt(weights[row]) / sums[at]
                for a in range(q):
                    F[term, a] = scale * moment[a]
                term += 1
            at = end
            continue
        tied_moment[:] = 0.0
        for i in range(at, end):
            row = layout[ORDER, i]
            for a in range(q):
                moment[a] += risk[i] * T[row, a]
            if events[row] > 0.0:
                for a in range(q):
                    tied_moment[a] += risk[i] * T[row, a]
        count, weight, tied = cox_tied(events, weights, layout, risk, at, end)
        parts = count if efron > 0.0 else min(count, 1)
        for part in range(parts):
            share = part / parts
            scale = math.sqrt(weight / parts) / (sums[at] - share * tied)
            for a in range(q):
                F[term + part, a] = scale * (moment[a] - share * tied_moment[a])
        F[term + parts : term + count] = 0.0
        term += count
        at = end


@_exact
def cox_spread(efron, eta, events, weights, layout, F, T):
    """T = Bᵀ F, the transposed of `cox_means`, in one pass from the earliest row on."""
    n, q = T.shape
    risk, sums, top = np.empty(n), np.empty(n), np.empty(n)
    cox_risks(eta, weights, layout, risk, sums, top)
    passed, own = np.zeros(q), np.zeros(q)  # of terms so far, for rows with an event at this time
    end, term = n, F.shape[0]
    while end > 0:
        first = layout[TIE, end - 1]
        if layout[STRATUM_END, first] == end:
            passed[:] = 0.0
        elif top[first] < top[end]:
            passed *= math.exp(top[first] - top[end])
        count, weight, tied = cox_tied(events, weights, layout, risk, first, end)
        own[:] = passed
        parts = count if efron > 0.0 else min(count, 1)
        term -= count
        for part in range(parts):
            share = part / parts
            scale = math.sqrt(weight / parts) / (sums[first] - share * tied)
            for a in range(q):
                passed[a] += scale * F[term + part, a]
                own[a] += (1.0 - share) * scale * F[term + part, a]
        for i in range(first, end):
            row = layout[ORDER, i]
            for a in range(q):
                T[row, a] = risk[i] * (own[a] if events[row] > 0.0 else passed[a])
        end = first


@_exact
def cox_values(efron, eta, events, weights, layout, out):
    """What each event contributes to the partial likelihood above a saturated model; else zero."""
    n = eta.size
    risk, sums, top = np.empty(n), np.empty(n), np.empty(n)
    cox_risks(eta, weights, layout, risk, sums, top)
    end = n
    while end > 0:
        first = layout[TIE, end - 1]
        if end - first == 1:
            row, end = layout[ORDER, first], first
            out[row] = 0.0
            if events[row] > 0.0:
                out[row] = top[first] + math.log(sums[first] / weights[row]) - eta[row]
            continue
        count, weight, tied = cox_tied(events, weights, layout, risk, first, end)
        parts = count if efron > 0.0 else min(count, 1)
        level = top[first]
        for part in range(parts):
            share = part / parts
            level += math.log((sums[first] - share * tied) / (weight * (1.0 - share))) / parts
        for i in range(first, end):
            row = layout[ORDER, i]
            out[row] = level - eta[row] if events[row] > 0.0 else 0.0
        end = first


@_exact
def log1p_exp(x):
    """log(1 + e^x), of any x."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


# Where a new row joins rows in the order of a layout, a column for each new row: in which order
# they are looked at, by strata and from the earliest time on; the first place of a time that is not
# later; the end of the stratum; the first place of those that are there no less long, or -1.
SWEEP, PLACE, STOP, AT_RISK = range(4)

# A new row adds log(1 + e^eta / S) for each event before its time, S the risk then of all others.
# S falls with time.  Where e^eta < S / 8 the series of the logarithm is a polynomial in e^eta,
# whose coefficients are sums over the events so far.  Where it is not so small, events are taken
# in bins within which S changes by a factor of 1.4: log(S + e^eta) is a series about the middle.
# Either leaves out less than 1e-15 of an event.
SERIES = 16  # terms of a series
SMALL_SHARE = -math.log(8.0)  # log of e^eta / S
BIN = 0.5 * math.log(2.0)  # width in log S
MIDDLE = math.log(0.5 + 0.5 * math.exp(-BIN))  # of a bin, from its largest log S


@_exact
def log_series(moments, x):
    """Σ_k -(-x)^k / k moments[k - 1]: of moments Σ m^k it is Σ log(1 + m x)."""
    total = 0.0
    for k in range(SERIES, 0, -1):
        total = x * ((moments[k - 1] if k % 2 else -moments[k - 1]) / k + total)
    return total


@_exact
def cox_added(eta, events, weights, layout, new_eta, new_events, joins, out):
    """By how much each new row, joining these alone, raises minus the log partial likelihood.

    Ties as Breslow has them.  In one sweep over the events: linear in rows and new rows.
    """
    n = eta.size
    risk, sums, top = np.empty(n), np.empty(n), np.empty(n)
    cox_risks(eta, weights, layout, risk, sums, top)
    level = np.empty(n)  # log S, at the first row of each time
    least, most, at = np.inf, -np.inf, 0
    while at < n:
        level[at] = top[at] + math.log(sums[at])
        least, most, at = min(least, level[at]), max(most, level[at]), layout[TIE_END, at]
    if not (math.isfinite(least) and math.isfinite(most)):
        out[:] = np.nan
        return
    room = int(min((most - least) / BIN, float(n))) + 2  # a bin has an event, or more
    powers = np.empty(SERIES)  # Σ weight (S now / S)^k over the events so far
    before, before_level = np.empty((room, SERIES)), np.empty(room)  # the same as a bin begins
    moments = np.empty((room, SERIES))  # Σ weight ((S - middle) / middle)^k over a bin
    middle, weight_in, log_in = np.empty(room), np.empty(room), np.empty(room)
    stop, end, last, now = -1, -1, -1, np.inf
    for place in range(new_eta.size):
        j = joins[SWEEP, place]
        if joins[STOP, j] != stop:  # another stratum
            stop, last, now = joins[STOP, j], -1, np.inf
            end = stop
            powers[:] = 0.0
        while end > joins[PLACE, j]:
            first = layout[TIE, end - 1]
            _, weight, _ = cox_tied(events, weights, layout, risk, first, end)
            end = first
            if weight == 0.0:
                continue
            if last < 0 or level[first] < middle[last] - MIDDLE - BIN:
                last += 1
                before[last], before_level[last] = powers, now
                moments[last], weight_in[last], log_in[last] = 0.0, 0.0, 0.0
                middle[last] = level[first] + MIDDLE
            ratio, off = math.exp(level[first] - now), math.expm1(level[first] - middle[last])
            now, power, away = level[first], 1.0, weight
            weight_in[last] += weight
            log_in[last] += weight * (level[first] - middle[last])
            for k in range(SERIES):
                power *= ratio
                away *= off
                powers[k] = powers[k] * power + weight
                moments[last, k] += away
        own, total, bin_ = new_eta[j], 0.0, last
        if own - now <= SMALL_SHARE:
            total = log_series(powers, math.exp(own - now))
        else:
            while bin_ >= 0:
                x = own - middle[bin_]
                total += weight_in[bin_] * log1p_exp(x) - log_in[bin_]
                total += log_series(moments[bin_], 1.0 / (1.0 + math.exp(x)))
                if own - before_level[bin_] <= SMALL_SHARE:
                    total += log_series(before[bin_], math.exp(own - before_level[bin_]))
                    break
                bin_ -= 1
        if new_events[j] > 0.0 and joins[AT_RISK, j] >= 0:
            total += log1p_exp(level[joins[AT_RISK, j]] - own)
        out[j] = total


@_exact
def class_shares(eta, n, i, p, rest):
    """Probabilities of the classes in row i of n, and 1 - p without cancellation."""
    most, total = -np.inf, 0.0
    for a in range(p.size):
        most = max(most, eta[a * n + i])
    for a in range(p.size):
        p[a] = math.exp(eta[a * n + i] - most)
        rest[a] = total  # those before, and below those after
        total += p[a]
    after = 0.0
    for a in range(p.size - 1, -1, -1):
        rest[a] = (rest[a] + after) / total
        after += p[a]
    for a in range(p.size):
        p[a] /= total


@_exact
def class_slopes(eta, y, weights, g, h):
    """First derivatives of the multinomial loss, and the diagonal of the second."""
    n = y.size
    p, rest = np.empty(eta.size // n), np.empty(eta.size // n)
    for i in range(n):
        class_shares(eta, n, i, p, rest)
        for a in range(p.size):
            g[a * n + i] = weights[i] * (-rest[a] if a == y[i] else p[a])
            h[a * n + i] = weights[i] * p[a] * rest[a]


@_exact
def slopes(kind, param, eta, y, weights, layout, g, h):
    """First derivatives of a loss, and second ones (of Cox and of classes, their diagonal)."""
    if kind == COX:
        cox_slopes(param, eta, y, weights, layout, g, h)
        return
    if kind == MULTINOMIAL:
        class_slopes(eta, y, weights, g, h)
        return
    for i in range(eta.size):
        if kind == LOGISTIC:
            e = math.exp(-abs(eta[i]))
            p = (1.0 if eta[i] >= 0.0 else e) / (1.0 + e)
            slope, curve = p - y[i], e / ((1.0 + e) * (1.0 + e))
        elif kind == POISSON:
            curve = math.exp(eta[i])
            slope = curve - y[i]
        else:
            slope, curve = eta[i] - y[i], 1.0
            if kind == HUBER and abs(slope) > param:
                slope, curve = math.copysign(param, slope), 0.0
        g[i] = weights[i] * slope
        h[i] = weights[i] * curve


@_exact
def loss_values(kind, param, eta, y, weights, layout, out):
    """What each row contributes to a loss with one fitted value a row, above a perfect fit."""
    if kind == COX:
        cox_values(param, eta, y, weights, layout, out)
        return
    for i in range(eta.size):
        if kind == LOGISTIC:
            out[i] = log1p_exp(-eta[i] if y[i] > 0.0 else eta[i])
        elif kind == POISSON:
            least = y[i] - y[i] * math.log(y[i]) if y[i] > 0.0 else 0.0
            out[i] = math.exp(eta[i]) - y[i] * eta[i] - least
        else:
            size = abs(eta[i] - y[i])
            inside = min(size, param) if kind == HUBER else size
            out[i] = inside * (size - 0.5 * inside)


@_exact
def factorise(H):
    """H = L Lᵀ, in place and in the lower triangle; returns the least and the largest pivot.

    That of a column which depends on those before becomes infinite: then it counts as zero.
    """
    q = H.shape[0]
    sizes, column = np.empty(q), np.empty(q)
    least, most = np.inf, 0.0
    for j in range(q):
        sizes[j] = H[j, j]
    for j in range(q):
        pivot = H[j, j]
        least, most = min(least, pivot), max(most, pivot)
        H[j, j] = math.sqrt(pivot) if pivot > FLAT * sizes[j] else np.inf
        for i in range(j + 1, q):
            H[i, j] /= H[j, j]
            column[i] = H[i, j]
        for i in range(j + 1, q):
            own = column[i]
            for k in range(j + 1, i + 1):
                H[i, k] -= own * column[k]
    return least, most


@_exact
def solve_factorised(L, x):
    """x = (L Lᵀ)⁻¹x, in place."""
    q = x.size
    for j in range(q):
        for k in range(j):
            x[j] -= L[j, k] * x[k]
        x[j] /= L[j, j]
    for j in range(q - 1, -1, -1):
        x[j] /= L[j, j]
        own = x[j]
        for k in range(j):
            x[k] -= L[j, k] * own


@_exact
def cox_curve(efron, eta, events, weights, layout, T, g, h, H):
    """Derivatives in eta as `cox_slopes`, and second ones in the coefficients of T's columns.

    These are added to the lower triangle of H: Tᵀ diag(d) T less the squares of the means.
    """
    n, count = eta.size, 0
    risk, sums, top = np.empty(n), np.empty(n), np.empty(n)
    cox_risks(eta, weights, layout, risk, sums, top)
    cox_hazards_at(efron, events, weights, layout, risk, sums, top, h, g)
    add_squares(T, h, H)
    slopes_from(h, g, events, weights)
    for i in range(n):
        count += events[i] > 0.0
    F = np.empty((count, T.shape[1]))
    cox_means_at(efron, events, weights, layout, risk, sums, top, T, F)
    add_squares(F, np.full(count, -1.0), H)


@_exact
def class_hessian(eta, weights, A, H):
    """Second derivatives in the coefficients of the rows of A for each class, those of one class
    side by side, added to the lower triangle of H.
    """
    q, n = A.shape
    count = eta.size // n
    p, rest, along = np.empty(count), np.empty(count), np.empty(count * q)
    for i in range(n):
        class_shares(eta, n, i, p, rest)
        for at in range(count * q):
            along[at] = p[at // q] * A[at % q, i]
        for at in range(count * q):
            a, own = at // q, weights[i] * along[at]
            for other in range(a * q):
                H[at, other] -= own * along[other]
            for s in range(q):
                H[at, a * q + s] += own * rest[a] * A[s, i]


@_exact
def loss_hessian(kind, param, eta, y, weights, layout, A, h, H):
    """The lower triangle of the second derivatives in the coefficients of the rows of A."""
    if kind == MULTINOMIAL:
        class_hessian(eta, weights, A, H)
        return
    if kind == COX:
        g, T = np.empty(y.size), np.ascontiguousarray(A.T)
        cox_curve(param, eta, y, weights, layout, T, g, np.empty(y.size), H)
        return
    add_squares(A.T, h, H)


@_exact
def add_squares(T, h, H):
    """H += Tᵀ diag(h) T, the lower triangle, row after row of T: entries of H side by side."""
    for i in range(T.shape[0]):
        for a in range(T.shape[1]):
            own = T[i, a] * h[i]
            for b in range(a + 1):
                H[a, b] += own * T[i, b]


@_exact
def bound_curvature(kind, weights, h):
    """Where the loss is all but linear, h = its bound; whether so.

    Of Huber's loss in most rows, of the logistic one and that of classes in all.
    """
    if kind != HUBER and kind != LOGISTIC and kind != MULTINOMIAL:
        return False
    bound, least = (1.0, 0.25) if kind == HUBER else (0.25, 1e-10)
    bound = 0.5 if kind == MULTINOMIAL else bound
    bent, total, n = 0.0, 0.0, weights.size
    for i in range(h.size):
        bent += h[i]
    for i in range(n):
        total += bound * weights[i]
    if bent >= least * total:
        return False
    for first in range(0, h.size, n):
        for i in range(n):
            h[first + i] = bound * weights[i]
    return True


@_exact
def newton_direction(kind, param, y, weights, layout, Q, eta, g, h, bounded):
    """-H⁻¹ Qg; of classes, with a sum of zero over them."""
    q, n = Q.shape
    count = g.size // n
    H, s = np.zeros((q * count, q * count)), np.zeros(q * count)
    for at in range(q * count):
        a, first = at % q, at // q * n
        for i in range(n):
            s[at] -= Q[a, i] * g[first + i]
    if kind == MULTINOMIAL and bounded:
        for at in range(q * count):
            a, first = at % q, at // q * n
            for b in range(a + 1):
                for i in range(n):
                    H[at, at - a + b] += Q[a, i] * h[first + i] * Q[b, i]
    else:
        loss_hessian(kind, param, eta, y, weights, layout, Q, h, H)
    factorise(H)
    solve_factorised(H, s)
    if kind == MULTINOMIAL:
        for a in range(q):
            mean = 0.0
            for at in range(a, s.size, q):
                mean += s[at] / count
            for at in range(a, s.size, q):
                s[at] -= mean
    return s


@_exact
def add_columns(Q, c, out):
    """out += Qᵀc; of classes, each with the coefficients of its own."""
    q, n = Q.shape
    for at in range(out.size // n):
        mine, own = out[at * n : (at + 1) * n], c[at * q : (at + 1) * q]
        for a in range(q):
            for i in range(n):
                mine[i] += Q[a, i] * own[a]


@_exact
def all_fitted(weights, g, steepest):
    """Whether hardly a row has a slope left, compared with the steepest that there is."""
    size, total = 0.0, 0.0
    for i in range(g.size):
        size += abs(g[i])
    for i in range(weights.size):
        total += weights[i]
    return size <= FITTED * steepest * total


@_exact
def is_constant(a):
    """Whether all entries are the same, and not zero."""
    differing = 0
    for i in range(a.size):
        differing += a[i] != a[0]
    return differing == 0 and a[0] != 0.0


@_exact
def poisson_constant(y, weights, one, c, eta):
    """Settle c[0], that of a constant, which is known: counts and means have the same sum."""
    most, counts, means = -np.inf, 0.0, 0.0
    for i in range(eta.size):
        most = max(most, eta[i])
    for i in range(eta.size):
        counts += weights[i] * y[i]
        means += weights[i] * math.exp(eta[i] - most)
    change = math.log(counts / means) - most
    c[0] += change / one[0]
    for i in range(eta.size):
        eta[i] += change


@_exact
def logistic_constant(y, weights, one, c, base, eta, g, h):
    """Settle c[0], that of a constant, with one exponential a row; False if that is not enough.

    The odds e^-eta of all rows change by one factor.  It is not enough where c is far away, or all
    but every row is fitted and little but rounding is left of slopes.
    """
    far, change, total = 0.0, 0.0, 0.0
    for i in range(eta.size):
        eta[i] = base[i] + c[0] * one[0]
        far = max(far, abs(eta[i]))
        total += weights[i]
        h[i] = math.exp(-eta[i])
    for _ in range(20):
        slope, bend, factor = 0.0, 0.0, math.exp(-change)
        for i in range(eta.size):
            p = 1.0 / (1.0 + factor * h[i])
            slope += weights[i] * (p - y[i])
            bend += weights[i] * p * (1.0 - p)
        step = -slope / bend
        if not (bend > 1e-6 * total and abs(step) <= 1.0 and far + abs(change) < 500.0):
            return False
        change += step
        if abs(step) <= 1e-6:  # what is left after such a step is its square
            break
    else:
        return False
    c[0] += change / one[0]
    factor = math.exp(-change)
    for i in range(eta.size):
        eta[i] += change
        odds = factor * h[i]
        p = 1.0 / (1.0 + odds)
        g[i] = weights[i] * (p - y[i])
        h[i] = weights[i] * odds * p * p
    return True


@_exact
def settle_on(kind, param, y, weights, layout, Q, c, base, eta, g, h):
    """Newton's method for the c at which the loss of eta = base + Qᵀc is least; g and h there.

    It starts at the c given.  The length of a step is such that at its end the loss is at most half
    as steep.
    """
    q, n = Q.shape[0], base.size
    step, trial = np.empty(n), np.empty(n)
    copy_to(base, eta)
    add_columns(Q, c, eta)
    constant = q > 0 and is_constant(Q[0])
    if kind == LOGISTIC and q == 1 and constant:
        if logistic_constant(y, weights, Q[0], c, base, eta, g, h):
            return
        copy_to(base, eta)
        add_columns(Q, c, eta)
    known = kind == POISSON and constant
    if known:
        poisson_constant(y, weights, Q[0], c, eta)
    slopes(kind, param, eta, y, weights, layout, g, h)
    if q == 0 or (q == 1 and known):
        return
    # Of a smooth loss, what is left after such a step is its square.
    enough = 1e-12 * param if kind == HUBER else 1e-6
    for _ in range(100):
        bounded = bound_curvature(kind, weights, h)
        separated = bounded or kind == MULTINOMIAL  # perhaps, class by class
        if separated and all_fitted(weights, g, param if kind == HUBER else 1.0):
            return
        delta = newton_direction(kind, param, y, weights, layout, Q, eta, g, h, bounded)
        slope, largest = 0.0, 0.0
        for i in range(n):
            step[i] = 0.0
        add_columns(Q, delta, step)
        for i in range(n):
            slope += g[i] * step[i]
            largest = max(largest, abs(step[i]))
        if not slope < 0.0:
            return
        if largest <= enough and (kind == HUBER or not bounded):
            for a in range(delta.size):
                c[a] += delta[a]
            for i in range(n):
                eta[i] += step[i]
                g[i] += h[i] * step[i]
            # Where h is not all, or not itself:
            if kind in (COX, MULTINOMIAL) or bounded:
                slopes(kind, param, eta, y, weights, layout, g, h)
            return
        part = min(1.0, 20.0 / largest) if kind != HUBER else 1.0
        low, high = 0.0, np.inf  # the least along the step is between them
        for _ in range(60):
            for i in range(n):
                trial[i] = eta[i] + part * step[i]
            slopes(kind, param, trial, y, weights, layout, g, h)
            ahead = 0.0
            for i in range(n):
                ahead += g[i] * step[i]
            if abs(ahead) <= -0.5 * slope:
                break
            if ahead < 0.0:
                low = part
            else:
                high = part
            part = 2.0 * low if high == np.inf else 0.5 * (low + high)
        for a in range(delta.size):
            c[a] += part * delta[a]
        copy_to(trial, eta)


@_exact
def loss_gradient(kind, param, y, weights, layout, Q, roots, c, Xw, eta, g, h):
    """g, the gradient of the loss at the fitted values Xw = roots eta, with c settled there."""
    base, n = np.empty(Xw.size), roots.size
    for first in range(0, Xw.size, n):
        for i in range(n):
            base[first + i] = Xw[first + i] / roots[i]
    settle_on(kind, param, y, weights, layout, Q, c, base, eta, g, h)
    total = 0.0
    for first in range(0, Xw.size, n):
        for i in range(n):
            g[first + i] /= roots[i]
            total += g[first + i]
    return math.isfinite(total)


@_exact
def settle_rows(kind, param, y, weights, layout, Q, E, C):
    """The c settled at each row of E, from those in C on."""
    n = E.shape[1]
    eta, g, h = np.empty(n), np.empty(n), np.empty(n)
    for row in range(E.shape[0]):
        settle_on(kind, param, y, weights, layout, Q, C[row], E[row], eta, g, h)


@_exact
def slopes_rows(kind, param, E, y, weights, layout, G, H):
    """`slopes` of each row of E."""
    for row in range(E.shape[0]):
        slopes(kind, param, E[row], y, weights, layout, G[row], H[row])


@_exact
def hessian_of(kind, param, eta, y, weights, layout, A):
    """The second derivatives in the coefficients of the rows of A, a full matrix."""
    q, n = A.shape
    g, h, H = np.empty(n), np.empty(n), np.zeros((q, q))
    slopes(kind, param, eta, y, weights, layout, g, h)
    loss_hessian(kind, param, eta, y, weights, layout, A, h, H)
    for a in range(q):
        for b in range(a):
            H[b, a] = H[a, b]
    return H


@_exact
def values_rows(kind, param, E, y, weights, layout, out):
    """`loss_values` of each row of E."""
    for row in range(E.shape[0]):
        loss_values(kind, param, E[row], y, weights, layout, out[row])


@_exact
def cox_added_rows(E, events, weights, layout, new_E, new_events, joins, out):
    """`cox_added` of each row of E."""
    for row in range(E.shape[0]):
        cox_added(E[row], events, weights, layout, new_E[row], new_events, joins, out[row])


@_exact
def class_bend(eta, weights, along):
    """The second derivative of the multinomial loss at eta along a vector."""
    n, bent = weights.size, 0.0
    for i in range(n):
        most, total, mean, square = -np.inf, 0.0, 0.0, 0.0
        for at in range(i, eta.size, n):
            most = max(most, eta[at])
        for at in range(i, eta.size, n):
            p = math.exp(eta[at] - most)
            total += p
            mean += p * along[at]
            square += p * along[at] * along[at]
        bent += weights[i] * (square / total - (mean / total) * (mean / total))
    return bent


@_exact
def loss_first_step(y, kind, param, target, weights, layout, roots, eta, Xw):
    """As `first_step`, for a loss with minus gradient y at the eta of zero.

    It is the longer the less the loss is bent along Xw, compared with squares; where all rows are
    far off it is that of squares, as a number would have units.
    """
    A, plain, far = np.empty((1, y.size)), 0.0, 0.0
    for i in range(y.size):
        far = max(far, abs(Xw[i]))
    if not far > 0.0:
        return 1.0
    for i in range(y.size):
        along = Xw[i] / far
        A[0, i] = along / roots[i % roots.size]
        plain += along * along
    if kind == MULTINOMIAL:
        bent = class_bend(eta, weights, A[0])
    else:
        bent = hessian_of(kind, param, eta, target, weights, layout, A)[0, 0]
    return first_step(y, Xw) * (plain / bent if bent > 0.0 else 1.0)


@_part
def loss_step_holds(Xw, Xr, gw, gr, pace):
    """Whether the loss still falls at w along w - r, the way that the step went.

    As the step is along -gr, that is gamma ⟨gw - gr, X(w - r)⟩ <= ⟨w - r, ∇R(w) - ∇R(r)⟩: on this
    step, the loss is no more bent than R/gamma (relative smoothness, Bauschke, Bolte and Teboulle
    2017).  For squares it is the second test of `step_holds`.
    """
    fall, rise, change2, r2, g2 = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(Xw.size):
        change = Xw[i] - Xr[i]
        fall -= gr[i] * change
        rise += gw[i] * change
        change2 += change * change
        r2 += Xr[i] * Xr[i]
        g2 += gr[i] * gr[i]
    blur = (16 * EPS * math.sqrt(r2) + 1e-12 * math.sqrt(change2)) * math.sqrt(g2)
    pace[CURVATURE] = fall if fall > 4.0 * blur else 0.0
    return rise <= blur


@_jit
def loss_walk(
    B, y, origin, kind, param, target, weights, layout, Q, roots, C, Z, P, pace, clock, k,
    alpha, labels, sign, refs, edges, reach, at, end, every, rows, seen,
):  # fmt: skip
    """`adaptive_walk` for other losses: mirror descent with momentum, z⁺ = v + gamma ∇l(Xr).

    y is minus the gradient at zero, where eta is ``origin``; C is what is not penalised, settled at
    r and at w.
    """
    m, n = P.shape[1], y.size
    lam = (1.0 - alpha) / alpha
    v, z, Xr, Xw = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    gr, gw, eta, h = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    q, p, r, w = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    n_rows, known = 0, False
    began = clock[NOW]
    while True:
        if due(clock, end, every):
            if not known:
                s = prox_groups(P[0], lam, k, pace[S_W], labels, -sign, w)
                if outside(Z[0], refs, edges, reach) > entry_level(lam, s):
                    copy_to(Z[0], at)
                    return n_rows, REFRESH
                pace[S_W] = s
            for j in range(m):
                rows[n_rows, j] = w[j] / -alpha
            n_rows += 1
            clock[RECORDED] = clock[NOW]
        if clock[NOW] >= end or n_rows == rows.shape[0]:
            return n_rows, DONE
        if pace[GAMMA] == 0.0:
            negate(y, v)
            correlate(B, v, q)
            size = to_unit_size(q)
            s = prox_groups(q, lam, k, 0.0, labels, -sign, r)
            if outside(v, refs, edges, reach) / size > entry_level(lam, s):
                copy_to(v, at)
                return n_rows, REFRESH
            combine(B, r, -1.0 / alpha, Xr)
            first = loss_first_step(y, kind, param, target, weights, layout, roots, origin, Xr)
            pace[GAMMA] = first / size
        gamma = trial_step(pace)
        while True:
            if not gamma > SHORTEST:
                return n_rows, NONFINITE
            theta, beta = momentum_of(pace, gamma)
            extrapolate(Z, beta, v)
            extrapolate(P, beta, q)
            s = prox_groups(q, lam, k, pace[S_R], labels, -sign, r)
            if outside(v, refs, edges, reach) > entry_level(lam, s):
                copy_to(v, at)
                return n_rows, REFRESH
            pace[S_R] = s
            combine(B, r, -1.0 / alpha, Xr)
            if loss_gradient(kind, param, target, weights, layout, Q, roots, C[0], Xr, eta, gr, h):
                total = 0.0
                for i in range(n):
                    z[i] = v[i] + gamma * gr[i]
                    total += z[i]
                if not math.isfinite(total):
                    return n_rows, NONFINITE
                correlate(B, z, p)
                s = prox_groups(p, lam, k, pace[S_W], labels, -sign, w)
                if outside(z, refs, edges, reach) > entry_level(lam, s):
                    copy_to(z, at)
                    return n_rows, REFRESH
                pace[S_W] = s
                combine(B, w, -1.0 / alpha, Xw)
                loss_gradient(kind, param, target, weights, layout, Q, roots, C[1], Xw, eta, gw, h)
                if loss_step_holds(Xw, Xr, gw, gr, pace):
                    break
            gamma *= 0.5
            pace[REFUSED], pace[TRIAL] = 1.0, gamma
        shift(Z, z)
        shift(P, p)
        pace[THETA], pace[GAMMA], pace[TRIAL] = theta, gamma, 0.0
        known = True
        if clock[NOW] - began < len(seen):
            look_at(Z, pace, seen[clock[NOW] - began])
        clock[NOW] += 1


# -- Refits by a loss: Newton's method for the coefficients of a few columns ----------------

NEWTON_STEPS = 60  # about ten are needed, unless there is no least
LONGEST = 10.0  # change of eta, in units of the loss, in one step
CLOSE = 1e-9  # relative to eta; the next step would be its square
LEAST_GAIN = 1e-16  # of a step, over the loss: a row that its own column fits goes on for ever
FITTED = 1e-9  # slopes that are left, over the steepest that there are, where all rows are fitted
FLAT = 1e-12  # a pivot below this share of its column's counts as none
SMALL_RIDGE = 1e-4  # of the mean weighted square of the columns, where there is no least

# What is told of a refit, besides coefficients: whether steps ended, and with which ridge; of the
# ridge that was asked for, log det(I + K/ridge) and the trace of K(K + ridge I)⁻¹, where K has the
# second derivatives in the coefficients.
ENDED, RIDGE, VOLUME, FREEDOM = range(4)


@_exact
def shortest_solution(H, s):
    """The shortest x with Hx = s, where H, of which the lower triangle is read, may be flat.

    And whether there is one.  Lengths are in units in which H has a diagonal of ones: columns may
    be in any units, and what is small beside another is not flat.
    """
    p = s.size
    unit, scaled = np.ones(p), np.zeros((p, p))
    for a in range(p):
        if H[a, a] > 0.0:
            unit[a] = math.sqrt(H[a, a])
        for b in range(a + 1):
            scaled[a, b] = H[a, b] / unit[a] / unit[b]
    sizes, V = np.linalg.eigh(scaled)
    x, left, total = np.zeros(p), np.empty(p), 0.0
    for i in range(p):
        left[i] = s[i] / unit[i]
        total += left[i] * left[i]
    for j in range(p):
        if sizes[j] > 1e-13 * sizes[-1]:
            along = 0.0
            for i in range(p):
                along += V[i, j] * (s[i] / unit[i])
            for i in range(p):
                x[i] += V[i, j] * (along / sizes[j])
                left[i] -= V[i, j] * along
    rest = 0.0
    for i in range(p):
        x[i] /= unit[i]
        rest += left[i] * left[i]
    return x, rest <= 1e-12 * total


@_exact
def go_on(a, part, step, out):
    """out = a + part step."""
    for i in range(out.size):
        out[i] = a[i] + part * step[i]


@_exact
def loss_total(kind, param, y, weights, layout, q, ridge, b, eta, values):
    """Σ weights value, and what the ridge adds for coefficients from place q on."""
    loss_values(kind, param, eta, y, weights, layout, values)
    total, squares = 0.0, 0.0
    for i in range(y.size):
        total += weights[i] * values[i]
    for a in range(q, b.size):
        squares += b[a] * b[a]
    return total + 0.5 * ridge * squares


@_exact
def curve(kind, param, y, weights, layout, T, eta, g, h, H):
    """Derivatives at eta; H has those in the coefficients of the columns of T."""
    for a in range(H.shape[0]):
        for b in range(a + 1):
            H[a, b] = 0.0
    if kind == COX:
        cox_curve(param, eta, y, weights, layout, T, g, h, H)
    else:
        slopes(kind, param, eta, y, weights, layout, g, h)
        add_squares(T, h, H)


@_exact
def newton_step(T, q, ridge, b, g, H, slope, step):
    """step = -H⁻¹ slope, both with the ridge's share; H is overwritten.  Whether there is one."""
    p = b.size
    for a in range(p):
        slope[a] = ridge * b[a] if a >= q else 0.0
        H[a, a] += ridge if a >= q else 0.0
    for i in range(g.size):
        for a in range(p):
            slope[a] += T[i, a] * g[i]
    for a in range(p):
        step[a] = -slope[a]
    whole = np.zeros((p, p))
    for a in range(p):
        for other in range(a + 1):  # above it nothing was written
            whole[a, other] = H[a, other]
    factorise(H)
    for a in range(p):
        if not H[a, a] < np.inf:
            found, there = shortest_solution(whole, step)
            copy_to(found, step)
            return there
    solve_factorised(H, step)
    return True


@_exact
def reweigh(eta, y, g, h):
    """Second derivatives of squares that touch Huber's loss, and are nowhere below it."""
    for i in range(eta.size):
        if eta[i] != y[i]:
            h[i] = g[i] / (eta[i] - y[i])


@_exact
def set_fitted(A, b, eta):
    """eta = Aᵀb."""
    for i in range(eta.size):
        eta[i] = 0.0
    add_columns(A, b, eta)


@_exact
def newton(kind, param, y, weights, layout, A, T, q, ridge, unit, terms, steps, b, eta, H):
    """The least of the loss of eta = Aᵀb with a ridge, from b on; whether steps ended there.

    H has the second derivatives there.  Eta is in these units, and values are differences of
    these terms: where the fit is almost perfect they are far smaller.
    """
    p, n = A.shape
    g, h, values, along, ahead = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    slope, step, trial = np.empty(p), np.empty(p), np.empty(p)
    set_fitted(A, b, eta)
    now, close = loss_total(kind, param, y, weights, layout, q, ridge, b, eta, values), False
    for at in range(steps + 1):
        curve(kind, param, y, weights, layout, T, eta, g, h, H)
        # What separates classes and is not penalised leaves nothing but rounding to explain.
        if close or (at == 0 and kind == LOGISTIC and all_fitted(weights, g, 1.0)):
            return True
        if not newton_step(T, q, ridge, b, g, H, slope, step) and kind == HUBER:
            # Steep, and of rows alone that are far off, where the loss does not bend.
            reweigh(eta, y, g, h)
            H[:, :] = 0.0
            add_squares(T, h, H)
            newton_step(T, q, ridge, b, g, H, slope, step)
        set_fitted(A, step, along)
        change, size, fall = 0.0, unit, 0.0
        for i in range(n):
            change, size = max(change, abs(along[i])), max(size, abs(eta[i]))
        for a in range(p):
            fall += 0.1 * slope[a] * step[a]
        close = change <= CLOSE * size
        # Without a ridge one is to be added, where steps go on for ever.
        last = (ridge > 0.0 or p == q) and -10.0 * fall <= LEAST_GAIN * max(abs(now), terms)
        part, rounding = 1.0, 1e-13 * max(abs(now), terms)
        if not close:
            part = min(1.0, LONGEST * unit / change)
        while True:
            go_on(b, part, step, trial)
            go_on(eta, part, along, ahead)
            after = loss_total(kind, param, y, weights, layout, q, ridge, trial, ahead, values)
            if close or after <= now + part * fall + rounding:
                break
            part *= 0.5
            if not part > SHORTEST:
                return False
        copy_to(trial, b)
        copy_to(ahead, eta)
        now, close = after, close or last
    return False


@_exact
def prior_left(H, q, ridge):
    """VOLUME and FREEDOM of a ridge on coefficients from place q on, of second derivatives H."""
    m = H.shape[0] - q
    if not ridge > 0.0:
        return np.inf if m > 0 else 0.0, float(m)
    K, x = np.empty((m, m)), np.empty(m)
    for a in range(m):
        for b in range(a + 1):
            K[a, b] = H[q + a, q + b]
        K[a, a] += ridge
    factorise(K)
    volume, inverse = -m * math.log(ridge), 0.0
    for a in range(m):
        volume += 2.0 * math.log(K[a, a])
        for j in range(a, m):  # the column a of L⁻¹, whose squares sum up to the trace of K⁻¹
            x[j] = 1.0 if j == a else 0.0
            for k in range(a, j):
                x[j] -= K[j, k] * x[k]
            x[j] /= K[j, j]
            inverse += x[j] * x[j]
    return volume, m - ridge * inverse


@_exact
def gather(Q, start, C, features, A, T, b):
    """All columns of a model as rows of A and columns of T, first those of Q; and b to start at."""
    q, n = Q.shape
    for a in range(b.size):
        b[a] = start[a] if a < q else 0.0
        copy_to(Q[a] if a < q else C[features[a - q]], A[a])
    for i in range(n):
        for a in range(b.size):
            T[i, a] = A[a, i]


@_exact
def mean_square(A, q, weights):
    """Of the rows of A from place q on, weighted sums of squares."""
    total = 0.0
    for a in range(q, A.shape[0]):
        for i in range(A.shape[1]):
            total += weights[i] * A[a, i] * A[a, i]
    return total / max(A.shape[0] - q, 1)


@_exact
def refit_models(
    kind, param, y, weights, layout, Q, start, C, indptr, features, ridges, unit, terms, coef, free,
    E, told,
):  # fmt: skip
    """Refits of many models: features are those of one after the other, by rows of C.

    Where there is no least, as of classes that columns separate, a small ridge makes one.
    """
    q, n = Q.shape
    for at in range(ridges.size):
        first, end, ridge = indptr[at], indptr[at + 1], ridges[at]
        p = q + end - first
        A, T, H, b = np.empty((p, n)), np.empty((n, p)), np.empty((p, p)), np.empty(p)
        for attempt in range(2):
            gather(Q, start, C, features[first:end], A, T, b)
            if attempt > 0:
                ridge = max(ridge, SMALL_RIDGE * mean_square(A, q, weights))
            steps = NEWTON_STEPS * (1 + 9 * attempt)
            ended = newton(
                kind, param, y, weights, layout, A, T, q, ridge, unit, terms, steps, b, E[at], H
            )
            if ended:
                break
        copy_to(b[:q], free[at])
        copy_to(b[q:], coef[first:end])
        told[at, ENDED], told[at, RIDGE] = ended, ridge
        told[at, VOLUME], told[at, FREEDOM] = prior_left(H, q, ridges[at])


# -- IHT and SRDI: a gradient step, then a threshold ---------------------------------------


@_part
def settle(Xb, y, u):
    """u = X b - y; False if its norm left the finite numbers."""
    total = 0.0
    for i in range(y.size):
        u[i] = Xb[i] - y[i]
        total += u[i] * u[i]
    return math.isfinite(total)


@_exact
def hard_threshold(c, k, out):
    """out = H_k(c), swept, ties to the lowest index; return what other entries must exceed."""
    level = select_largest(np.abs(c), k)
    tied = k  # places left for entries at the level itself
    for j in range(c.size):
        if abs(c[j]) > level:
            tied -= 1
    for j in range(c.size):
        a = abs(c[j])
        if a == level and tied > 0:
            tied -= 1
            out[j] = c[j]
        else:
            out[j] = c[j] if a > level else 0.0
    return max(level, sweep(out))


@_part
def iht_proposal(beta, g, eta, k, new):
    """new = H_k(beta - eta g); return what the magnitude of another entry must exceed."""
    # Mostly the support stays: one scan sees that, and no selection is needed.
    n_active, least, most = 0, np.inf, 0.0
    for j in range(beta.size):
        c = beta[j] - eta * g[j]
        active = beta[j] != 0.0
        n_active += active
        least = min(least, abs(c) if active else np.inf)
        most = max(most, 0.0 if active else abs(c))
        new[j] = c
    if n_active != k or not most < least:
        return hard_threshold(new, k, new)
    for j in range(beta.size):
        new[j] = new[j] if beta[j] != 0.0 else 0.0
    return max(least, sweep(new))


@_exact
def iht_support(beta, g, k, support):
    """A vector on the support of beta, of H_k(g) if beta = 0; return what entries must exceed."""
    copy_to(beta, support)
    for j in range(beta.size):
        if beta[j] != 0.0:
            return np.inf
    return hard_threshold(g, k, support)


@_exact
def same_support(a, b):
    """Whether a and b are nonzero at the same places."""
    differing = 0
    for j in range(a.size):
        differing += (a[j] != 0.0) != (b[j] != 0.0)
    return differing == 0


@_exact
def iht_enters(far, level):
    """Whether a left-out entry of magnitude up to ``far`` could be among the k largest.

    A tie counts, since it goes to the lower index; zeros never matter.
    """
    return far > 0.0 and far >= level


@_part
def stretch(B, a, Xa):
    """‖a‖²/‖X a‖²: the step along which a gradient step is stable in the direction a."""
    combine(B, a, 1.0, Xa)
    top, bottom = 0.0, 0.0
    for j in range(a.size):
        top += a[j] * a[j]
    for i in range(Xa.size):
        bottom += Xa[i] * Xa[i]
    return top / bottom


@_part
def niht_first(B, g, support, safe, floor, part, Xp):
    """The normalised step ‖g_S‖²/‖X g_S‖²; ``safe`` where ‖g_S‖² is down to ``floor``."""
    size = 0.0
    for j in range(g.size):
        part[j] = g[j] if support[j] != 0.0 else 0.0
        size += part[j] * part[j]
    return stretch(B, part, Xp) if size > floor else safe


NIHT_C = 0.01  # the constant c of the normalised step; steps are cut by kappa (1 - c) = 2


@_part
def niht_accepts(B, beta, new, eta, part, Xp):
    """eta <= omega = (1-c) ‖new - beta‖²/‖X (new - beta)‖²: the step cannot raise the error."""
    for j in range(beta.size):
        part[j] = new[j] - beta[j]
    return not eta > (1.0 - NIHT_C) * stretch(B, part, Xp)


@_jit
def iht_walk(
    B, y, beta, u, clock, k, step, normalised, safe, floor, refs, edges, reach, end, every, rows
):  # fmt: skip
    """Iterative hard thresholding on the working set.

    beta on the working set; u = X beta - y.  A feature left out has beta_i = 0 and stays there
    while eta |x_iᵀu| is below the k-th largest magnitude.
    Returns the rows recorded and the status.
    """
    m, n = B.shape
    g, new, support, part = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    Xb = np.empty(n)
    n_rows = 0
    while True:
        if due(clock, end, every):
            copy_to(beta, rows[n_rows])
            n_rows += 1
            clock[RECORDED] = clock[NOW]
        if clock[NOW] >= end or n_rows == rows.shape[0]:
            return n_rows, DONE
        correlate(B, u, g)
        far = outside(u, refs, edges, reach)
        eta = step
        if normalised:
            if iht_enters(far, iht_support(beta, g, k, support)):
                return n_rows, REFRESH
            eta = niht_first(B, g, support, safe, floor, part, Xb)
        while True:
            if iht_enters(eta * far, iht_proposal(beta, g, eta, k, new)):
                return n_rows, REFRESH
            # Below (1-c) safe every step passes; so written, NaN ends the search too.
            if not normalised or not eta > (1.0 - NIHT_C) * safe:
                break
            if same_support(new, support) or niht_accepts(B, beta, new, eta, part, Xb):
                break
            eta *= 0.5
        combine(B, new, 1.0, Xb)
        if not settle(Xb, y, u):
            return n_rows, NONFINITE
        copy_to(new, beta)
        clock[NOW] += 1


@_exact
def soft_threshold(z, level, scale, out):
    """out = scale shrink(z, level), swept."""
    cut = level * (1.0 + AT_LEVEL)
    for j in range(z.size):
        a = abs(z[j])
        out[j] = scale * math.copysign(0.0 if a <= cut else a - level, z[j])
    sweep(out)


@_jit
def srdi_walk(B, y, beta, r, u, clock, kappa, delta, refs, edges, reach, end, every, rows):
    """Linearised Bregman iteration on the working set.

    beta on the working set; r = X beta - y; u with z = Xᵀu.  A feature left out stays at zero
    while |x_iᵀu| <= 1.  Returns the rows recorded and the status.
    """
    m, n = B.shape
    z, new_u, Xb = np.empty(m), np.empty(n), np.empty(n)
    n_rows = 0
    while True:
        if due(clock, end, every):
            copy_to(beta, rows[n_rows])
            n_rows += 1
            clock[RECORDED] = clock[NOW]
        if clock[NOW] >= end or n_rows == rows.shape[0]:
            return n_rows, DONE
        for i in range(n):
            new_u[i] = u[i] - delta * r[i]
        if outside(new_u, refs, edges, reach) > 1.0:
            return n_rows, REFRESH
        copy_to(new_u, u)
        correlate(B, u, z)
        soft_threshold(z, 1.0, kappa, beta)
        combine(B, beta, 1.0, Xb)
        if not settle(Xb, y, r):
            return n_rows, NONFINITE
        clock[NOW] += 1


# Places in KSN's ``scalars``: THETA and MOMENTUM as above, the scale s of the last prox, and L.
S_B, INVERSE_STEP = 2, 3


@_part
def ksn_next(XB, Xb, scalars, restart):
    """Xβ⁺ becomes the current one, and FISTA's momentum moves on or starts afresh."""
    total = 0.0
    for i in range(Xb.size):
        XB[1, i] = XB[0, i]
        XB[0, i] = Xb[i]
        total += Xb[i] * Xb[i]
    theta = 0.5 + math.sqrt(0.25 + scalars[THETA] * scalars[THETA])
    scalars[MOMENTUM] = 0.0 if restart else (scalars[THETA] - 1.0) / theta
    scalars[THETA] = 1.0 if restart else theta
    return math.isfinite(total)


@_part
def ksn_too_bold(B, a, b, L, delta, Xdelta):
    """Whether L is too small at b: f(b) > f(a) + ⟨∇f(a), b-a⟩ + (L/2) ‖b-a‖².

    For least squares that is ‖X(b-a)‖² > L ‖b-a‖², formed from b-a itself: near convergence a
    difference of Xb and Xa would be all rounding.
    """
    size = 0.0
    for j in range(a.size):
        delta[j] = b[j] - a[j]
        size += delta[j] * delta[j]
    combine(B, delta, 1.0, Xdelta)
    rise = 0.0
    for i in range(Xdelta.size):
        rise += Xdelta[i] * Xdelta[i]
    return rise > L * size * (1.0 + 1e-12)


@_jit
def ksn_walk(
    B, y, XB, F, scalars, clock, k, lams, steps, search, refs, edges, reach, end, every, rows
):
    """FISTA for the k-support penalty (KSN) on the working set.

    F = (β_t, β_{t-1}) on the working set, XB = (Xβ_t, Xβ_{t-1}).  The penalty is lams[t // steps].
    With a = β + momentum (β - β_{t-1}) and u = Xa - y, a left-out feature stays zero while
    |x_iᵀu|/L does not exceed the entry level of the prox.  ``search`` doubles L where it is too
    small.
    """
    m, n = B.shape
    u, Xb = np.empty(n), np.empty(n)
    a, g, q, b = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    n_rows = 0
    while True:
        if due(clock, end, every):
            copy_to(F[0], rows[n_rows])
            n_rows += 1
            clock[RECORDED] = clock[NOW]
        if clock[NOW] >= end or n_rows == rows.shape[0]:
            return n_rows, DONE
        lam = lams[min(clock[NOW] // steps, lams.size - 1)]
        momentum = scalars[MOMENTUM]
        for i in range(n):
            u[i] = XB[0, i] + momentum * (XB[0, i] - XB[1, i]) - y[i]
        for j in range(m):
            a[j] = F[0, j] + momentum * (F[0, j] - F[1, j])
        bound = outside(u, refs, edges, reach)
        correlate(B, u, g)
        while True:
            L = scalars[INVERSE_STEP]
            for j in range(m):
                q[j] = a[j] - g[j] / L
            s = prox_warm(q, lam / L, k, scalars[S_B], b)
            if bound > L * entry_level(lam / L, s):
                return n_rows, REFRESH
            scalars[S_B] = s
            if not (search and ksn_too_bold(B, a, b, L, q, Xb)):
                break
            scalars[INVERSE_STEP] = 2.0 * L
        combine(B, b, 1.0, Xb)
        t = clock[NOW] + 1
        if not ksn_next(XB, Xb, scalars, t % steps == 0 and t // steps < lams.size):
            return n_rows, NONFINITE
        copy_to(F[0], F[1])
        copy_to(b, F[0])
        clock[NOW] = t


@_part
def ircr_dual(T, Xb, y, sigma):
    """theta⁺ = theta + sigma (Xβ - y); T = (theta, theta_prev)."""
    total = 0.0
    for i in range(y.size):
        new = T[0, i] + sigma * (Xb[i] - y[i])
        T[1, i] = T[0, i]
        T[0, i] = new
        total += new * new + Xb[i] * Xb[i]
    return math.isfinite(total)


@_exact
def ircr_primal(c, tau, F):
    """β ← shrink(β - tau c, tau), in row 0 of F; row 1, if there is one, is the sum of the β."""
    for j in range(c.size):
        c[j] = F[0, j] - tau * c[j]
    soft_threshold(c, tau, 1.0, F[0])
    if F.shape[0] > 1:
        for j in range(c.size):
            F[1, j] += F[0, j]


@_jit
def ircr_walk(B, y, T, F, clock, sigma, tau, refs, edges, reach, end, every, rows):
    """The dual-primal method for the l1 norm (IRCR) on the working set.

    T = (theta_t, theta_{t-1}); F = β_t on the working set and, if averages are asked for, the sum
    of β_1..β_t.  With u = 2 theta_t - theta_{t-1}, a left-out feature stays zero while
    |x_iᵀu| <= 1.
    """
    m, n = B.shape
    u, Xb, c = np.empty(n), np.empty(n), np.empty(m)
    average = F.shape[0] > 1
    n_rows = 0
    while True:
        if due(clock, end, every):
            if average:
                for j in range(m):
                    rows[n_rows, j] = F[1, j] / max(clock[NOW], 1)
            else:
                copy_to(F[0], rows[n_rows])
            n_rows += 1
            clock[RECORDED] = clock[NOW]
        if clock[NOW] >= end or n_rows == rows.shape[0]:
            return n_rows, DONE
        for i in range(n):
            u[i] = 2.0 * T[0, i] - T[1, i]
        if outside(u, refs, edges, reach) > 1.0:
            return n_rows, REFRESH
        correlate(B, u, c)
        ircr_primal(c, tau, F)
        combine(B, F[0], 1.0, Xb)
        if not ircr_dual(T, Xb, y, sigma):
            return n_rows, NONFINITE
        clock[NOW] += 1


@_part
def irosr_move(U, g, step, w):
    """u ← u (1 - step g), v ← v (1 + step g), w = u² - v²; False if w left the finite numbers."""
    u, v = U[0], U[1]
    total = 0.0
    for j in range(g.size):
        move = step * g[j]
        uj, vj = u[j] * (1.0 - move), v[j] * (1.0 + move)
        u[j], v[j] = uj, vj
        w[j] = (uj - vj) * (uj + vj)
        total += w[j]
    return math.isfinite(total)


@_jit
def irosr_walk(B, X, y, U, w, clock, step, end, every, rows):
    """IROSR on all columns: B (as rows) and X = Bᵀ, so that both products run contiguously.

    U = (u_t, v_t); w = u_t² - v_t²; step = 2 eta/n.  Every coordinate moves.
    """
    m, n = B.shape
    g, r = np.empty(m), np.empty(n)
    n_rows = 0
    while True:
        if due(clock, end, every):
            copy_to(w, rows[n_rows])
            n_rows += 1
            clock[RECORDED] = clock[NOW]
        if clock[NOW] >= end or n_rows == rows.shape[0]:
            return n_rows, DONE
        # r = X w - y, g = Xᵀ r
        for i in range(n):
            r[i] = -y[i]
        add_product(B, w, r)
        for j in range(m):
            g[j] = 0.0
        add_product(X, r, g)
        if not irosr_move(U, g, step, w):
            return n_rows, NONFINITE
        clock[NOW] += 1


# ----------------------------------------------------------------------------------------
# Least squares on many supports
# ----------------------------------------------------------------------------------------


@_jit
def refit_many(G, c, indptr, indices, order, tol, rss_drop, rank, coef):
    """Least squares on each support: drop in the residual sum of squares, rank, coefficients.

    G = XᵀX and c = Xᵀy on the candidate features; support i is ``indices[indptr[i]:indptr[i+1]]``.
    They are taken in the order given.  A Cholesky factor is kept and only its rows beyond the
    prefix shared with the support before are computed, so neighbours in sorted order cost little.
    A feature that depends on those before it (relative to ``tol``) is passed over.
    """
    widest = 0
    for i in range(indptr.size - 1):
        widest = max(widest, indptr[i + 1] - indptr[i])
    L, b = np.zeros((widest, widest)), np.zeros(widest)
    last = indices[:0]
    for i in order:
        S = indices[indptr[i] : indptr[i + 1]]
        shared = 0
        while shared < min(S.size, last.size) and S[shared] == last[shared]:
            shared += 1
        for r in range(shared, S.size):
            j = S[r]
            pivot, right = G[j, j], c[j]
            for q in range(r):
                if L[q, q] == 0.0:
                    L[r, q] = 0.0
                    continue
                value = G[j, S[q]]
                for p in range(q):
                    value -= L[r, p] * L[q, p]
                value /= L[q, q]
                L[r, q] = value
                pivot -= value * value
                right -= value * b[q]
            if pivot > tol * G[j, j]:
                L[r, r] = math.sqrt(pivot)
                b[r] = right / L[r, r]
            else:
                L[r, r] = b[r] = 0.0
        rss_drop[i] = 0.0
        rank[i] = 0
        w = coef[indptr[i] : indptr[i + 1]]  # Lᵀw = b, where the pivots are not zero
        for r in range(S.size):
            rss_drop[i] += b[r] * b[r]
            rank[i] += L[r, r] > 0.0
            w[r] = b[r]
        for r in range(S.size - 1, -1, -1):
            w[r] = w[r] / L[r, r] if L[r, r] > 0.0 else 0.0
            for q in range(r):
                w[q] -= L[r, q] * w[r]
        last = S


@_jit
def best_gains(products, UX, b, norms, own, tol, rounding, equal, falls, out, into):
    """The feature that lowers the residual sum of squares most, and by how much.

    The rows of ``products`` are rᵀX and QᵀX, those of UX and b are u_iᵀX and u_iᵀy (see
    `selection.Around`); features in ``own`` are in the support already.  The best exchanges are
    written to ``falls`` (largest first), ``out`` and ``into``.  Where falls differ by no more than
    ``equal``, which is rounding, the earlier feature or pair comes first.
    """
    d, m, most = norms.size, b.size, falls.size
    c = products[0]
    left, least = norms * norms, np.empty(d)
    for j in range(d):
        least[j] = max(tol * left[j], rounding)
    for i in range(m):
        q = products[1 + i]
        for j in range(d):
            left[j] -= q[j] * q[j]
    for j in range(d):
        left[j] = max(left[j], 0.0)  # ‖(I - QQᵀ) x_j‖²
    for j in own:
        left[j] = -np.inf
    fall, feature = 0.0, 0
    for j in range(d):
        if left[j] > least[j] and c[j] * c[j] > (fall + equal) * left[j]:
            fall, feature = c[j] * c[j] / left[j], j
    falls[:], out[:], into[:] = -np.inf, 0, 0
    for i in range(m):
        u, bi = UX[i], b[i]
        for j in range(d):
            without = left[j] + u[j] * u[j]  # the same if feature i of the support is left out
            if without > least[j]:
                value = (c[j] + bi * u[j]) ** 2 / without - bi * bi
                if value > falls[most - 1] + equal:
                    at = most - 1
                    while at > 0 and value > falls[at - 1] + equal:
                        falls[at], out[at], into[at] = falls[at - 1], out[at - 1], into[at - 1]
                        at -= 1
                    falls[at], out[at], into[at] = value, i, j
    return fall, feature


# ----------------------------------------------------------------------------------------
# Genotypes
# ----------------------------------------------------------------------------------------


@_jit
def fill_calls(calls, missing, out):
    """Counts of alleles as numbers, those missing as the mean of their column."""
    n, d = calls.shape
    for j in range(d):
        total = count = 0
        for i in range(n):
            call = calls[i, j]
            out[i, j] = call
            if call != missing:
                total += call
                count += 1
        if count < n:
            mean = total / count if count else 0.0
            for i in range(n):
                if calls[i, j] == missing:
                    out[i, j] = mean
