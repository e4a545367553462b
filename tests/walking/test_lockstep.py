"""Plain steps: paths side by side walk as each does alone, on fewer passes over the data."""

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

from ksupport.algorithms import make_method
from ksupport.design.view import Design
from ksupport.walking import run

GRIDS = {
    "irksn": [{"k": 3, "alpha": 0.3}, {"k": 5, "alpha": 0.05}, {"k": 8, "alpha": 0.7}],
    "ksn": [{"k": 5, "lam": 3.0}, {"k": 5, "lam": 0.1}, {"k": 4, "L": "backtracking"}],
    "iht": [{"k": 3}, {"k": 6, "step": "normalised"}, {"k": 4, "step": "normalised"}],
    "srdi": [{"kappa": 1.0}, {"kappa": 10.0}],
    "ircr": [{}, {"average": False}],
    "irosr": [{"alpha": 1e-3}, {"alpha": 0.1}, {"alpha": 1e-2, "init": "published"}],
}


def problem(rng, n=20, d=60):
    X = rng.standard_normal((n, d))
    return X, X[:, :4] @ [1.0, -2.0, 3.0, 1.0] + 0.1 * rng.standard_normal(n)


def walked(design, y, settings, name, **params):
    paths = [make_method(name, **each).start(design, y) for each in settings]
    before = design.passes
    results = run(paths, max_iter=150, **params)
    return results, design.passes - before


@pytest.mark.parametrize("convert", [np.ascontiguousarray, np.asfortranarray, aslinearoperator])
@pytest.mark.parametrize("name", GRIDS)
def test_side_by_side_is_as_alone(name, convert, monkeypatch, rng):
    limits = ("ALL_AT_ONCE", "ALL_COLUMNS", "COPIED_COLUMNS", "COMPILED")
    for limit in limits:
        monkeypatch.setattr(f"ksupport.limits.{limit}", 0)
    monkeypatch.setattr("ksupport.limits.SHARED_NUMBERS", 3000)  # several blocks of records
    X, y = problem(rng)
    design = Design.of(convert(X))
    together, shared = walked(design, y, GRIDS[name], name, every=3)
    passes = 0
    for settings, result in zip(GRIDS[name], together, strict=True):
        (alone,), count = walked(design, y, [settings], name, every=3)
        passes += count
        np.testing.assert_array_equal(result.history["t"], alone.history["t"])
        W, V = result.iterates.toarray(), alone.iterates.toarray()
        np.testing.assert_allclose(W, V, rtol=0, atol=1e-10 * np.abs(V).max())
        np.testing.assert_allclose(
            result.history["residual"], np.linalg.norm(W @ X.T - y, axis=1), rtol=1e-8, atol=1e-10
        )
    if convert is not aslinearoperator:  # an operator has one vector at a time
        assert shared < 0.8 * passes


def test_one_that_diverges_does_not_stop_the_others(rng):
    X, y = problem(rng)
    design = Design.of(aslinearoperator(X))
    settings = [{"eta": 1e3}, {}]
    with pytest.warns(match="diverged"):
        (wild, tame), _ = walked(design, y, settings, "irosr")
    assert (wild.reason, tame.reason) == ("diverged", "max_iter")
    (alone,), _ = walked(design, y, settings[1:], "irosr")
    np.testing.assert_allclose(tame.coef, alone.coef, rtol=1e-10)
