"""Compiled search for the supports of most evidence (`ksupport.choosing.posterior`).

Columns have squared length n.  With A = X_SᵀX_S + prior I, the evidence of a support S under
a normal prior of its coefficients is, but for constants and as -2 log,

    n log(q / n) + log det(A / prior) + 2 log C(d, |S|),   q = ‖y‖² - yᵀX_S A⁻¹ X_Sᵀy.

Of T responses, the rows of Y, the determinant of A counts T times.  If their noise is alike, q is
the sum over them, and n counts T times as well.  Else noise may be of any size, and correlated:
with E = YYᵀ - YX_S A⁻¹ X_SᵀYᵀ the first term is (n + T - 1) log det((E + D) / n), where D has
(T - 1) / n of the diagonal of YYᵀ: as if T - 1 more rows had said that responses are independent
(an inverse Wishart prior).

Where coefficients cannot be negative, their prior is a normal one cut off at zero.  That changes
the evidence by what the posterior has in the positive orthant, over what the prior has there,
2^-(T |S|); the former is about the product over single coefficients, whose distances from zero
are told by what leaving them out would cost.

One feature more, one fewer or one exchanged changes q by a square and determinants by a factor,
so that all neighbours of S follow from A⁻¹ and the products X_SᵀX.
"""

import math

import numpy as np

from ._kernels import _exact

NONE = -1  # no feature; no parent
ROUNDING = 1e-12  # of a share that is left
STEADY = 1e-6  # scores are rounded to this, so that equal ones are equal on every machine


@_exact
def rounded(score):
    return round(score / STEADY) * STEADY


@_exact
def factorise(A):
    """A = L Lᵀ, of which L is written below the diagonal; returns log det A."""
    m, log_det = A.shape[0], 0.0
    for j in range(m):
        for k in range(j):
            A[j, j] -= A[j, k] * A[j, k]
        A[j, j] = math.sqrt(A[j, j])
        log_det += 2 * math.log(A[j, j])
        for i in range(j + 1, m):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
    return log_det


@_exact
def inverse_of(A, inverse):
    """The inverse of a positive definite A, which is overwritten, and log det A."""
    m, log_det = A.shape[0], factorise(A)
    for column in range(m):
        for i in range(m):  # forwards
            value = 1.0 if i == column else 0.0
            for k in range(i):
                value -= A[i, k] * inverse[k, column]
            inverse[i, column] = value / A[i, i]
        for i in range(m - 1, -1, -1):  # and back
            value = inverse[i, column]
            for k in range(i + 1, m):
                value -= A[k, i] * inverse[k, column]
            inverse[i, column] = value / A[i, i]
    return log_det


@_exact
def members(at, parent, out, into, expanded, place, sizes, support):
    """Write the support of a model, ascending; returns how many features it has."""
    if parent[at] == NONE:
        m = sizes[at]
        support[:m] = expanded[place[at], :m]
        return m
    first, m = place[parent[at]], 0
    before = sizes[parent[at]]
    new = into[at]
    for i in range(before):
        feature = expanded[first, i]
        if feature == out[at]:
            continue
        if new != NONE and new < feature:
            support[m] = new
            m += 1
            new = NONE
        support[m] = feature
        m += 1
    if new != NONE:
        support[m] = new
        m += 1
    return m


@_exact
def members_of(models, parent, out, into, expanded, place, sizes):
    """The supports of models, one after the other, and where each ends."""
    ends = np.cumsum(sizes[models])
    found, first = np.empty(ends[-1] if ends.size else 0, np.int64), 0
    for i in range(models.size):
        support = found[first : ends[i]]
        members(models[i], parent, out, into, expanded, place, sizes, support)
        first = ends[i]
    return found, ends


@_exact
def known(key, keys, table):
    """The place in the hash table of a model with this key, or of none yet."""
    mask = np.uint64(table.size - 1)
    at = np.int64(key & mask)
    while table[at] != NONE and keys[table[at]] != key:
        at = np.int64((np.uint64(at) + np.uint64(1)) & mask)
    return at


