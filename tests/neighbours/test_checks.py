"""What the adapters refuse, what they take that is unusual, and what they say when missing."""

import sys
from importlib import import_module

import numpy as np
import pytest

from ksupport import ksupport_norm, prox_ksupport

X, y = 2 * np.eye(4), np.array([4.0, 0.0, 2.0, 0.0])


# -- skglm ---------------------------------------------------------------------------------


def by_skglm(alpha, k):
    skglm = pytest.importorskip("skglm")
    from skglm.datafits import Quadratic
    from skglm.solvers import FISTA

    from ksupport.neighbours.skglm import KSupport

    solver = FISTA(opt_strategy="fixpoint", tol=1e-10, max_iter=500)
    return skglm.GeneralizedLinearEstimator(Quadratic(), KSupport(alpha, k), solver)


@pytest.mark.parametrize(
    ("alpha", "k", "message"),
    [
        (1.0, 0, "k must be an integer from 1 on, got 0"),
        (1.0, 2.5, "k must be an integer from 1 on, got 2.5"),
        (1.0, 7, "k must be between 1 and n_features=4, got 7"),
        (-1.0, 2, "alpha must be non-negative and finite, got -1.0"),
        (np.nan, 2, "alpha must be non-negative and finite, got nan"),
    ],
)
def test_skglm_s_penalty_is_checked_when_fitted(alpha, k, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        by_skglm(alpha, k).fit(X, y)


def test_skglm_s_penalty_of_strength_0_is_none():
    np.testing.assert_allclose(by_skglm(0.0, 2).fit(X, y).coef_, y / 2, atol=1e-8)


def test_skglm_shows_the_strength():
    assert "penalty=KSupport, alpha=0.5" in repr(by_skglm(0.5, 2))


# -- PyProximal and ModOpt -----------------------------------------------------------------


def pyproximal_s(k=2, strength=1.0):
    return pytest.importorskip("ksupport.neighbours.pyproximal").KSupport(k, strength)


def modopt_s(k=2, strength=1.0):
    return pytest.importorskip("ksupport.neighbours.modopt").KSupportNorm(strength, k)


def steps(operator):
    """Value, and prox with a step, of either."""
    return (operator, operator.prox) if callable(operator) else (operator.cost, operator.op)


BOTH = pytest.mark.parametrize("make", [pyproximal_s, modopt_s])


@BOTH
@pytest.mark.parametrize("k", [0, -1, 1.5, None, True])
def test_a_bad_k_is_refused_at_once(make, k):
    with pytest.raises(ValueError, match=f"must be an integer from 1 on, got {k!r}"):
        make(k)


@BOTH
def test_more_than_there_are_entries_is_refused_when_they_are_known(make):
    value, prox = steps(make(9))
    for call in (value, lambda w: prox(w, 1.0)):
        with pytest.raises(ValueError, match="k must be between 1 and n_features=3, got 9"):
            call(np.ones(3))


@BOTH
@pytest.mark.parametrize("strength", [-1.0, np.inf, np.nan])
def test_a_bad_strength_is_refused_at_once(make, strength):
    with pytest.raises(ValueError, match=f"(sigma|beta) must be .* finite, got {strength}"):
        make(strength=strength)


@BOTH
@pytest.mark.parametrize("step", [np.ones(3), np.ones(1)])
def test_a_step_for_each_entry_is_refused_as_the_norm_does_not_separate(make, step):
    _, prox = steps(make())
    with pytest.raises(TypeError, match="must be one number for the whole vector, got shape"):
        prox(np.ones(3), step)


def test_pyproximal_s_step_is_positive():
    for tau in (0.0, -1.0):
        for prox in (pyproximal_s().prox, pyproximal_s().proxdual):
            with pytest.raises(ValueError, match="tau must be positive"):
                prox(np.ones(3), tau)
    with pytest.raises(TypeError, match="tau must be one number"):
        pyproximal_s().proxdual(np.ones(3), np.ones(3))


def test_modopt_s_factor_is_not_negative():
    with pytest.raises(ValueError, match="extra_factor must be non-negative"):
        modopt_s().op(np.ones(3), extra_factor=-1.0)


@BOTH
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_vectors_keep_their_phases(make, dtype, rng):
    x = (rng.standard_normal(20) + 1j * rng.standard_normal(20)).astype(dtype)
    x[3] = 0
    value, prox = steps(make(4, 0.7))
    out = prox(x, 0.5)
    assert out.dtype == dtype
    np.testing.assert_allclose(np.abs(out), prox_ksupport(np.abs(x), 0.35, 4), rtol=1e-5, atol=1e-6)
    kept = out != 0
    assert 4 <= kept.sum() < 20
    np.testing.assert_allclose(np.angle(out[kept]), np.angle(x[kept]), rtol=1e-5)
    assert value(x) == pytest.approx(0.35 * float(ksupport_norm(np.abs(x), 4)) ** 2)


@BOTH
def test_an_image_is_one_vector(make, rng):
    x = rng.standard_normal((4, 5))
    value, prox = steps(make(3))
    np.testing.assert_array_equal(prox(x, 1.0), prox_ksupport(x.ravel(), 1.0, 3).reshape(4, 5))
    assert value(x) == pytest.approx(0.5 * float(ksupport_norm(x.ravel(), 3)) ** 2)


# -- missing packages ----------------------------------------------------------------------


@pytest.mark.parametrize("package", ["skglm", "pyproximal", "modopt", "benchopt"])
def test_a_missing_package_is_named_with_what_to_install(package, monkeypatch):
    adapter = f"ksupport.neighbours.{package}"
    monkeypatch.delitem(sys.modules, adapter, raising=False)
    for name in [package, *sys.modules]:
        if name.split(".")[0] == package:
            monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError) as caught:
        import_module(adapter)
    assert str(caught.value) == f"this needs {package}: pip install 'ksupport[neighbours]'"
