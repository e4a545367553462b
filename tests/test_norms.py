"""Norms, duals, conjugates, prox and its Jacobian: identities, twins and exact references.

The references are exact: every float is a rational number, and so is the prox of a rational
vector, so the twins below work in fractions and no tolerance hides an error of theirs.
"""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, permutations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from ksupport._kernels import prox
from ksupport.norms import (
    BoxNorm,
    ksupport_norm,
    prox_ksupport,
    topk_norm,
)

# The sum of theta is held to a few units in the last place of k, hence errors up to k * EPS.
EPS = np.finfo(np.float64).eps


def ksupport_conjugate(u, lam, k):
    return BoxNorm(0, 1, k).conjugate(u, lam)


def prox_ksupport_jvp(w, lam, k, u):
    return BoxNorm(0, 1, k).prox_jvp(w, lam, u)


# ----------------------------------------------------------------------------------------
# Twins
# ----------------------------------------------------------------------------------------


def exact_weights(w, lam, low, high, total):
    """theta_i = clip(s |w_i| - lam, low, high) with Σ theta = total, in fractions, by sorting."""
    a = [abs(Fraction(float(x))) for x in w]
    lam, low, high, total = (Fraction(x) for x in (lam, low, high, total))

    def theta(s):
        return [min(max(s * ai - lam, low), high) for ai in a]

    breaks = sorted({(lam + edge) / ai for ai in a if ai for edge in (low, high)})
    if not breaks or sum(theta(breaks[-1])) <= total:
        return [high if ai else low for ai in a]
    before, after = 0, len(breaks) - 1  # Σ theta at breaks[after] is above the total
    if sum(theta(breaks[0])) > total:
        return theta(breaks[0])
    while after - before > 1:
        middle = (before + after) // 2
        if sum(theta(breaks[middle])) > total:
            after = middle
        else:
            before = middle
    s0, s1 = breaks[before], breaks[after]
    t0, t1 = sum(theta(s0)), sum(theta(s1))
    return theta(s0 + (s1 - s0) * (total - t0) / (t1 - t0))


def exact_prox(w, lam, k, low=0, high=1):
    """The prox of (lam/2)‖·‖², in fractions."""
    theta = exact_weights(w, lam, low, high, k)
    return [t * Fraction(float(x)) / (t + Fraction(lam)) for t, x in zip(theta, w, strict=True)]


def exact_norm(w, k, low=0, high=1):
    """The box norm, to fifty digits."""
    theta = exact_weights(w, 0, low, high, k)
    square = sum(Fraction(float(x)) ** 2 / t for t, x in zip(theta, w, strict=True) if x)
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = 50, 10**6, -(10**6)
        return float((Decimal(square.numerator) / Decimal(square.denominator)).sqrt())


def relative_error(x, reference):
    """max |x - reference| / max |reference|, without rounding before the quotient."""
    gaps = [abs(Fraction(float(xi)) - ri) for xi, ri in zip(x, reference, strict=True)]
    size = max(abs(ri) for ri in reference)
    return float(max(gaps) / size) if size else float(max(gaps))


def sorted_prox(w, lam, k):
    """The prox by sorting magnitudes and breakpoints, in extended precision, for large d."""
    a = np.sort(np.abs(w))[::-1].astype(np.longdouble)
    sums = np.concatenate([[0], np.cumsum(a)])

    def total(s):
        n_full = np.searchsorted(-a, -(1 + lam) / s, side="right")
        n_some = np.searchsorted(-a, -lam / s, side="right")
        return n_full + s * (sums[n_some] - sums[n_full]) - lam * (n_some - n_full)

    breaks = np.sort(np.concatenate([lam / a[a > 0], (1 + lam) / a[a > 0]]))
    after = np.argmax(total(breaks) >= k)
    s0, s1 = breaks[after - 1], breaks[after]
    s = s0 + (s1 - s0) * (k - total(s0)) / (total(s1) - total(s0))
    theta = np.clip(s * np.abs(w) - lam, 0, 1)
    return (theta * w / (theta + lam)).astype(np.float64)


def draw(rng, d, kind):
    """A random vector: plain, with ties, with zeros, or of wild magnitudes."""
    w = rng.standard_normal(d)
    if kind == "ties":
        return np.round(2 * w)
    if kind == "zeros":
        return w * (rng.random(d) < 0.4)
    if kind == "wild":
        return w * 10.0 ** rng.uniform(-8, 8, d)
    return w


KINDS = ("plain", "ties", "zeros", "wild")
vectors = st.integers(1, 12).flatmap(
    lambda d: st.tuples(
        st.lists(
            st.one_of(st.integers(-4, 4).map(float), st.floats(-10, 10, width=32)),
            min_size=d,
            max_size=d,
        ),
        st.integers(1, d),
    )
)


# ----------------------------------------------------------------------------------------
# The prox
# ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("exponent", [-8, -4, -1, 0, 1, 4, 8])
def test_prox_is_exact_to_rounding_for_every_strength(kind, exponent):
    rng = np.random.default_rng(100 + exponent)
    lam = 10.0**exponent
    for _ in range(12):
        d = int(rng.integers(1, 40))
        k = int(rng.integers(1, d + 1))
        w = draw(rng, d, kind)
        assert relative_error(prox_ksupport(w, lam, k), exact_prox(w, lam, k)) <= 8 * k * EPS


