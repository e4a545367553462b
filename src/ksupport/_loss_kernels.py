# ----------------------------------------------------------------------------------------
# Losses
# ----------------------------------------------------------------------------------------

import math

import numpy as np

from ._kernels import (
    CURVATURE,
    DONE,
    EPS,
    FIRST_SHARE,
    GAMMA,
    NONFINITE,
    NOW,
    RECORDED,
    REFRESH,
    REFUSED,
    S_R,
    S_W,
    THETA,
    TRIAL,
    _jit,
    combine,
    copy_to,
    correlate,
    due,
    entry_level,
    extrapolate,
    momentum_of,
    outside,
    prox_warm,
    shift,
    trial_step,
)

#
# The data of a loss are a few arrays.  ``y`` is the response (the events, 0 or 1, of Cox),
# ``weights`` how much each row counts, ``layout`` the order of times (of Cox alone, see below).
# Derivatives are those of Σ weights_i l_i.

SQUARED, HUBER, LOGISTIC, POISSON, COX = range(5)
SHORTEST = 1e-300  # a step that had to become shorter than this is none

# Rows of a layout, which has a column for each row of X, by strata and from the latest time on: the
# row's place in X; the first and the end of those of the same time; the end of the stratum.
ORDER, TIE, TIE_END, STRATUM_END = range(4)


@_jit
def cox_risks(eta, weights, layout, risk, sums, top):
    """The risk e^eta of each row, and its sum over all rows still there, at the first of each time.

    All in the order of the layout, and in units of e^top, the largest of the stratum.
    """
    at = 0
    while at < eta.size:
        end = layout[STRATUM_END, at]
        most, total = -np.inf, 0.0
        for i in range(at, end):
            most = max(most, eta[layout[ORDER, i]])
        for i in range(at, end):
            row = layout[ORDER, i]
            top[i] = most
            risk[i] = weights[row] * math.exp(eta[row] - most)
            total += risk[i]
            sums[layout[TIE, i]] = total
        at = end


@_jit
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


@_jit
def cox_slopes(efron, eta, events, weights, layout, g, h):
    """First derivatives of the partial likelihood, and the diagonal of the second."""
    n = eta.size
    risk, sums, top = np.empty(n), np.empty(n), np.empty(n)
    cox_risks(eta, weights, layout, risk, sums, top)
    end = n
    hazard, square = 0.0, 0.0  # Σ of 1/sums, and of their squares, over the events so far
    while end > 0:
        first = layout[TIE, end - 1]
        if layout[STRATUM_END, first] == end:
            hazard, square = 0.0, 0.0
        count, weight, tied = cox_tied(events, weights, layout, risk, first, end)
        own, own_square = hazard, square  # for rows with an event at this time
        parts = count if efron > 0.0 else min(count, 1)
        for part in range(parts):
            left = sums[first] - part / parts * tied
            more = weight / parts / left
            hazard += more
            square += more / left
            own += more * (1.0 - part / parts)
            own_square += more / left * (1.0 - part / parts) ** 2
        for i in range(first, end):
            row = layout[ORDER, i]
            event = events[row] > 0.0
            g[row] = risk[i] * (own if event else hazard) - (weights[row] if event else 0.0)
            h[row] = risk[i] * (own if event else hazard)
            h[row] -= risk[i] ** 2 * (own_square if event else square)
        end = first


@_jit
def cox_values(efron, eta, events, weights, layout, out):
    """What each event contributes to the partial likelihood above a saturated model; else zero."""
    n = eta.size
    risk, sums, top = np.empty(n), np.empty(n), np.empty(n)
    cox_risks(eta, weights, layout, risk, sums, top)
    end = n
    while end > 0:
        first = layout[TIE, end - 1]
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


