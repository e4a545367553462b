"""Relations between fits: what is done to the data is done to the model."""

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st
from scipy.sparse.linalg import aslinearoperator
from sklearn.base import clone

from ksupport import (
    IHT,
    IRCR,
    IRKSN,
    IRKSNCV,
    IRKSNIC,
    IROSR,
    KSN,
    SRDI,
    AutoIRKSN,
    AutoIRKSNClassifier,
    AutoIRKSNSurvival,
    IRKSNClassifier,
    PathCV,
    PathIC,
)  # fmt: skip

from .inputs import LAYOUTS, examples, holds, layouts, problems
from .quiet import quiet

ONE_PATH = {
    "IRKSN": IRKSN(k=2, max_iter=40),
    "IRKSN, spectral": IRKSN(k=2, step="spectral", alpha=0.1, max_iter=60),
    "IRKSN, huber": IRKSN(k=2, loss="huber", max_iter=25),
    "KSN": KSN(k=2, lam=0.3, max_iter=60),
    "IHT": IHT(k=2, max_iter=60),
    "SRDI": SRDI(max_iter=60),
    "IRCR": IRCR(max_iter=60),
    "IROSR": IROSR(max_iter=60),
}
CHOOSING = {
    "IRKSNIC": IRKSNIC(),
    "PathIC": PathIC("iht", max_iter=50),
    "IRKSNCV": IRKSNCV(cv=3, max_iter=30),
    "PathCV": PathCV("ksn", cv=3, max_iter=50),
    "AutoIRKSN": AutoIRKSN(cv=3, max_iter=30),
}
EVERY = ONE_PATH | CHOOSING
OTHER_RESPONSES = {
    "classes": (IRKSNClassifier(k=2, max_iter=25), lambda y: y > np.median(y)),
    "choice of classes": (AutoIRKSNClassifier(cv=3, max_iter=20), lambda y: y > np.median(y)),
    "counts": (IRKSN(k=2, loss="poisson", max_iter=25), lambda y: np.floor(np.exp(np.tanh(y)))),
    "survival": (
        AutoIRKSNSurvival(cv=3, max_iter=20),
        lambda y: np.column_stack([np.exp(np.tanh(y)), np.arange(len(y)) % 4 > 0]),
    ),
}
one_path = st.sampled_from(sorted(ONE_PATH))
choosing = st.sampled_from(sorted(CHOOSING))
every = st.sampled_from(sorted(EVERY))
seeds = st.integers(0, 2**32 - 1)


def fit(estimator, X, y, **options):
    with quiet():
        return clone(estimator).fit(X, y, **options)


def same(coef, expected, tolerance=1e-8):
    atol = tolerance * np.abs(expected).max(initial=1e-30)
    np.testing.assert_allclose(coef, expected, rtol=0, atol=atol)


def rounding(name, tolerance=1e-8):
    """IROSR leaves a saddle point, and has rounding a million times larger with it."""
    return 1e-6 if name == "IROSR" else tolerance


@examples(0.25)
@holds(name=every, drawn=problems(), seed=seeds)
def test_columns_in_another_order_with_other_signs(name, drawn, seed):
    rng = np.random.default_rng(seed)
    order, signs = rng.permutation(drawn.X.shape[1]), rng.choice([-1.0, 1.0], drawn.X.shape[1])
    expected = fit(EVERY[name], drawn.X, drawn.y)
    model = fit(EVERY[name], drawn.X[:, order] * signs, drawn.y)
    same(model.coef_, expected.coef_[order] * signs, rounding(name))
    same(model.intercept_, expected.intercept_, rounding(name) * (1 + np.abs(drawn.X).max()))


@examples(0.25)
@holds(name=every, drawn=problems(), seed=seeds)
def test_signs_alone_change_no_bit(name, drawn, seed):
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], drawn.X.shape[1])
    expected = fit(EVERY[name], drawn.X, drawn.y)
    np.testing.assert_array_equal(
        fit(EVERY[name], drawn.X * signs, drawn.y).coef_, expected.coef_ * signs
    )


# What has a strength or a step in units of the data is no relative of itself at another scale.
SCALED = sorted(set(EVERY) - {"KSN", "SRDI", "IRCR", "IROSR"})


@examples(0.25)
@holds(
    name=st.sampled_from(SCALED), drawn=problems(),
    p=st.integers(-300, 300), q=st.integers(-300, 300),
)  # fmt: skip
def test_other_units_of_X_and_y_change_units_alone(name, drawn, p, q):
    expected = fit(EVERY[name], drawn.X, drawn.y)
    model = fit(EVERY[name], np.ldexp(drawn.X, p), np.ldexp(drawn.y, q))
    same(np.ldexp(model.coef_, p - q), expected.coef_)
    same(np.ldexp(model.intercept_, -q), expected.intercept_)


# Where rows far off are as many above as below, many intercepts of Huber's loss are the best.
UNIQUE = sorted(set(EVERY) - {"IRKSN, huber"})


@examples(0.25)
@holds(name=st.sampled_from(UNIQUE), drawn=problems(), shift=st.floats(-100, 100))
def test_an_origin_of_X_and_y_goes_into_the_intercept(name, drawn, shift):
    expected = fit(EVERY[name], drawn.X, drawn.y)
    model = fit(EVERY[name], drawn.X + shift, drawn.y - shift)
    same(model.coef_, expected.coef_, 1e-6)


