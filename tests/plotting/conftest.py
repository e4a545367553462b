"""Figures that are drawn and closed after each test, and the data of most."""

import numpy as np
import pytest

from ksupport.datasets import make_block_data

matplotlib = pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def closed_figures():
    from matplotlib import pyplot

    yield
    for number in pyplot.get_fignums():  # what cannot be drawn fails here
        pyplot.figure(number).canvas.draw()
    pyplot.close("all")


@pytest.fixture(scope="module")
def data():
    X, y, w = make_block_data(60, 40, block_size=10, n_active_blocks=1, random_state=0)
    return X * np.linspace(1, 3, 40) + 2.0, y + 5.0, w / np.linspace(1, 3, 40)
