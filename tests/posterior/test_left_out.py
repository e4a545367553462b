"""Features that were left out are weighed by the evidence that they would add."""

import numpy as np
import pytest

from ksupport._kernels.residuals import Residuals
from ksupport.design import Design
from ksupport.posterior.atoms import atoms_of
from ksupport.posterior.chains import sample
from ksupport.posterior.expansions import BRIEF
from ksupport.posterior.left_out import left_out
from ksupport.posterior.likelihood import of_squares

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


def test_members_of_a_group_that_were_left_out_become_candidates(rng):
    """A group of ten acts together; only half of it is among the candidates."""
    n, d = 80, 600
    X = rng.standard_normal((n, d))
    X[:, :10] = rng.standard_normal((n, 1)) + 0.5 * rng.standard_normal((n, 10))
    X -= X.mean(axis=0)
    X /= X.std(axis=0)
    y = X[:, :10].sum(axis=1) + rng.standard_normal(n)
    y -= y.mean()
    candidates = np.r_[np.arange(5), np.arange(300, 400)]
    design, Y = Design.of(X), y[None]
    columns = np.array(design.columns(candidates), float)
    likelihood = of_squares(candidates, columns, Y, n - 1.0, float(n))
    columns = columns[np.searchsorted(candidates, likelihood.features)]
    atoms = atoms_of(likelihood, d)
    drawn = sample(atoms, n - 1.0, [np.zeros(0, np.int64)], 0, budget=BRIEF)
    new, near, others = left_out(design, Y, columns, likelihood, atoms, drawn, n - 1.0)
    assert set(range(5, 10)) <= {*new.tolist(), *near.tolist()}
    assert not set(candidates.tolist()) & {*new.tolist(), *near.tolist()}
    assert not set(new.tolist()) & set(near.tolist())
    assert others.count == d - candidates.size - new.size - near.size
