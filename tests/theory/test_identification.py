"""The error once the support is identified: linear in the noise."""

import numpy as np
import pytest

from ksupport import path, prox_ksupport
from ksupport.stopping import Discrepancy
from ksupport.theory import error_bound, face_bound, irksn_condition, stopping_time
from ksupport.theory._support import subgradient
from ksupport.theory.identification import FaceBound, _metric

from .problems import draws, example1


def plain_walk(X, y, k, alpha, steps):
    """Iterates w_t and their extrapolations r_t of Algorithm 1, with the θ of their prox."""
    gamma, lam = alpha / np.linalg.norm(X, 2) ** 2, (1 - alpha) / alpha
    z = z_old = np.zeros(len(y))
    theta, beta, walked = 1.0, 0.0, []
    for _ in range(steps):
        v = z + beta * (z - z_old)
        q = np.array([-X.T @ z, -X.T @ v]) / alpha
        models = np.array([prox_ksupport(each, lam, k) for each in q])
        apart = np.where(models == 0, 1.0, q - models)
        walked.append((models, lam * models / apart))
        z, z_old = v + gamma * (X @ models[1] - y), z
        theta_next = (1 + np.sqrt(1 + 4 * theta**2)) / 2
        theta, beta = theta_next, (theta - 1) / theta_next
    return tuple(np.array(part) for part in zip(*walked, strict=True))


def on_face(models, thetas, w, k):
    """The longest stretch of steps at which w_{t-1}, w_t and r_t are on the face of w."""
    S, level = w != 0, subgradient(w[w != 0], k)[1]
    large = np.abs(w[S]) > level if k < S.sum() else np.ones(S.sum(), bool)
    right = (np.sign(models) == np.sign(w)).all(axis=2)
    right &= ((thetas[:, :, S] > 1 - 1e-9) == large).all(axis=2)
    right = right.all(axis=1)
    right[1:] &= right[:-1]
    right[0] = False
    edges = np.flatnonzero(np.diff(np.r_[0, right.astype(int), 0]))
    starts, ends = edges[::2], edges[1::2]
    if len(starts) == 0:
        return 0, 0
    longest = np.argmax(ends - starts)
    return int(starts[longest]), int(ends[longest])


@pytest.mark.parametrize("k", [3, 2, 1])
def test_every_iterate_on_the_support_is_below_the_bound(k):
    rng = np.random.default_rng(7)
    X, w = draws(rng, 6)
    lengths = []
    for each, truth in zip(X, w, strict=True):
        condition = irksn_condition(each, truth, k=k)
        if not condition.recovers:
            continue
        alpha = 0.5 * (condition.alpha_low + condition.alpha_sharp)
        S = np.flatnonzero(truth)
        for delta in (1e-3, 1e-2):
            noise = rng.standard_normal(len(each))
            noise *= delta / np.linalg.norm(noise)
            models, thetas = plain_walk(each, each @ truth + noise, k, alpha, 500)
            start, end = on_face(models, thetas, truth, k)
            lengths.append(end - start)
            if end - start < 2:
                continue
            W, fit = models[:, 0], np.zeros_like(truth)
            fit[S] = np.linalg.lstsq(each[:, S], each @ truth + noise)[0]
            begin = sum(np.linalg.norm(W[t] - fit) for t in (start, start - 1))
            errors = np.linalg.norm(W[start:end] - truth, axis=1)
            steps = np.arange(end - start)
            for known in (None, noise):
                bound = face_bound(each, truth, alpha, delta, k=k, noise=known)
                assert np.all(errors <= bound.after(steps, begin) * (1 + 1e-9))
    assert len(lengths) >= 6
    assert np.median(lengths) > 100  # walks do come to the support, and stay