@examples(0.25)
@holds(name=every, drawn=problems(), layout=layouts, target=layouts)
def test_memory_layouts_of_X_and_y(name, drawn, layout, target):
    expected = fit(EVERY[name], drawn.X, drawn.y)
    model = fit(EVERY[name], LAYOUTS[layout](drawn.X), LAYOUTS[target](drawn.y))
    same(model.coef_, expected.coef_, rounding(name, 1e-9))


@examples(0.25)
@holds(name=one_path, drawn=problems(), at=st.floats(0, 1), value=st.floats(-1e3, 1e3))
def test_a_constant_column_is_never_chosen_and_changes_nothing(name, drawn, at, value):
    place = round(at * drawn.X.shape[1])
    expected = fit(EVERY[name], drawn.X, drawn.y)
    model = fit(EVERY[name], np.insert(drawn.X, place, value, axis=1), drawn.y)
    assert model.coef_[place] == 0.0
    same(np.delete(model.coef_, place), expected.coef_, rounding(name, 1e-9))


@examples(0.25)
@holds(
    name=st.sampled_from(["IRKSN", "IHT", "IRKSN, spectral"]),  # see UNIQUE above
    drawn=problems(), seed=seeds,
)  # fmt: skip
def test_rows_given_twice_are_rows_of_weight_two(name, drawn, seed):
    times = np.random.default_rng(seed).integers(1, 4, len(drawn.y))
    rows = np.repeat(np.arange(len(drawn.y)), times)
    expected = fit(EVERY[name], drawn.X[rows], drawn.y[rows])
    model = fit(EVERY[name], drawn.X, drawn.y, sample_weight=times)
    same(model.coef_, expected.coef_, 1e-6)
    weight = fit(EVERY[name], drawn.X, drawn.y, sample_weight=times * 1e-3)
    same(weight.coef_, model.coef_, 1e-9)


# The intercept of other losses is no mean.
SQUARES = sorted(set(ONE_PATH) - {"IRKSN, huber"})


@examples(0.25)
@holds(name=st.sampled_from(SQUARES), drawn=problems(), many=st.booleans())
def test_centring_by_a_view_is_centring_by_a_copy(name, drawn, many):
    """With so many rows that X is compressed, too."""
    X, y = drawn.X, drawn.y
    if many:
        X, y = np.tile(X, (12, 1)), np.tile(y, 12) + drawn.rng.standard_normal(12 * len(y))
    expected = fit(clone(EVERY[name]).set_params(fit_intercept=False), X - X.mean(0), y - y.mean())
    same(fit(EVERY[name], X, y).coef_, expected.coef_, rounding(name))


def as_memmap(X, folder):
    path = folder / "X.bin"
    X.tofile(path)
    return np.memmap(path, X.dtype, "r", shape=X.shape)


def as_dask(X, folder):
    import dask.array as da

    return da.from_array(X, chunks=(max(1, X.shape[0] // 2), max(1, X.shape[1] // 2)))


FORMS = {
    "csr": lambda X, folder: sp.csr_array(X),
    "csc": lambda X, folder: sp.csc_matrix(X),
    "coo": lambda X, folder: sp.coo_array(X),
    "operator": lambda X, folder: aslinearoperator(X),
    "memmap": as_memmap,
    "dask": as_dask,
}


@examples(0.15)
@holds(
    name=every, form=st.sampled_from(sorted(FORMS)),
    drawn=problems(designs=["plain", "correlated", "zeros"]),
)  # fmt: skip
def test_the_form_of_X_says_nothing(name, form, drawn, tmp_path_factory):
    estimator = EVERY[name]
    if form in ("csr", "csc", "coo"):  # which are not centred by scikit-learn's conventions
        drawn.X[:, 0] = 0.0
    expected = fit(estimator, drawn.X, drawn.y)
    given = FORMS[form](drawn.X, tmp_path_factory.mktemp("X"))
    same(fit(estimator, given, drawn.y).coef_, expected.coef_, rounding(name, 1e-7))


@examples(0.1)
@holds(name=st.sampled_from(sorted(OTHER_RESPONSES)), drawn=problems(rows=(16, 30)), seed=seeds)
def test_other_responses_permute_too(name, drawn, seed):
    estimator, response = OTHER_RESPONSES[name]
    rng = np.random.default_rng(seed)
    order, signs = rng.permutation(drawn.X.shape[1]), rng.choice([-1.0, 1.0], drawn.X.shape[1])
    y = response(drawn.y)
    expected = fit(estimator, drawn.X, y)
    model = fit(estimator, drawn.X[:, order] * signs, y)
    same(model.coef_, expected.coef_[..., order] * signs, 1e-6)


@examples(0.25)
@holds(name=every, drawn=problems(designs=["whole", "copies", "zeros", "constants"]))
def test_data_in_special_positions_give_a_model(name, drawn):
    model = fit(EVERY[name], drawn.X, drawn.y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.predict(drawn.X)).all()
    constant = np.ptp(drawn.X, axis=0) == 0
    assert not model.coef_[constant].any()
    again = fit(EVERY[name], drawn.X, drawn.y)
    np.testing.assert_array_equal(model.coef_, again.coef_)


@examples(0.1)
@holds(name=choosing, drawn=problems(rows=(12, 30)))
def test_any_number_of_threads_gives_the_same_bits(name, drawn):
    one, more = (fit(clone(EVERY[name]).set_params(n_jobs=n), drawn.X, drawn.y) for n in (1, 3))
    np.testing.assert_array_equal(one.coef_, more.coef_)
    np.testing.assert_array_equal(one.intercept_, more.intercept_)
