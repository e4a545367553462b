"""`recover`: a sparse vector by an operator, k not given."""

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from sklearn.exceptions import ConvergenceWarning

from benchmarks import imaging
from ksupport import ksupport_norm, path, recover
from ksupport.algorithms.irksn_descent import Descent
from ksupport.design import Design, paired
from ksupport.walking import run
from ksupport.walking.structure import Structure
from ksupport.walking.working_set import WorkingSetPath


def spikes(n=80, d=240, size=8, noise=0.02, seed=0, dtype=float):
    rng = np.random.default_rng(seed)

    def numbers(*shape):
        real = rng.standard_normal(shape)
        return real if dtype is float else real + 1j * rng.standard_normal(shape)

    X, w = numbers(n, d) / np.sqrt(n), np.zeros(d, dtype)
    w[rng.choice(d, size, replace=False)] = 1 + numbers(size)
    e = noise * numbers(n)
    return X, X @ w + e, w, float(np.linalg.norm(e))


def error(found, w):
    return np.linalg.norm(found.coef - w) / np.linalg.norm(w)


class Counted(LinearOperator):
    def __init__(self, X):
        super().__init__(X.dtype, X.shape)
        self.X, self.count = X, 0

    def _matvec(self, w):
        self.count += 1
        return self.X @ w

    def _rmatvec(self, u):
        self.count += 1
        return self.X.conj().T @ u


def walked(X, y, k, alpha, steps, structure=None):
    state = Descent(y, k, alpha, structure or Structure())
    (result,) = run([WorkingSetPath(Design.of(aslinearoperator(X)), state)], max_iter=steps)
    return result, state


@pytest.mark.parametrize("structure", ["plain", "groups", "positive"])
def test_steps_checked_by_values_end_where_algorithm_1_does(structure):
    """min R(w) s.t. Xw = y has one solution, whatever the steps are."""
    X, y, _, _ = spikes(30, 60, 4, noise=0.0)
    labels = np.arange(60) // 2
    options = {
        "plain": {},
        "groups": {"feature_groups": tuple(labels)},
        "positive": {"positive": True},
    }[structure]
    y = X @ np.abs(np.linalg.lstsq(X, y, rcond=None)[0]) if structure == "positive" else y
    own = Structure(labels if structure == "groups" else None, structure == "positive")
    found, _ = walked(X, y, 5, 0.3, 4000, own)
    expected = path("irksn", X, y, k=5, alpha=0.3, max_iter=4000, **options)
    np.testing.assert_allclose(found.coef, expected.coef, atol=1e-4)


def test_values_of_the_dual_function_are_those_of_its_definition_and_never_rise():
    X, y, _, _ = spikes()
    k, alpha = 5, 0.3
    states = [walked(X, y, k, alpha, steps)[1] for steps in range(1, 15)]

    def value(state):  # D(z) = max_w ⟨-Xᵀz, w⟩ - R(w) + ⟨y, z⟩, at the maximiser
        z, w = state.Z[0], state.find_w(X.T @ state.Z[0])
        R = (1 - alpha) / 2 * ksupport_norm(w, k) ** 2 + alpha / 2 * (w @ w)
        return -(X.T @ z) @ w - R + y @ z

    values = [value(state) for state in states]
    own = [state._value(state.Z[0], state.F[0], state.find_w(state.F[0])) for state in states]
    np.testing.assert_allclose(own, values, rtol=1e-9)
    assert values[-1] < values[0] < 0


def test_a_step_takes_two_products_and_a_residual_one():
    X, y, _, _ = spikes()
    operator = Counted(X)
    state = Descent(y, 5, 0.3, Structure())
    run([WorkingSetPath(Design.of(operator), state)], max_iter=40, every=2)
    dot_test, first_step, residuals = 2, 2, 20
    assert operator.count == dot_test + first_step + 2 * 40 + residuals
    assert state.pace.refused  # shorter steps were tried, and cost nothing


def test_a_path_goes_on_from_the_best_multiple_of_where_another_ended():
    X, y, _, _ = spikes()
    _, before = walked(X, y, 20, 0.5, 10)
    state = Descent(y, 2, 0.5, Structure())
    WorkingSetPath(Design.of(aslinearoperator(X)), state)
    state.resume(before)

    def value(scale):
        p = scale * before.F[0]
        return state._value(scale * before.Z[0], p, state.find_w(p))

    scale = np.linalg.norm(state.Z[0]) / np.linalg.norm(before.Z[0])
    assert value(scale) < min(value(0.99 * scale), value(1.01 * scale))
    np.testing.assert_allclose(X.T @ state.Z[0], state.F[0], atol=1e-10)
    assert state.t == before.t


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("dtype", [float, complex])
def test_recovers_spikes_with_and_without_the_noise_known(known, dtype):
    X, y, w, noise = spikes(dtype=dtype)
    found = recover(X, y, noise if known else None, complex_coef=dtype is complex)
    assert error(found, w) < 0.1
    assert found.coef.dtype == dtype
    assert found.stop_reason == "stopped"
    assert found.residual == pytest.approx(np.linalg.norm(X @ found.coef - y))
    assert found.residual <= found.noise
    assert found.levels["n_nonzero"].min() == np.count_nonzero(found.coef)
    assert found.k in found.levels["k"]
    assert found.levels["n_products"][-1] == found.n_products


