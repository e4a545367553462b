"""Coefficients that cannot be negative: what their signs say for a model.

Their prior is a normal one cut off at zero.  Then the evidence is that of the normal prior, times
what its posterior has in the positive orthant, over what the prior has there, one half for each
coefficient; the former is about the product over single coefficients.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr

from ..design import Floats


def price_of_signs(coef: Floats, z: Floats, counted: Floats | float = 1.0) -> float:
    """-2 log of that, given how many standard deviations coefficients are away from zero.

    Each coefficient is counted by so much.  A model of which a feature (a row of ``coef``) has no
    positive coefficient is not to be had: the one without that feature does as well.  The compiled
    search for few features has the same (`_evidence_kernels.signs_price`).
    """
    if not (coef > 0).any(axis=-1).all():
        return np.inf
    return -2.0 * float(np.sum(counted * (np.log(2.0) + log_ndtr(z))))
