"""Those who use an estimator without knowing it: scikit-learn's own tools, and other packages."""

import copy
import os
import pickle
import subprocess
import sys

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import AdaBoostRegressor, BaggingRegressor, VotingRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import (
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    cross_val_predict,
    learning_curve,
    validation_curve,
)
from sklearn.multioutput import MultiOutputRegressor, RegressorChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from ksupport import IRKSN, IRKSNCV, IRKSNIC, KSN, AutoIRKSN, PathCV
from ksupport.explain.models import chosen_by

MODELS = [
    IRKSN(k=3, max_iter=100),
    KSN(k=3),
    AutoIRKSN(cv=3, max_iter=50),
    IRKSNCV(k=[2, 4], max_iter=50),
    IRKSNIC(max_iter=50),
    PathCV("omp", cv=3),
]
NAMES = [f"f{j}" for j in range(12)]
DRAW = np.random.default_rng(0)
X = DRAW.standard_normal((60, 12))
y = X[:, :3] @ [3.0, -2.0, 2.0] + 0.1 * DRAW.standard_normal(60)


@pytest.fixture(params=MODELS, ids=lambda model: type(model).__name__)
def model(request):
    return clone(request.param)


def fits(estimator, target=y):
    """It explains what it was fitted to."""
    assert estimator.fit(X, target).score(X, target) > 0.9


# -- copies ----------------------------------------------------------------------------------


def by_joblib(model, folder):
    joblib.dump(model, folder / "model")
    return joblib.load(folder / "model")


COPIES = {
    "pickle": lambda model, folder: pickle.loads(pickle.dumps(model)),
    "deepcopy": lambda model, folder: copy.deepcopy(model),
    "copy": lambda model, folder: copy.copy(model),
    "joblib": by_joblib,
}


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_predicts_and_shows_the_same(model, how, tmp_path):
    model.fit(X, y)
    other = COPIES[how](model, tmp_path)
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    assert other._repr_html_().partition("<style")[0] == model._repr_html_().partition("<style")[0]


def test_a_clone_has_the_parameters_and_nothing_learnt(model):
    other = clone(model.fit(X, y))
    assert not hasattr(other, "coef_")
    assert repr(other) == repr(model)


# -- frames ----------------------------------------------------------------------------------


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_frames_come_out_as_asked_with_their_names(model, package):
    frame = pytest.importorskip(package).DataFrame(dict(zip(NAMES, X.T, strict=True)))
    out = model.set_output(transform=package).fit(frame, y).transform(frame)
    assert isinstance(out, type(frame))
    assert list(out.columns) == list(model.get_feature_names_out())
    assert set(NAMES[:3]) <= set(out.columns)


@pytest.mark.parametrize("sparse", [True, False])
def test_columns_of_all_kinds_pass_through_a_transformer(model, sparse):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=NAMES).assign(group=list("abcde") * 12)
    encode = OneHotEncoder(sparse_output=sparse)
    columns = [("numbers", StandardScaler(), NAMES), ("groups", encode, ["group"])]
    columns = ColumnTransformer(columns, sparse_threshold=float(sparse))
    if not sparse:
        columns.set_output(transform="pandas")
    assert make_pipeline(columns, model).fit(frame, y).score(frame, y) > 0.9


# -- scikit-learn's tools --------------------------------------------------------------------


def test_it_is_bagged_boosted_and_asked_to_vote(model):
    fits(BaggingRegressor(model, n_estimators=3, random_state=0))
    fits(AdaBoostRegressor(model, n_estimators=2, random_state=0))
    fits(VotingRegressor([("one", model), ("other", clone(model))]))


@pytest.mark.filterwarnings("ignore:No signal:ksupport.NoSignalWarning")  # of other features
def test_a_bag_takes_features_and_weights(model):
    bag = BaggingRegressor(model, n_estimators=3, max_features=0.5, random_state=0)
    assert bag.fit(X, y, sample_weight=np.ones(60)).predict(X).shape == (60,)


def test_it_predicts_several_and_transformed_targets(model):
    both = np.column_stack([y, X[:, 5] - y])
    fits(MultiOutputRegressor(model), both)
    fits(RegressorChain(model), both)
    # asinh bends y, so that no linear model explains it as well
    bent = TransformedTargetRegressor(model, func=np.arcsinh, inverse_func=np.sinh).fit(X, y)
    assert np.corrcoef(bent.predict(X), y)[0, 1] > 0.8


def test_it_is_judged_on_folds(model):
    assert np.corrcoef(cross_val_predict(model, X, y, cv=3), y)[0, 1] > 0.9
    _, _, held_out = learning_curve(model, X, y, cv=3, train_sizes=[0.5, 1.0])
    assert held_out.min() > 0.8
    grid = {"param_name": "fit_intercept", "param_range": [True, False]}
    assert validation_curve(model, X, y, cv=3, **grid)[1].min() > 0.8