@_exact
def prune(count, most, scores, keys, parent, out, into, place, sizes, looked, table):
    """Keep about so many models, the best, and all that were looked at; returns how many."""
    limit = np.partition(scores[:count], most - 1)[most - 1]
    moved, kept = np.full(count, NONE), 0
    for i in range(count):
        if looked[i] or scores[i] <= limit:
            moved[i] = kept
            scores[kept], keys[kept], parent[kept] = scores[i], keys[i], parent[i]
            out[kept], into[kept], place[kept] = out[i], into[i], place[i]
            sizes[kept], looked[kept] = sizes[i], looked[i]
            kept += 1
    table[:] = NONE
    for i in range(kept):
        if parent[i] != NONE:
            parent[i] = moved[parent[i]]
        table[known(keys[i], keys, table)] = i
    for i in range(kept, count):
        parent[i], out[i], into[i], place[i], looked[i] = NONE, NONE, NONE, NONE, False
    return kept


@_exact
def add_model(count, key, score, size, at, gone, new, models):
    """Append a neighbour of model ``at``, unless it is known; returns how many there are."""
    scores, keys, parent, out, into, sizes, table = models
    spot = known(key, keys, table)
    if table[spot] == NONE and count < scores.size:
        table[spot] = count
        keys[count], scores[count], sizes[count] = key, score, size
        parent[count], out[count], into[count] = at, gone, new
        count += 1
    return count


@_exact
def add_starts(indptr, starts, marks, most, place, expanded, models):
    """The supports to start from, once each; they have no score yet.  Returns how many."""
    scores, keys, parent, out, into, sizes, table = models
    count = 0
    for start in range(indptr.size - 1):
        m = indptr[start + 1] - indptr[start]
        if m > most:
            continue
        key = np.uint64(0)
        for i in range(m):
            expanded[count, i] = starts[indptr[start] + i]
            key += marks[expanded[count, i]]
        before = count
        count = add_model(count, key, np.inf, m, NONE, NONE, NONE, models)
        if count > before:
            place[before] = before
    return count


@_exact
def best_unseen(count, scores, looked):
    """The best model that was not looked at yet."""
    at = NONE
    for i in range(count):
        if not looked[i] and (at == NONE or scores[i] < scores[at]):
            at = i
    return at


@_exact
def gram_rows(C, support, slot, grams, n_slots, G):
    """X_SᵀX, of which rows are made when a feature is first in use; returns how many there are."""
    for i in range(support.size):
        j = support[i]
        if slot[j] == NONE:
            slot[j] = n_slots
            grams[n_slots] = np.dot(C, C[j])
            n_slots += 1
        G[i] = grams[slot[j]]
    return n_slots


@_exact
def penalised(G, support, prior, inverse):
    """The inverse of A, and log det(A / prior)."""
    m = support.size
    A = np.empty((m, m))
    for i in range(m):
        for k in range(m):
            A[i, k] = G[i, support[k]]
        A[i, i] += prior
    return inverse_of(A, inverse) - m * math.log(prior)


@_exact
def score_of(volume, log_det, price, samples, count):
    """Of so many samples in all of so many responses; volume is that of what is left of them."""
    score = samples * volume + count * log_det + price
    return rounded(score) if score < np.inf else score


# -- what is left of the responses ---------------------------------------------------------


@_exact
def left_of(YY, c, u, support):
    """YYᵀ less what a support explains of it."""
    T = YY.shape[0]
    E = YY.copy()
    for t in range(T):
        for r in range(T):
            for i in range(support.size):
                E[t, r] -= u[t, i] * c[r, support[i]]
    return E


@_exact
def noise_of(E, YY, n, alike, floor, L):
    """Log of the volume of noise, of which L is written, a root, below the diagonal.

    Also for how many samples it counts, and the least share of it that is more than rounding.
    """
    T = E.shape[0]
    if alike or T == 1:
        q = 0.0
        for t in range(T):
            q += E[t, t]
        q = max(q, floor)
        for t in range(T):
            L[t] = 0.0
            L[t, t] = math.sqrt(q)
        return math.log(q / (T * n)), T * n, floor / q
    for t in range(T):
        L[t] = E[t]
        believed = (T - 1) / n * YY[t, t] if YY[t, t] > 0 else 1.0  # of a constant nothing is said
        L[t, t] = max(E[t, t], 0.0) + believed
    return factorise(L) - T * math.log(n), n + T - 1.0, ROUNDING