@_jit
def cox_added(eta, events, weights, layout, times, strata, new_eta, new, out):
    """By how much each new row, joining these alone, raises minus the log partial likelihood.

    The columns of ``new`` are time, event and stratum; ties as Breslow has them.
    """
    n = eta.size
    risk, sums, top = np.empty(n), np.empty(n), np.empty(n)
    cox_risks(eta, weights, layout, risk, sums, top)
    for j in range(new_eta.size):
        out[j] = 0.0
    at = 0
    while at < n:
        end = layout[TIE_END, at]
        _, weight, _ = cox_tied(events, weights, layout, risk, at, end)
        time, stratum = times[layout[ORDER, at]], strata[layout[ORDER, at]]
        for j in range(new_eta.size):
            if weight > 0.0 and new[j, 2] == stratum and new[j, 0] >= time:
                out[j] += weight * math.log1p(math.exp(new_eta[j] - top[at]) / sums[at])
        at = end
    for j in range(new_eta.size):
        if new[j, 1] > 0.0:
            there, most = 0.0, 0.0
            for i in range(n):
                row = layout[ORDER, i]
                if strata[row] == new[j, 2] and times[row] >= new[j, 0]:
                    there, most = there + risk[i], top[i]
            out[j] += math.log1p(there * math.exp(most - new_eta[j]))


@_jit
def slopes(kind, param, eta, y, weights, layout, g, h):
    """First derivatives of a loss, and second ones (of Cox, their diagonal)."""
    if kind == COX:
        cox_slopes(param, eta, y, weights, layout, g, h)
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


@_jit
def solve_small(H, s):
    """H⁻¹s for a small positive definite H, which is overwritten; dependent columns get zero."""
    q = s.size
    x = s.copy()
    for j in range(q):
        size = H[j, j]
        for p in range(j):
            H[j, j] -= H[j, p] * H[j, p]
        H[j, j] = math.sqrt(H[j, j]) if H[j, j] > 1e-12 * size else np.inf
        for i in range(j + 1, q):
            for p in range(j):
                H[i, j] -= H[i, p] * H[j, p]
            H[i, j] /= H[j, j]
        for p in range(j):
            x[j] -= H[j, p] * x[p]
        x[j] /= H[j, j]
    for j in range(q - 1, -1, -1):
        for i in range(j + 1, q):
            x[j] -= H[i, j] * x[i]
        x[j] /= H[j, j]
    return x


@_jit
def add_outer(A, i, weight, H):
    """H += weight a aᵀ, a the column i of A, in the lower triangle."""
    for a in range(A.shape[0]):
        for b in range(a + 1):
            H[a, b] += weight * A[a, i] * A[b, i]


@_jit
def cox_hessian(efron, eta, events, weights, layout, A, H):
    """Second derivatives in the coefficients of the rows of A, added to the lower triangle of H.

    For each term of the partial likelihood, the covariance of A among those at risk.
    """
    q, n = A.shape
    risk, sums, top = np.empty(n), np.empty(n), np.empty(n)
    cox_risks(eta, weights, layout, risk, sums, top)
    first_moment, tied_moment, mean = np.zeros(q), np.zeros(q), np.zeros((q, 1))
    second = np.zeros((q, q))  # Σ risk a aᵀ over those at risk
    tied_second = np.zeros((q, q))
    at = 0
    while at < n:
        end = layout[TIE_END, at]
        if at == 0 or layout[STRATUM_END, at] != layout[STRATUM_END, at - 1]:
            first_moment[:] = 0.0
            second[:, :] = 0.0
        tied_moment[:] = 0.0
        tied_second[:, :] = 0.0
        for i in range(at, end):
            row = layout[ORDER, i]
            event = events[row] > 0.0
            for a in range(q):
                first_moment[a] += risk[i] * A[a, row]
                tied_moment[a] += risk[i] * A[a, row] if event else 0.0
            add_outer(A, row, risk[i], second)
            if event:
                add_outer(A, row, risk[i], tied_second)
        count, weight, tied = cox_tied(events, weights, layout, risk, at, end)
        parts = count if efron > 0.0 else min(count, 1)
        for part in range(parts):
            share = part / parts
            left = sums[at] - share * tied
            for a in range(q):
                mean[a, 0] = (first_moment[a] - share * tied_moment[a]) / left
                for b in range(a + 1):
                    moment = second[a, b] - share * tied_second[a, b]
                    H[a, b] += weight / parts * moment / left
            add_outer(mean, 0, -weight / parts, H)
        at = end


@_jit
def loss_hessian(kind, param, eta, y, weights, layout, A, h, H):
    """The lower triangle of the second derivatives in the coefficients of the rows of A."""
    if kind == COX:
        cox_hessian(param, eta, y, weights, layout, A, H)
        return
    for a in range(A.shape[0]):
        for b in range(a + 1):
            for i in range(A.shape[1]):
                H[a, b] += A[a, i] * h[i] * A[b, i]


