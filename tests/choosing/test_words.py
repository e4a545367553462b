"""What is told of a judgement."""

from dataclasses import replace

import pytest

from ksupport import AutoIRKSN
from ksupport.choosing.words import Told, words_of
from ksupport.datasets import make_correlated_data


@pytest.fixture(scope="module")
def judgement():
    X, y, _ = make_correlated_data(60, 30, w_true=[3.0, -2.0] + [0.0] * 28, random_state=0)
    return AutoIRKSN().fit(X, y)._chosen.judgement


@pytest.mark.parametrize(
    ("few", "words"),
    [
        (0.9, "few features (probability 0.90) matter."),
        (0.51, "few features (probability 0.51) matter, or else groups of features that go"),
        (0.48, "groups of features that go together (probability 0.52) matter, or else few"),
        (0.1, "groups of features that go together (probability 0.90) matter."),
    ],
)
def test_what_is_hardly_more_probable_is_not_told_alone(judgement, few, words):
    assert words in words_of(replace(judgement, few=few), Told(2))


def test_that_effects_could_only_be_positive_is_told(judgement):
    assert words_of(judgement, Told(2)).startswith("2 features, expected")
    told = words_of(judgement, Told(2, positive=True))
    assert told.startswith("2 features of positive effect, expected")
    assert words_of(judgement, Told(1, positive=True)).startswith("1 feature of positive effect,")
