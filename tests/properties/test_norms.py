"""Norms and their proxes, whatever the vector is and wherever it lies."""

import numpy as np
from hypothesis import strategies as st

from ksupport.norms import (
    BoxNorm,
    ksupport_norm,
    prox_ksupport,
    topk_norm,
)

from .inputs import LAYOUTS, exponents, holds, layouts, plain, vectors, wild

EPS = np.finfo(float).eps
strengths = st.floats(-6, 6).map(lambda e: 10.0**e)
dtypes = st.sampled_from(["float64", "float32", "int64", "int8", "bool"])


def ksupport_conjugate(u, lam, k):
    return BoxNorm(0, 1, k).conjugate(u, lam)


def prox_ksupport_jvp(w, lam, k, u):
    return BoxNorm(0, 1, k).prox_jvp(w, lam, u)


@st.composite
def boxes(draw):
    """A box norm and a vector on which it is one."""
    w, _ = draw(vectors())
    a = draw(st.sampled_from([0.0, 0.1, 1.0]))
    b = a + draw(st.sampled_from([0.5, 1.0, 3.0]))
    c = draw(st.floats(a * w.size + 0.1, b * w.size + 1))
    return BoxNorm(a, b, c), w


def values(w, k, lam):
    """All that is known of a vector."""
    return [
        ksupport_norm(w, k),
        topk_norm(w, k),
        ksupport_conjugate(w, lam, k),
        prox_ksupport(w, lam, k),
        prox_ksupport_jvp(w, lam, k, w),
    ]


