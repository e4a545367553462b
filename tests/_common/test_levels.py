"""The rules for the sparsity level."""

import numpy as np
import pytest

from ksupport._common.levels import (
    check_k,
    clip_levels,
    doubling,
    for_criteria,
    for_prediction,
    levels_of,
    warn_clipped,
)


def test_what_a_parameter_stands_for():
    assert levels_of(3, [1, 2]) == [3]
    assert levels_of("auto", [1, 2]) == [1, 2]
    assert levels_of(np.array([4, 5]), []) == [4, 5]
    with pytest.raises(ValueError, match=r"k must be 'auto', .* got 'many'"):
        levels_of("many", [1])


@pytest.mark.parametrize("rule", [doubling, for_criteria, for_prediction])
@pytest.mark.parametrize("n", [1, 2, 7, 30, 500])
@pytest.mark.parametrize("d", [1, 2, 9, 40, 3000])
def test_levels_ascend_and_fit_the_data(rule, n, d):
    levels = rule(n, d)
    assert levels == sorted(set(levels))
    assert 1 <= levels[0] <= levels[-1] <= d


@pytest.mark.parametrize("k", [0, -1, 11, 2.5, True, "3", None])
def test_a_k_that_cannot_be_is_named(k):
    with pytest.raises(ValueError, match=f"k must be .*between 1 and n_features=10, got {k!r}"):
        check_k(k, 10)


def test_where_the_features_are_not_known_yet_any_count_will_do():
    assert check_k(10**6) == 10**6
    with pytest.raises(ValueError, match="strength must be an integer from 1 on, got 0"):
        check_k(0, name="strength")


def test_more_than_all_features_means_all_of_them():
    given = {"k": 12, "n_atoms": 3, "alpha": 99}
    assert clip_levels(given, 10) == {"k": 10, "n_atoms": 3, "alpha": 99}
    with pytest.warns(UserWarning, match="k=12 is more than n_features=10; k=10 is used"):
        warn_clipped(given, 10)
