"""Support scores agree with set arithmetic and with scikit-learn; the error is a distance."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import f1_score, precision_score, recall_score

from ksupport.metrics import model_error, support_f1, support_precision, support_recall

SCORES = (support_f1, support_precision, support_recall)


def random_models(seed, n_models=40, d=12, density=0.3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_models, d)) * (rng.random((n_models, d)) < density)


@pytest.mark.parametrize(
    ("score", "reference"),
    [(support_f1, f1_score), (support_precision, precision_score), (support_recall, recall_score)],
)
@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_classifying_features(score, reference, seed):
    truth, *models = random_models(seed)
    assert np.any(truth)
    expected = [reference(truth != 0, w != 0, zero_division=0.0) for w in models]
    np.testing.assert_allclose(score(truth, np.array(models)), expected, rtol=1e-15)


@pytest.mark.parametrize("seed", range(3))
def test_f1_is_the_harmonic_mean_of_precision_and_recall(seed):
    truth, *models = random_models(seed)
    p, r = support_precision(truth, models), support_recall(truth, models)
    mean = np.divide(2 * p * r, p + r, out=np.zeros_like(p), where=p + r > 0)
    np.testing.assert_allclose(support_f1(truth, models), mean, rtol=1e-14)


@pytest.mark.parametrize("density", [0.0, 0.1, 0.5])
def test_swapping_truth_and_estimate_swaps_precision_and_recall(density):
    a, b = random_models(0, n_models=2, density=density)
    assert support_precision(a, b) == support_recall(b, a)
    assert support_f1(a, b) == support_f1(b, a)


def test_empty_supports_score_one_together_and_zero_alone():
    empty, full = np.zeros(4), np.ones(4)
    for score in SCORES:
        assert score(empty, empty) == 1.0
        assert score(full, empty) == 0.0
        assert score(empty, full) == 0.0
        np.testing.assert_array_equal(score(empty, [empty, full]), [1.0, 0.0])


def test_no_division_by_zero_is_ever_attempted():
    with np.errstate(all="raise"):
        for score in SCORES:
            score(np.zeros(3), np.zeros((2, 3)))


@pytest.mark.parametrize("score", SCORES)
def test_signs_sizes_and_masks_make_no_difference(score):
    truth, *models = random_models(1)
    models = np.array(models)
    expected = score(truth, models)
    np.testing.assert_array_equal(score(truth != 0, models != 0), expected)
    np.testing.assert_array_equal(score(-3 * truth, 1e-30 * models), expected)


@pytest.mark.parametrize("score", [*SCORES, model_error])
@pytest.mark.parametrize(
    "kind", [sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array, sparse.csr_array]
)
def test_rows_of_a_batch_are_scored_as_single_models(score, kind):
    truth, *models = random_models(2)
    one_by_one = [score(truth, w) for w in models]
    assert all(isinstance(value, float) for value in one_by_one)
    np.testing.assert_allclose(score(truth, np.array(models)), one_by_one, rtol=1e-14)
    np.testing.assert_allclose(score(truth, kind(np.array(models))), one_by_one, rtol=1e-14)


def test_a_stored_zero_is_not_a_selected_feature():
    stored = sparse.csr_array((np.array([1.0, 0.0]), ([0, 0], [0, 1])), shape=(1, 3))
    assert stored.nnz == 2
    np.testing.assert_array_equal(support_precision([1.0, 0.0, 0.0], stored), [1.0])


def test_the_error_is_a_distance():
    a, b, c = random_models(3, n_models=3)
    assert model_error(a, a) == 0.0
    assert model_error(a, b) == model_error(b, a) > 0
    assert model_error(a, c) <= model_error(a, b) + model_error(b, c)
    assert model_error(a + c, b + c) == pytest.approx(model_error(a, b), rel=1e-14)


def test_the_error_of_a_sparse_batch_does_not_cancel():
    truth = np.array([1e8, 0.0, 1.0])
    nearly = truth + np.array([0.0, 1e-6, 0.0])
    np.testing.assert_allclose(model_error(truth, sparse.csr_array(nearly[None])), [1e-6])


def test_a_diverged_entry_counts_as_selected():
    assert support_precision([1.0, 0.0], [np.nan, np.nan]) == 0.5
    assert np.isnan(model_error([1.0, 0.0], [np.nan, 0.0]))


@pytest.mark.parametrize("score", [*SCORES, model_error])
def test_wrong_shapes_are_named(score):
    with pytest.raises(ValueError, match=r"w_true must be a vector.*\(2, 3\)"):
        score(np.ones((2, 3)), np.ones(3))
    with pytest.raises(ValueError, match=r"w must have .* n_features=3, got shape \(2, 4\)"):
        score(np.ones(3), np.ones((2, 4)))
    with pytest.raises(ValueError, match=r"w must be one vector.*\(1, 2, 3\)"):
        score(np.ones(3), np.ones((1, 2, 3)))
    with pytest.raises(ValueError, match=r"w must .*dtype <U1"):
        score(np.ones(2), ["a", "b"])


@pytest.mark.parametrize(
    ("w_true", "w"), [([True, False], [1.0, 2.0]), ([1.0, 2.0], [True, False])]
)
def test_the_error_of_a_mask_is_refused(w_true, w):
    with pytest.raises(ValueError, match="must hold coefficients, got a boolean mask"):
        model_error(w_true, w)
