"""What was chosen can be asked of every estimator, and its path walked again."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Lasso

import ksupport
from ksupport import IRKSN, IRKSNCV, IRKSNIC, PathIC
from ksupport.choosing.selection import Selection
from ksupport.datasets import make_block_data
from ksupport.explain.features import by_certainty
from ksupport.explain.models import (
    WALKED,
    around,
    chosen_by,
    effects_of,
    spacing,
    walk_again,
)

X, Y, _ = make_block_data(50, 30, block_size=10, n_active_blocks=1, random_state=0)
ESTIMATORS = [
    getattr(ksupport, name)
    for name in ksupport.__all__
    if isinstance(getattr(ksupport, name), type) and hasattr(getattr(ksupport, name), "fit")
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: each.__name__)
def test_every_estimator_says_what_it_has_chosen(estimator, as_asked):
    model = estimator(max_iter=60)
    chosen = chosen_by(model.fit(X, as_asked(model, Y)))
    assert isinstance(chosen, Selection)
    assert chosen.words.endswith(".")


def test_others_are_refused():
    with pytest.raises(
        TypeError, match="estimator must be a fitted linear model of ksupport, got Lasso"
    ):
        chosen_by(Lasso().fit(X, Y))
    with pytest.raises(NotFittedError):
        chosen_by(IRKSN())


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_effects_are_per_standard_deviation(kind):
    model = IRKSN(k=4, max_iter=60).fit(X, Y)
    effects = effects_of(model, kind(X))
    np.testing.assert_allclose(effects, model.coef_ * X.std(axis=0))
    order = by_certainty(effects, chosen_by(model))
    assert sorted(order) == np.flatnonzero(model.support_).tolist()
    assert (np.diff(np.abs(effects[order])) <= 0).all()


@pytest.mark.parametrize(
    "model", [IRKSNCV(refit=None, max_iter=100), PathIC("irksn", {"k": [4]}, exchange=0)], ids=str
)
def test_the_path_walked_again_passes_through_the_support(model):
    result = walk_again(model.fit(X, Y), X, Y)
    assert result.n_iter == model.n_iter_
    np.testing.assert_array_equal(result.coef != 0, model.support_)


def test_off_the_paths_the_last_step_is_returned():
    model = IRKSNIC(max_iter=100).fit(X, Y)
    assert chosen_by(model).path is None
    result = walk_again(model, X, Y)
    assert result.n_iter == result.history["t"][-1]


def test_the_problem_leaves_out_the_rows_that_were_held_out():
    model = IRKSN(k=4, stopping="held_out", random_state=0).fit(X, Y)
    assert model._problem_again(X, Y, None).view.n == 50 - len(model.held_out_)


@pytest.mark.parametrize("step", [1, 7, 60, 1000, 99_991])
def test_the_chosen_step_is_among_the_records(step):
    end = around(step, 10**6)
    assert end > step
    assert step % spacing(step, end) == 0
    assert end // spacing(step, end) >= min(end, WALKED)
