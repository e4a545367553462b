"""Bars are as long as conditions are far from their limits."""

import numpy as np
import pytest

from ksupport.datasets import make_example1, make_fmri_process
from ksupport.plotting import CertificateDisplay
from ksupport.theory import recovery_report

from .models import CHOSEN, ONE_PATH, name


def test_a_certificate_draws_every_condition():
    X, y, w = make_example1()
    ax = CertificateDisplay.from_report(recovery_report(X, w, y)).ax_
    widths = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(widths, [11 / 15, 11 / 15, 13 / 11, 13 / 11, 17 / 11])
    assert [text.get_text()[:5] for text in ax.texts] == ["holds"] * 2 + ["fails"] * 3


def test_a_certificate_on_dependent_columns():
    """No dual certificate exists for the signs: the bar is as long as the picture."""
    X, y, w = make_fmri_process(60, 100, random_state=0)
    ax = CertificateDisplay.from_report(recovery_report(X, w, y)).ax_
    texts = [text.get_text() for text in ax.texts]
    assert "no certificate" in texts[3]
    assert texts[0].startswith("holds")


@pytest.mark.parametrize("model", [ONE_PATH[0], CHOSEN[1]], ids=name)
def test_a_certificate_from_an_estimator(data, model):
    X, y, _ = data
    display = CertificateDisplay.from_estimator(model.fit(X, y), X, y)
    ax = CertificateDisplay.from_report(model.certify(X, y)).ax_
    drawn = [text.get_text() for text in ax.texts]
    assert [text.get_text() for text in display.ax_.texts] == drawn
    assert len(display.bars_) == len(drawn)
