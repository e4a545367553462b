"""What every registered method promises, whatever kind X is of.

A new method is picked up by its entry in `METHODS`; only what its defaults cannot serve goes into
the tables below.
"""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from ksupport import IRKSN, METHODS, path
from ksupport.algorithms import make_method
from ksupport.algorithms.irksn import IRKSNMethod
from ksupport.design import Incomplete, Problem, Unpenalized, Weights
from ksupport.design.view import Design
from ksupport.explain.models import walk_again
from ksupport.walking import run, working_set
from ksupport.walking.working_set import WorkingSetPath

STEPS = 60
SHAPES = [(25, 40), (40, 1500), (3500, 20)]  # all columns, a working set, compressed rows
PARAMS = {"srdi": {"kappa": 0.05}}  # so that features enter within STEPS
NEEDS_COLUMNS = {name for name, method in METHODS.items() if method.needs_columns}
# Other settings in which working-set methods take other branches.
VARIANTS = {
    "irksn": [
        {"alpha": 1e-3, "step": "spectral"},
        {"alpha": 1e-3},
        {"alpha": 0.1},
        {"alpha": 0.6},
    ],
    "ksn": [{"lam": 1e-3}, {"lam": 1.0, "L": "backtracking"}],
    "ircr": [{"average": True}, {"average": False}],
    "srdi": [{"kappa": 0.01}, {"kappa": 0.05}],
    "iht": [{"step": None}, {"step": "normalised"}],
}

every_method = pytest.mark.parametrize("method", METHODS)


def params_of(method, k=4):
    """Parameters for small problems: k if there is one, and what the table says."""
    known = METHODS[method].describe().parameters
    return ({"k": k} if "k" in known else {}) | PARAMS.get(method, {})


@cache
def problem(n, d, k=4, seed=0, rho=0.3):
    """A design with zeros, exact in single precision, so that all kinds are the same X."""
    rng = np.random.default_rng(seed)
    X = np.sqrt(1 - rho) * rng.standard_normal((n, d))
    X += np.sqrt(rho) * rng.standard_normal((n, 1))
    X[rng.random((n, d)) < 0.2] = 0.0
    X = X.astype(np.float32).astype(np.float64)
    w = np.zeros(d)
    w[rng.choice(d, k, replace=False)] = rng.choice([-1, 1], k) * (1 + rng.random(k))
    y = X @ w + 0.3 * rng.standard_normal(n)
    X.flags.writeable = y.flags.writeable = False
    return X, y


def memmap(X, folder):
    X.tofile(folder / "X.bin")
    return np.memmap(folder / "X.bin", X.dtype, "r", shape=X.shape)


KINDS = {
    "F": lambda X, folder: np.asfortranarray(X),
    "float32": lambda X, folder: X.astype(np.float32),
    "CSR": lambda X, folder: sp.csr_array(X),
    "CSC": lambda X, folder: sp.csc_array(X),
    "LinearOperator": lambda X, folder: aslinearoperator(X),
    "memmap": memmap,
    "incomplete": lambda X, folder: Incomplete(X),
}


@cache
def reference(method, n, d):
    """The path for X in C order."""
    return path(method, *problem(n, d), max_iter=STEPS, **params_of(method))


def assert_close(actual, expected, tolerance):
    """Equal up to a part of the largest entry."""
    actual, expected = actual.toarray(), expected.toarray()
    assert actual.shape == expected.shape
    assert np.abs(expected).max() > 0
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * np.abs(expected).max())


# -- kinds of X ----------------------------------------------------------------------------


@every_method
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_every_kind_of_X_gives_the_same_iterates(method, kind, n, d, tmp_path):
    if kind == "LinearOperator" and method in NEEDS_COLUMNS:
        pytest.skip("has an error of its own, tested below")
    X, y = problem(n, d)
    given = KINDS[kind](X, tmp_path)
    result = path(method, given, y, max_iter=STEPS, **params_of(method))
    expected = reference(method, n, d)
    np.testing.assert_array_equal(result.history["t"], expected.history["t"])
    assert_close(result.iterates, expected.iterates, 1e-3 if kind == "float32" else 1e-9)
    assert result.reason == expected.reason


UNPENALISED = np.array([0, 3])


