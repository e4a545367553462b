"""What the theory cannot be asked about is refused by name; what it can is taken in any form."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from ksupport.theory import (
    Recommendation,
    alpha_max,
    error_bound,
    irksn_condition,
    l1_condition,
    mutual_coherence,
    omp_condition,
    recommend,
    recovery_report,
    restricted_isometry,
    stopping_time,
)

X = np.random.default_rng(0).standard_normal((8, 5))
W = np.array([2.0, -1.0, 0.0, 0.0, 0.0])
OF_W = {
    each.__name__: each
    for each in (irksn_condition, l1_condition, omp_condition, alpha_max, recovery_report)
}
OF_X = {name: lambda X, f=f: f(X, W) for name, f in OF_W.items()} | {
    "mutual_coherence": mutual_coherence,
    "restricted_isometry": lambda X: restricted_isometry(X, 1),
    "recommend": lambda X: recommend(X, 1, n_draws=2, random_state=0),
    "error_bound": lambda X: error_bound(X, W, 1e-3, 0.1),
}
BAD = {
    "None": (lambda A: None, "must be an array of numbers, got None"),
    "text": (lambda A: "abc", "must be an array of numbers, got dtype <U3"),
    "words": (lambda A: np.full(A.shape, "1"), "must be an array of numbers, got dtype <U1"),
    "objects": (lambda A: np.full(A.shape, {}), "must be an array of numbers"),
    "dates": (lambda A: A.astype("M8[s]"), "must be an array of numbers, got dtype datetime64"),
    "ragged": (lambda A: [[1, 2], [3]], "must be an array of numbers"),
    "complex": (lambda A: A * 1j, "must be real, got dtype complex128"),
    "NaN": (lambda A: A * np.nan, "must be finite, got NaN or infinity"),
    "infinity": (lambda A: A + np.inf, "must be finite, got NaN or infinity"),
    "huge": (lambda A: A * 1e200, "must have entries that can be squared"),
    "tiny": (lambda A: A * 1e-200, "must have entries that can be squared"),
}
BAD_X = BAD | {
    "NaN in a sparse X": (lambda A: sp.csr_array(A * np.nan), "must be finite"),
    "a frame of words": (lambda A: pd.DataFrame(np.full(A.shape, "a", object)), "must be"),
    "a row": (lambda A: A[0], "must be two-dimensional, got an array of shape (5,)"),
    "a number": (lambda A: 3.0, "must be two-dimensional, got an array of shape ()"),
    "no rows": (lambda A: A[:0], "must have at least one row and one column, got shape (0, 5)"),
    "no columns": (lambda A: A[:, :0], "must have at least one row and one column"),
}
BAD_W = BAD | {
    "zeros": (np.zeros_like, "must have at least one nonzero entry"),
    "short": (lambda w: w[:4], "must be a vector with one entry per feature (column) of X"),
    "a column": (lambda w: w[:, None], "shape (5,), got shape (5, 1)"),
    "a number": (lambda w: 1.0, "shape (5,), got shape ()"),
}


def refused(attempt, name, says):
    with pytest.raises(ValueError, match=rf"^{name} ") as caught:
        attempt()
    assert says in str(caught.value)


@pytest.mark.parametrize("case", BAD_X)
@pytest.mark.parametrize("function", OF_X)
def test_an_x_that_is_none_is_refused(function, case):
    make, says = BAD_X[case]
    refused(lambda: OF_X[function](make(X)), "X", says)


@pytest.mark.parametrize("case", BAD_W)
@pytest.mark.parametrize("function", OF_W)
def test_a_w_that_is_none_is_refused(function, case):
    make, says = BAD_W[case]
    refused(lambda: OF_W[function](X, make(W)), "w", says)


FORMS = {
    "lists": lambda A: A.tolist(),
    "objects": lambda A: A.astype(object),
    "integers": lambda A: np.round(A).astype(int),
    "a frame": pd.DataFrame,
    "CSR": sp.csr_array,
    "COO": sp.coo_array,
    "an operator": aslinearoperator,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("function", OF_X)
def test_every_form_of_x_gives_the_same_answer(function, form):
    whole = np.round(4 * X)
    answer, expected = OF_X[function](FORMS[form](whole)), OF_X[function](whole)
    np.testing.assert_allclose(numbers_of(answer), numbers_of(expected), rtol=1e-9)


def numbers_of(answer):
    if isinstance(answer, float):
        return [answer]
    if isinstance(answer, Recommendation):
        return np.concatenate([rates.ravel() for rates in answer.rates.values()])
    return [value for value in vars(answer).values() if isinstance(value, float)]


@pytest.mark.parametrize("k", [0, -1, 6, 1.0, 1.5, np.nan, np.inf, None, "2", [1], 10**30])
@pytest.mark.parametrize("function", [restricted_isometry, recommend])
def test_a_k_that_no_support_has_is_refused(function, k):
    refused(lambda: function(X, k), "k", "between 1 and n_features=5, got")


NUMBERS = [-1, np.nan, np.inf, "0.1", None, [0.1], 1j]


@pytest.mark.parametrize("value", [0, 1, 2, *NUMBERS], ids=repr)
def test_an_alpha_outside_its_interval_is_refused(value):
    refused(lambda: error_bound(X, W, value, 0.1), "alpha", "must be in (0, 1), got")
    if value is not None:
        refused(lambda: recovery_report(X, W, alpha=value), "alpha", "must be in (0, 1), got")


@pytest.mark.parametrize("value", NUMBERS, ids=repr)
def test_other_numbers_are_checked_too(value):
    refused(lambda: error_bound(X, W, 1e-3, value), "delta", "must be in [0, inf), got")
    refused(lambda: stopping_time(value), "delta", "must be in (0, inf), got")
    refused(lambda: stopping_time(0.1, value), "c", "must be in (0, inf), got")
    refused(lambda: recovery_report(X, W, duplicate_cosine=value), "duplicate_cosine", "(0, 1]")


@pytest.mark.parametrize("t", [0, -1, 1.5, [1, 2.5], np.nan, np.inf, None, "a"], ids=repr)
@pytest.mark.parametrize("curve", ["curve", "tight"])
def test_steps_are_whole_numbers(curve, t):
    refused(lambda: getattr(error_bound(X, W, 1e-3, 0.1), curve)(t), "t", "must be")


def test_no_steps_have_no_bounds():
    bound = error_bound(X, W, 1e-3, 0.1)
    assert bound.curve([]).size == bound.tight([]).size == 0


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("every one of ks", [{"ks": [size]} for size in (0, -1, 6, 1.5, None, "2", np.nan)]),
        ("ks", [{"ks": size} for size in (3, "2", 1.5, [[1]])]),
        ("every one of sample_sizes", [{"sample_sizes": [n]} for n in (0, -1, 9, 1.5, None)]),
        ("n_draws", [{"n_draws": count} for count in (0, -1, 1.5, None, "2", [1])]),
        ("coefficients", [{"coefficients": law} for law in ("x", 3, None, [1])]),
        ("support", [{"support": kind} for kind in ("x", 3, None, [1])]),
        ("random_state", [{"random_state": seed} for seed in (-1, 1.5, "2", np.nan)]),
        (
            r"coefficients\(rng, k\)",
            [{"coefficients": law} for law in (
                lambda rng, k: np.ones(k + 1), lambda rng, k: np.full(k, np.nan),
                lambda rng, k: "a", lambda rng, k: None,
            )],
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_advice_refuses_by_name_what_it_cannot_simulate(name, values):
    for options in values:
        refused(lambda options=options: recommend(X, 1, **options), name, "must")


@pytest.mark.parametrize("names", [["a"], "abcde", 3])
def test_names_are_one_for_each_feature(names):
    refused(lambda: recovery_report(X, W, feature_names=names), "feature_names", "one name per")