@holds(drawn=vectors(), dtype=dtypes, layout=layouts, lam=strengths)
def test_memory_layouts_change_no_bit(drawn, dtype, layout, lam):
    w, k = drawn
    w = w.astype(dtype)
    for one, other in zip(values(w, k, lam), values(LAYOUTS[layout](w), k, lam), strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == (np.float32 if dtype == "float32" else np.float64)


@holds(drawn=vectors(), layout=layouts, lam=strengths)
def test_rows_of_a_batch_are_vectors(drawn, layout, lam):
    w, k = drawn
    batch = LAYOUTS[layout](np.stack([w, -w, np.roll(w, 1)]))
    for several, *each in zip(
        values(batch, k, lam), *(values(row, k, lam) for row in batch), strict=True
    ):
        np.testing.assert_array_equal(several, each)


@holds(drawn=vectors(), exponent=exponents, lam=strengths)
def test_powers_of_two_go_through_without_rounding(drawn, exponent, lam):
    w, k = drawn
    scaled = np.ldexp(w, exponent)
    for f in (ksupport_norm, topk_norm):
        np.testing.assert_array_equal(f(scaled, k), np.ldexp(f(w, k), exponent))
    x, expected = prox_ksupport(scaled, lam, k), np.ldexp(prox_ksupport(w, lam, k), exponent)
    # Up to the smallest numbers that there are, where bits are lost.
    np.testing.assert_allclose(x, expected, rtol=4 * EPS, atol=1e-307)


@holds(drawn=vectors(), lam=strengths, seed=st.integers(0, 2**32 - 1))
def test_order_and_signs_go_through(drawn, lam, seed):
    w, k = drawn
    rng = np.random.default_rng(seed)
    order, signs = rng.permutation(w.size), rng.choice([-1.0, 1.0], w.size)
    other = signs * w[order]
    for f in (ksupport_norm, topk_norm):
        np.testing.assert_allclose(f(other, k), f(w, k), rtol=16 * EPS)
    expected = signs * prox_ksupport(w, lam, k)[order]
    atol = 64 * EPS * w.size * np.abs(w).max()
    np.testing.assert_allclose(prox_ksupport(other, lam, k), expected, rtol=0, atol=atol)
    np.testing.assert_array_equal(prox_ksupport(-w, lam, k), -prox_ksupport(w, lam, k))


@holds(drawn=vectors(wild))
def test_norms_lie_between_the_largest_entry_and_the_sum_of_all(drawn):
    w, k = drawn
    with np.errstate(over="ignore"):
        largest, all_of_it = np.abs(w).max(), np.abs(w).sum()
    norm, dual = ksupport_norm(w, k), topk_norm(w, k)
    slack = 1 + 8 * EPS * w.size
    assert largest <= norm * slack or norm == np.inf
    assert norm <= all_of_it * slack
    assert largest <= dual * slack
    assert dual <= norm * slack
    if k > 1:
        assert norm <= ksupport_norm(w, k - 1) * slack
        assert dual * slack >= topk_norm(w, k - 1)


@holds(drawn=vectors(wild), lam=strengths)
def test_the_prox_shrinks_keeps_signs_and_order(drawn, lam):
    w, k = drawn
    x = prox_ksupport(w, lam, k)
    assert np.isfinite(x).all()
    assert (np.abs(x) <= np.abs(w)).all()
    assert (x * np.sign(w) >= 0).all()
    larger = np.abs(w)[:, None] > np.abs(w)
    assert (np.abs(x)[:, None] >= np.abs(x))[larger].all()
    for size in np.unique(np.abs(w)):  # ties stay ties
        assert np.unique(np.abs(x[np.abs(w) == size])).size == 1


@holds(drawn=boxes(), lam=st.floats(-3, 3).map(lambda e: 10.0**e))
def test_what_the_prox_takes_off_is_a_subgradient(drawn, lam):
    box, w = drawn
    x = box.prox(w, lam)
    g = (w - x) / lam  # ∂(½‖·‖²) at x: ⟨g, x⟩ = ‖x‖² and ‖g‖* = ‖x‖
    tolerance = 1e-12 * w.size * (1 + 1 / lam) * (1 + np.abs(w).max()) ** 2
    assert abs(g @ x - box.norm(x) ** 2) <= tolerance * (1 + 1 / lam)
    assert abs(box.dual(g) - box.norm(x)) <= tolerance * (1 + 1 / lam)


@holds(drawn=boxes(), other=vectors(), lam=strengths)
def test_inner_products_are_bounded_by_norm_times_dual_norm(drawn, other, lam):
    box, w = drawn
    u = np.resize(other[0], w.size)
    most = float(box.norm(w)) * float(box.dual(u))
    assert abs(w @ u) <= most + 1e-12 * (1 + most)
    value = 0.5 * lam * float(box.norm(w)) ** 2 + float(box.conjugate(u, lam))
    assert w @ u <= value + 1e-12 * (1 + value)


@holds(drawn=vectors(), other=st.lists(plain, min_size=24, max_size=24), lam=strengths)
def test_the_prox_brings_vectors_no_further_apart(drawn, other, lam):
    w, k = drawn
    u = np.array(other[: w.size])
    apart = np.linalg.norm(prox_ksupport(w, lam, k) - prox_ksupport(u, lam, k))
    assert apart <= np.linalg.norm(w - u) + 1e-13 * (np.abs(w).max() + np.abs(u).max())


@holds(drawn=vectors(), lam=strengths)
def test_the_jacobian_at_w_takes_w_to_the_prox(drawn, lam):
    """As the prox is homogeneous of degree one."""
    w, k = drawn
    x = prox_ksupport(w, lam, k)
    np.testing.assert_allclose(
        prox_ksupport_jvp(w, lam, k, w), x, rtol=0, atol=1e-12 * w.size * np.abs(w).max()
    )


@holds(drawn=vectors(), lam=strengths)
def test_single_precision_is_the_same_but_for_rounding(drawn, lam):
    w, k = drawn
    w = w.astype(np.float32)
    for single, double in zip(values(w, k, lam), values(w.astype(float), k, lam), strict=True):
        size = np.abs(double).max(initial=0.0)
        np.testing.assert_allclose(single, double, rtol=0, atol=1e-5 * size + 1e-30)
