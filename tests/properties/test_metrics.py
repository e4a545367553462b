"""Scores of supports, of coefficients and of orders of survival."""

import numpy as np
import scipy.sparse as sp
from hypothesis import assume
from hypothesis import strategies as st

from ksupport.metrics import (
    concordance,
    model_error,
    support_f1,
    support_precision,
    support_recall,
)

from .inputs import LAYOUTS, exponents, holds, layouts, plain, wild

pairs = st.integers(1, 12).flatmap(
    lambda d: st.tuples(*[st.lists(wild, min_size=d, max_size=d).map(np.array)] * 2)
)
SCORES = (support_f1, support_precision, support_recall)


@holds(pair=pairs)
def test_truth_and_estimate_swap_precision_and_recall(pair):
    truth, w = pair
    precision, recall = support_precision(truth, w), support_recall(truth, w)
    assert (precision, recall) == (support_recall(w, truth), support_precision(w, truth))
    f1 = support_f1(truth, w)
    assert f1 == support_f1(w, truth)
    both = precision + recall
    assert np.isclose(f1, 2 * precision * recall / both if both else 0.0)
    assert 0 <= f1 <= 1


@holds(pair=pairs, layout=layouts, dtype=st.sampled_from([float, np.float32, bool]))
def test_a_batch_is_its_rows_dense_or_sparse_and_a_mask_its_vector(pair, layout, dtype):
    truth, w = pair
    with np.errstate(over="ignore", under="ignore"):
        batch = LAYOUTS[layout](np.stack([w, np.roll(w, 1), truth]).astype(dtype))
    for score in SCORES:
        rows = [score(truth, row) for row in batch]
        np.testing.assert_array_equal(score(truth, batch), rows)
        np.testing.assert_array_equal(score(truth != 0, batch), rows)
        if layout != "other bytes":
            np.testing.assert_array_equal(score(truth, sp.csr_array(batch)), rows)


@holds(pair=pairs, exponent=exponents)
def test_errors_are_distances_at_every_scale(pair, exponent):
    truth, w = (np.clip(np.nan_to_num(v), -10, 10) for v in pair)
    expected = float(np.sqrt(np.sum((w - truth) ** 2)))
    scaled = model_error(np.ldexp(truth, exponent), np.ldexp(w, exponent))
    np.testing.assert_allclose(np.ldexp(scaled, -exponent), expected, rtol=1e-9, atol=1e-12)
    batch = sp.csr_array(np.ldexp(np.stack([w, truth]), exponent))
    both = np.ldexp(model_error(np.ldexp(truth, exponent), batch), -exponent)
    np.testing.assert_allclose(both, [expected, 0.0], rtol=1e-9, atol=1e-12)


@st.composite
def survival(draw):
    n = draw(st.integers(2, 12))
    time = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    event = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    risk = draw(st.lists(plain, min_size=n, max_size=n))
    return np.column_stack([time, event]).astype(float), np.array(risk)


@holds(drawn=survival(), layout=layouts)
def test_concordance_is_a_count_of_pairs(drawn, layout):
    y, risk = drawn
    right = pairs = 0.0
    for t, event, r in zip(*y.T, risk, strict=True):
        for other_t, other_event, other in zip(*y.T, risk, strict=True):
            if event and (other_t > t or (other_t == t and not other_event)):
                pairs += 1
                right += 0.5 if abs(r - other) <= 1e-8 else float(r > other)
    assume(pairs)
    assert np.isclose(concordance(LAYOUTS[layout](y), LAYOUTS[layout](risk)), right / pairs)
    assert np.isclose(concordance(y, -risk), 1 - right / pairs)
