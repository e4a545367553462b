"""Arrays that hold numbers in odd ways are the same numbers, or are refused by name."""

import warnings

import numpy as np
import pytest

from ksupport import IRKSN, AutoIRKSN, AutoIRKSNClassifier, AutoIRKSNSurvival

rng = np.random.default_rng(0)
X = rng.standard_normal((40, 6))
Y = {
    AutoIRKSN: X[:, 0] + 0.3 * rng.standard_normal(40),
    AutoIRKSNClassifier: (X[:, 0] > 0).astype(int),
    AutoIRKSNSurvival: np.rec.fromarrays(
        [np.arange(40) % 4 > 0, rng.exponential(np.exp(-X[:, 0]))], names="event,time"
    ).view(np.ndarray),
}
KINDS = list(Y)


def fitted(kind, X=X, y=None, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kind(cv=None).fit(X, Y[kind] if y is None else y, **options)


def masked(values):
    found = np.ma.masked_array(np.array(values, float))
    found[(2,) * found.ndim] = np.ma.masked
    return found


def too_large(values):
    found = np.array(values, object)
    found[(2,) * found.ndim] = 10**400
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_masked_entries_are_refused(kind):
    with pytest.raises(ValueError, match=r"^X has masked entries, 1 of 240: .*Incomplete"):
        fitted(kind, masked(X))
    with pytest.raises(ValueError, match=r"^X has masked entries, 1 of"):
        fitted(kind).predict(masked(X))
    if kind is not AutoIRKSNSurvival:
        with pytest.raises(ValueError, match=r"^y has masked entries, 1 of"):
            fitted(kind, y=masked(Y[kind]))
    with pytest.raises(ValueError, match=r"^groups has masked entries, 1 of"):
        fitted(kind, groups=masked(np.arange(40)))


def test_masked_weights_are_refused_and_a_mask_of_nothing_is_none():
    y = Y[AutoIRKSN]
    with pytest.raises(ValueError, match=r"^sample_weight has masked entries, 1 of"):
        IRKSN(k=2).fit(X, y, sample_weight=masked(np.ones(40)))
    plain, unmasked = IRKSN(k=2).fit(X, y), IRKSN(k=2).fit(np.ma.masked_array(X, False), y)
    assert np.array_equal(plain.coef_, unmasked.coef_)


@pytest.mark.parametrize("kind", KINDS)
def test_whole_numbers_beyond_the_range_of_floats_are_refused(kind):
    with pytest.raises(ValueError, match=r"entry beyond 1\.8e308"):
        fitted(kind, too_large(X))
    with pytest.raises(ValueError, match=r"entry beyond 1\.8e308"):
        fitted(kind).predict(too_large(X))
    with pytest.raises(ValueError, match="sample_weight must hold numbers: int too large"):
        fitted(kind, sample_weight=too_large(np.ones(40)))


def test_dates_are_no_response_and_no_weights():
    dates = np.arange(40).astype("M8[D]")
    for given in (dates, dates - dates[0]):
        with pytest.raises(ValueError, match=r"^y must hold numbers, got"):
            IRKSN(k=2).fit(X, given)
        with pytest.raises(ValueError, match=r"^sample_weight must hold numbers, got"):
            IRKSN(k=2).fit(X, Y[AutoIRKSN], sample_weight=given)


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_of_real_data_predicts_no_complex_rows(kind):
    with pytest.raises(ValueError, match=r"X is complex, but the model was fitted to real data"):
        fitted(kind).predict(X + 1j)


@pytest.mark.parametrize("of", [int, float, bool, np.float32])
def test_numbers_in_an_array_of_objects_are_classes(of):
    y = np.array([of(each) for each in Y[AutoIRKSNClassifier]], object)
    model = fitted(AutoIRKSNClassifier, y=y)
    assert np.array_equal(model.coef_, fitted(AutoIRKSNClassifier).coef_)
    assert model.classes_.tolist() == [of(0), of(1)]
    assert model.classes_.dtype.kind in "bif"
