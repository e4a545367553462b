"""Scatter of rows, against sums written down one by one."""

import pickle

import numpy as np
import pytest

from ksupport.design.scatter import Scatter, add_rows, classes_of, pool_each, pooled, square_root


def by_hand(rows, weights):
    """Weight, mean and scatter, in extended precision."""
    rows, weights = rows.astype(np.longdouble), weights.astype(np.longdouble)
    mean = (weights[:, None] * rows).sum(axis=0) / weights.sum()
    away = rows - mean
    scatter = sum(w * np.outer(x, x) for w, x in zip(weights, away, strict=True))
    return float(weights.sum()), mean.astype(float), scatter.astype(float)


def scatter_of(*parts):
    whole = Scatter.empty(parts[0][0].shape[1])
    for rows, weights in parts:
        whole.add(rows.copy(), weights)
    return whole


def assert_same(scatter, rows, weights, rtol=1e-12):
    total, mean, expected = by_hand(rows, weights)
    assert scatter.total == pytest.approx(total, rel=1e-13)
    np.testing.assert_allclose(scatter.mean, mean, rtol=1e-13, atol=1e-13)
    size = np.sqrt(np.diag(expected))
    off = np.abs(np.triu(expected) - scatter.upper) / np.outer(size, size)
    assert off.max() < rtol


@pytest.fixture
def rows(rng):
    return rng.standard_normal((60, 4)) * [1, 10, 0.1, 5] + [0, 3, 1, -20]


@pytest.fixture
def weights(rng):
    return rng.uniform(0.1, 3, 60)


@pytest.mark.parametrize("cuts", [[], [20], [1, 2, 59]])
def test_rows_added_in_parts_are_rows_added_at_once(rows, weights, cuts):
    parts = zip(np.split(rows, cuts), np.split(weights, cuts), strict=True)
    assert_same(scatter_of(*parts), rows, weights)


def test_without_weights_every_row_counts_once(rows):
    assert_same(scatter_of((rows, None)), rows, np.ones(60))


def test_parts_pool_to_the_whole_as_often_as_they_count(rows):
    a, b = scatter_of((rows[:25], None)), scatter_of((rows[25:], None))
    assert_same(pooled([a, b], [1, 1]), rows, np.ones(60))
    assert_same(pooled([a, b], [3, 0.5]), rows, np.repeat([3.0, 0.5], [25, 35]))
    assert_same(pooled([a, b], [0, 2]), rows[25:], np.full(35, 2.0))
    assert_same(pool_each([[a], [b]])[0], rows, np.ones(60))


def test_a_large_mean_costs_no_digits(rng):
    rows = np.round(rng.standard_normal((80, 3)) * 64) / 64  # exact when shifted
    moved = rows + np.array([2.0**27, -(2.0**30), 0])
    parts = [scatter_of((moved[:30], None)), scatter_of((moved[30:], None))]
    expected = by_hand(rows, np.ones(80))[2]
    np.testing.assert_allclose(pooled(parts, [1, 1]).upper, np.triu(expected), rtol=1e-6, atol=1e-5)
    moved[0] += 1e12  # another part's wild row costs nothing
    np.testing.assert_allclose(
        pooled([scatter_of((moved[:30], None)), parts[1]], [0, 1]).upper, parts[1].upper
    )


def test_constant_columns_are_exactly_so(rng):
    rows = np.column_stack([rng.standard_normal(50), np.full(50, 0.1), np.full(50, 1e9 / 3)])
    whole = scatter_of((rows[:20], np.arange(1.0, 21)), (rows[20:], None))
    assert not whole.upper[:, 1:].any()
    np.testing.assert_array_equal(whole.mean[1:], rows[0, 1:])


def test_the_scatter_about_another_point(rows):
    centre = np.array([1.0, -2.0, 0.5, 3.0])
    expected = (rows - centre).T @ (rows - centre)
    np.testing.assert_allclose(scatter_of((rows, None)).about(centre), np.triu(expected), 1e-12)


def test_rows_go_where_their_labels_say(rows, weights):
    labels = np.array([2, 0, -1] * 20)
    for given in (weights, None):
        found = [Scatter.empty(4) for _ in range(3)]
        add_rows(found, rows[:, :3].copy(), rows[:, 3:], labels, given)
        counted = np.ones(60) if given is None else given
        assert_same(found[0], rows[labels == 0], counted[labels == 0])
        assert_same(found[2], rows[labels == 2], counted[labels == 2])
        assert found[1].total == 0


# -- classes of rows -----------------------------------------------------------------------


def test_sets_are_made_of_classes(rng):
    sets = [np.arange(40), *(rng.integers(0, 40, 25) for _ in range(3))]  # with repeated rows
    classes = classes_of(50, sets, most=50)
    assert classes is not None
    labels, times = classes
    assert (labels[40:] == -1).all()  # in no set
    for rows, each in zip(sets, times, strict=True):
        np.testing.assert_array_equal(np.bincount(rows, minlength=50)[:40], each[labels[:40]])


def test_folds_make_as_many_classes_as_folds():
    test = np.array_split(np.arange(23), 4)
    sets = [np.arange(23), *test, *(np.setdiff1d(np.arange(23), each) for each in test)]
    classes = classes_of(23, sets, most=4)
    assert classes is not None
    labels, times = classes
    assert times.shape == (9, 4)
    assert len(np.unique(labels)) == 4
    assert classes_of(23, sets, most=3) is None


def test_every_row_of_its_own_class_is_too_many():
    sets = [np.delete(np.arange(500), i) for i in range(500)]
    assert classes_of(500, sets, most=100) is None


# -- square roots --------------------------------------------------------------------------


@pytest.mark.parametrize("scales", [np.ones(6), 10.0 ** np.arange(-9, 9, 3)])
def test_a_square_root_squares_to_the_matrix(rng, scales):
    A = rng.standard_normal((30, 6)) * scales
    gram = A.T @ A
    R = square_root(np.triu(gram))
    np.testing.assert_allclose(R.T @ R / np.outer(scales, scales), gram / np.outer(scales, scales))
    assert R.shape == (6, 6)


def test_dependent_columns_leave_fewer_rows(rng):
    A = rng.standard_normal((30, 4))
    A = np.column_stack([A, A[:, 1], A[:, 0] - A[:, 2], np.zeros(30)])
    R = square_root(np.triu(A.T @ A))
    assert len(R) == 4
    np.testing.assert_allclose(R.T @ R, A.T @ A, atol=1e-12)
    np.testing.assert_allclose(R[:, 1], R[:, 4], atol=1e-13)
    assert not R[:, 6].any()


def test_nothing_has_a_root_of_one_row():
    np.testing.assert_array_equal(square_root(np.zeros((3, 3))), np.zeros((1, 3)))


def test_sent_and_received_a_scatter_is_the_same_in_half_the_bytes(rng):
    sent = Scatter.empty(60)
    sent.add(rng.standard_normal((200, 60)), None)
    packed = pickle.dumps(sent)
    received = pickle.loads(packed)
    assert len(packed) < 0.6 * sent.upper.nbytes
    assert received.total == sent.total
    np.testing.assert_array_equal(received.mean, sent.mean)
    np.testing.assert_array_equal(received.upper, sent.upper)
    assert received.upper.flags.f_contiguous
    received.pool(sent)
    np.testing.assert_allclose(received.upper, 2 * sent.upper)