@given(vectors, st.floats(1e-8, 1e8))
@settings(max_examples=150)
def test_prox_agrees_with_the_exact_twin_on_any_vector(case, lam):
    w, k = case
    assert relative_error(prox_ksupport(w, lam, k), exact_prox(w, lam, k)) <= 8 * k * EPS


def test_small_entries_keep_their_digits_when_lam_is_small():
    w = np.array([3.0, 2.0, 1e-3, 2e-6])
    x = prox_ksupport(w, 1e-8, 2)
    for xi, reference in zip(x, exact_prox(w, 1e-8, 2), strict=True):
        assert xi == pytest.approx(float(reference), rel=1e-13)


@pytest.mark.parametrize("lam", [1e-8, 1.0, 999.0, 1e8])
def test_entries_from_the_least_to_the_largest_magnitudes(lam):
    rng = np.random.default_rng(0)
    cases = [
        rng.standard_normal(30) * 1e-300,
        rng.standard_normal(30) * 1e300,
        rng.choice([-1, 1], 30) * 10.0 ** rng.uniform(-300, 300, 30),
        np.array([1e300, 1e-300, 1e-300, 0.0, -1e-300]),
        np.array([1e300, -1e300, 1e-300, 2e-300, 1e-305]),
        np.array([5e-324, -5e-324, 1e-323]),
        np.array([1.7e308, -1.7e308, 1.6e308]),
    ]
    for w in cases:
        for k in {1, 2, 3, w.size - 1, w.size}:
            x = prox_ksupport(w, lam, k)
            reference = exact_prox(w, lam, k)
            assert np.isfinite(x).all()
            # Results below the least normal number are rounded to it.
            slack = Fraction(1e-320) / max(map(abs, reference))
            assert relative_error(x, reference) <= 8 * k * EPS + float(slack)
            assert ksupport_norm(w / 8, k) == pytest.approx(exact_norm(w / 8, k), rel=8 * EPS)


@pytest.mark.parametrize("lam", [1e-300, 1e-20, 1e20, 1e300])
def test_absurd_strengths_give_no_nan(lam):
    w = np.array([3.0, -2.0, 2.0, 1.0, 1e-200, 0.0])
    for k in (1, 2, 3, 6):
        assert relative_error(prox_ksupport(w, lam, k), exact_prox(w, lam, k)) <= 8 * k * EPS


@pytest.mark.parametrize("k", [1, 10, 1000, 30_000, 100_000])
@pytest.mark.parametrize("lam", [0.1, 1.0, 999.0])
def test_prox_agrees_with_sorting_on_long_vectors(k, lam):
    w = np.random.default_rng(k).standard_normal(100_000)
    np.testing.assert_allclose(prox_ksupport(w, lam, k), sorted_prox(w, lam, k), atol=1e-13)


@pytest.mark.parametrize(
    "w",
    [
        np.ones(1500),
        np.r_[np.full(7, 3.0), np.zeros(1500)],
        np.r_[np.zeros(1490), np.arange(10.0)],
        np.repeat(np.arange(50.0), 30),
        np.r_[np.full(64, 1e-3), np.full(1436, -1e-3)],
    ],
    ids=["equal", "head", "tail", "blocks", "signs"],
)
@pytest.mark.parametrize("k", [1, 7, 9, 10, 300])
def test_long_vectors_of_ties_and_zeros(w, k):
    rounding = (
        32 * k * EPS + w.size / 16 * EPS
    )  # sums of all entries, also without vector registers
    for lam in (0.5, 50.0):
        assert relative_error(prox_ksupport(w, lam, k), exact_prox(w, lam, k)) <= rounding


@given(vectors, st.floats(0.01, 100))
@settings(max_examples=200)
def test_optimality_condition(case, lam):
    """(w - x)/lam is a subgradient of ½‖·‖² at x: Fenchel's inequality holds with equality."""
    w, k = case
    x = prox_ksupport(w, lam, k)
    g = (np.array(w) - x) / lam
    value = ksupport_norm(x, k) ** 2 / 2 + ksupport_conjugate(g, 1.0, k)
    assert value == pytest.approx(x @ g, rel=1e-12, abs=1e-13)


def groups(d, k):
    """A 0/1 row for every set of k features."""
    return np.array([np.isin(np.arange(d), g) for g in combinations(range(d), k)], float)


def group_norm(V, mask):
    """Σ ‖v_G‖ over the rows of V, with v_G zero off its group: the definition of the norm."""
    return cp.sum(cp.norm(cp.multiply(mask, V), 2, axis=1))


