"""Features that were left out are weighed by the evidence that they would add."""

import numpy as np
import pytest

from ksupport._kernels.residuals import Residuals

NU, LAM = 29.0, 3.0


def log_evidence(D, Y, lams):
    """Of columns with prior precisions of their own, but for a constant."""
    A = D.T @ D + np.diag(lams)
    C = D.T @ Y
    left = Y.T @ Y - C.T @ np.linalg.solve(A, C)
    size = np.linalg.slogdet(A)[1] - np.sum(np.log(lams))
    return -0.5 * (NU * np.linalg.slogdet(left)[1] + Y.shape[1] * size)


@pytest.mark.parametrize("T", [1, 2])
def test_a_gain_is_a_difference_of_evidence(rng, T):
    n, others = 30, 6
    D, F = rng.standard_normal((n, 4)), rng.standard_normal((n, others))
    F *= np.sqrt(n) / np.linalg.norm(F, axis=0)
    Y = D[:, :T] + rng.standard_normal((n, T))
    A = D.T @ D + LAM * np.eye(4)
    inverse = np.linalg.inv(A)
    features = Residuals(D.T @ F, Y.T @ F, inverse, inverse @ D.T @ Y, n)
    out, lams = np.array([-1, -1, 0, 3]), np.array([LAM, 30.0, LAM, LAM])
    left, expected = [], []
    for place, lam in zip(out, lams, strict=True):
        S = np.delete(D, place, axis=1) if place >= 0 else D
        C = S.T @ Y
        within = np.linalg.solve(S.T @ S + LAM * np.eye(S.shape[1]), C)
        left.append(np.linalg.inv(Y.T @ Y - C.T @ within))
        before = [LAM] * S.shape[1]
        expected.append([
            log_evidence(np.column_stack([S, f]), Y, [*before, lam]) - log_evidence(S, Y, before)
            for f in F.T
        ])  # fmt: skip
    found = features.gains(out, np.array(left), lams, NU)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_a_model_without_columns_and_a_block_without_features():
    empty = np.zeros((0, 0))
    features = Residuals(np.zeros((0, 2)), np.ones((1, 2)), empty, np.zeros((0, 1)), 4.0)
    found = features.gains(np.array([-1]), np.full((1, 1, 1), 1 / 5), np.array([1.0]), NU)
    expected = -0.5 * (NU * np.log(1 - 1 / 25) + np.log(5.0))
    np.testing.assert_allclose(found, np.full((1, 2), expected), rtol=1e-12)
    nobody = Residuals(np.zeros((0, 0)), np.zeros((1, 0)), empty, np.zeros((0, 1)), 4.0)
    assert nobody.gains(np.array([-1]), np.ones((1, 1, 1)), np.ones(1), NU).shape == (1, 0)
