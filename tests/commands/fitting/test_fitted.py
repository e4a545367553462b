"""What half-samples are asked to repeat is what was done on all the data."""

from types import SimpleNamespace

import numpy as np
import pytest

from ksupport import IRKSNCV, IRKSNIC, AutoIRKSN, PathCV, PathIC
from ksupport.commands.fitting.fitted import repeater
from ksupport.datasets import make_block_data, make_correlated_data
from ksupport.explain.models import chosen_by

MODELS = {
    "IC": IRKSNIC(k=[2, 5], criterion="bic", max_iter=100),
    "IC of another method": PathIC("iht", {"k": [1, 2]}),
    "CV": IRKSNCV(random_state=0, max_iter=100),
    "CV of iterates": IRKSNCV(refit=None, max_iter=100),
    "CV of another method": PathCV("iht", refit="auto", standardize=False),
    "auto": AutoIRKSN(max_iter=200),
}


def scattered():
    truth = np.r_[3.0, -2.0, 2.0, np.zeros(47)]
    return make_correlated_data(60, 50, rho=0.5, w_true=truth, snr=5, random_state=1)[:2]


def grouped():
    return make_block_data(60, 80, block_size=10, n_active_blocks=1, random_state=0)[:2]


@pytest.mark.parametrize("data", [scattered, grouped])
@pytest.mark.parametrize("name", MODELS)
def test_on_all_the_data_the_repeated_choice_is_the_choice(name, data):
    X, y = data()
    model = MODELS[name].fit(X, y)
    again = repeater(model, SimpleNamespace(X=X, y=y)).fit(X, y)
    np.testing.assert_array_equal(again.support_, model.support_)


def test_where_folds_took_the_support_of_ebic_the_criterion_is_repeated():
    X, y = scattered()
    for name in ("CV", "CV of another method", "auto"):
        model = MODELS[name].fit(X, y)
        assert chosen_by(model).how == "criterion"
        again = repeater(model, SimpleNamespace(X=X, y=y)).fit(X, y)
        assert chosen_by(again).how == "criterion"