@pytest.mark.parametrize(("d", "k"), [(3, 2), (5, 1), (5, 2), (5, 4), (6, 3)])
@pytest.mark.parametrize("lam", [0.1, 2.0])
def test_prox_minimises_its_definition(d, k, lam):
    w = np.random.default_rng(d * k).standard_normal(d) * 2
    mask = groups(d, k)
    V = cp.Variable(mask.shape)
    x = cp.sum(cp.multiply(mask, V), axis=0)
    objective = lam / 2 * cp.square(group_norm(V, mask)) + cp.sum_squares(x - w) / 2
    cp.Problem(cp.Minimize(objective)).solve(cp.CLARABEL)
    np.testing.assert_allclose(prox_ksupport(w, lam, k), x.value, atol=1e-4)
    ours = prox_ksupport(w, lam, k)
    assert lam / 2 * ksupport_norm(ours, k) ** 2 + sum((ours - w) ** 2) / 2 == pytest.approx(
        objective.value, rel=1e-6
    )


@pytest.mark.parametrize("k", [1, 3, 7])
@pytest.mark.parametrize("lam", [0.2, 1.0, 5.0])
def test_moreau(k, lam):
    """prox of h plus prox of its conjugate is the identity; the second by a convex solver."""
    w = np.random.default_rng(k).standard_normal(7) * 3
    u = cp.Variable(7)
    objective = cp.sum_largest(cp.square(u), k) / (2 * lam) + cp.sum_squares(u - w) / 2
    cp.Problem(cp.Minimize(objective)).solve(cp.CLARABEL)
    np.testing.assert_allclose(prox_ksupport(w, lam, k) + u.value, w, atol=1e-4)
    value = ksupport_conjugate(w - prox_ksupport(w, lam, k), lam, k)
    assert value + sum(prox_ksupport(w, lam, k) ** 2) / 2 == pytest.approx(
        objective.value, rel=1e-6
    )


@pytest.mark.parametrize("lam", [1e-3, 1.0, 30.0])
def test_k_1_is_the_squared_l1_norm(lam):
    """Its prox soft-thresholds at lam times the l1 norm of the result."""
    w = np.random.default_rng(1).standard_normal(40)
    x = prox_ksupport(w, lam, 1)
    threshold = lam * np.abs(x).sum()
    np.testing.assert_allclose(x, np.sign(w) * np.maximum(np.abs(w) - threshold, 0), atol=1e-15)
    assert ksupport_norm(w, 1) == pytest.approx(np.abs(w).sum(), rel=1e-14)
    assert topk_norm(w, 1) == np.abs(w).max()


def test_k_d_is_the_squared_l2_norm():
    w = np.random.default_rng(1).standard_normal(40)
    np.testing.assert_allclose(prox_ksupport(w, 3.0, 40), w / 4, rtol=1e-15)
    assert ksupport_norm(w, 40) == pytest.approx(np.linalg.norm(w), rel=1e-14)
    assert topk_norm(w, 40) == pytest.approx(np.linalg.norm(w), rel=1e-14)


def test_few_nonzeros_are_shrunk_as_by_l2():
    w = np.array([0.0, 3.0, 0.0, -1.0, 0.0])
    for k in (2, 3, 5):
        np.testing.assert_allclose(prox_ksupport(w, 1.0, k), w / 2, rtol=1e-15)
        assert ksupport_norm(w, k) == pytest.approx(np.sqrt(10), rel=1e-15)
    assert not prox_ksupport(np.zeros(5), 1.0, 2).any()
    assert ksupport_norm(np.zeros(5), 2) == topk_norm(np.zeros(5), 2) == 0


def test_lam_0_changes_nothing_and_returns_a_copy():
    w = np.array([1.0, -2.0, 3.0])
    x = prox_ksupport(w, 0, 2)
    np.testing.assert_array_equal(x, w)
    assert not np.shares_memory(x, w)


@given(vectors, st.floats(0.01, 100), st.randoms(use_true_random=False))
def test_signs_and_order_do_not_matter(case, lam, random):
    w, k = np.array(case[0]), case[1]
    order = random.sample(range(w.size), w.size)
    signs = np.array([random.choice([-1, 1]) for _ in w])
    x = prox_ksupport(w, lam, k)
    np.testing.assert_allclose(
        prox_ksupport((signs * w)[order], lam, k), (signs * x)[order], rtol=1e-13, atol=1e-14
    )
    for norm in (ksupport_norm, topk_norm):
        assert norm((signs * w)[order], k) == pytest.approx(norm(w, k), rel=1e-14)


@given(vectors, st.integers(-900, 900))
def test_homogeneity_under_powers_of_two_is_bitwise(case, exponent):
    w, k = np.array(case[0]), case[1]
    w[np.abs(w) < 1e-30] = 0  # so that no entry leaves the normal range
    scaled = np.ldexp(w, exponent)
    for norm in (ksupport_norm, topk_norm):
        assert norm(scaled, k) == np.ldexp(norm(w, k), exponent)
    np.testing.assert_allclose(
        np.ldexp(prox_ksupport(scaled, 2.0, k), -exponent), prox_ksupport(w, 2.0, k), rtol=4 * EPS
    )


def test_prox_is_firmly_nonexpansive():
    rng = np.random.default_rng(5)
    for _ in range(100):
        a, b = rng.standard_normal((2, 20))
        gap = prox_ksupport(a, 2.0, 4) - prox_ksupport(b, 2.0, 4)
        assert gap @ gap <= gap @ (a - b) + 1e-13


