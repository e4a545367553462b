"""What a few products say of other vectors is true, and all there is to say within their span."""

import numpy as np
import pytest

from ksupport import limits
from ksupport.design import Design
from ksupport.walking import recall as recalling
from ksupport.walking.recall import FORESEEN, Look, Recall, leading, orthonormal, units
from ksupport.walking.threads import Workers

ONE_BY_ONE = Workers(1).each


def learn(views, news, each=ONE_BY_ONE):
    recalling.learn(views, news, each)


@pytest.fixture(params=["double", "single"])
def data(request, rng, monkeypatch):
    """An X, and what is known of it after a pass with the span of four vectors."""
    monkeypatch.setattr(limits, "RECALLED_DOUBLE", 50 if request.param == "double" else 49)
    X = rng.standard_normal((80, 50)) * np.exp(rng.standard_normal(50))
    design = Design.of(X)
    learn([design], [orthonormal(rng.standard_normal((4, 80)), np.empty((0, 80)))])
    return X, design, Recall.of(design)


def _look(wanted, foreseen=()):
    wanted = np.atleast_2d(wanted)
    return Look(wanted, leading(np.vstack([wanted, *foreseen]), wanted.shape[1]))


def _holds(X, recall, U):
    """Whether products are as right as they are said to be."""
    products, wrong = recall(U)
    return (np.abs(products - U @ X) <= wrong[:, None] * np.linalg.norm(X, axis=0)).all()


def test_within_the_span_products_are_known(data, rng):
    X, _, recall = data
    U = rng.standard_normal((3, 4)) @ recall.Q
    _, wrong = recall(U)
    assert _holds(X, recall, U)
    assert all(recall.knows(u) for u in U)
    assert (wrong < (1e-9 if recall.double else 1e-4)).all()


@pytest.mark.parametrize("away", [1e-8, 1e-2, 1.0])
def test_outside_it_errors_are_bounded(away, data, rng):
    X, _, recall = data
    u = rng.standard_normal(4) @ recall.Q + away * rng.standard_normal(80)
    (_,), (wrong,) = recall(u[None])
    assert not recall.knows(u)
    assert _holds(X, recall, u[None])
    assert wrong < 2 * away * np.sqrt(80) + 1e-4


def test_a_pass_is_taken_with_what_is_new_alone(data, rng):
    X, design, recall = data
    passes = design.passes
    u, v = rng.standard_normal((2, 80))
    inside = rng.standard_normal(4) @ recall.Q
    assert len(recall.beyond([_look(inside)])) == 0
    new = recall.beyond([_look(u + inside, [v[None]]), _look(u - inside)])
    assert len(new) == 2
    learn([design], [new])
    assert design.passes == passes + 1
    assert all(recall.knows(each) for each in (u, v, u + v, inside))
    assert _holds(X, recall, np.stack([u, v, u + v + inside]))
    np.testing.assert_allclose(recall.Q @ recall.Q.T, np.eye(6), atol=1e-12)


def test_what_is_wanted_is_known_and_what_may_come_nearly(data, rng):
    _, _, recall = data
    u = rng.standard_normal(80)
    near = u + 0.1 * FORESEEN * rng.standard_normal((3, 80))
    far = near + 0.1 * rng.standard_normal((3, 80))
    assert len(recall.beyond([_look(u, [near])])) == 2  # one beyond, however short
    assert len(recall.beyond([_look(u, [near, far])])) == 4
    assert len(recall.beyond([_look(near[0]), _look(near[1])])) == 2


def test_room_is_made_by_forgetting_the_oldest(data, rng):
    X, design, recall = data
    recall.most = 6
    U = rng.standard_normal((5, 80))
    for u in U:
        learn([design], [recall.beyond([_look(u)])])
    assert len(recall.Q) <= 6
    assert recall.knows(U[-1])
    assert not recall.knows(U[0])
    assert _holds(X, recall, U)
    np.testing.assert_allclose(recall.Q @ recall.Q.T, np.eye(len(recall.Q)), atol=1e-12)
    many = rng.standard_normal((9, 80))
    learn([design], [recall.beyond([_look(each) for each in many])])
    assert all(recall.knows(each) for each in many)