def test_the_metric_is_the_derivative_of_the_prox(rng):
    """On the face the prox is linear; at its fixed point it takes -X^T z to w."""
    for _ in range(50):
        size, alpha = int(rng.integers(2, 8)), rng.uniform(0.05, 0.9)
        w, k = rng.standard_normal(size) * rng.choice([0.3, 3], size), int(rng.integers(1, size))
        root, stretch = _metric(w, k, alpha)
        H = root @ root
        values = np.linalg.eigvalsh(H)
        assert stretch == pytest.approx(np.sqrt(values[-1] / values[0]))
        p = (1 - alpha) * subgradient(w, k)[0] + alpha * w
        np.testing.assert_allclose(H @ p, w, rtol=1e-9, atol=1e-12)
        step = 1e-6 * rng.standard_normal(size)
        moved = prox_ksupport((p + step) / alpha, (1 - alpha) / alpha, k)
        np.testing.assert_allclose(moved - w, H @ step, atol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_at_the_stopping_time_of_theorem_1_the_error_is_linear_in_the_noise(seed):
    """Slope one of errors against the noise, where Theorem 1 has one half."""
    rng = np.random.default_rng(seed)
    X, w = example1(rng)
    X /= np.linalg.svd(X[:, :3], compute_uv=False)[-1]  # the least singular value is one
    noise = rng.standard_normal(len(X))
    noise /= np.linalg.norm(noise)
    alpha, errors = 0.2, []
    deltas = 10.0 ** np.array([-2, -3, -4, -5])
    for delta in deltas:
        t = stopping_time(delta, c=4 * np.linalg.norm(X, 2))
        y = X @ w + delta * noise
        walk = path("irksn", X, y, k=3, alpha=alpha, step="spectral", max_iter=t, keep="last")
        np.testing.assert_array_equal(walk.coef != 0, w != 0)
        errors.append(np.linalg.norm(walk.coef - w))
        assert errors[-1] <= 3 * delta  # three times the floor: the least singular value is one
        assert errors[-1] < error_bound(X, w, alpha, delta).best / 50
    slope = np.polyfit(np.log(deltas), np.log(errors), 1)[0]
    assert 0.9 < slope < 1.3


def test_steps_to_is_where_the_bound_gets_there(rng):
    bound = face_bound(*example1(rng), 0.05, 0.1)  # type: ignore[call-arg]
    t = bound.steps_to(1e-3, start=2.0)
    assert bound.after(t, 2.0) <= bound.floor + 1e-3 < bound.after(t - 1, 2.0)
    assert bound.steps_to(1e9, start=2.0) == 0
    assert FaceBound(0.0, 1e-20).steps_to(1.0, start=1.0) > 1e20  # a rate that rounds to one


def test_errors(rng):
    X, w = example1(rng)
    equal, small, large = np.ones((4, 5)), [1.0, 1.0, 0, 0, 0], [1.0, 2.0, 0, 0, 0]
    assert face_bound(equal, small, 0.1, 0.1).floor == pytest.approx(0.1 / 8**0.5)
    for truth, k in ((large, 2), (small, 1)):
        with pytest.raises(ValueError, match=f"got 2 columns of rank 1, k={k}: use error_bound"):
            face_bound(equal, truth, 0.1, 0.1, k=k)
    with pytest.raises(ValueError, match=r"alpha must be in \(0, 1\), got 1"):
        face_bound(X, w, 1, 0.1)
    with pytest.raises(
        ValueError, match="k must be between 1 and the size of the support=3, got 4"
    ):
        face_bound(X, w, 0.1, 0.1, k=4)
    with pytest.raises(ValueError, match="noise must be a vector with one entry per sample"):
        face_bound(X, w, 0.1, 0.1, noise=np.ones(3))
    with pytest.raises(ValueError, match=r"excess must be in \(0, inf\), got 0"):
        face_bound(X, w, 0.1, 0.1).steps_to(0, 1.0)


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_limits_are_lipschitz_in_the_noise_also_where_no_certificate_is_strict(share):
    """The minimiser is a continuous, piecewise linear function of y, whatever the alpha.

    At the largest alpha of Example 1 a feature outside the support attains its limit.
    """
    rng = np.random.default_rng(5)
    X, w = example1(rng)
    alpha = share * irksn_condition(X, w).alpha_sharp
    noise = X @ rng.standard_normal(5)
    noise /= np.linalg.norm(noise)
    for direction in (noise, -noise):
        ratios = []
        for delta in (1e-2, 1e-3, 1e-4):
            y = X @ w + delta * direction
            rule = Discrepancy(1e-10 * float(np.linalg.norm(y)))
            walk = path("irksn", X, y, k=3, alpha=alpha, max_iter=20_000, stopping=rule)
            ratios.append(np.linalg.norm(walk.coef - w) / delta)
        assert ratios[2] == pytest.approx(ratios[1], rel=1e-3)  # one piece for small noise
        assert max(ratios) < 10


def test_noise_outside_the_range_of_X_is_not_seen_with_constant_steps(rng):
    X, w = example1(rng, n=9)
    y = X @ w
    orthogonal = np.linalg.qr(np.column_stack([X[:, :3], rng.standard_normal((9, 1))]))[0][:, 3]
    walks = [
        path("irksn", X, target, k=3, alpha=0.1, step="spectral", max_iter=200).iterates.toarray()
        for target in (y, y + 10 * orthogonal)
    ]
    np.testing.assert_allclose(walks[0], walks[1], atol=1e-8)
