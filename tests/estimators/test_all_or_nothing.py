"""A fit that fails or is interrupted leaves the estimator exactly as it was."""

import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
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
    IRKSNCVClassifier,
    IRKSNICClassifier,
    PathCV,
    PathIC,
    estimators,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 8))
WIDER = RNG.standard_normal((50, 11))
ETA = 2 * X[:, 0] - 2 * X[:, 3]
NUMBERS = ETA + 0.3 * RNG.standard_normal(60)
COUNTS = RNG.poisson(np.exp(0.5 * ETA)) * 1.0
LABELS = np.where(ETA + RNG.logistic(size=60) > 0, "yes", "no")
SURVIVAL = np.column_stack([RNG.exponential(np.exp(-ETA)), RNG.random(60) < 0.7])

MODELS = [
    IRKSN(max_iter=20), KSN(max_iter=20), IRCR(max_iter=20), IROSR(max_iter=20), SRDI(max_iter=20),
    IHT(max_iter=20), PathIC(max_iter=50), PathCV(max_iter=50, cv=3), IRKSNIC(), IRKSNCV(cv=3),
    AutoIRKSN(cv=3), AutoIRKSN(cv=3, loss="huber"), IRKSNClassifier(max_iter=20),
    IRKSNICClassifier(), IRKSNCVClassifier(cv=3), AutoIRKSNClassifier(cv=3),
    AutoIRKSNSurvival(cv=3),
]  # fmt: skip


def named(model):
    return str(model)


def response_of(model):
    if isinstance(model, AutoIRKSNSurvival):
        return SURVIVAL
    return LABELS if "Classifier" in type(model).__name__ else NUMBERS


def other_of(model):
    """Data of another width and with other classes."""
    rows, response = np.arange(50), response_of(model)
    return WIDER, np.char.add("not ", response[rows]) if response is LABELS else response[rows]


class Before:
    """An estimator as it is now: attributes, what they hold, and what it predicts."""

    def __init__(self, model):
        self.model, self.attributes = model, dict(vars(model))
        self.content = pickle.dumps(vars(model))
        self.predicted = model.predict(X)

    def check(self):
        now = vars(self.model)
        assert now.keys() == self.attributes.keys()
        assert all(now[name] is value for name, value in self.attributes.items())
        assert pickle.dumps(now) == self.content
        assert_array_equal(self.model.predict(X), self.predicted)


def test_every_estimator_is_here():
    assert {type(model).__name__ for model in MODELS} == set(estimators.__all__)


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_a_fit_that_fails_changes_nothing(model):
    model = clone(model).fit(X, response_of(model))
    other, y = other_of(model)
    holes, steps = np.where(np.eye(50, 11) > 0, np.nan, other), model.max_iter
    for what, *data, max_iter in [
        ("NaN", holes, y, None, steps),
        (r"inconsistent|rows", other, y[:-1], None, steps),
        ("weight", other, y, -np.ones(50), steps),
        ("max_iter", other, y, None, 0),
    ]:
        model.set_params(max_iter=max_iter)
        before = Before(model)
        with pytest.raises(ValueError, match=what):
            model.fit(*data)
        before.check()


def test_counts_stay_counts_after_another_loss_has_failed():
    model = IRKSN(loss="poisson", max_iter=20).fit(X, COUNTS)
    means = model.predict(X)
    model.set_params(loss="squared")
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X, np.where(COUNTS > 2, np.nan, COUNTS))
    assert_array_equal(model.predict(X), means)
    assert (means > 0).all()


def test_classes_stay_those_of_the_coefficients():
    model = IRKSNClassifier(max_iter=20).fit(X, LABELS)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full_like(X, np.nan), np.arange(60) % 3)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.score(X, LABELS) > 0.7


HERE = str(Path(estimators.__file__).parent)


class Interrupting:
    """Ctrl-C at the n-th call of a function of the estimators."""

    def __init__(self, at):
        self.left = at

    def __call__(self, frame, event, arg):
        if event == "call" and frame.f_code.co_filename.startswith(HERE):
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt

    def __enter__(self):
        sys.setprofile(self)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)


def points_of(model):
    """How many such calls a fit on the other data makes; some of them, the last ones among them."""
    data = other_of(model)
    model = clone(model).fit(*data)  # what it needs is imported: that has many calls
    with Interrupting(-1) as counting:
        model.fit(*data)
    total = -1 - counting.left
    assert total > 10
    return sorted({*np.linspace(1, total, 5).astype(int).tolist(), total - 1, total})


@pytest.mark.filterwarnings("ignore:No signal", "ignore:No features")
@pytest.mark.parametrize("model", MODELS, ids=named)
def test_ctrl_c_anywhere_changes_nothing(model):
    points = points_of(model)
    model = clone(model).fit(X, response_of(model))
    before = Before(model)
    data = other_of(model)
    for at in points:
        with pytest.raises(KeyboardInterrupt), Interrupting(at):
            model.fit(*data)
        before.check()


def test_a_warm_start_goes_on_from_the_last_whole_fit():
    model, twin = (IRKSN(max_iter=10, warm_start=True).fit(X, NUMBERS) for _ in range(2))

    def failing(history):
        raise RuntimeError("after some steps")

    before = Before(model)
    model.set_params(stopping=failing)
    with pytest.raises(RuntimeError, match="after some steps"):
        model.fit(X, NUMBERS)
    model.set_params(stopping=None)
    before.check()
    assert model.fit(X, NUMBERS).n_iter_ == twin.fit(X, NUMBERS).n_iter_ == 20
    assert_allclose(model.coef_, twin.coef_, rtol=1e-12)


def test_attributes_that_users_set_stay():
    model = IRKSN(max_iter=20)
    model.note = "mine"
    assert model.fit(X, NUMBERS) is model
    assert model.note == "mine"


def test_a_second_fit_leaves_nothing_of_the_first():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X).add_prefix("x").assign(sex=np.where(X[:, 5] > 0, "f", "m"))
    model = IRKSNIC(unpenalized=["sex"]).fit(frame, NUMBERS)
    model.set_params(unpenalized=None).fit(X, NUMBERS)
    fresh = IRKSNIC().fit(X, NUMBERS)
    assert vars(model).keys() == vars(fresh).keys()
    assert_array_equal(model.coef_, fresh.coef_)
