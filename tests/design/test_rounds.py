"""There and back over X in one pass: the products of plain linear algebra, for several views."""

import numpy as np
import pytest
import scipy.sparse as sp

from ksupport.design import Design, Round, forward_and_adjoint, sharing

N, D = 30, 12


def views_of(X):
    """All rows centred; some rows scaled and weighted, one of them twice."""
    design = Design.of(X)
    rows = np.r_[np.arange(3, N, 2), 5, 5]
    weights = np.linspace(0.5, 2, rows.size)
    return sharing(
        [design.centred(), design.take(rows).weighted(weights).centred(standardize=True)]
    )


def dense(view, X):
    return view.shown(X, slice(None))


def rounds_on(views, rng, zeros):
    rounds = []
    for width, view in zip((3, 2), views, strict=True):
        W = rng.standard_normal((D, width))
        W[:zeros] = 0.0
        A, C = rng.standard_normal((view.n, 2)), rng.standard_normal((width, 2))
        rounds.append(Round(W, A, C))
    return rounds


@pytest.mark.parametrize(
    ("convert", "zeros", "passes"),
    [(np.ascontiguousarray, 0, 1), (np.ascontiguousarray, D - 2, 1), (np.asfortranarray, 0, 2)],
    ids=["by rows", "few columns", "by columns"],
)
def test_products_and_passes(convert, zeros, passes, rng, monkeypatch):
    monkeypatch.setattr("ksupport.limits.CHUNK", 7 * D)  # several blocks of rows
    X = rng.standard_normal((N, D)) + 3
    views = views_of(convert(X))
    rounds = rounds_on(views, rng, zeros)
    before = views[0].passes
    XWs, backs = forward_and_adjoint(views, rounds)
    assert views[0].passes - before == passes
    for view, each, XW, back in zip(views, rounds, XWs, backs, strict=True):
        M = dense(view, X)
        np.testing.assert_allclose(XW, M @ each.W, atol=1e-12)
        np.testing.assert_allclose(back, M.T @ (each.A + M @ each.W @ each.C), atol=1e-11)


@pytest.mark.parametrize("convert", [np.ascontiguousarray, sp.csr_array])
def test_one_way_alone(convert, rng):
    X = rng.standard_normal((N, D))
    (view, other) = views_of(convert(X))
    w, u = rng.standard_normal((D, 1)), rng.standard_normal((other.n, 1))
    (there, nothing), (none, back) = forward_and_adjoint([view, other], [Round(W=w), Round(A=u)])
    np.testing.assert_allclose(there, dense(view, X) @ w, atol=1e-12)
    np.testing.assert_allclose(back, dense(other, X).T @ u, atol=1e-12)
    assert nothing.shape == (other.n, 0)
    assert none.shape == (D, 0)


def test_side_by_side_is_one_after_the_other(rng):
    X = rng.standard_normal((N, D))
    (view, _) = views_of(X)
    first, second = rounds_on([view, view], rng, 0)
    (XW,), (back,) = forward_and_adjoint([view], [Round.side_by_side(view, [first, second])])
    for each, columns in ((first, slice(0, 3)), (second, slice(3, 5))):
        np.testing.assert_allclose(XW[:, columns], dense(view, X) @ each.W, atol=1e-12)
    (_, _), alone = forward_and_adjoint([view, view], [first, second])
    np.testing.assert_allclose(back, np.hstack(alone), atol=1e-11)