# ----------------------------------------------------------------------------------------
# From the previous step's s
# ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 5, 300, 20_000])
@pytest.mark.parametrize("kind", KINDS)
def test_warm_start_changes_nothing(d, kind):
    rng = np.random.default_rng(d)
    out = np.empty(d)
    for k in sorted({1, min(3, d), min(30, d), d}):
        for lam in (1e-3, 1.0, 999.0, 1e6):
            w = draw(rng, d, kind)
            cold = prox_ksupport(w, lam, k)
            # Entries that are rounding beside the largest are swept away while walking.
            atol = max(32 * k * EPS, prox.DUST) * np.abs(cold).max()
            s = prox.prox_warm(w, lam, k, 0.0, out)
            np.testing.assert_allclose(out, cold, rtol=0, atol=atol)
            starts = [s, s * (1 + 1e-9), 1.001 * s, 0.7 * s, 3 * s, 1e-200, 1e-8, 1.0, 1e8, 1e200]
            for start in starts:
                again = prox.prox_warm(w, lam, k, start, out)
                np.testing.assert_allclose(out, cold, rtol=0, atol=atol)
                assert (again == 0) == (s == 0)
                if again:  # the s it returns gives this very x
                    theta = np.clip(again * np.abs(w) - lam, 0, 1)
                    assert theta.sum() == pytest.approx(k, rel=1e-6 if lam > 999 else 1e-9)


@pytest.mark.parametrize("k", [1, 4, 40])
@pytest.mark.parametrize("lam", [0.1, 9.0, 99.0, 999.0])
def test_no_dust_at_the_end_of_a_flat_piece(k, lam):
    """If k entries stand out, theta = 1 on them and 0 elsewhere for a whole interval of s."""
    rng = np.random.default_rng(k)
    for _ in range(50):
        w = rng.uniform(0.1, 1, 60)
        w[:k] = rng.uniform(1, 2, k) * (1.1 + 1.1 / lam)
        end = lam / w[k:].max()  # where the next entry would come in
        out = np.empty(60)
        for ulps in range(-8, 9):
            prox.prox_warm(w, lam, k, end * (1 + ulps * EPS), out)
            assert np.flatnonzero(out).tolist() == list(range(k))
        assert np.flatnonzero(prox_ksupport(w, lam, k)).tolist() == list(range(k))


def test_sweeping_hides_no_divergence():
    x = np.array([1.0, 1e-20, -1e-3])
    prox.sweep(x)
    np.testing.assert_array_equal(x, [1.0, 0.0, -1e-3])
    for wild in (np.inf, -np.inf, np.nan):
        x = np.array([1.0, 1e-20, wild])
        prox.sweep(x)
        assert x[0] == 1.0
        np.testing.assert_equal(x[2], wild)


