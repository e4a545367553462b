"""Compiled search for the supports of most evidence (`ksupport.choosing.posterior`).

Columns have squared length n.  With A = X_SᵀX_S + prior I, the evidence of a support S under
a normal prior of its coefficients is, but for constants and as -2 log,

    n log(q / n) + log det(A / prior) + 2 log C(d, |S|),   q = ‖y‖² - yᵀX_S A⁻¹ X_Sᵀy.

Of several responses with noise of one size, q is the sum over them, and n and the determinant
count as often.

One feature more, one fewer or one exchanged changes q by a square and the determinant by a
factor, so that all neighbours of S follow from A⁻¹ and the products X_SᵀX.
"""

import math

import numpy as np

from ._kernels import _exact

NONE = -1  # no feature; no parent
STEADY = 1e-6  # scores are rounded to this, so that equal ones are equal on every machine


@_exact
def rounded(score):
    return round(score / STEADY) * STEADY


@_exact
def inverse_of(A, inverse):
    """The inverse of a positive definite A, which is overwritten, and log det A."""
    m, log_det = A.shape[0], 0.0
    for j in range(m):  # A = L Lᵀ, below the diagonal
        for k in range(j):
            A[j, j] -= A[j, k] * A[j, k]
        A[j, j] = math.sqrt(A[j, j])
        log_det += 2 * math.log(A[j, j])
        for i in range(j + 1, m):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
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
def score_of(q, log_det, price, samples, count, floor):
    """Of so many samples in all of so many responses."""
    return rounded(samples * math.log(max(q, floor) / samples) + count * log_det + price)


@_exact
def leave(i, a, q, s, b, K, u, own, left):
    """What each feature leaves of q, and has of its own, if feature i of S is left out (-1: none).

    Features side by side, one thing after the other: so several of them are done at once.
    """
    for j in range(s.size):
        own[j], left[j] = s[j], 0.0
    if i >= 0:
        for j in range(s.size):
            own[j] += K[i, j] * K[i, j] / a
    for t in range(b.shape[0]):
        if i >= 0:
            for j in range(s.size):
                b_j = b[t, j] + K[i, j] * u[t, i] / a
                left[j] += b_j * b_j
        else:
            for j in range(s.size):
                left[j] += b[t, j] * b[t, j]
    for j in range(s.size):
        left[j] = q - left[j] / own[j]


@_exact
def add_neighbours(
    at, support, u, q, log_det, inverse, G, c, n, prior, price, floor, window, marks, best, count,
    models,
):  # fmt: skip
    """All models with one feature more, one fewer or one exchanged that are near the best.

    Returns the best score, and how many models there are.
    """
    m, P, most = support.size, c.shape[1], price.size - 1
    T = c.shape[0]  # responses
    samples = T * n
    capacity, base = models[0].size, models[1][at]
    K = np.dot(inverse, G)
    s, b = np.full(P, n + prior), c - np.dot(u, G)  # of each feature, what S leaves of it
    own, left = np.empty(P), np.empty(P)
    for i in range(m):
        for j in range(P):
            s[j] -= G[i, j] * K[i, j]
    for i in range(m):
        s[support[i]] = -1.0  # not to be taken in
    for i in range(-1, m):  # -1: none leaves
        q_i, log_det_i, size, gone, key_i, a = q, log_det, m, NONE, base, 1.0
        if i >= 0:
            a = inverse[i, i]
            explained = 0.0
            for t in range(T):
                explained += u[t, i] * u[t, i]
            q_i, log_det_i, size = q + explained / a, log_det + math.log(a * prior), m - 1
            gone = support[i]
            key_i = base - marks[gone]
            score = score_of(q_i, log_det_i, price[size], samples, T, floor)
            best = min(best, score)
            if score <= best + window:
                count = add_model(count, key_i, score, size, at, gone, NONE, models)
        if size + 1 > most:
            continue
        # What is certainly too bad needs no logarithm: a column adds at least log 1.
        fixed = T * log_det_i + price[size + 1]
        enough = samples * math.exp(min((best + window - fixed) / samples, 700.0))
        leave(i, a, q_i, s, b, K, u, own, left)
        for j in range(P):
            if s[j] < 0.0 or left[j] > enough:
                continue
            score = score_of(left[j], math.log(own[j] / prior), fixed, samples, T, floor)
            if score > best + window or count >= capacity:
                continue
            best = min(best, score)
            count = add_model(count, key_i + marks[j], score, size + 1, at, gone, j, models)
    return best, count


@_exact
def explore(C, Y, n, prior, price, floor, marks, indptr, starts, rounds, window, capacity):
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
        Supports whose neighbours are looked at.
    window : float
        Models that are this much worse than the best are not kept.
    capacity : int
        Models that there is room for; half as many are kept around each support.

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
    expanded = np.empty((n_starts + rounds, most + 1), np.int64)
    bits = 1
    while bits < 4 * capacity:
        bits *= 2
    table = np.full(bits, NONE)
    models = (scores, keys, parent, out, into, sizes, table)
    slot = np.full(P, NONE)  # rows of ``grams`` that have been made
    grams = np.empty((max(P, 1), P))  # X_jᵀX of the features in use; memory is taken as they come
    yy, best, n_slots = 0.0, np.inf, 0
    for t in range(Y.shape[0]):
        for i in range(Y.shape[1]):
            yy += Y[t, i] * Y[t, i]
    c = np.empty((Y.shape[0], P))
    for t in range(Y.shape[0]):
        c[t] = np.dot(C, Y[t])
    members_at = np.empty(most + 1, np.int64)
    unscored = add_starts(indptr, starts, marks, most, place, expanded, models)
    count, rows = unscored, unscored
    for turn in range(unscored + rounds):
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
        looked[at] = True
        m = members(at, parent, out, into, expanded, place, sizes, members_at)
        support = members_at[:m]
        if place[at] == NONE:
            place[at] = rows
            expanded[rows, :m] = support
            rows += 1
        G, inverse = np.empty((m, P)), np.empty((m, m))
        n_slots = gram_rows(C, support, slot, grams, n_slots, G)
        log_det = penalised(G, support, prior, inverse)
        u, q = np.empty((Y.shape[0], m)), yy
        for t in range(Y.shape[0]):
            own = c[t][support]
            u[t] = np.dot(inverse, own)
            q -= np.dot(u[t], own)
        scores[at] = score_of(q, log_det, price[m], Y.shape[0] * n, Y.shape[0], floor)
        best, count = add_neighbours(
            at, support, u, q, log_det, inverse, G, c, n, prior, price, floor, window, marks,
            min(best, scores[at]), count, models,
        )  # fmt: skip
    return (
        scores[:count], parent[:count], out[:count], into[:count], place[:count], sizes[:count],
        expanded[:rows],
    )  # fmt: skip