def test_whatever_x_is_given_as():
    X, y, _, noise = spikes()
    expected, operator = recover(X, y, noise), Counted(X)
    found = recover(operator, y, noise)
    np.testing.assert_allclose(found.coef, expected.coef, atol=1e-12)
    assert found.n_products == operator.count


def test_real_coefficients_of_complex_measurements():
    X, y, w, noise = spikes(dtype=complex)
    y, w = X @ w.real + (y - X @ w), w.real
    assert error(recover(X, y, noise), w) < 0.1


def test_complex_coefficients_of_a_real_operator():
    X, y, w, noise = spikes()
    found = recover(X, 1j * y, noise, complex_coef=True)
    np.testing.assert_allclose(found.coef.real, 0, atol=1e-12)
    assert error(found, 1j * w) < 0.1


def test_complex_numbers_in_pairs_are_one_operator():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4, 6)) + 1j * rng.standard_normal((4, 6))
    twin = np.block([[X.real, -X.imag], [X.imag, X.real]])
    for given, expected in (
        (X, twin),
        (X.real, np.kron(np.eye(2), X.real)),
    ):
        operator = paired(aslinearoperator(given))
        np.testing.assert_allclose(operator @ np.eye(12), expected, atol=1e-12)
        np.testing.assert_allclose(operator.T @ np.eye(8), expected.T, atol=1e-12)


def test_a_phase_changes_only_phases():
    """The k-support norm of moduli does not know it: no direction of the plane is preferred."""
    X, y, _, noise = spikes(dtype=complex)
    turn = np.exp(0.7j)
    one, other = (recover(X, c * y, noise, complex_coef=True) for c in (1.0, turn))
    np.testing.assert_allclose(other.coef, turn * one.coef, atol=1e-8)


def test_positive_coefficients():
    X, _, w, noise = spikes()
    w = np.abs(w)
    y = X @ w + noise / np.sqrt(80) * np.random.default_rng(1).standard_normal(80)
    found = recover(X, y, noise, positive=True)
    assert found.coef.min() >= 0
    assert error(found, w) < 0.1


def test_a_noise_level_that_is_never_reached_is_told():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 5)), rng.standard_normal(40)
    with pytest.warns(ConvergenceWarning, match=r"did not reach the noise 0\.001: after 20 steps"):
        found = recover(X, y, 1e-3, max_iter=20)
    assert found.stop_reason == "max_iter"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"noise": 0.0}, "noise must be in"),
        ({"noise": np.nan}, "noise must"),
        ({"max_iter": 0}, "max_iter must"),
        ({"complex_coef": 1}, "complex_coef must be True or False"),
        ({"complex_coef": True, "positive": True}, "positive=True is for real coefficients"),
        ({"y": np.ones(3)}, r"y must have 80 entries to match X, got shape \(3,\)"),
        ({"y": np.full(80, np.nan)}, "y must be finite"),
        ({"y": np.ones(80, complex)}, "y is complex, but X is real"),
    ],
)
def test_what_cannot_be_is_named(change, words):
    X, y, _, noise = spikes()
    given = {"X": X, "y": y, "noise": noise} | change
    with pytest.raises(ValueError, match=words):
        recover(**given)


@pytest.mark.parametrize("kind", [kind for kind in imaging.KINDS if kind[0] != "ellipses"])
def test_images_of_few_wavelets_are_as_good_as_by_the_l1_norm(kind):
    spgl1 = pytest.importorskip("spgl1")
    image, by, n, share = kind
    X, y, w, noise = imaging.problem(image, by, n, share, seed=10)
    theirs = imaging.Counted(X)
    l1 = spgl1.spg_bpdn(theirs, y, noise, iter_lim=1000, verbosity=0)[0]
    found = recover(X, y, noise)
    assert error(found, w) < 1.05 * np.linalg.norm(l1 - w) / np.linalg.norm(w)
    assert found.n_products <= 4 * theirs.count  # a median of 1.8


def test_haar_wavelets_are_orthonormal():
    image = np.random.default_rng(0).standard_normal((64, 64))
    coef = imaging.haar(image)
    assert np.linalg.norm(coef) == pytest.approx(np.linalg.norm(image))
    np.testing.assert_allclose(imaging.inverse_haar(coef), image, atol=1e-12)