# ----------------------------------------------------------------------------------------
# Norms and duals
# ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "k"), [(1, 1), (3, 2), (5, 3), (7, 2), (8, 4)])
def test_norm_is_the_least_sum_over_groups(d, k):
    rng = np.random.default_rng(d + k)
    mask = groups(d, k)
    for w in (rng.standard_normal(d), np.round(2 * rng.standard_normal(d))):
        V = cp.Variable(mask.shape)
        split = cp.sum(cp.multiply(mask, V), axis=0) == w
        problem = cp.Problem(cp.Minimize(group_norm(V, mask)), [split])
        problem.solve(cp.CLARABEL)
        assert ksupport_norm(w, k) == pytest.approx(problem.value, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_norm_is_exact_to_rounding(kind):
    rng = np.random.default_rng(7)
    for _ in range(40):
        d = int(rng.integers(1, 40))
        k = int(rng.integers(1, d + 1))
        w = draw(rng, d, kind)
        assert ksupport_norm(w, k) == pytest.approx(exact_norm(w, k), rel=8 * EPS)


def test_norm_with_one_dominant_entry_and_a_negligible_rest():
    w = np.array([1.0, 1e-200, 1e-250, 1e-300])
    assert ksupport_norm(w, 1) == 1.0
    assert ksupport_norm(w, 2) == 1.0
    assert ksupport_norm(w[1:], 2) == pytest.approx(1e-200)


@pytest.mark.parametrize(("d", "k"), [(1, 1), (4, 2), (6, 3), (8, 7)])
def test_dual_norm_is_the_support_function_of_the_ball(d, k):
    """The ball's extreme points are the unit vectors of the groups' coordinate spaces."""
    u = np.random.default_rng(d).standard_normal(d)
    extreme = max(np.linalg.norm(u * g) for g in groups(d, k))
    assert topk_norm(u, k) == pytest.approx(extreme, rel=1e-14)


@given(vectors, st.integers(0, 2**32 - 1))
def test_dual_pairing(case, seed):
    """<w, u> <= ‖w‖ ‖u‖*, with equality at u = w/theta, a gradient of ½‖·‖²."""
    w, k = np.array(case[0]), case[1]
    u = np.random.default_rng(seed).standard_normal(w.size)
    assert w @ u <= ksupport_norm(w, k) * topk_norm(u, k) * (1 + 1e-12) + 1e-12
    g = (w - prox_ksupport(w, 1.0, k)) / 1.0
    x = w - g
    assert x @ g == pytest.approx(ksupport_norm(x, k) * topk_norm(g, k), rel=1e-12, abs=1e-14)


def test_conjugate_is_the_largest_gap():
    """h*(u) = max_x <x,u> - h(x), by a convex solver over the variational form."""
    u = np.random.default_rng(3).standard_normal(5)
    mask = groups(5, 2)
    V = cp.Variable(mask.shape)
    gain = cp.sum(cp.multiply(mask, V), axis=0) @ u - 1.5 * cp.square(group_norm(V, mask))
    value = cp.Problem(cp.Maximize(gain)).solve(cp.CLARABEL)
    assert ksupport_conjugate(u, 3.0, 2) == pytest.approx(value, rel=1e-6)


def test_norms_stay_finite_at_the_ends_of_the_range():
    for size in (1e-300, 1e300):
        w = size * np.array([3.0, -4.0, 0.0])
        assert ksupport_norm(w, 2) == pytest.approx(5 * size, rel=4 * EPS)
        assert topk_norm(w, 2) == pytest.approx(5 * size, rel=4 * EPS)
    assert ksupport_conjugate([3e200, 4e200], 1e200, 2) == pytest.approx(12.5e200)


# ----------------------------------------------------------------------------------------
# The box norm
# ----------------------------------------------------------------------------------------

BOXES = [
    (0.0, 1.0, 2.0),
    (0.0, 1.0, 2.5),
    (0.1, 1.0, 2.0),
    (0.2, 3.0, 4.7),
    (0.5, 0.5, 3.0),
    (0.5, 1.0, 2.5),
    (1e-6, 1.0, 1.5),
    (0.0, 2.0, 100.0),
]


@pytest.mark.parametrize("box", BOXES)
def test_box_norm_and_prox_against_the_exact_twin(box):
    rng = np.random.default_rng(2)
    a, b, c = box
    for kind in KINDS:
        for d in (1, 2, 5):
            w = draw(rng, d, kind)
            assert BoxNorm(*box)(w) == pytest.approx(exact_norm(w, c, a, b), rel=16 * EPS)
            for lam in (1e-8, 0.3, 1e8):
                x = BoxNorm(*box).prox(w, lam)
                assert relative_error(x, exact_prox(w, lam, c, a, b)) <= 32 * EPS


@pytest.mark.parametrize("box", BOXES)
def test_box_norm_is_its_variational_form(box):
    a, b, c = box
    w = np.random.default_rng(4).standard_normal(5)
    theta = cp.Variable(5)
    objective = sum(cp.quad_over_lin(w[i], theta[i]) for i in range(5))
    problem = cp.Problem(cp.Minimize(objective), [theta >= a, theta <= b, cp.sum(theta) <= c])
    problem.solve(cp.CLARABEL)
    assert BoxNorm(*box).norm(w) == pytest.approx(np.sqrt(problem.value), rel=1e-6)


@pytest.mark.parametrize("box", BOXES)
def test_box_dual_is_the_largest_weighted_l2_norm(box):
    a, b, c = box
    u = np.random.default_rng(4).standard_normal(5)
    best = linprog(-(u**2), A_ub=np.ones((1, 5)), b_ub=[c], bounds=[(a, b)] * 5)
    assert BoxNorm(*box).dual(u) == pytest.approx(np.sqrt(-best.fun), rel=1e-12)
    assert BoxNorm(*box).conjugate(u, 0.7) == pytest.approx(-best.fun / 1.4, rel=1e-12)


@pytest.mark.parametrize("box", BOXES)
def test_box_optimality_condition(box):
    norm = BoxNorm(*box)
    w = np.random.default_rng(6).standard_normal(5)
    for lam in (0.1, 1.0, 10.0):
        x = norm.prox(w, lam)
        g = (w - x) / lam
        assert norm(x) ** 2 / 2 + norm.conjugate(g) == pytest.approx(x @ g, rel=1e-12)


def test_the_box_norm_of_the_unit_box_is_the_k_support_norm():
    w = np.random.default_rng(8).standard_normal(20)
    for k in (1, 6, 20):
        box = BoxNorm(0, 1, k)
        assert box(w) == box.norm(w) == ksupport_norm(w, k)
        assert box.dual(w) == topk_norm(w, k)
        np.testing.assert_array_equal(box.prox(w, 2.0), prox_ksupport(w, 2.0, k))


def test_a_box_norm_is_a_value():
    assert BoxNorm(0, 1, 2) == BoxNorm(0, 1, 2)
    assert len({BoxNorm(0, 1, 2), BoxNorm(0, 1, 2), BoxNorm(0, 1, 3)}) == 2
    with pytest.raises(AttributeError):
        BoxNorm(0, 1, 2).a = 1  # type: ignore[misc]


# ----------------------------------------------------------------------------------------
# The Jacobian of the prox
# ----------------------------------------------------------------------------------------


def differences(prox, w, step):
    """The Jacobian by central differences."""
    return np.column_stack(
        [(prox(w + step * e) - prox(w - step * e)) / (2 * step) for e in np.eye(w.size)]
    )


@pytest.mark.parametrize("box", [(0, 1, 1), (0, 1, 3), (0, 1, 12), (0, 1, 2.5), (0.1, 2, 4)])
@pytest.mark.parametrize("lam", [0.01, 1.0, 100.0])
def test_jacobian_is_what_differences_show(box, lam):
    norm = BoxNorm(*box)
    for seed in range(5):
        w = np.random.default_rng(seed).standard_normal(12)
        J = norm.prox_jvp(w, lam, np.eye(12))
        np.testing.assert_allclose(J, J.T, atol=1e-15)
        expected = differences(lambda v: norm.prox(v, lam), w, 1e-7)
        np.testing.assert_allclose(J, expected, atol=1e-7)
        eigenvalues = np.linalg.eigvalsh(J)  # between 0 and 1: firmly nonexpansive
        assert eigenvalues.min() >= -1e-12
        assert eigenvalues.max() <= 1 + 1e-12


def test_jacobian_where_ties_are_no_kink():
    w = np.array([2.0, -2.0, 0.0, 0.0])  # exactly k nonzeros: smooth, though they tie
    J = prox_ksupport_jvp(w, 3.0, 2, np.eye(4))
    np.testing.assert_allclose(J, np.diag([0.25, 0.25, 0, 0]), atol=1e-15)
    w = np.array([2.0, -2.0, 2.0, 0.5])  # three share two: smooth as well
    expected = differences(lambda v: prox_ksupport(v, 3.0, 2), w, 1e-6)
    np.testing.assert_allclose(prox_ksupport_jvp(w, 3.0, 2, np.eye(4)), expected, atol=1e-8)


@pytest.mark.parametrize("box", [(0, 1, 3), (0, 1, 3.5), (0.1, 1, 3), (0, 1, 5)])
def test_jacobian_at_zeros_is_a_mean_of_nearby_jacobians(box):
    """Fewer nonzeros than k: perturbing the zeros in any order, ever less, breaks the ties."""
    norm = BoxNorm(*box)
    w = np.array([5.0, 0.0, 0.0, 0.0, 0.0])
    nearby = []
    for order in permutations(range(1, 5)):
        v = w.copy()
        v[list(order)] = 1e-2, 1e-5, 1e-8, 1e-11
        nearby.append(norm.prox_jvp(v, 1.0, np.eye(5)))
    J = norm.prox_jvp(w, 1.0, np.eye(5))
    np.testing.assert_allclose(J, np.mean(nearby, axis=0), atol=1e-12)


def test_jacobian_of_the_identity():
    u = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(prox_ksupport_jvp([3.0, 2.0, 0.0], 0.0, 1, u), u)


# ----------------------------------------------------------------------------------------
# Kinds of input
# ----------------------------------------------------------------------------------------


def test_a_batch_is_its_rows():
    rng = np.random.default_rng(9)
    W, U = rng.standard_normal((2, 6, 30))
    W[2] = 0
    W[3, 2:] = 0
    for function in (ksupport_norm, topk_norm):
        np.testing.assert_array_equal(function(W, 4), [function(w, 4) for w in W])
    np.testing.assert_array_equal(
        ksupport_conjugate(W, 2.0, 4), [ksupport_conjugate(w, 2.0, 4) for w in W]
    )
    np.testing.assert_array_equal(prox_ksupport(W, 2.0, 4), [prox_ksupport(w, 2.0, 4) for w in W])
    np.testing.assert_array_equal(
        prox_ksupport_jvp(W, 2.0, 4, U),
        [prox_ksupport_jvp(w, 2.0, 4, u) for w, u in zip(W, U, strict=True)],
    )
    np.testing.assert_array_equal(
        prox_ksupport_jvp(W[0], 2.0, 4, U), [prox_ksupport_jvp(W[0], 2.0, 4, u) for u in U]
    )


def test_an_empty_batch_gives_an_empty_batch():
    W = np.empty((0, 5))
    assert ksupport_norm(W, 2).shape == topk_norm(W, 2).shape == (0,)
    assert prox_ksupport(W, 1.0, 2).shape == prox_ksupport_jvp(W, 1.0, 2, W).shape == (0, 5)


def test_any_layout_gives_the_same():
    W = np.random.default_rng(10).standard_normal((8, 40))
    expected = prox_ksupport(W, 1.0, 5)
    frozen = W.copy()
    frozen.flags.writeable = False
    for same in (np.asfortranarray(W), np.repeat(W, 2, axis=1)[:, ::2], frozen, W.astype(">f8")):
        np.testing.assert_array_equal(prox_ksupport(same, 1.0, 5), expected)
        np.testing.assert_array_equal(ksupport_norm(same, 5), ksupport_norm(W, 5))
    np.testing.assert_allclose(prox_ksupport(W[:, ::-1], 1.0, 5), expected[:, ::-1], atol=1e-15)


def test_input_is_left_alone():
    w = np.random.default_rng(11).standard_normal(100)
    before = w.copy()
    prox_ksupport(w, 1.0, 5)
    ksupport_norm(w, 5)
    topk_norm(w, 5)
    np.testing.assert_array_equal(w, before)


@pytest.mark.parametrize("lam", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("size", [1e-38, 1.0, 1e36])
def test_float32_is_kept_and_accurate(lam, size):
    rng = np.random.default_rng(12)
    eps = float(np.finfo(np.float32).eps)
    for d, k in ((30, 4), (5000, 3)):
        w = (rng.uniform(-3, 3, d) * size).astype(np.float32)
        u = rng.standard_normal(d).astype(np.float32)
        wide = w.astype(np.float64)
        x = prox_ksupport(w, lam, k)
        reference = prox_ksupport(wide, lam, k)
        assert x.dtype == np.float32
        atol = 2 * eps * abs(reference).max() + 1e-44  # which is the spacing next to 0
        np.testing.assert_allclose(x, reference, rtol=0, atol=atol)
        assert topk_norm(w, k).dtype == np.float32
        assert topk_norm(w, k) == pytest.approx(topk_norm(wide, k), rel=2 * eps)
        assert prox_ksupport_jvp(w, lam, k, u).dtype == np.float32
        if d == 30:  # a sum of thousands would overflow at the largest size
            assert ksupport_norm(w, k).dtype == np.float32
            assert ksupport_norm(w, k) == pytest.approx(ksupport_norm(wide, k), rel=2 * eps)
            assert ksupport_conjugate(u, 2.0, k).dtype == np.float32


@pytest.mark.parametrize("dtype", [None, np.int8, np.bool, object, np.float16])
def test_whatever_holds_real_numbers_becomes_float64(dtype):
    w = np.array([1, 0, 1], dtype) if dtype else [1, 0, 1]
    assert prox_ksupport(w, 1, 2).dtype == np.float64
    assert ksupport_norm(w, 2) == pytest.approx(np.sqrt(2), rel=1e-15)


# ----------------------------------------------------------------------------------------
# Bad input
# ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [0, -1, 73, 2.5, "2", None, True, np.nan])
def test_bad_k(k):
    for call in (ksupport_norm, topk_norm, lambda w, k: prox_ksupport(w, 1.0, k)):
        with pytest.raises(ValueError, match=r"k must be .*between 1 and n_features=50, got"):
            call(np.ones(50), k)


def test_the_message_about_k_shows_the_value():
    with pytest.raises(ValueError, match=r"^k must be between 1 and n_features=50, got 73$"):
        prox_ksupport(np.ones((3, 50)), 1.0, 73)
    assert topk_norm(np.ones(50), np.int64(4)) == 2


@pytest.mark.parametrize("lam", [-1.0, -1e-300, np.nan, np.inf])
def test_bad_strength(lam):
    with pytest.raises(ValueError, match="lam must be non-negative and finite, got"):
        prox_ksupport(np.ones(5), lam, 2)
    with pytest.raises(ValueError, match="lam must be positive and finite, got"):
        ksupport_conjugate(np.ones(5), lam, 2)
    with pytest.raises(ValueError, match="lam must be positive and finite, got 0"):
        ksupport_conjugate(np.ones(5), 0, 2)
    with pytest.raises(TypeError, match="lam must be a number, got the text 'x'"):
        prox_ksupport(np.ones(5), "x", 2)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_that_are_not_finite(bad, dtype):
    w = np.ones((4, 50), dtype)
    w[3, 17] = bad
    for call in (
        lambda: ksupport_norm(w, 2),
        lambda: prox_ksupport(w, 1.0, 2),
        lambda: prox_ksupport_jvp(w, 1.0, 2, np.ones((4, 50))),
    ):
        with pytest.raises(ValueError, match=f"w must be finite, but it contains {bad}"):
            call()
    with pytest.raises(ValueError, match="u must be finite"):
        prox_ksupport_jvp(np.ones((4, 50)), 1.0, 2, w)


@pytest.mark.parametrize("w", [1.0, np.ones((2, 3, 4))])
def test_bad_shape(w):
    with pytest.raises(ValueError, match="w must be a vector or a batch of rows"):
        prox_ksupport(w, 1.0, 1)


def test_no_features():
    with pytest.raises(ValueError, match="k must be between 1 and n_features=0, got 1"):
        prox_ksupport([], 1.0, 1)
    with pytest.raises(ValueError, match="w must have at least one feature"):
        BoxNorm(0, 1, 1).prox([], 1.0)


@pytest.mark.parametrize("w", [["a", "b"], [1j, 2.0], np.array(["x", 1.0], object)])
def test_not_numbers(w):
    with pytest.raises(TypeError, match="w must hold real numbers"):
        prox_ksupport(w, 1.0, 1)


def test_directions_of_another_shape():
    for w, u in (((5,), (4,)), ((3, 5), (5,)), ((3, 5), (2, 5))):
        with pytest.raises(ValueError, match="u must have the shape of w"):
            prox_ksupport_jvp(np.ones(w), 1.0, 2, np.ones(u))


@pytest.mark.parametrize(
    ("box", "message"),
    [
        ((-0.1, 1, 2), "a must be non-negative, got -0.1"),
        ((2, 1, 2), "b must be positive and at least a=2, got 1"),
        ((0, 0, 2), "b must be positive"),
        ((0, 1, 0), "c must be positive, got 0"),
        ((0, np.inf, 1), "b must be finite, got inf"),
        ((0, 1, np.nan), "c must be finite, got nan"),
    ],
)
def test_bad_boxes(box, message):
    with pytest.raises(ValueError, match=message):
        BoxNorm(*box)


def test_a_box_too_tight_for_the_features():
    with pytest.raises(ValueError, match=r"c must be at least a \* n_features = 5, got 2"):
        BoxNorm(0.5, 1, 2).prox(np.ones(10), 1.0)


# ----------------------------------------------------------------------------------------
# Groups and signs
# ----------------------------------------------------------------------------------------

GROUPINGS = ([0, 0, 1, 1, 1, 2, 3, 3], [[0, 7], [3, 4, 5]], list("abcdefgh"), ["all"] * 8)


def parts(groups):
    """The groups as lists of indices."""
    if isinstance(groups[0], list):
        rest = [[i] for i in range(8) if not any(i in each for each in groups)]
        return [*groups, *rest]
    return [[i for i in range(8) if groups[i] == label] for label in dict.fromkeys(groups)]


@pytest.mark.parametrize("groups", GROUPINGS)
@pytest.mark.parametrize("positive", [False, True])
def test_the_prox_of_groups_minimises_its_objective(groups, positive):
    rng = np.random.default_rng(3)
    w, lam = rng.standard_normal(8) * 2, 0.7
    members = parts(groups)
    for k in range(1, len(members) + 1):
        x, theta = cp.Variable(8), cp.Variable(len(members))
        norm2 = sum(cp.quad_over_lin(x[each], theta[g]) for g, each in enumerate(members))
        bounds = [theta >= 0, theta <= 1, cp.sum(theta) <= k] + ([x >= 0] if positive else [])
        objective = lam / 2 * norm2 + cp.sum_squares(x - w) / 2
        least = cp.Problem(cp.Minimize(objective), bounds).solve(solver=cp.CLARABEL)
        found = prox_ksupport(w, lam, k, groups, positive)
        value = lam / 2 * ksupport_norm(found, k, groups) ** 2 + np.sum((found - w) ** 2) / 2
        assert value == pytest.approx(least, rel=1e-6)
        np.testing.assert_allclose(found, x.value, atol=2e-3)
        assert not positive or found.min() >= 0


@pytest.mark.parametrize("groups", GROUPINGS)
def test_the_norm_of_groups_is_that_of_their_norms(groups):
    rng = np.random.default_rng(4)
    W = rng.standard_normal((5, 8))
    norms = np.array([[np.linalg.norm(w[each]) for each in parts(groups)] for w in W])
    for k in range(1, norms.shape[1] + 1):
        np.testing.assert_allclose(ksupport_norm(W, k, groups), ksupport_norm(norms, k), rtol=1e-12)
        np.testing.assert_allclose(topk_norm(W, k, groups), topk_norm(norms, k), rtol=1e-12)


def test_groups_of_one_are_entries_to_the_last_bit():
    rng = np.random.default_rng(5)
    for scale in (1e-160, 1.0, 1e150):
        w = scale * rng.standard_normal(30)
        one = list(range(30))
        np.testing.assert_allclose(
            prox_ksupport(w, 0.3, 4, one), prox_ksupport(w, 0.3, 4), rtol=4 * EPS
        )
        assert ksupport_norm(w, 4, one) == pytest.approx(ksupport_norm(w, 4), rel=4 * EPS)
        labels, norms = np.arange(30), np.empty(30)
        prox.group_norms(w, labels, 0.0, norms)
        np.testing.assert_array_equal(norms, np.abs(w))


def test_the_dual_of_groups_bounds_inner_products():
    rng = np.random.default_rng(6)
    groups = GROUPINGS[0]
    for _ in range(50):
        w, u = rng.standard_normal((2, 8))
        assert w @ u <= ksupport_norm(w, 2, groups) * topk_norm(u, 2, groups) * (1 + 1e-12)
    u = rng.standard_normal(8)
    best = prox_ksupport(u * 1e9, 1e9, 2, groups)  # along the gradient of the conjugate
    assert best @ u == pytest.approx(
        ksupport_norm(best, 2, groups) * topk_norm(u, 2, groups), rel=1e-6
    )


@pytest.mark.parametrize("groups", GROUPINGS)
@pytest.mark.parametrize("sign", [0.0, 1.0, -1.0])
def test_the_prox_of_walks_is_the_prox(groups, sign):
    rng = np.random.default_rng(7)
    members = parts(groups)
    labels = np.empty(8, np.intp)
    for g, each in enumerate(members):
        labels[each] = g
    for k in range(1, len(members) + 1):
        q, out = rng.standard_normal(8), np.empty(8)
        prox.prox_groups(q, 0.4, k, 0.0, labels, sign, out)
        expected = prox_ksupport(sign * q if sign else q, 0.4, k, groups, positive=bool(sign))
        np.testing.assert_allclose(out, sign * expected if sign else expected, atol=1e-12)


def test_k_counts_groups():
    with pytest.raises(ValueError, match="k must be between 1 and n_groups=2, got 3"):
        ksupport_norm([1.0, 2.0, 3.0], 3, feature_groups=[0, 0, 1])