@cache
def left_over(n, d, weighted):
    """What regression on two columns and a constant leaves of the others and y, and weights."""
    X, y = problem(n, d)
    weights = 0.2 + np.random.default_rng(0).random(n) if weighted else np.ones(n)
    root = np.sqrt(weights / weights.mean())[:, None]
    A = np.column_stack([X[:, UNPENALISED], np.ones(n)]) * root
    both = np.column_stack([X, y]) * root
    both -= A @ np.linalg.lstsq(A, both, rcond=None)[0]
    both[:, UNPENALISED] = 0.0
    return both[:, :-1], both[:, -1], weights


@cache
def reference_left_over(method, n, d, weighted):
    X, y, _ = left_over(n, d, weighted)
    return path(method, X, y, max_iter=STEPS, **params_of(method))


@every_method
@pytest.mark.parametrize("kind", ["C", *KINDS])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_beside_unpenalised_columns_iterates_are_those_on_residuals(
    method, kind, weighted, n, d, tmp_path
):
    if kind == "LinearOperator" and method in NEEDS_COLUMNS:
        pytest.skip("has an error of its own, tested below")
    X, y = problem(n, d)
    given = X if kind == "C" else KINDS[kind](X, tmp_path)
    weights = left_over(n, d, weighted)[2]
    made = Problem(
        given, y[:, None], Weights(weights if weighted else None), np.arange(n), True, False,
        METHODS[method].compressible, unpenalized=Unpenalized(UNPENALISED, ("a", "b")),
    )  # fmt: skip
    walker = make_method(method, **params_of(method)).start(made.design, made.targets[0])
    result = run([walker], max_iter=STEPS)[0]
    expected = reference_left_over(method, n, d, weighted)
    assert_close(result.iterates, expected.iterates, 1e-2 if kind == "float32" else 1e-8)


@pytest.mark.parametrize("method", sorted(NEEDS_COLUMNS))
def test_a_method_that_needs_columns_says_so(method):
    X, y = problem(*SHAPES[0])
    with pytest.raises(
        (TypeError, ValueError), match=r"(?s)columns.*LinearOperator|LinearOperator.*columns"
    ):
        path(method, aslinearoperator(X), y, **params_of(method))


@pytest.mark.parametrize("compressible", [True, False])
def test_rows_are_compressed_only_for_methods_that_let_them_be(compressible, monkeypatch):
    X, y = problem(3500, 20)
    rows, start = [], IRKSNMethod.start

    def noted(method, design, y):
        rows.append(design.n)
        return start(method, design, y)

    monkeypatch.setattr(IRKSNMethod, "start", noted)
    monkeypatch.setattr(IRKSNMethod, "compressible", compressible)
    path("irksn", X, y, k=3, max_iter=10)
    walk_again(IRKSN(k=3, max_iter=10).fit(X, y), X, y)
    assert len(rows) == 3
    assert all((n < 3500) == compressible for n in rows)


@every_method
def test_compressed_rows_give_the_same_iterates(method):
    X, y = problem(3500, 20)
    design = Design.of(X)
    assert design.compresses
    walker = make_method(method, **params_of(method)).start(design, y)
    whole = run([walker], max_iter=STEPS)[0]
    assert_close(whole.iterates, reference(method, 3500, 20).iterates, 1e-9)


# -- the record of a walk ------------------------------------------------------------------