def test_views_of_one_store_learn_in_one_pass(rng):
    X = rng.standard_normal((30, 40))
    whole = Design.of(X)
    some = whole.take(np.arange(5, 25)).centred()
    passes = whole.passes
    u, v = rng.standard_normal(30), rng.standard_normal(20)
    news = [Recall.of(each).beyond([_look(w)]) for each, w in ((whole, u), (some, v))]
    learn([whole, some], news)
    assert whole.passes == passes + 1
    inside = X[5:25] - X[5:25].mean(axis=0)
    np.testing.assert_allclose(Recall.of(whole)(u[None])[0][0], u @ X, atol=1e-10)
    np.testing.assert_allclose(Recall.of(some)(v[None])[0][0], v @ inside, atol=1e-10)


@pytest.mark.parametrize("size", [1e-30, 1e60])
def test_products_beyond_single_precision_are_kept_in_double(size, rng, monkeypatch):
    monkeypatch.setattr(limits, "RECALLED_DOUBLE", 39)
    X, u = rng.standard_normal((30, 40)) * size, rng.standard_normal(30)
    design = Design.of(X)
    learn([design], [Recall.of(design).beyond([_look(u)])])
    np.testing.assert_allclose(Recall.of(design)(u[None])[0][0] / size, u @ X / size, rtol=1e-9)


def test_bases_leave_out_what_depends_on_others(rng):
    u, v = rng.standard_normal((2, 20))
    nothing = np.empty((0, 20))
    Q = orthonormal(units(np.stack([u, 1e9 * v, u - v, np.zeros(20)]), 20), nothing)
    assert Q.shape == (2, 20)
    np.testing.assert_allclose(Q @ Q.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose((Q @ u) @ Q, u, atol=1e-12)
    assert orthonormal(units(np.zeros((1, 20)), 20), nothing).shape == (0, 20)
    beyond = orthonormal((u + 1e-9 * v)[None], Q[:0])
    few = orthonormal((u + 1e-9 * v)[None], orthonormal(u[None], nothing))
    assert len(beyond) == len(few) == 1
    np.testing.assert_allclose(few @ u / np.linalg.norm(u), 0, atol=1e-12)


def test_few_vectors_lead_many(rng):
    """All of these, of length 1, are near the span; and a leading one is as long as it matters."""
    few = rng.standard_normal((3, 40))
    many = rng.standard_normal((20, 3)) @ few + 1e-5 * rng.standard_normal((20, 40))
    Q = leading(many, 40)
    assert Q.shape == (3, 40)
    sizes = np.linalg.norm(Q, axis=1)
    along = Q / sizes[:, None]
    np.testing.assert_allclose(along @ along.T, np.eye(3), atol=1e-12)
    assert (np.diff(sizes) <= 0).all()
    U = units(many, 40)
    assert np.linalg.norm(U - (U @ along.T) @ along, axis=1).max() < FORESEEN
    np.testing.assert_allclose(np.abs(U @ along.T).max(axis=0)[0], sizes[0], atol=1e-12)
    two = np.hstack([many, many])  # two responses, side by side
    assert leading(two, 40).shape == (3, 40)


def test_threads_that_share_a_pass_find_the_same_products(rng, monkeypatch):
    monkeypatch.setattr(limits, "THREADED", 80 * 7)
    monkeypatch.setattr(limits, "FEWEST_THREADED", 7)  # columns at once
    X = rng.standard_normal((80, 50))
    new = orthonormal(rng.standard_normal((4, 80)), np.empty((0, 80)))
    found = []
    for count in (1, 2):
        whole = Design.of(X).centred()
        with Workers(count) as workers:
            learn([whole], [new], workers.each)
        assert whole.passes == 1 + 1  # means, and these
        found.append(Recall.of(whole).products.copy())
    np.testing.assert_array_equal(*found)
    np.testing.assert_allclose(found[0], new @ (X - X.mean(axis=0)), atol=1e-12)