@_exact
def whitened(L, B):
    """L⁻¹B."""
    out = B.copy()
    for t in range(L.shape[0]):
        for r in range(t):
            out[t] -= L[t, r] * out[r]
        out[t] /= L[t, t]
    return out


# -- signs ---------------------------------------------------------------------------------


@_exact
def log_below(z):
    """The log of the normal distribution function."""
    if z > -8.0:
        return math.log(0.5 * math.erfc(-z / math.sqrt(2.0)))
    return -0.5 * z * z - math.log(-z * math.sqrt(2 * math.pi)) - 1 / (z * z)


@_exact
def sign_price(mean, spread, noise, n):
    """-2 log of the share of a coefficient's posterior that is positive, over one half."""
    z = math.sqrt(n * math.log1p(mean * mean / (spread * noise)))
    return -2 * (math.log(2.0) + log_below(z if mean > 0 else -z))


@_exact
def changed(i, j, u, inverse, K, b, s_j, noise, floor):
    """Of each response, the coefficient of feature j in the place of the i-th, and the noise then.

    NONE: no such feature.
    """
    own, left = np.zeros(noise.size), noise.copy()
    for t in range(noise.size):
        if i != NONE:
            left[t] += u[t, i] * u[t, i] / inverse[i, i]
        if j != NONE:
            out = K[i, j] * u[t, i] / inverse[i, i] if i != NONE else 0.0
            own[t] = (b[t, j] + out) / s_j
            left[t] -= own[t] * own[t] * s_j
        left[t] = max(left[t], floor)
    return own, left


@_exact
def signs_price(i, j, u, inverse, K, b, s_j, noise, n, floor):
    """The same of all coefficients of S without its i-th feature and with feature j.

    Infinite if one of these has no positive coefficient; NONE: no such feature.
    """
    T, m = u.shape
    own, left = changed(i, j, u, inverse, K, b, s_j, noise, floor)
    price, some = 0.0, j == NONE
    if j != NONE:
        for t in range(T):
            some |= own[t] > 0
            price += sign_price(own[t], 1 / s_j, left[t], n)
    for k in range(m):
        if k == i:
            continue
        if not some:
            break
        spread, along, out = inverse[k, k], 0.0, 0.0
        if i != NONE:
            out = inverse[k, i] / inverse[i, i]
            spread -= out * inverse[k, i]
        if j != NONE:
            along = K[k, j] - (out * K[i, j] if i != NONE else 0.0)
            spread += along * along / s_j
        some = False
        for t in range(T):
            mean = u[t, k] - along * own[t] - (out * u[t, i] if i != NONE else 0.0)
            some |= mean > 0
            price += sign_price(mean, spread, left[t], n)
    return price if some else np.inf


# -- the search ----------------------------------------------------------------------------


@_exact
def leave(i, a, rise, s, b, K, u, alike, own, left, both):
    """What each feature has of its own, and leaves of the volume, if feature i of S is left out.

    -1: none is.  Features side by side, one thing after the other: so several are done at once.
    """
    for j in range(s.size):
        own[j], left[j], both[j] = s[j], 0.0, 0.0
    if i >= 0:
        for j in range(s.size):
            own[j] += K[i, j] * K[i, j] / a
    for t in range(b.shape[0]):
        if i >= 0:
            for j in range(s.size):
                b_j = b[t, j] + K[i, j] * u[t, i] / a
                left[j] += b_j * b_j
                both[j] += b_j * u[t, i]
        else:
            for j in range(s.size):
                left[j] += b[t, j] * b[t, j]
    if alike:
        for j in range(s.size):
            left[j] = 1.0 - left[j] / (rise * own[j])
    else:  # of one response the same
        for j in range(s.size):
            left[j] = 1.0 - (left[j] - both[j] * both[j] / (a * rise)) / own[j]


