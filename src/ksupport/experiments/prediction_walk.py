"""Walk the whole grid of one method on one split, and keep the model that validates best."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algorithms import make_method
from ..design import Floats
from ..walking import Block, History, Metric, Path, Result, Verdict, run
from ..walking.working_set import WorkingSetPath
from .experiment import quiet
from .prediction_data import Split

Params = dict[str, Any]


@dataclass(frozen=True)
class Walk:
    """Which paths of a method are walked, and which of their models are validated."""

    method: str  # a name in `METHODS`
    settings: Callable[[Split], list[Params]]  # of each path, in order of preference among equals
    steps: int = 500  # of each path
    every: int | None = 5  # steps between validations; None: only the end of each path
    first: int = 0  # models of earlier steps are not validated
    # Whether the published loop validates before it updates its model: what it has at step t is the
    # path's model of step t - 1, and at step 0 it has w = 0.
    late: bool = False
    published_average: bool = False  # divide an average of t models by t - 1, as published IRCR
    draws: int = 0  # random numbers that a run takes from the shared state besides the splits

    def factors(self, t: Floats) -> Floats:
        """What the models of steps t are multiplied by."""
        return t / np.maximum(t - 1, 1) if self.published_average else np.ones(len(t))


@dataclass(frozen=True)
class Tuned:
    """The model that validates best."""

    w: Floats
    mse: float  # on the validation part
    t: int
    params: Mapping[str, Any]


def tune(walk: Walk, split: Split) -> Tuned:
    """Walk all paths of the grid side by side; of equally good models the first is kept."""
    settings = walk.settings(split)
    methods = [make_method(walk.method, **params) for params in settings]
    design, (y,) = methods[0].compressed(split.design, split.centred(split.y_train))
    paths = [method.start(design, y) for method in methods]
    if walk.late:  # clocks start at 1, so that every fifth step is one the paper validates
        for path in paths:
            assert isinstance(path, WorkingSetPath)
            path.state.clock.now, path.state.clock.recorded = 1, 0
    zero = Tuned(np.zeros(split.d), float(np.mean(split.centred(split.y_valid) ** 2)), 0, {})
    best = zero if walk.late else None
    for params, result in zip(settings, _walk(walk, split, paths), strict=True):
        at = int(np.searchsorted(result.history["t"], result.n_iter))
        error = float(result.history.get("validation", [np.inf])[at])  # absent: diverged at once
        if best is None or error < best.mse:
            factor = walk.factors(np.array([float(result.n_iter)]))
            best = Tuned(result.coef * factor, error, result.n_iter, params)
    return best or zero


def _walk(walk: Walk, split: Split, paths: list[Path]) -> list[Result]:
    metric = _validation(walk, split)

    def best_so_far(history: History) -> Verdict:
        return Verdict(keep=int(np.argmin(history["validation"])))

    with quiet():
        # The grids hold steps that diverge and penalties that do not converge.
        return run(
            paths, max_iter=walk.steps, every=walk.every or walk.steps,
            metrics={path: {"validation": metric} for path in paths},
            stopping=None if walk.every is None else best_so_far, keep="last",
        )  # fmt: skip


def _validation(walk: Walk, split: Split) -> Metric:
    """The mean squared error on the validation part, of all models of a block."""
    columns, y = np.ascontiguousarray(split.X_valid.T), split.centred(split.y_valid)

    def mean_squared_error(block: Block) -> Floats:
        mine = columns if block.features is None else columns[block.features]
        fitted = (block.rows @ mine) * walk.factors(block.t.astype(float))[:, None]
        errors = ((fitted - y) ** 2).mean(axis=1)
        return np.where((block.t >= walk.first) & np.isfinite(errors), errors, np.inf)

    return mean_squared_error
