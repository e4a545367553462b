"""Features that stand in for each other."""

import numpy as np
import pytest

from ksupport.choosing.posterior import Sought, explored
from ksupport.choosing.sets import WORTH, sets_of
from ksupport.design import Design


@pytest.fixture(scope="module")
def found():
    """Feature 0 has a close relative, 1; features 2 and 3 each matter by themselves."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 30))
    X[:, 1] = X[:, 0] + 0.1 * rng.standard_normal(80)
    y = 2 * X[:, 0] - X[:, 2] + X[:, 3] + 0.5 * rng.standard_normal(80)
    X -= X.mean(axis=0)
    (posterior,) = explored([Sought(Design.of(X), y - y.mean(), [], 50)])
    return posterior, sets_of(posterior, posterior.probability())


def test_relatives_form_a_set_that_is_sure(found):
    posterior, sets = found
    (one,) = [each for each in sets if 0 in each.features]
    assert set(one.features) == {0, 1}
    assert one.probability > 0.99
    assert one.probability >= posterior.probability()[[0, 1]].max()


def test_features_that_are_needed_together_are_sets_of_their_own(found):
    _, sets = found
    singles = [each.features for each in sets if len(each.features) == 1]
    assert (2,) in singles
    assert (3,) in singles


def test_the_most_probable_come_first_and_no_feature_twice(found):
    posterior, sets = found
    probabilities = [each.probability for each in sets]
    assert probabilities == sorted(probabilities, reverse=True)
    members = [j for each in sets for j in each.features]
    assert len(members) == len(set(members))
    p = posterior.probability()
    for each in sets:
        assert p[each.features[0]] == pytest.approx(p[list(each.features)].max())


@pytest.mark.parametrize("few", [True, False])
def test_a_set_goes_on_with_copies_that_are_hardly_probable_by_themselves(few):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((100, 60))
    X[:, 1:40] = X[:, :1] + 0.2 * rng.standard_normal((100, 39))
    y = X[:, 0] + rng.standard_normal(100)
    X -= X.mean(axis=0)
    (posterior,) = explored([Sought(Design.of(X), y - y.mean(), [], 50)])
    p = posterior.probability()
    one = sets_of(posterior, p, few)[0]
    assert p[list(one.features)].min() < WORTH  # not by itself worth a set
    assert one.probability >= 0.95  # of the certainty that one of the forty matters
    assert 1 < len(one.features) < 40  # those that add little are left out
    assert set(one.features) < set(range(40))
