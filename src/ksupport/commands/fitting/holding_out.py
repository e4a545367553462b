"""A way to fit, judged on rows held out, beside a Lasso and a ridge."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from ..._common.names import listed, shown
from ...design import Genotypes, Ints
from ...explain.measures import Measure, measure_for
from ...explain.trials import NOTHING, Trials, trials_of
from ...explain.usual import Adjusting, Make, usual
from ...reading import Data
from .pace import LARGE
from .wish import Wish, inner_folds, outer_folds

Say = Callable[[str], None]
OURS = "this model"
UNMEASURED = "how well new ones would be predicted was not measured"


def held_out(data: Data, wish: Wish, model: Any, say: Say, remarks: list[str]) -> Trials | None:
    """The same way to fit on folds; what stands in the way of that is added to the remarks."""
    if data.kind == "numbers" and np.ptp(data.y) == 0:
        return None
    measure, loss = measure_for(model._loss), model._loss
    _, y = model._validated(data.X, data.y, multi_output=False, reset=False)
    sorts = loss.sorts(y)
    needed = [int(np.count_nonzero(sorts == each)) for each in loss.needed_sorts(sorts)]
    if (obstacle := _obstacle(data, wish, measure, min(needed, default=len(y)))) is not None:
        remarks.append(f"{obstacle}: {UNMEASURED}.")
        return None
    say("predicting rows held out, beside a Lasso and a ridge")
    X = np.asarray(data.X) if isinstance(data.X, Genotypes) else data.X
    inner = partial(inner_folds, wish.cv, data.groups, wish.seed, sorts)
    alone = _alone(data)
    ours: dict[str, Make] = {OURS: partial(_again, model, inner)}
    if data.covariates:
        ours[alone] = lambda rows: Adjusting(loss, data.unpenalized)
    others = usual(X, inner, measure.kind)
    if not others:
        remarks.append(
            "A Lasso and a ridge of survival times are compared where scikit-survival is "
            "installed: pip install 'ksupport[survival]'."
        )
    splits = outer_folds(wish.cv, data.groups, y, wish.seed, sorts)

    def tried(ways: dict[str, Make], words: str) -> Trials | None:
        try:
            return trials_of(
                OURS, ways, X, y, splits, measure=measure, nothing=alone,
                adjusting=data.unpenalized,
            )  # fmt: skip
        except (ValueError, ArithmeticError) as error:  # of folds that lack a class, or events
            remarks.append(f"{words}: {shown(str(error), 200)}")
            return None

    beside = tried(ours | others, "A Lasso and a ridge were not compared") if others else None
    return beside or tried(ours, "No rows could be held out")


def _obstacle(data: Data, wish: Wish, measure: Measure, least: int) -> str | None:
    """What keeps rows from being held out, given how many there are of the rarest sort needed."""
    groups, (n, d) = data.groups, data.shape
    if n < 2 * wish.cv or (groups is not None and len(np.unique(groups)) < 3):
        return "Too few rows to hold some out"
    if isinstance(data.X, Genotypes) and n * d >= LARGE:
        return "Holding out rows would read the file many times"
    if measure.kind != "numbers" and least < 2 * wish.cv:
        rare = "rows of one class" if measure.kind == "classes" else "rows with an event"
        return f"Too few {rare} to hold some out ({least})"
    return None


def _alone(data: Data) -> str:
    """What is known without any feature."""
    if not data.codings:
        return NOTHING
    *first, last = [shown(coding.name) for coding in data.codings]
    return f"a model of {f'{listed(first, 4)} and ' if first else ''}{last} alone"


def _again(model: Any, inner: Callable[[Ints], Any], train: Ints) -> Any:
    """The same way to fit, for other rows."""
    again = clone(model)
    folds = inner(train)
    return again if isinstance(folds, int) else again.set_params(cv=folds)
