"""Classifiers with more than two classes."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from ksupport import AutoIRKSNClassifier, IRKSNClassifier, NoSignalWarning, path
from ksupport.algorithms import make_method
from ksupport.choosing.evidence import Laplace
from ksupport.design import Problem, Weights
from ksupport.explain.models import walk_again
from ksupport.losses import Logistic, Multinomial
from ksupport.walking import run, working_set

RNG = np.random.default_rng(0)
X = RNG.standard_normal((150, 300))
W = np.zeros((4, 300))
W[:, [3, 50, 200]] = 3 * RNG.standard_normal((4, 3))
CLASS = np.array([RNG.choice(4, p=p / p.sum()) for p in np.exp(X @ W.T)])
LABELS = np.array(["blue", "green", "red", "teal"])[CLASS]


@parametrize_with_checks([IRKSNClassifier(k=1, alpha=0.5)])
def test_every_check_of_scikit_learn(estimator, check):
    check(estimator)


def test_classes_share_the_features_that_tell_them_apart():
    model = IRKSNClassifier(k=3, max_iter=15).fit(X, LABELS)
    assert set(np.argsort(-np.linalg.norm(model.coef_, axis=0))[:3]) == {3, 50, 200}
    assert model.coef_.shape == (4, 300)
    assert model.intercept_.shape == (4,)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(model.intercept_.sum(), 0.0, atol=1e-9)
    used = model.coef_ != 0
    np.testing.assert_array_equal(used.any(axis=0), used.all(axis=0))
    assert isinstance(model.n_iter_, int)
    assert model.decision_function(X).shape == (150, 4)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    assert model.score(X, LABELS) > 0.6


@pytest.mark.parametrize("options", [{}, {"unpenalized": [5]}, {"fit_intercept": False}])
def test_two_classes_are_the_logistic_model(options):
    y = (CLASS > 1) * 1.0
    binary = IRKSNClassifier(k=3, max_iter=25, **options).fit(X, y)

    class Many(IRKSNClassifier):
        @property
        def _given(self):
            return super()._given | {"loss": Multinomial(2)}

    many = Many(k=3, max_iter=25, **options).fit(X, y)
    np.testing.assert_allclose(many.coef_[1] - many.coef_[0], binary.coef_[0], atol=1e-7)
    np.testing.assert_allclose(
        many.intercept_[1] - many.intercept_[0], binary.intercept_[0], atol=1e-7
    )
    np.testing.assert_allclose(many.history_["residual"], binary.history_["residual"], rtol=1e-8)


def test_the_path_goes_to_maximum_likelihood():
    iris, y = load_iris(return_X_y=True)
    model = IRKSNClassifier(k=4, alpha=0.5, max_iter=3000).fit(iris, y)
    expected = LogisticRegression(C=1e10, max_iter=10_000).fit(iris, y)
    deviance = -2 * np.log(expected.predict_proba(iris)[np.arange(150), y]).sum()
    assert model.history_["residual"][-1] == pytest.approx(np.sqrt(deviance), rel=1e-3)


def test_the_intercepts_are_optimal():
    """Of no feature, the probabilities are shares; of any, they sum up to counts."""
    model = IRKSNClassifier(k=3, max_iter=10).fit(X, LABELS)
    counts = np.bincount(CLASS)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=0), counts, rtol=1e-6)
    weights = RNG.uniform(0.5, 2, 150)
    model = IRKSNClassifier(k=3, max_iter=10, unpenalized=[7]).fit(X, LABELS, weights)
    left = (model.predict_proba(X) - np.eye(4)[CLASS]) * weights[:, None]
    np.testing.assert_allclose(left.sum(axis=0), 0.0, atol=1e-5)
    np.testing.assert_allclose(X[:, 7] @ left, 0.0, atol=1e-5)


@pytest.mark.parametrize("kind", ["sparse", "operator", "memmap"])
def test_every_kind_of_x(kind, tmp_path):
    thin = np.where(np.abs(X) > 0.7, X, 0.0)
    expected = IRKSNClassifier(k=3, max_iter=15).fit(thin, LABELS).coef_
    if kind == "memmap":
        thin.tofile(tmp_path / "X")
        given = np.memmap(tmp_path / "X", thin.dtype, "r", shape=thin.shape)
    else:
        given = {"sparse": sp.csr_array, "operator": aslinearoperator}[kind](thin)
    found = IRKSNClassifier(k=3, max_iter=15).fit(given, LABELS).coef_
    np.testing.assert_allclose(found, expected, atol=1e-7)


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 0.6])
def test_the_walk_on_a_working_set_is_the_full_walk(alpha, monkeypatch):
    monkeypatch.setattr("ksupport.limits.ALL_AT_ONCE", 0)
    monkeypatch.setattr("ksupport.limits.COPIED_COLUMNS", 0)
    rows = np.arange(150)
    wide = np.hstack([X, np.random.default_rng(1).standard_normal((150, 500))])
    problem = Problem(wide, CLASS[:, None] * 1.0, Weights(), rows, True, False, loss=Multinomial(4))
    method = make_method("irksn", k=2, alpha=alpha, loss=Multinomial(4))
    lazy, plain = (method.start(problem.design, problem.targets[0]) for _ in range(2))
    plain._go_plain(working_set.FOREVER)  # type: ignore[attr-defined]
    (result,) = run([lazy], max_iter=30)
    assert problem.design.columns_read > 0
    expected = run([plain], max_iter=30)[0].iterates.toarray()
    np.testing.assert_allclose(
        result.iterates.toarray(), expected, atol=1e-7 * np.abs(expected).max()
    )


def test_the_numbering_of_classes_does_not_matter():
    order = np.array([2, 0, 3, 1])
    one = path("irksn", X, CLASS, k=3, loss="multinomial", max_iter=20).coef
    other = path("irksn", X, order[CLASS], k=3, loss="multinomial", max_iter=20).coef
    np.testing.assert_allclose(other[order], one, atol=1e-8)


def test_separated_classes_stay_finite():
    separated = X + 20 * np.eye(4)[CLASS] @ np.eye(4, 300)
    model = IRKSNClassifier(k=4, max_iter=300, standardize=True).fit(separated, LABELS)
    assert np.isfinite(model.coef_).all()
    assert model.score(separated, LABELS) == 1.0


def test_groups_weights_rules_and_warm_starts():
    groups = np.arange(300) // 3
    model = IRKSNClassifier(k=3, max_iter=10, feature_groups=groups).fit(X, LABELS)
    chosen = np.unique(groups[model.support_])
    assert model.support_.sum() == 3 * chosen.size
    held = IRKSNClassifier(k=3, stopping="held_out", class_weight="balanced", random_state=0).fit(
        X, LABELS
    )
    assert held.support_[[3, 50]].all()
    assert "validation" in held.history_
    whole = IRKSNClassifier(k=3, max_iter=20).fit(X, LABELS)
    parts = IRKSNClassifier(k=3, max_iter=10, warm_start=True).fit(X, LABELS).fit(X, LABELS)
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-9)
    again = walk_again(whole, X, LABELS, target=2)
    np.testing.assert_allclose(again.coef, whole.coef_[2], atol=1e-9)
    assert set(whole.to_frame()["target"]) == {0, 1, 2, 3}


# -- the automatic choice --------------------------------------------------------------------


@pytest.fixture(scope="module")
def chosen():
    return AutoIRKSNClassifier().fit(X, LABELS)


def test_the_automatic_choice_finds_what_tells_them_apart(chosen):
    np.testing.assert_array_equal(chosen.get_support(indices=True), [3, 50, 200])
    assert chosen.signal_
    assert chosen.coef_.shape == (4, 300)
    np.testing.assert_allclose(chosen.coef_.sum(axis=0), 0.0, atol=1e-9)
    assert chosen.probability_.shape == (300,)
    assert chosen.performance_.score > 0.4
    assert chosen.score(X, LABELS) > 0.7
    np.testing.assert_allclose(chosen.predict_proba(X).sum(axis=0), np.bincount(CLASS), rtol=1e-6)
    np.testing.assert_array_equal(chosen.classes_, np.unique(LABELS))


def test_its_coefficients_are_those_of_a_ridge(chosen):
    """On the standardised support, scikit-learn's regression of some strength agrees."""
    chosen = clone(chosen).set_params(predict_by="support").fit(X, LABELS)
    S = chosen.get_support(indices=True)
    scale = X[:, S].std(axis=0)
    w, Z = chosen.coef_[:, S] * scale, (X[:, S] - X[:, S].mean(axis=0)) / scale
    left = np.eye(4)[CLASS] - chosen.predict_proba(X)
    strength = float(np.sum((left.T @ Z) * w) / np.sum(w**2))  # the slope of the loss is -ridge w
    assert strength > 0
    expected = LogisticRegression(C=1 / strength, tol=1e-10, max_iter=10_000).fit(Z, LABELS)
    np.testing.assert_allclose(w, expected.coef_, atol=1e-4)


