"""What a notebook shows: scikit-learn's diagram, and before it what the fit found."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import sklearn

import ksupport
from ksupport import IHT, IRKSN, AutoIRKSN, stability_selection
from ksupport.datasets import make_block_data
from ksupport.explain.models import chosen_by
from ksupport.stopping import Discrepancy, StoppingCallback
from ksupport.theory import recovery_report

NASTY = "<script>alert(1)</script>"
ESTIMATORS = [
    getattr(ksupport, name)
    for name in ksupport.__all__
    if isinstance(getattr(ksupport, name), type) and hasattr(getattr(ksupport, name), "fit")
]


class Cells(HTMLParser):
    """The rows of the tables before scikit-learn's diagram, and what ran."""

    def __init__(self, page):
        super().__init__()
        self.rows, self.tags = [], []
        self.feed(page.split("<style>")[0])

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])

    def handle_data(self, data):
        if self.tags[-1] in ("td", "th"):
            self.rows[-1].append(data)


@pytest.fixture(scope="module")
def data():
    X, y, _ = make_block_data(50, 30, block_size=10, n_active_blocks=1, random_state=0)
    return X, y


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: each.__name__)
def test_every_estimator_shows_what_it_found(data, estimator, as_asked):
    model = estimator(max_iter=60)
    before = model._repr_html_()
    assert "of 30 features" not in before
    X, y = data
    after = model.fit(X, as_asked(model, y))._repr_html_()
    labels = model._loss.name != "squared"
    assert f"{estimator.__name__}: {model.support_.sum()} of 30 features" in after
    asked = [after.index(each) for each in ("cross_val_score", "stability_selection")]
    assert ("certify" in after.split("<table")[0]) != labels  # conditions are of squares
    asked += [] if labels else [after.index("certify")]
    assert asked == sorted(asked)  # what tells most comes first
    assert "sk-top-container" in after.split("</table></div>", 1)[1]  # scikit-learn's, whole
    (head, *rows), coef = Cells(after).rows, np.ravel(model.coef_)
    if hasattr(model, "probability_"):
        assert head == ["feature", "probability", "coefficient"]
        rows = [row for row in rows if row[0].startswith("x")]  # without those beneath
        first = [int(row[0][1:]) for row in rows]
        assert (np.diff(model.probability_[first]) <= 1e-9).all()  # most certain first
        assert model.support_[first].all()
    else:
        assert head == ["feature", "coefficient"]
        first = np.argsort(-np.abs(coef), kind="stable")[: min(10, model.support_.sum())]
        assert [row[0] for row in rows] == [f"x{j}" for j in first]
    np.testing.assert_allclose([float(row[-1]) for row in rows], coef[first], rtol=1e-3)
    assert model._repr_mimebundle_()["text/html"].startswith(after.split("<style>")[0])


def test_names_are_escaped(data):
    pd = pytest.importorskip("pandas")
    X, y = data
    frame = pd.DataFrame(X, columns=[f"{NASTY}{j}" for j in range(30)])
    page = IRKSN(k=3, max_iter=50).fit(frame, y)._repr_html_()
    cells = Cells(page)
    assert "script" not in cells.tags
    assert cells.rows[1][0].startswith("<script>alert")
    assert NASTY not in page


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (IRKSN(k=3, max_iter=20), "k=3, alpha=0.01: kept step 20 of 20; it walked all the steps"),
        (IRKSN(k=3, stopping="held_out"), "the stopping rule held_out ended the walk"),
        (IRKSN(k=3, stopping=Discrepancy()), "the stopping rule Discrepancy ended the walk"),
    ],
    ids=str,
)
def test_it_says_where_and_why_the_walk_ended(data, model, words):
    assert words in model.fit(*data)._repr_html_()


def test_a_callback_that_ended_the_walk_is_named(data):
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
    model = IRKSN(k=3).set_callbacks(StoppingCallback(Discrepancy()))
    assert "a callback ended the walk" in model.fit(*data)._repr_html_()


def test_the_decision_of_auto_is_there(data):
    model = AutoIRKSN(max_iter=100).fit(*data)
    assert model.decision_ in model._repr_html_()


def test_many_targets_fit_on_a_page(data):
    X, y = data
    Y = np.column_stack([np.roll(y, i) for i in range(8)])
    rows = Cells(IRKSN(k=3, max_iter=50).fit(X, Y)._repr_html_()).rows
    assert rows[0] == ["feature", *(f"target {i}" for i in range(5))]


def test_an_empty_model_has_no_table(data):
    X, y = data
    page = IRKSN(k=3, max_iter=5).fit(X, 0 * y)._repr_html_()
    assert "IRKSN: 0 of 30 features" in page
    assert Cells(page).rows == []


def test_text_mode_is_respected(data):
    model = IRKSN(k=3, max_iter=20).fit(*data)
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert list(model._repr_mimebundle_()) == ["text/plain"]


CONTROL = ["\x1b[31mred", "two\nlines", "b\x07ell", "\u202eright to left", "next\x85line"]


def test_names_cannot_steer_a_terminal_whatever_is_printed(rng):
    X = rng.standard_normal((40, 5))
    X[:, 1:4] = X[:, :1] + 0.01 * rng.standard_normal((40, 3))  # near-duplicates, all named
    y = 3 * X[:, 0] + 0.3 * rng.standard_normal(40)
    frame = pd.DataFrame(X, columns=CONTROL)
    model = IRKSN(k=2).fit(frame, y)
    report = model.certify(frame, y)
    stability = stability_selection(IHT(k=2), frame, y, n_pairs=5, random_state=0)
    texts = [
        str(report), *report.words, report._repr_html_(), str(recovery_report(frame, model.coef_)),
        str(stability), stability.words, stability._repr_html_(), model._found(),
        chosen_by(model).words,
    ]  # fmt: skip
    assert any(r"\x1b[31mred" in text for text in texts)
    for text in texts:
        assert not set("\x1b\x07\u202e\x85") & set(text)
        assert "two\nlines" not in text
