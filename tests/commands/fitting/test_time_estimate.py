"""Large data are looked at before a fit, to say how long it may take."""

from pathlib import Path

import numpy as np
import pytest

from ksupport.commands.fitting import fitted as pacing
from ksupport.reading import Data


@pytest.fixture
def data():
    X = np.random.default_rng(0).standard_normal((50, 400))
    return Data(Path("data.csv"), tuple(f"x{j}" for j in range(400)), X, X[:, 0])


def test_small_data_need_no_words(data):
    assert pacing.time_estimate(data) is None


def test_the_time_of_a_pass_is_that_of_its_part(data, monkeypatch):
    seen = []
    monkeypatch.setattr(pacing, "LARGE", 100)
    monkeypatch.setattr(pacing, "_seconds_of", lambda X: seen.append(X.shape) or 0.5)
    words = pacing.time_estimate(data)
    assert seen == [(50, 8)]  # 2 % of the columns
    assert "takes about 25 s" in words  # fifty times as long
    assert words.endswith("6 to 20 of them: expect 2 min to 8 min")


def test_a_product_is_timed(data):
    assert 0 < pacing._seconds_of(data.X) < 10
