"""The features of a model as tables: the chosen ones first, each with its substitutes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._common.extra import extra
from .._common.names import names_seen, shown
from ..choosing.selection import Selection
from ..design import Floats
from ..posterior.credible_sets import FeatureSet
from .cross_validation import Kind, metric_for
from .models import Model, chosen_by, one_coefficient, targets_of
from .univariate import Univariate, univariate

RATIO_LOSSES = ("logistic", "cox", "poisson")  # whose exponentials of coefficients are ratios
SAME_DECIMALS = 9  # probabilities that agree to so many decimals are equal


@dataclass(frozen=True)
class FeatureRow:
    """One feature: in the model, or a substitute for one that is."""

    feature: int
    probability: float | None  # posterior inclusion probability; None if not computed
    chosen: bool  # whether it is in the model
    set: int | None  # number of its credible set; None if it is in none of several features
    stands_in_for: int | None = None  # the more probable feature of the model that it could replace
    together: bool = False  # it acts together with that feature, rather than replacing it

    @property
    def prefix(self) -> str:
        """What stands before its name in lists: nothing, or its relation to the feature above."""
        if self.stands_in_for is None:
            return ""
        return "with " if self.together else "or "


def by_certainty(effects: Floats, chosen: Selection) -> list[int]:
    """The selected features, most probable first; equally probable ones by their effect."""
    features = np.flatnonzero(chosen.support)
    p = chosen.probability
    certain = np.zeros(features.size) if p is None else np.round(p[features], SAME_DECIMALS)
    size = np.abs(effects[features])
    size = np.round(size / (size.max(initial=0.0) or 1.0), SAME_DECIMALS)
    return features[np.lexsort((features, -size, -certain))].tolist()


def feature_rows(chosen: Selection, effects: Floats | None = None) -> list[FeatureRow]:
    """The features of a model, each followed by those that stand in for it."""
    if effects is None:  # the largest coefficients, relative to each target's maximum
        each = np.abs(np.atleast_2d(chosen.coef))
        most = each.max(axis=1, keepdims=True, initial=0.0)
        effects = np.asarray((each / np.where(most > 0, most, 1.0)).max(axis=0))
    order = by_certainty(effects, chosen)
    copies = {} if chosen.judgement is None else chosen.judgement.posterior.copies
    sets = shared_sets(chosen)
    place = {j: at for at, each in enumerate(sets) for j in each.features}
    listed: set[int] = set()
    rows = []
    for j in order:
        members = sets[place[j]].features if j in place else (j,)
        members = (*members, *(i for i in copies.get(j, ()) if i not in members))
        for i in sorted(members, key=lambda i: i != j):  # the one of the model first
            if i not in listed:
                rows.append(_found(chosen, i, sets, place.get(i), None if i == j else j))
        listed |= set(members)
    return rows


def _found(
    chosen: Selection, feature: int, sets: Sequence[FeatureSet], place: int | None, lead: int | None
) -> FeatureRow:
    p = None if chosen.probability is None else float(chosen.probability[feature])
    inside = bool(chosen.support[feature])
    together = inside and lead is not None and place is not None and act_together(sets[place])
    return FeatureRow(feature, p, inside, place, lead, together)


def act_together(features: FeatureSet) -> bool:
    """Whether several features of a set probably matter, rather than one of them."""
    return features.together > 0.5


def shared_sets(chosen: Selection) -> list[FeatureSet]:
    """The sets of more than one feature, most probable first."""
    judged = chosen.judgement
    return [] if judged is None else [each for each in judged.sets if len(each.features) > 1]


def frame_of(model: Model) -> Any:
    """What `LinearModel.to_frame` gives: a row for each feature, and each target if many."""
    with extra("data", "a data frame needs"):
        import pandas as pd
    chosen, names = chosen_by(model), names_seen(model)
    coef = np.atleast_2d(model.coef_)
    head = ["target", "feature", "name", "coefficient"]
    if not chosen.flat and chosen.probability is None:
        largest_first = [
            (target, j, _name(names, j), float(w[j]))
            for target, w in enumerate(np.where(chosen.support, coef, 0.0))
            for j in np.argsort(-np.abs(w), kind="stable")[: np.count_nonzero(w)].tolist()
        ]
        return pd.DataFrame(largest_first, columns=head)
    rows = [
        (target, each.feature, _name(names, each.feature), w, each.probability, each.set,
         each.stands_in_for)
        for each in feature_rows(chosen)
        for target, w in enumerate(coef[:, each.feature].tolist())
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=[*head, "probability", "set", "stands_in_for"])
    frame = frame.astype({"probability": float, "set": "Int64", "stands_in_for": "Int64"})
    for name, values in _effects(model).items():
        frame[name] = values[frame["target"], frame["feature"]]
    return frame.drop(columns="target") if chosen.flat else frame


def _effects(model: Model) -> dict[str, Floats]:
    """Over models, where they were sampled: of each target and feature."""
    posterior = getattr(model, "posterior_", None)
    if posterior is None or posterior.coefficients is None:
        return {}
    found = posterior.effects()
    columns = {name: getattr(found, name) for name in ("mean", "sd", "lower", "upper")}
    if model._loss.name in RATIO_LOSSES:
        ratios = found.ratios()
        columns |= {
            "ratio": ratios.mean, "ratio_lower": ratios.lower, "ratio_upper": ratios.upper
        }  # fmt: skip
    return {name: np.atleast_2d(values) for name, values in columns.items()}


def _name(names: Sequence[str] | None, feature: int) -> str:
    return f"x{feature}" if names is None else str(names[feature])


def feature_table(
    model: Model, X: Any = None, y: ArrayLike | None = None, names: Sequence[str] | None = None
) -> Any:
    """A row for each feature, best first; with X and y what each tells by itself, too."""
    with extra("data", "a data frame needs"):
        import pandas as pd
    chosen = chosen_by(model)
    names = names_seen(model) if names is None else names
    d = chosen.coef.shape[-1]
    columns: dict[str, Any] = {
        "feature": np.arange(d), "name": [_name(names, j) for j in range(d)]
    }  # fmt: skip
    p = np.ones(d)
    if X is not None and y is not None:
        alone = univariate(X, y, kind_of(model))
        p = np.nan_to_num(alone.p_value, nan=1.0)
        columns |= alone.columns
        columns |= {"univariate_effect": alone.effect, "p_value": alone.p_value}
        columns["q_value"] = alone.q_value
    columns |= _in_the_model(model, chosen, names)
    table = pd.DataFrame(columns).drop(index=model.unpenalized_)
    certain = np.nan_to_num(np.round(_probability(chosen), SAME_DECIMALS))
    size = np.abs(one_coefficient(model.coef_))
    order = np.lexsort((p, -size, ~chosen.support, -certain))
    order = order[np.isin(order, model.unpenalized_, invert=True)]
    table = table.loc[order].reset_index(drop=True).astype({"set": "Int64"})
    table.insert(0, "rank", np.arange(1, len(table) + 1))
    return table


def kind_of(model: Model) -> Kind:
    return metric_for(model._loss).kind


def _in_the_model(model: Model, chosen: Selection, names: Sequence[str] | None) -> dict[str, Any]:
    """The columns of the table that come from the model."""
    d, support = chosen.coef.shape[-1], chosen.support
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


def _probability(chosen: Selection) -> Floats:
    d = chosen.coef.shape[-1]
    return np.full(d, np.nan) if chosen.probability is None else chosen.probability


def ranked_list(names: Sequence[str], alone: Univariate) -> str:
    """Names and signed scores, largest first, separated by a tab: a ``.rnk`` file for enrichment.

    The score is -log10 of the p-value, with the sign of the effect; of more than two classes it
    has none.  Constant features have no score and are left out.
    """
    score = alone.signed_score
    order = np.argsort(-score, kind="stable")
    there = [j for j in order.tolist() if np.isfinite(score[j])]
    return "".join(f"{shown(str(names[j]), 1000)}\t{score[j]:.6g}\n" for j in there)
