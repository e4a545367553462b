"""What estimators share: certificates on the data as the path saw them, and selection."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from sklearn.base import clone
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import cross_val_score

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
    PathCV,
    PathIC,
    path,
)  # fmt: skip
from ksupport._common.progress import ProgressLine
from ksupport.algorithms.irksn import IRKSNMethod
from ksupport.datasets import make_block_data, make_correlated_data, make_example1
from ksupport.design import Incomplete
from ksupport.explain.report import build_report
from ksupport.theory import recovery_report

TRUTH = np.r_[3.0, -2.0, 2.0, np.zeros(37)]


@pytest.fixture(scope="module")
def data():
    X, y, _ = make_correlated_data(60, 40, rho=0.5, w_true=TRUTH, snr=5, random_state=0)
    return X * np.linspace(1, 3, 40) + 5.0, y + 7.0


def standardised(X, weights=None):
    mean = np.average(X, axis=0, weights=weights)
    return (X - mean) / np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))


def same(report, other):
    assert report.support == other.support
    assert report.irksn.lhs == pytest.approx(other.irksn.lhs)
    assert report.l1.lhs == pytest.approx(other.l1.lhs)
    assert report.omp.lhs == pytest.approx(other.omp.lhs)
    assert report.noise_norm == pytest.approx(other.noise_norm)
    assert [row.status for row in report.methods] == [row.status for row in other.methods]


@pytest.mark.parametrize("standardize", [False, True])
def test_it_is_the_report_on_the_centred_data(data, standardize):
    X, y = data
    model = IRKSN(k=3, standardize=standardize).fit(X, y)
    Z = standardised(X) if standardize else X - X.mean(axis=0)
    w = model.coef_ * X.std(axis=0) if standardize else model.coef_
    report = model.certify(X, y)
    same(report, recovery_report(Z, w, y - y.mean()))
    freedom = len(y) - 1 - len(report.support)  # one for the intercept
    assert report.noise_sd == pytest.approx(report.noise_norm / freedom**0.5)


def test_weights_that_are_repetitions_count_as_rows(data):
    X, y = data
    weights = np.arange(60) % 3
    model = IRKSNIC(weights="repetitions").fit(X, y, sample_weight=weights)
    rows = np.repeat(np.arange(60), weights)
    repeated = IRKSNIC().fit(X[rows], y[rows]).certify(X[rows], y[rows])
    report = model.certify(X, y, sample_weight=weights)
    same(report, repeated)
    assert report.noise_sd == pytest.approx(repeated.noise_sd)
    assert "predictions are off" not in " ".join(report.words)


def test_the_scale_of_relative_weights_changes_no_certificate(data, rng):
    X, y = data
    weights = rng.uniform(0, 2, 60)
    model = IRKSN(k=3).fit(X, y, sample_weight=weights)
    one, other = (model.certify(X, y, sample_weight=c * weights) for c in (1, 1e-3))
    same(one, other)
    assert one.noise_sd == pytest.approx(other.noise_sd)


@pytest.mark.parametrize(
    "kind", [sp.csr_array, aslinearoperator, np.asfortranarray, lambda X: X.astype(np.float32)]
)
def test_every_kind_of_x(data, kind):
    X, y = data
    model = IRKSN(k=3, standardize=True).fit(X, y)
    report, other = model.certify(X, y), model.certify(kind(X), y)
    assert other.irksn.lhs == pytest.approx(report.irksn.lhs, rel=1e-4)  # single precision
    assert [row.status for row in other.methods] == [row.status for row in report.methods]


@pytest.mark.parametrize(
    "model",
    [
        KSN(k=3), IHT(k=3), IRCR(average=False), SRDI(), AutoIRKSN(), IRKSNIC(max_iter=300),
        IRKSNCV(k=[1, 3], max_iter=100), PathCV("iht", max_iter=50),
    ],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
def test_every_estimator_certifies(data, model):
    X, y = data
    report = model.fit(X, y).certify(X, y)
    assert report.support == tuple(np.flatnonzero(model.coef_))
    assert "evidence, not proof" in " ".join(str(report).split())


def test_rows_held_out_tell_a_model_from_noise_where_certificates_do_not():
    X, y, _ = make_block_data(60, 200, n_active_blocks=2, random_state=1)
    noise = np.random.default_rng(2).standard_normal(60)
    model = IRKSN(k=20, stopping="held_out", random_state=0)
    for target in (y, noise):
        assert not model.fit(X, target).certify(X, target).irksn.holds
    told, nothing = (cross_val_score(model, X, target, cv=3) for target in (y, noise))
    assert told.min() > 0.5 > nothing.max()


def test_the_bound_is_at_the_alpha_of_the_path():
    X, y, w = make_example1()
    model = IRKSN(k=3, alpha=0.05, max_iter=10_000, fit_intercept=False).fit(X, y)
    report = model.certify(X, y)
    assert report.bound.alpha == 0.05
    assert report.irksn.alpha_max == pytest.approx(1 / 15, abs=1e-6)
    assert [row.method for row in report.methods if row.status == "met"] == ["IRKSN"]
    assert not report.remarks
    assert "Without noise the iterates converge" in str(report)
    large = IRKSN(k=3, alpha=0.5, max_iter=2000, fit_intercept=False).fit(X, y)
    large.coef_, large.support_ = model.coef_, model.support_
    assert "no error bound at alpha=0.5, only below 0.267" in str(large.certify(X, y))


def test_names_of_a_frame_are_used(data):
    pd = pytest.importorskip("pandas")
    X, y = data
    frame = pd.DataFrame(X, columns=[f"gene {i}" for i in range(40)])
    report = IRKSN(k=3).fit(frame, y).certify(frame, y)
    assert "gene " + str(report.irksn.tight_in[0]) + " on it" in str(report)
    with pytest.raises(ValueError, match="feature names"):
        IRKSN(k=3).fit(frame, y).certify(frame.iloc[:, ::-1], y)


@pytest.mark.parametrize(
    "model",
    [IRKSN(k=3), IRKSNIC(shared_support=True), AutoIRKSN(shared_support=True, cv=3)],
    ids=str,
)
def test_one_column_of_y_is_certified_and_reported_as_the_vector(data, model):
    X, y = data
    one, other = clone(model).fit(X, y[:, None]), clone(model).fit(X, y)
    assert one.coef_.shape == (1, 40)
    same(one.certify(X, y[:, None]), other.certify(X, y))
    page = build_report(one, X, y[:, None])
    assert page.startswith("<!doctype html>")
    assert one.coef_.shape == (1, 40)  # and nothing is changed
    assert one.predict(X).shape == (60, 1)


def test_a_k_other_than_the_size_of_the_support_is_mentioned(data):
    report = IRKSN(k=3, alpha=0.5, max_iter=100).fit(*data).certify(*data)
    size = len(report.support)
    assert size != 3
    assert f"walked with k=3 and the support has {size} features" in report.remarks[0]


def test_other_data_than_those_of_the_fit_are_noticed(data):
    X, y = data
    model = IRKSN(k=3).fit(X, y)
    assert "predictions are off" not in " ".join(model.certify(X, y).words)
    assert "explains nothing of this y" in " ".join(model.certify(X, np.roll(y, 7)).words)
    assert "fitted on other rows or weights" in " ".join(model.certify(X[:40], y[:40]).words)
    held_out = IRKSN(k=3, stopping="held_out", random_state=0).fit(X, y)
    assert "holds out rows" in " ".join(held_out.certify(X, y).words)


def test_missing_entries_name_the_x_that_may_have_some(data):
    X, y = data
    holes = np.where(np.arange(X.size).reshape(X.shape) % 97 == 0, np.nan, X)
    with pytest.raises(ValueError, match=r"contains NaN.* ksupport\.design\.Incomplete\(X\)"):
        IRKSN(k=3, max_iter=5).fit(holes, y)
    IRKSN(k=3, max_iter=5).fit(Incomplete(holes), y)


def test_errors(data):
    X, y = data
    model = IRKSN(k=3).fit(X, y)
    with pytest.raises(ValueError, match="X has 39 features, but IRKSN is expecting 40"):
        model.certify(X[:, :39], y)
    with pytest.raises(ValueError, match="X has 39 features, but IRKSN is expecting 40"):
        model.certify(aslinearoperator(X[:, :39]), y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.certify(X, y[:-1])
    with pytest.raises(ValueError, match="contains NaN"):
        model.certify(X, np.r_[np.nan, y[1:]])
    with pytest.raises(ValueError, match="a model of one target, got 2: fit and certify the col"):
        IRKSN(k=3, max_iter=5).fit(X, np.c_[y, y]).certify(X, y)
    with pytest.raises(ValueError, match=r"nothing to certify: coef_ is all zero.*walk further"):
        IRKSN(k=3, max_iter=5).fit(X, 0 * y).certify(X, y)
    with pytest.raises(Exception, match="not fitted"):
        IRKSN().certify(X, y)


@pytest.mark.filterwarnings("ignore:No signal")
@pytest.mark.parametrize(
    ("model", "why"),
    [
        (AutoIRKSN(), "can be distinguished from noise.*signal_"),
        (IRKSNIC(), "preferred to all others"),
    ],
    ids=str,
)
def test_an_empty_answer_is_not_asked_to_walk_further(model, why):
    rng = np.random.default_rng(0)
    X, noise = rng.standard_normal((60, 100)), rng.standard_normal(60)
    model.fit(X, noise)
    assert not model.support_.any()
    with pytest.raises(ValueError, match=f"there is nothing to certify: .*{why}") as said:
        model.certify(X, noise)
    assert "walk further" not in str(said.value)


@pytest.mark.parametrize(
    "model",
    [IRKSN(k=3), KSN(k=3), IHT(k=3), IRCR(), SRDI(), IRKSNIC(), IRKSNCV(max_iter=60), AutoIRKSN()],
    ids=str,
)
def test_select_from_model_keeps_every_chosen_feature(data, model):
    X, y = data
    selector = SelectFromModel(model).fit(X, y)
    np.testing.assert_array_equal(selector.get_support(), selector.estimator_.support_)
    np.testing.assert_array_equal(selector.transform(X), selector.estimator_.transform(X))
    assert "penalty" not in model.get_params()


# -- words while working -------------------------------------------------------------------

TALKING = [
    IRKSN(k=3), KSN(k=3), IHT(k=3), SRDI(), IRCR(), IROSR(), IRKSNIC(), IRKSNCV(cv=3),
    AutoIRKSN(cv=3), PathIC("lasso"), PathCV("iht", cv=3),
]  # fmt: skip


@pytest.mark.parametrize("model", TALKING, ids=lambda model: type(model).__name__)
def test_verbose_shows_every_phase_of_a_fit(model, data, monkeypatch):
    told = []

    class Probe(ProgressLine):
        def __init__(self, *args):
            super().__init__(*args)
            told.append(self.root)

        def draw(self):
            pass

        def closed(self, phase):
            told.append(phase)

    monkeypatch.setattr("ksupport._common.progress.ProgressLine", Probe)
    X, y = data
    model = clone(model).set_params(max_iter=500).fit(X, y)
    model.predict(X)
    model.certify(X, y)
    assert told == []  # silent, if not asked
    model.set_params(verbose=True).fit(X, y)
    root, *phases = told
    assert root.name == type(model).__name__
    assert root.passes is not None
    assert root.passes() == model.n_passes_
    names = {phase.name for phase in phases}
    assert "centring X" in names
    assert {phase.share for phase in phases if phase.name.startswith("walking")} == {1.0}
    told.clear()
    model.certify(X, y)
    assert "checking the recovery conditions" in {phase.name for phase in told}


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (AutoIRKSN(fit_intercept=-1), "fit_intercept must be True or False, got -1"),
        (IRKSNCV(fit_intercept=np.nan), "fit_intercept must be True or False, got nan"),
        (AutoIRKSN(standardize=[]), "standardize must be True or False, got"),
        (IRKSN(warm_start="no"), "warm_start must be True or False, got 'no'"),
        (IRKSNIC(alpha="x"), "alpha must be a number, got 'x'"),
        (SRDI(kappa="x"), "kappa must be a number, got 'x'"),
        (IRCR(sigma=[]), "sigma must be a number, got"),
        (PathIC(grid=[]), "grid must be a dict of lists"),
        (IRKSNCV(scoring=-1), "scoring must be a name, a function or None, got -1"),
        (IRKSN(max_iter=True), "max_iter must be an integer of at least 1, got True"),
        (IHT(step=[]), "step must be a positive number"),
        (IHT(unpenalized=np.nan), "unpenalized must be None, names"),
    ],
    ids=repr,
)
def test_parameters_of_another_type_are_named(model, message):
    X = np.random.default_rng(0).standard_normal((20, 4))
    with pytest.raises(ValueError, match=message):
        model.fit(X, X[:, 0])


@pytest.mark.parametrize("kind", ["datetime64[D]", "timedelta64[D]"])
def test_dates_are_no_numbers(kind):
    X = np.arange(80).reshape(20, 4).astype(kind)
    with pytest.raises(ValueError, match=r"X must hold numbers, got .*give dates as days"):
        AutoIRKSN().fit(X, np.arange(20.0))


def test_periods_and_intervals_are_no_numbers():
    pd = pytest.importorskip("pandas")
    for column in (pd.period_range("2020", periods=20), pd.interval_range(0, 20)):
        frame = pd.DataFrame(MEASURED, columns=list("abcd")).assign(b=column)
        with pytest.raises(ValueError, match=r"X must hold numbers, got (period|interval)"):
            AutoIRKSN().fit(frame, MEASURED[:, 0])


def test_an_operator_without_its_adjoint_is_told_what_it_needs():
    X = LinearOperator(MEASURED.shape, matvec=MEASURED.__matmul__, dtype=float)
    with pytest.raises(ValueError, match=r"no products with its adjoint .* give .* rmatvec"):
        IRKSN(max_iter=5).fit(X, MEASURED[:, 0])


def test_weights_that_are_text_are_named():
    X = np.random.default_rng(0).standard_normal((20, 4))
    with pytest.raises(ValueError, match="sample_weight must hold numbers"):
        AutoIRKSN().fit(X, X[:, 0], sample_weight=["a"] * 20)


MEASURED = np.random.default_rng(0).standard_normal((20, 4))
WITH_TEXT = MEASURED.astype(object)
WITH_TEXT[3, 2] = "tall"


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (WITH_TEXT, "X holds text, such as 'tall' in row 3, column 2; encode it"),
        (WITH_TEXT.tolist(), "X holds text, such as 'tall' in row 3, column 2; encode it"),
        (WITH_TEXT.astype("S9"), "X holds text, such as 'tall' in row 3, column 2; encode it"),
        ({"a": range(20)}, "X must be a 2-D array of numbers, .* got dict"),
        (None, "X must be a 2-D array of numbers, .* got NoneType"),
        ((row for row in MEASURED), "X must be a 2-D array of numbers, .* got generator"),
        (np.zeros(20, [("a", float)]), "got a structured array of a; give pandas.DataFrame"),
        ([*MEASURED[:19].tolist(), [1.0]], "rows of X must have as many entries each, got from 1"),
    ],
)
@pytest.mark.parametrize("model", [IRKSN(max_iter=5), AutoIRKSN()], ids=repr)
def test_an_x_that_is_no_matrix_of_numbers_is_described(model, X, message):
    with pytest.raises(ValueError, match=message):
        clone(model).fit(X, MEASURED[:, 0])


def test_text_is_named_in_rows_to_predict_and_in_y():
    model = IRKSN(max_iter=5).fit(MEASURED.astype(str), MEASURED[:, 0])  # text that is numbers
    with pytest.raises(ValueError, match="X holds text, such as 'tall' in row 3, column 2"):
        model.predict(WITH_TEXT)
    with pytest.raises(ValueError, match=r"y holds text, such as 'tall' in row 3; .* classifier"):
        model.fit(MEASURED, WITH_TEXT[:, 2])


@pytest.mark.parametrize("method", [None, 3, [], {}, b"irksn", IRKSN])
def test_a_method_that_is_no_name_is_refused(method):
    for fit in (PathIC(method).fit, PathCV(method).fit, lambda X, y: path(method, X, y)):
        with pytest.raises(ValueError, match="method must be one of irksn, ksn"):
            fit(MEASURED, MEASURED[:, 0])


def test_parameters_beside_a_method_that_has_them_are_refused():
    with pytest.raises(TypeError, match="k cannot be set beside a method that has its parameters"):
        path(IRKSNMethod(k=2), MEASURED, MEASURED[:, 0], k=3)


def test_ksn_takes_the_word_that_stands_for_its_step_and_no_other():
    X, y, _ = make_correlated_data(30, 10, random_state=0)
    assert KSN(L="backtracking", max_iter=50).fit(X, y).support_.any()
    with pytest.raises(ValueError, match="L must be a number"):
        KSN(L="auto").fit(X, y)