@_jit
def bound_curvature(kind, weights, h):
    """Where the loss is all but linear, h = its bound; whether so.

    Of Huber's loss in most rows, of the logistic one in all.
    """
    if kind != HUBER and kind != LOGISTIC:
        return False
    bound, least = (1.0, 0.25) if kind == HUBER else (0.25, 1e-10)
    bent, total = 0.0, 0.0
    for i in range(h.size):
        bent += h[i]
        total += bound * weights[i]
    if bent >= least * total:
        return False
    for i in range(h.size):
        h[i] = bound * weights[i]
    return True


@_jit
def newton_direction(kind, param, y, weights, layout, Q, eta, g, h):
    """-H⁻¹ Qg."""
    q, n = Q.shape
    H, s = np.zeros((q, q)), np.zeros(q)
    for a in range(q):
        for i in range(n):
            s[a] -= Q[a, i] * g[i]
    loss_hessian(kind, param, eta, y, weights, layout, Q, h, H)
    return solve_small(H, s)


@_jit
def all_fitted(weights, g):
    """Whether hardly a row has a slope left."""
    size, total = 0.0, 0.0
    for i in range(g.size):
        size += abs(g[i])
        total += weights[i]
    return size <= 1e-9 * total


@_jit
def is_constant(a):
    """Whether all entries are the same, and not zero."""
    differing = 0
    for i in range(a.size):
        differing += a[i] != a[0]
    return differing == 0 and a[0] != 0.0


@_jit
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


@_jit
def settle_on(kind, param, y, weights, layout, Q, c, base, eta, g, h):
    """Newton's method for the c at which the loss of eta = base + Qᵀc is least; g and h there.

    It starts at the c given.  The length of a step is such that at its end the loss is at most half
    as steep.
    """
    q, n = Q.shape
    step, trial = np.empty(n), np.empty(n)
    for i in range(n):
        eta[i] = base[i]
        for a in range(q):
            eta[i] += Q[a, i] * c[a]
    known = kind == POISSON and q > 0 and is_constant(Q[0])
    if known:
        poisson_constant(y, weights, Q[0], c, eta)
    slopes(kind, param, eta, y, weights, layout, g, h)
    if q == 0 or (q == 1 and known):
        return
    # Of a smooth loss, what is left after such a step is its square.
    enough = 1e-12 * param if kind == HUBER else 1e-6
    for _ in range(100):
        bounded = bound_curvature(kind, weights, h)
        if bounded and all_fitted(weights, g):
            return
        delta = newton_direction(kind, param, y, weights, layout, Q, eta, g, h)
        slope, largest = 0.0, 0.0
        for i in range(n):
            step[i] = 0.0
            for a in range(q):
                step[i] += Q[a, i] * delta[a]
            slope += g[i] * step[i]
            largest = max(largest, abs(step[i]))
        if not slope < 0.0:
            return
        if largest <= enough and (kind == HUBER or not bounded):
            for a in range(q):
                c[a] += delta[a]
            for i in range(n):
                eta[i] += step[i]
                g[i] += h[i] * step[i]
            if kind == COX:  # where h is not all
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
        for a in range(q):
            c[a] += part * delta[a]
        copy_to(trial, eta)


@_jit
def loss_gradient(kind, param, y, weights, layout, Q, roots, c, Xw, eta, g, h):
    """g, the gradient of the loss at the fitted values Xw = roots eta, with c settled there."""
    base = np.empty(Xw.size)
    for i in range(Xw.size):
        base[i] = Xw[i] / roots[i]
    settle_on(kind, param, y, weights, layout, Q, c, base, eta, g, h)
    total = 0.0
    for i in range(Xw.size):
        g[i] /= roots[i]
        total += g[i]
    return math.isfinite(total)


@_jit
def settle_rows(kind, param, y, weights, layout, Q, E, C):
    """The c settled at each row of E, from those in C on."""
    n = E.shape[1]
    eta, g, h = np.empty(n), np.empty(n), np.empty(n)
    for row in range(E.shape[0]):
        settle_on(kind, param, y, weights, layout, Q, C[row], E[row], eta, g, h)