def test_the_order_of_classes_does_not_matter_to_it(chosen):
    names = np.array(["teal", "red", "blue", "green"])[CLASS]
    other = AutoIRKSNClassifier().fit(X, names)
    np.testing.assert_allclose(other.probability_, chosen.probability_, atol=1e-6)
    place = np.argsort(["teal", "red", "blue", "green"])
    np.testing.assert_allclose(other.coef_, chosen.coef_[place], atol=1e-6)


def test_two_of_several_classes_are_the_logistic_choice(monkeypatch):
    y = (CLASS > 1) * 1
    binary = AutoIRKSNClassifier().fit(X, y)
    monkeypatch.setattr("ksupport.estimators.labels.Logistic", lambda: Multinomial(2))
    many = AutoIRKSNClassifier().fit(X, y)
    assert many.coef_.shape == (2, 300)
    # Two contrasts have two coefficients where one has one: evidence differs, and not by much.
    np.testing.assert_array_equal(many.probability_ > 0.9, binary.probability_ > 0.9)
    np.testing.assert_allclose(many.probability_, binary.probability_, atol=0.25)
    assert many.performance_.score == pytest.approx(binary.performance_.score, abs=0.15)


def test_noise_has_no_signal():
    with pytest.warns(NoSignalWarning):
        model = AutoIRKSNClassifier().fit(X[:, 60:160], RNG.permutation(CLASS))
    assert not model.support_.any()
    np.testing.assert_allclose(model.predict_proba(X[:1, 60:160])[0], np.bincount(CLASS) / 150)