def test_it_is_searched_by_halves(model):
    grid, common = {"fit_intercept": [True, False]}, {"cv": 3, "random_state": 0}
    fits(HalvingGridSearchCV(model, grid, min_resources=30, **common))
    fits(HalvingRandomSearchCV(model, grid, n_candidates=2, min_resources=30, **common))


def test_the_walk_is_what_is_halved():
    search = HalvingGridSearchCV(
        IRKSN(), {"k": [1, 2, 3]}, resource="max_iter", max_resources=9, cv=3, random_state=0
    )
    fits(search)
    assert search.best_params_["k"] == 3


def test_it_is_inspected(model):
    if "predict_by" in model.get_params():  # an average over models has not the slopes of one
        model.set_params(predict_by="support")
    model.fit(X, y)
    shuffled = permutation_importance(model, X, y, n_repeats=2, random_state=0)
    assert set(np.argsort(-shuffled.importances_mean)[:3]) == {0, 1, 2}
    curve = partial_dependence(model, X, [0], grid_resolution=5, kind="average")
    slopes = np.diff(curve["average"][0]) / np.diff(curve["grid_values"][0])
    np.testing.assert_allclose(slopes, model.coef_[0], rtol=1e-6)


def test_scikit_learn_s_checks_pass_with_scipy_s_array_api_switched_on():
    code = (
        "from sklearn.utils.estimator_checks import check_estimator;"
        "from ksupport import IRKSN, IRKSNIC;"
        "[check_estimator(each, on_skip=None) for each in (IRKSN(), IRKSNIC())];"
        "print('passed')"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True, text=True, env=os.environ | {"SCIPY_ARRAY_API": "1"},
    )  # fmt: skip
    assert done.stdout.strip() == "passed", done.stderr


# -- other packages --------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
def test_skops_asks_to_trust_the_class_and_what_it_chose(model):
    skops = pytest.importorskip("skops.io")
    data = skops.dumps(model.fit(X, y))
    kind = f"{type(model).__module__}.{type(model).__name__}"
    trusted = ["ksupport.choosing.selection.Selection", kind]
    trusted += ["ksupport.walking.history.History"] * hasattr(model, "history_")
    assert skops.get_untrusted_types(data=data) == trusted
    same = skops.loads(data, trusted=trusted)
    np.testing.assert_array_equal(same.predict(X), model.predict(X))
    assert chosen_by(same).words == chosen_by(model).words


@pytest.mark.filterwarnings("ignore")
def test_mlflow_keeps_a_model_that_is_trusted(tmp_path):
    mlflow = pytest.importorskip("mlflow.sklearn")
    model = AutoIRKSN(cv=3, max_iter=50).fit(X, y)
    types = ["ksupport.estimators.auto.AutoIRKSN", "ksupport.choosing.selection.Selection"]
    trusted = {"skops_trusted_types": types}
    mlflow.save_model(model, tmp_path / "model", pip_requirements=["ksupport"], **trusted)
    read = mlflow.load_model(str(tmp_path / "model"))
    np.testing.assert_array_equal(read.predict(X), model.predict(X))


@pytest.mark.filterwarnings("ignore")
def test_onnx_runs_what_the_converter_of_linear_models_wrote(model):
    skl2onnx = pytest.importorskip("skl2onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    from skl2onnx.common.shape_calculator import calculate_linear_regressor_output_shapes
    from skl2onnx.operator_converters.linear_regressor import convert_sklearn_linear_regressor

    skl2onnx.update_registered_converter(
        type(model), f"Ksupport{type(model).__name__}",
        calculate_linear_regressor_output_shapes, convert_sklearn_linear_regressor,
    )  # fmt: skip
    rows = X.astype(np.float32)
    written = skl2onnx.to_onnx(model.fit(X, y), rows[:1]).SerializeToString()
    session = onnxruntime.InferenceSession(written, providers=["CPUExecutionProvider"])
    found = session.run(None, {"X": rows})[0].ravel()
    np.testing.assert_allclose(found, model.predict(X), rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_mapie_covers_rows_that_were_not_seen(model):
    regression = pytest.importorskip("mapie.regression")
    intervals = regression.CrossConformalRegressor(model, confidence_level=0.9, cv=5)
    _, ends = intervals.fit_conformalize(X[:45], y[:45]).predict_interval(X[45:])
    inside = (ends[:, 0, 0] <= y[45:]) & (y[45:] <= ends[:, 1, 0])
    assert inside.mean() >= 0.8


@pytest.mark.filterwarnings("ignore")
def test_shap_values_are_contributions_to_the_prediction(model):
    shap = pytest.importorskip("shap")
    model.fit(X, y)
    values = shap.LinearExplainer(model, X)(X)
    np.testing.assert_allclose(values.values, model.coef_ * (X - X.mean(axis=0)), atol=1e-9)
    np.testing.assert_allclose(values.values.sum(axis=1) + values.base_values, model.predict(X))