@_jit
def slopes_rows(kind, param, E, y, weights, layout, G, H):
    """`slopes` of each row of E."""
    for row in range(E.shape[0]):
        slopes(kind, param, E[row], y, weights, layout, G[row], H[row])


@_jit
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


@_jit
def cox_values_rows(efron, E, events, weights, layout, out):
    for row in range(E.shape[0]):
        cox_values(efron, E[row], events, weights, layout, out[row])


@_jit
def cox_added_rows(E, events, weights, layout, times, strata, new_E, new, out):
    for row in range(E.shape[0]):
        cox_added(E[row], events, weights, layout, times, strata, new_E[row], new, out[row])


@_jit
def loss_first_step(y, curvature, Xw):
    """As `first_step`, for a loss with minus gradient y and second derivatives at zero."""
    size, along, bent, plain = 0.0, 0.0, 0.0, 0.0
    for i in range(y.size):
        size += y[i] * y[i]
        along += y[i] * Xw[i]
        bent += curvature[i] * Xw[i] * Xw[i]
        plain += Xw[i] * Xw[i]
    return FIRST_SHARE * size / along * plain / bent if along > 0.0 and bent > 0.0 else 1.0


@_jit
def loss_step_holds(Xw, Xr, gw, gr, gamma, pace):
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
    blur = 16 * EPS * math.sqrt(r2 * g2) + 1e-12 * math.sqrt(change2 * g2)
    pace[CURVATURE] = gamma * fall if fall > 4.0 * blur else 0.0
    return rise <= blur


@_jit
def loss_walk(
    B, y, curvature, kind, param, target, weights, layout, Q, roots, C, Z, P, pace, clock, k,
    alpha, refs, edges, reach, at, end, every, rows,
):  # fmt: skip
    """`adaptive_walk` for other losses: mirror descent with momentum, z⁺ = v + gamma ∇l(Xr).

    y is minus the gradient at zero; C = what is not penalised, settled at r and at w.
    """
    m, n = B.shape
    lam = (1.0 - alpha) / alpha
    v, z, Xr, Xw = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    gr, gw, eta, h = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    q, p, r, w = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    n_rows, known = 0, False
    while True:
        if due(clock, end, every):
            if not known:
                s = prox_warm(P[0], lam, k, pace[S_W], w)
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
            correlate(B, y, q)
            s = prox_warm(q, lam, k, 0.0, r)
            if outside(y, refs, edges, reach) > entry_level(lam, s):
                copy_to(y, at)
                return n_rows, REFRESH
            combine(B, r, 1.0 / alpha, Xr)
            pace[GAMMA] = loss_first_step(y, curvature, Xr)
        gamma = trial_step(pace)
        while True:
            if not gamma > SHORTEST:
                return n_rows, NONFINITE
            theta, beta = momentum_of(pace, gamma)
            extrapolate(Z, beta, v)
            extrapolate(P, beta, q)
            s = prox_warm(q, lam, k, pace[S_R], r)
            if outside(v, refs, edges, reach) > entry_level(lam, s):
                copy_to(v, at)
                return n_rows, REFRESH
            pace[S_R] = s
            combine(B, r, -1.0 / alpha, Xr)
            if loss_gradient(kind, param, target, weights, layout, Q, roots, C[0], Xr, eta, gr, h):
                for i in range(n):
                    z[i] = v[i] + gamma * gr[i]
                correlate(B, z, p)
                s = prox_warm(p, lam, k, pace[S_W], w)
                if outside(z, refs, edges, reach) > entry_level(lam, s):
                    copy_to(z, at)
                    return n_rows, REFRESH
                pace[S_W] = s
                combine(B, w, -1.0 / alpha, Xw)
                loss_gradient(kind, param, target, weights, layout, Q, roots, C[1], Xw, eta, gw, h)
                if loss_step_holds(Xw, Xr, gw, gr, gamma, pace):
                    break
            gamma *= 0.5
            pace[REFUSED], pace[TRIAL] = 1.0, gamma
        shift(Z, z)
        shift(P, p)
        pace[THETA], pace[GAMMA], pace[TRIAL] = theta, gamma, 0.0
        known = True
        clock[NOW] += 1