def test_a_class_of_one_row_can_be_held_out_by_no_fold():
    rare = np.where(np.arange(150) == 7, "rare", LABELS)
    model = AutoIRKSNClassifier().fit(X, rare)
    assert model.performance_ is None
    assert model.coef_.shape == (5, 300)


@pytest.mark.parametrize("columns", [2, 3])
def test_evidence_of_two_classes_is_that_of_the_logistic_loss(columns):
    """A coefficient of two classes is half of it each: prior, likelihood and volume agree."""
    Z, y, weights = X[:, :columns].T, (CLASS > 1) * 1.0, RNG.uniform(0.5, 2.0, 150)
    ones = np.ones((1, 150))
    one, two = (loss.on(y, weights, ones) for loss in (Logistic(), Multinomial(2)))
    assert two.curvature == pytest.approx(2 * one.curvature)
    (expected,) = Laplace.of(one, Z * one.roots, [one.curvature])
    (found,) = Laplace.of(two, Z * two.roots, [two.curvature])
    assert found.score_at(two) == pytest.approx(expected.score_at(one), abs=1e-8)
    np.testing.assert_allclose(found.coef[1] - found.coef[0], expected.coef, atol=1e-8)


def test_the_working_response_of_classes_has_the_gradient_and_curvature_of_the_loss():
    """Squares of the contrasts: ½‖response - Tf‖² has the loss's gradient at a model, as Tᵀ."""
    response = Multinomial(4).on(CLASS * 1.0, None, np.ones((1, 150)))
    fitted = 0.1 * RNG.standard_normal(600)
    g, eta, _ = response.gradient(fitted, np.zeros(4))
    root, inverse = response.loss.contrasts(eta.reshape(4, 150).T, response.weights)
    left = response.working_response(fitted).reshape(3, 150) - root @ fitted.reshape(4, 150)
    np.testing.assert_allclose(-root.T @ left, g.reshape(4, 150), atol=1e-10)
    np.testing.assert_allclose(root @ inverse.T, np.eye(3), atol=1e-10)
    p = response.loss.mean(eta.reshape(4, 150).T)
    mean = np.mean([np.diag(row) - np.outer(row, row) for row in p], axis=0)
    np.testing.assert_allclose(root.T @ root, mean, atol=1e-10)
