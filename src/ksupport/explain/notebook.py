"""What a notebook shows of a fitted estimator: what it found, then scikit-learn's diagram."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .._common.names import feature_name, names_seen
from .._common.render import Table, as_html, number
from ..choosing.selection import Selection
from .features import feature_rows
from .models import Model, adjusted_for, chosen_by, targets_of
from .wording import probability_text

ROWS_LISTED = 10  # features in the table
TARGETS = 5  # columns of it
JUDGE = (
    "To check it: sklearn.model_selection.cross_val_score measures how well held-out rows are "
    "predicted, ksupport.stability_selection how often half-samples select the same features"
)
CERTIFY = (
    "; model.certify(X, y) checks conditions that guarantee recovery, which are rarely met with "
    "noise"
)

Finding = tuple[str, Sequence[str], Sequence[Table]]  # title, sentences, tables


class ShownInNotebooks:
    """Puts what was found before the HTML form that scikit-learn gives every estimator.

    A subclass says in ``_finding`` what it found.  All of it is escaped: names may be any text.
    """

    def _finding(self) -> Finding:
        raise NotImplementedError

    def _found(self) -> str:
        """What was found, as HTML; nothing before the fit."""
        try:
            check_is_fitted(self)
        except NotFittedError:
            return ""
        return as_html(*self._finding())

    # The names are Jupyter's.  scikit-learn makes the first a property, which is missing where
    # ``sklearn.set_config(display="text")`` was called; the second then has no HTML.

    @property
    def _repr_html_(self) -> Callable[[], str]:
        diagram = super()._repr_html_  # type: ignore[misc]
        return lambda: self._found() + diagram()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._found() + bundle["text/html"]
        return bundle


def finding_of(model: Model) -> Finding:
    """What a linear model found: features, how they were chosen, and what to ask next."""
    chosen = chosen_by(model)
    candidates = model.n_features_in_ - model.unpenalized_.size
    title = f"{type(model).__name__}: {chosen.size} of {candidates} features"
    words = [chosen.words, *filter(None, [adjusted_for(model)])]
    if chosen.size and (chosen.flat or chosen.probability is not None):
        certified = chosen.flat and model._loss.name == "squared"
        words.append(JUDGE + (CERTIFY if certified else "") + ".")
    if not chosen.size:
        return title, words, []
    return title, words, [_features(model, chosen)]


def _features(model: Model, chosen: Selection) -> Table:
    """The first features, and beneath each those that stand in for it."""
    names, certain = names_seen(model), chosen.probability is not None
    coef = np.atleast_2d(model.coef_)[:TARGETS]
    found = feature_rows(chosen, None if certain else np.abs(coef).max(axis=0))
    rows = [
        (
            each.prefix + feature_name(names, each.feature),
            *[probability_text(each.probability or 0.0)] * certain,
            *(number(w) if each.chosen else "" for w in coef[:, each.feature]),
        )
        for each in found[:ROWS_LISTED]
    ]
    first = f"The {ROWS_LISTED} {'most probable' if certain else 'largest'}"
    title = "All" if len(found) <= ROWS_LISTED else first
    targets = ["coefficient"] if chosen.flat else targets_of(model)[:TARGETS]
    head = ("feature", *["probability"] * certain, *targets)
    return Table(f"{title}, in the units of X", head, rows)