@_exact
def add_neighbours(
    at, support, u, noise, L, volume, samples, least, log_det, inverse, G, c, n, prior, price,
    floor, window, marks, alike, positive, best, count, models,
):  # fmt: skip
    """All models with one feature more, one fewer or one exchanged that are near the best.

    Returns the best score, and how many models there are.
    """
    m, P, most = support.size, c.shape[1], price.size - 1
    T = c.shape[0]  # responses
    capacity, base = models[0].size, models[1][at]
    K = np.dot(inverse, G)
    s, b = np.full(P, n + prior), c - np.dot(u, G)  # of each feature, what S leaves of it
    own, left, both = np.empty(P), np.empty(P), np.empty(P)
    for i in range(m):
        for j in range(P):
            s[j] -= G[i, j] * K[i, j]
    for i in range(m):
        s[support[i]] = -1.0  # not to be taken in
    u_white, b_white = whitened(L, u), whitened(L, b)
    for i in range(-1, m):  # -1: none leaves
        volume_i, log_det_i, size, gone, key_i, a, rise = volume, log_det, m, NONE, base, 1.0, 1.0
        if i >= 0:
            a = inverse[i, i]
            for t in range(T):
                rise += u_white[t, i] * u_white[t, i] / a
            volume_i, log_det_i = volume + math.log(rise), log_det + math.log(a * prior)
            size, gone = m - 1, support[i]
            key_i = base - marks[gone]
            signs = 0.0
            if positive:
                signs = signs_price(i, NONE, u, inverse, K, b, 1.0, noise, n, floor)
            score = score_of(volume_i, log_det_i, price[size] + signs, samples, T)
            best = min(best, score)
            if score <= best + window:
                count = add_model(count, key_i, score, size, at, gone, NONE, models)
        if size + 1 > most:
            continue
        # What is certainly too bad needs no logarithm: a column adds at least log 1, and signs
        # take off at most log 2 for each coefficient.
        fixed = T * log_det_i + price[size + 1]
        gift = 2 * math.log(2.0) * T * (size + 1) if positive else 0.0
        enough = math.exp(min((best + window - fixed + gift) / samples - volume_i, 700.0))
        leave(i, a, rise, s, b_white, K, u_white, alike, own, left, both)
        for j in range(P):
            if s[j] < 0.0 or left[j] > enough:
                continue
            signs = 0.0
            if positive:
                signs = signs_price(i, j, u, inverse, K, b, own[j], noise, n, floor)
            grown = volume_i + math.log(max(left[j], least / rise))
            score = score_of(grown, math.log(own[j] / prior), fixed + signs, samples, T)
            if score > best + window or count >= capacity:
                continue
            best = min(best, score)
            count = add_model(count, key_i + marks[j], score, size + 1, at, gone, j, models)
    return best, count


@_exact
def weigh(G, support, c, YY, n, prior, price, floor, alike, positive, inverse, u, L):
    """The score of a support, and what those of its neighbours follow from.

    A⁻¹, the coefficients u = YX_S A⁻¹ and a root of the noise are written.
    """
    log_det = penalised(G, support, prior, inverse)
    for t in range(c.shape[0]):
        u[t] = np.dot(inverse, c[t][support])
    E = left_of(YY, c, u, support)
    noise = np.diag(E).copy()
    volume, samples, least = noise_of(E, YY, n, alike, floor, L)
    if positive:
        price += signs_price(NONE, NONE, u, inverse, G, c, 1.0, noise, n, floor)
    score = score_of(volume, log_det, price, samples, c.shape[0])
    return score, log_det, noise, volume, samples, least


@_exact
def scores_under(priors, C, Y, n, price, floor, alike, positive):
    """Those of all columns of C together, as rows, by how many samples the prior is worth."""
    T, m = Y.shape[0], C.shape[0]
    G, YY, c, support = np.dot(C, C.T), np.dot(Y, Y.T), np.dot(Y, C.T), np.arange(m)
    inverse, u, L = np.empty((m, m)), np.empty((T, m)), np.zeros((T, T))
    scores = np.empty(priors.size)
    for at in range(priors.size):
        scores[at] = weigh(
            G, support, c, YY, n, priors[at], price[at], floor, alike, positive, inverse, u, L
        )[0]
    return scores


