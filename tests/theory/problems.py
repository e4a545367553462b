"""Problems with known answers, and IRKSN walked on many of them."""

import numpy as np

from ksupport import path

W3, W4 = np.array([9, 6, 2]) / 11, np.array([5, 14, 2]) / 15
W_Y = np.array([1.0, 1.0, -4.0, 0.0, 0.0])


def example1(rng, n=4):
    """The paper's Example 1: two features made of three, and w = (1, 1, -4, 0, 0)."""
    X0 = rng.standard_normal((n, 3))
    return np.column_stack([X0, X0 @ W3, X0 @ W4]), W_Y


def example2(rng, n=60, d=30, k=8):
    """The paper's Example 2: X = y wᵀ + Γ with Γ zero on the support, y and Γ centred, ‖w‖ = 1."""
    w = np.zeros(d)
    w[:k] = rng.uniform(0.5, 1, k) * rng.choice([-1, 1], k)
    w /= np.linalg.norm(w)
    y = rng.choice([-1.0, 1.0], n)
    gamma = np.zeros((n, d))
    gamma[:, k:] = 0.1 * rng.standard_normal((n, d - k))
    y, gamma = y - y.mean(), gamma - gamma.mean(axis=0)
    return np.outer(y, w) + gamma, w, y


def limits(X, y, alpha, steps, k=3, step="adaptive"):
    """The iterate of IRKSN after many steps, for each problem of a stack."""
    problems = zip(X, y, alpha, strict=True)
    return np.array(
        [
            path("irksn", *xy, k=k, alpha=a, step=step, max_iter=steps, keep="last").coef
            for *xy, a in problems
        ]
    )


def walks(X, y, alpha, steps, k=3, step="spectral"):
    """The iterates w_0, …, w_steps of IRKSN for each problem of a stack."""
    problems = zip(X, y, alpha, strict=True)
    return np.array(
        [
            path("irksn", *xy, k=k, alpha=a, step=step, max_iter=steps).iterates.toarray()
            for *xy, a in problems
        ]
    )


def draws(rng, count, *, n=8, d=10, k=3, ours=True, l1_fails=False, own=0.3):
    """Stack `count` random (X, w), built as Example 1 is: x_l = X_S m_l + a part of its own.

    That part is orthogonal to X_S, so X_S† x_l = m_l and both closed forms can be read off m_l:
    with `ours` Assumption 2 holds, with `l1_fails` Assumption 3 does not. With own=0 the smallest
    dual certificate is the only one that matters.
    """
    X, w = [], []
    while len(X) < count:
        X_S = rng.standard_normal((n, k))
        w_S = rng.uniform(1, 4, k) * rng.choice([-1, 1], k)
        m = 0.6 * rng.standard_normal((2000, k))
        correlation = np.abs(m @ w_S)
        fits = correlation < 0.9 * np.abs(w_S).min() if ours else correlation > np.abs(w_S).min()
        if l1_fails:
            fits &= np.abs(m @ np.sign(w_S)) > 1.05
        if fits.sum() < d - k:  # magnitudes too equal for the conditions to differ
            continue
        extra = own * rng.standard_normal((n, d - k))
        extra -= X_S @ np.linalg.lstsq(X_S, extra)[0]
        X.append(np.column_stack([X_S, X_S @ m[fits][: d - k].T + extra]))
        w.append(np.r_[w_S, np.zeros(d - k)])
    return np.array(X), np.array(w)
