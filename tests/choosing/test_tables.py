"""Errors on folds: means, standard errors by hand, and the models that they prefer."""

import numpy as np

from ksupport.choosing.tables import FoldTable, aligned, clearly_worse, path_table, standard_error

ERRORS = np.array([[1.0, 5.0, 1.1], [3.0, 6.0, 3.0], [2.0, 9.0, 2.2]])  # folds x models
OTHERS = np.array([1.0, 3.0, 2.0])


def test_standard_errors_are_those_of_a_mean_and_of_one_fold_nothing():
    expected = ERRORS.std(axis=0, ddof=1) / np.sqrt(3)
    np.testing.assert_allclose(standard_error(ERRORS), expected, rtol=1e-14)
    np.testing.assert_allclose(standard_error(1e200 * ERRORS), 1e200 * expected, rtol=1e-14)
    assert standard_error(ERRORS[:1]).tolist() == [0.0, 0.0, 0.0]
    assert standard_error(np.zeros((3, 2))).tolist() == [0.0, 0.0]


def test_worse_by_more_than_so_many_standard_errors_of_the_differences():
    """The differences of the third are .1, 0, .2: mean .1, standard error .058."""
    assert clearly_worse(ERRORS, OTHERS, 1.0).tolist() == [False, True, True]
    assert clearly_worse(ERRORS, OTHERS, 1.7).tolist() == [False, True, True]
    assert clearly_worse(ERRORS, OTHERS, 1.8).tolist() == [False, True, False]
    assert clearly_worse(OTHERS[:, None], ERRORS[:, 1], 1.0).tolist() == [False]


def test_what_has_no_error_is_worse_and_rounding_is_not():
    endless = ERRORS.copy()
    endless[1, 0] = np.inf
    assert clearly_worse(endless, OTHERS, 100.0).tolist() == [True, False, False]
    nearly = OTHERS[:, None] * (1 + 1e-15)
    assert clearly_worse(nearly, OTHERS, 0.0).tolist() == [False]
    assert clearly_worse(OTHERS[:, None] + 1e-9, OTHERS, 0.0).tolist() == [True]


def a_table():
    errors = np.array([[[4.0, 2.0, 2.2], [5.0, 2.0, np.inf]], [[4.0, 3.0, 2.8], [5.0, 3.0, 1.0]]])
    sizes = np.array([[1.0, 2.0, 3.0], [0.0, 1.5, 4.0]])
    return FoldTable(errors, np.array([0, 5, 10]), sizes)


def test_the_best_model_is_the_sparsest_of_equal_ones_and_the_simplest_near_it():
    table = a_table()
    assert table.mean[0].tolist() == [4.0, 2.5, 2.5]
    assert table.best() == (1, 1)  # three are equal, of 2, 3 and 1.5 features
    assert table.spread[1, 2] == np.inf
    np.testing.assert_allclose(table.spread[0, 1], 0.5)
    assert table.simplest() == (1, 1)
    wider = FoldTable(table.errors + np.array([0.0, 6.0])[:, None, None], table.steps, table.sizes)
    assert wider.simplest() == (1, 0)  # within a standard error of 3.5


def test_the_table_of_a_search_has_a_row_for_every_setting_and_step():
    told = path_table([{"k": 3, "loss": "squared"}, {"k": 7, "loss": "squared"}], a_table())
    assert told["k"].tolist() == [3, 3, 3, 7, 7, 7]
    assert told["t"].tolist() == [0, 5, 10] * 2
    assert told["size"].tolist() == [1.0, 2.0, 3.0, 0.0, 1.5, 4.0]
    assert told["loss"][:3].tolist() == [4.0, 2.5, 2.5]
    assert set(told) == {"k", "t", "size", "loss", "loss_se"}


def test_who_ended_early_keeps_the_last_value():
    rows = aligned([np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0, 6.0])], 3)
    assert rows.tolist() == [[1.0, 2.0, 2.0], [3.0, 4.0, 5.0]]