@every_method
def test_recorded_arrays_never_change_later(method):
    X, y = problem(40, 1500)
    design, seen = Design.of(X), []

    def grab(block):
        seen.append((block.rows, block.rows.copy(), block.t, block.t.copy()))
        return np.zeros(len(block.t))

    walker = make_method(method, **params_of(method)).start(design, y)
    first = run([walker], max_iter=STEPS // 3, metrics={walker: {"none": grab}})[0]
    taken = first.coef.copy(), first.iterates.toarray(), dict(first.history)
    rest = run([walker], max_iter=STEPS, metrics={walker: {"none": grab}})[0]
    np.testing.assert_array_equal(first.coef, taken[0])
    np.testing.assert_array_equal(first.iterates.toarray(), taken[1])
    for name, values in taken[2].items():
        np.testing.assert_array_equal(first.history[name], values)
    for rows, rows_then, t, t_then in seen:
        np.testing.assert_array_equal(rows, rows_then)
        np.testing.assert_array_equal(t, t_then)
    # It did walk on, and from where it was: both parts make up the whole.
    both = sp.vstack([first.iterates, rest.iterates])
    assert_close(both, reference(method, 40, 1500).iterates, 1e-9)


@every_method
@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_reruns_are_identical_bit_for_bit(method, n, d):
    once = reference(method, n, d)
    again = path(method, *problem(n, d), max_iter=STEPS, **params_of(method))
    for name in once.history:
        np.testing.assert_array_equal(once.history[name], again.history[name])
    assert once.iterates.toarray().tobytes() == again.iterates.toarray().tobytes()
    assert once.coef.tobytes() == again.coef.tobytes()


@every_method
@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_the_start_does_not_depend_on_the_response(method, n, d):
    X, y = problem(n, d)
    other = path(method, X, np.cos(np.arange(n)) - 2 * y, max_iter=1, **params_of(method))
    once = reference(method, n, d)
    assert once.history["t"][0] == other.history["t"][0] == 0
    np.testing.assert_array_equal(once.iterates[[0]].toarray(), other.iterates[[0]].toarray())
    assert np.any(once.iterates[[-1]].toarray() != once.iterates[[0]].toarray())


@every_method
@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_recording_less_often_records_the_same(method, n, d):
    dense = reference(method, n, d)
    sparse = path(method, *problem(n, d), max_iter=STEPS, every=7, **params_of(method))
    t, last = sparse.history["t"], dense.history["t"][-1]
    np.testing.assert_array_equal(t, sorted({*range(0, last + 1, 7), last}))
    assert_close(sparse.iterates, dense.iterates[t], 1e-9)


@every_method
@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_the_history_agrees_with_the_iterates(method, n, d):
    X, y = problem(n, d)
    result = reference(method, n, d)
    W, history = result.iterates.toarray(), result.history
    np.testing.assert_array_equal(history["n_nonzero"], np.count_nonzero(W, axis=1))
    residual = np.linalg.norm(W @ X.T - y, axis=1)
    np.testing.assert_allclose(history["residual"], residual, atol=1e-6 * np.linalg.norm(y))
    np.testing.assert_array_equal(result.coef, W[-1])
    assert result.n_iter == history["t"][-1]


# -- the working set -----------------------------------------------------------------------


def uses_working_set(method):
    X, y = problem(*SHAPES[0])
    return isinstance(
        make_method(method, **params_of(method)).start(Design.of(X), y), WorkingSetPath
    )


def working_set_cases():
    for method in filter(uses_working_set, METHODS):
        for variant in VARIANTS.get(method, [{}]):  # type: ignore[attr-defined]
            for k in (1, 4, 9) if "k" in params_of(method) else (4,):
                label = "-".join([method, f"k{k}", *(f"{a}={b}" for a, b in variant.items())])
                yield pytest.param(method, params_of(method, k) | variant, id=label)


@pytest.mark.parametrize(("method", "params"), list(working_set_cases()))
@pytest.mark.parametrize(
    ("n", "d", "seed", "rho"),
    [(8, 600, 1, 0.0), (8, 600, 2, 0.6), (30, 900, 3, 0.2), (60, 700, 4, 0.8), (30, 2000, 5, 0.0)],
)
def test_the_walk_on_a_working_set_is_the_full_walk(method, params, n, d, seed, rho, monkeypatch):
    monkeypatch.setattr("ksupport.limits.ALL_AT_ONCE", 0)
    monkeypatch.setattr("ksupport.limits.COPIED_COLUMNS", 0)
    X, y = problem(n, d, 4, seed, rho)
    design = Design.of(X)
    lazy, plain = (make_method(method, **params).start(design, y) for _ in range(2))
    plain._go_plain(working_set.FOREVER)  # type: ignore[attr-defined]
    result = run([lazy], max_iter=50)[0]
    assert design.columns_read > 0  # a block was walked on
    assert_close(result.iterates, run([plain], max_iter=50)[0].iterates, 1e-9)


# -- the registry --------------------------------------------------------------------------


@every_method
def test_a_method_describes_itself(method):
    described = METHODS[method].describe()
    assert described.name == method
    assert str(described).startswith(f"{described.title} ({described.citation})")
    assert all([described.condition, described.bound, described.complexity])
    with pytest.raises(TypeError, match=f"method '{method}' has no parameter 'nonsense'"):
        make_method(method, nonsense=1)


def test_an_unknown_method_is_told_the_known_ones():
    with pytest.raises(ValueError, match=r"method must be one of irksn, .*; got 'irkns'"):
        make_method("irkns")
