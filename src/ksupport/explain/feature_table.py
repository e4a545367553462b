"""The table that people take away: every feature of the data, not only the chosen ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._common.extra import extra
from .._common.names import names_seen, shown
from ..choosing.chosen import Chosen
from ..design import Floats, Ints
from .found import act_together, shared_sets
from .measures import Kind, measure_for
from .models import Model, chosen_by, one_coefficient, targets_of
from .univariate import Univariate, univariate


def feature_table(
    model: Model, X: Any = None, y: ArrayLike | None = None, names: Sequence[str] | None = None
) -> Any:
    """A row for each feature, best first; with X and y what each tells by itself, too."""
    with extra("data", "a data frame needs"):
        import pandas as pd
    chosen = chosen_by(model)
    names = names_seen(model) if names is None else names
    d = chosen.coef.shape[-1]
    alone = None if X is None or y is None else univariate(X, y, kind_of(model))
    columns: dict[str, Any] = {
        "feature": np.arange(d),
        "name": [_name(names, j) for j in range(d)],
        **_alone(alone),
        **_in_the_model(model, chosen, names),
    }
    table = pd.DataFrame(columns).drop(index=model.unpenalized_)
    order = _order(chosen, one_coefficient(model.coef_), alone)
    order = order[np.isin(order, model.unpenalized_, invert=True)]
    table = table.loc[order].reset_index(drop=True).astype({"set": "Int64"})
    table.insert(0, "rank", np.arange(1, len(table) + 1))
    return table


def kind_of(model: Model) -> Kind:
    """What a model was fitted to explain."""
    return measure_for(model._loss).kind


def _alone(alone: Univariate | None) -> dict[str, Any]:
    if alone is None:
        return {}
    return {
        **alone.columns,
        "univariate_effect": alone.effect,
        "p_value": alone.p_value,
        "q_value": alone.q_value,
    }


def _in_the_model(model: Model, chosen: Chosen, names: Sequence[str] | None) -> dict[str, Any]:
    """What the model says of each feature; intervals of coefficients belong beside them."""
    d, support = chosen.coef.shape[-1], _support(chosen)
    member = np.full(d, None, object)
    instead: Any = np.full(d, None, object)
    for number, each in enumerate(shared_sets(chosen)):
        inside = [j for j in each.features if support[j]]
        for j in each.features:
            member[j] = number
            if inside and j not in inside and not act_together(each):
                lead = max(inside, key=lambda i: _probability(chosen)[i])
                instead[j] = _name(names, lead)
    columns: dict[str, Any] = {
        "probability": _probability(chosen), "set": member, "stands_in_for": instead,
        "chosen": support,
    }  # fmt: skip
    coef = np.atleast_2d(model.coef_)
    if len(coef) == 1:
        return columns | {"coefficient": coef[0]}
    each_one = zip(targets_of(model), coef, strict=True)
    return columns | {f"coefficient of {shown(name)}": row for name, row in each_one}


def _name(names: Sequence[str] | None, feature: int) -> str:
    return f"x{feature}" if names is None else str(names[feature])


def _probability(chosen: Chosen) -> Floats:
    d = chosen.coef.shape[-1]
    return np.full(d, np.nan) if chosen.probability is None else chosen.probability


def _support(chosen: Chosen) -> NDArray[np.bool_]:
    """Which features are in the model, of any target."""
    return np.asarray(np.atleast_2d(chosen.support).any(axis=0))


def _order(chosen: Chosen, coef: Floats, alone: Univariate | None) -> Ints:
    """By probability, then by membership and size of the coefficient, then by p-value."""
    p = np.ones(coef.size) if alone is None else np.nan_to_num(alone.p_value, nan=1.0)
    certain = np.nan_to_num(np.round(_probability(chosen), 9))
    return np.lexsort((p, -np.abs(coef), ~_support(chosen), -certain))


def ranked_list(names: Sequence[str], alone: Univariate) -> str:
    """Names and signed scores, largest first, separated by a tab: a ``.rnk`` file for enrichment.

    The score is -log10 of the p-value, with the sign of the effect; of more than two classes it
    has none.  Constant features have no score and are left out.
    """
    score = alone.signed_score
    order = np.argsort(-score, kind="stable")
    there = [j for j in order.tolist() if np.isfinite(score[j])]
    return "".join(f"{shown(str(names[j]), 1000)}\t{score[j]:.6g}\n" for j in there)