@_exact
def explore(
    C, Y, n, prior, price, floor, marks, indptr, starts, rounds, window, capacity, alike, positive
):  # fmt: skip
    """Supports of much evidence: from the starts on, always around the best not yet looked at.

    Parameters
    ----------
    C, Y : arrays of shape (features, rows) and (responses, rows)
        Columns as rows, of squared length n, and what they explain.
    n, prior : floats
        Samples, and how many of them the prior is worth.
    price : array
        Of supports of 0, 1, ... features; no support is larger.
    floor : float
        The least q that is more than rounding.
    marks : array of uint64
        A random number for each feature: their sum tells supports apart.
    indptr, starts : arrays of ints
        Supports to start from, one after the other, features ascending.
    rounds : int
        Supports whose neighbours are looked at, beside those that are better than all before.
    window : float
        Models that are this much worse than the best are not kept.
    capacity : int
        Models that there is room for; half as many are kept around each support.
    alike, positive : bools
        Whether noise of all responses is of one size, and whether coefficients cannot be negative.

    Returns
    -------
    scores, parent, out, into, place, sizes, expanded
        One entry a model: its evidence; the model of which it is a neighbour, the feature that
        left and the one that came; the row of ``expanded`` that has its features, if it was
        started from or looked at; how many they are.
    """
    P, most, n_starts = C.shape[0], price.size - 1, indptr.size - 1
    scores, keys = np.empty(capacity), np.empty(capacity, np.uint64)
    parent, out = np.full(capacity, NONE), np.full(capacity, NONE)
    into, place = np.full(capacity, NONE), np.full(capacity, NONE)
    sizes = np.zeros(capacity, np.int64)
    looked = np.zeros(capacity, np.bool_)
    expanded = np.empty((n_starts + rounds + 2 * most, most + 1), np.int64)
    bits = 1
    while bits < 4 * capacity:
        bits *= 2
    table = np.full(bits, NONE)
    models = (scores, keys, parent, out, into, sizes, table)
    slot = np.full(P, NONE)  # rows of ``grams`` that have been made
    grams = np.empty((max(P, 1), P))  # X_jᵀX of the features in use; memory is taken as they come
    T, best, n_slots = Y.shape[0], np.inf, 0
    YY, c, L = np.dot(Y, Y.T), np.empty((T, P)), np.zeros((T, T))
    for t in range(T):
        c[t] = np.dot(C, Y[t])
    members_at = np.empty(most + 1, np.int64)
    unscored = add_starts(indptr, starts, marks, most, place, expanded, models)
    count, rows = unscored, unscored
    turn = -1
    while rows < expanded.shape[0]:
        turn += 1
        at = turn
        if turn >= unscored:
            if count > capacity // 2:  # between turns: no order of features
                count = prune(
                    count, capacity // 4, scores, keys, parent, out, into, place, sizes, looked,
                    table,
                )  # fmt: skip
            at = best_unseen(count, scores, looked)
            if at == NONE or scores[at] > best + window:
                break
            if scores[at] > best:  # not on the way to the best
                rounds -= 1
                if rounds < 0:
                    break
        looked[at] = True
        m = members(at, parent, out, into, expanded, place, sizes, members_at)
        support = members_at[:m]
        if place[at] == NONE:
            place[at] = rows
            expanded[rows, :m] = support
            rows += 1
        G, inverse, u = np.empty((m, P)), np.empty((m, m)), np.empty((T, m))
        n_slots = gram_rows(C, support, slot, grams, n_slots, G)
        scores[at], log_det, noise, volume, samples, least = weigh(
            G, support, c, YY, n, prior, price[m], floor, alike, positive, inverse, u, L
        )
        best, count = add_neighbours(
            at, support, u, noise, L, volume, samples, least, log_det, inverse, G, c, n, prior,
            price, floor, window, marks, alike, positive, min(best, scores[at]), count, models,
        )  # fmt: skip
    return (
        scores[:count], parent[:count], out[:count], into[:count], place[:count], sizes[:count],
        expanded[:rows],
    )  # fmt: skip
