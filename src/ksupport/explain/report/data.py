"""The numbers behind the HTML report: only what it draws, rounded to what can be seen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtri

from ...algorithms import Method, make_method
from ...algorithms.irksn import IRKSNMethod
from ...choosing.refits import DEPENDENT
from ...design import Floats, Ints, Problem
from ...theory.report import NEAR_COPY
from ...walking import Result, run
from ..models import around, least_scores, method_behind, settings_of_model, spacing

LEVELS = 7  # paths that the explorer holds
RECORDS = 100  # steps of each
LINES = 80  # features of all of them
CELLS = 60  # steps of the surface
POINTS = 1000  # rows drawn
MAPPED = 30  # features of the correlation map
TWINS = 3  # near-duplicates listed for each feature
NOT_SETTINGS = ("t", "size", "loss", "loss_se", "support", "rss", "score", "norm")


@dataclass(frozen=True)
class Walk:
    """One path as the explorer shows it."""

    label: str
    k: int | None
    t: Ints
    iterates: sp.csr_array  # records x d
    entered: Ints  # features since the record before
    left: Ints


# -- paths ---------------------------------------------------------------------------------


def walks_of(model: Any, problem: Problem) -> tuple[list[Walk], int, int]:
    """Paths around the chosen one; which of them it is, and the record of its step."""
    methods, chosen = _methods(model, problem)
    step = max(int(model.n_iter_), 1)
    end = around(step, model.max_iter)
    design, y = problem.design, problem.targets[0]
    results = run(
        [method.start(design, y) for _, _, method in methods],
        [design] * len(methods),
        [y] * len(methods),
        max_iter=end,
        every=spacing(step, end),
    )
    walks = [_walk(label, k, r, step) for (label, k, _), r in zip(methods, results, strict=True)]
    record = int(np.argmin(np.abs(walks[chosen].t - int(model.n_iter_))))
    return walks, chosen, record


def _methods(model: Any, problem: Problem) -> tuple[list[tuple[str, int | None, Method]], int]:
    """Labels, sparsity levels and methods of the paths to show, and the place of the chosen."""
    behind = method_behind(model, problem)
    settings = _settings(model)
    wanted = settings_of_model(model) or {"k": getattr(behind, "k", None)}
    shared = [name for name in wanted if settings and name in settings[0]]
    far = [sum(_far(each[name], wanted[name]) for name in shared) for each in settings]
    chosen = int(np.argmin(far)) if settings else 0
    near = sorted(_spread(len(settings), chosen, LEVELS))
    listed = [settings[i] for i in near]
    place = near.index(chosen) if near else 0
    if not listed:
        return [(behind.title, getattr(behind, "k", None), behind)], 0
    varied = [name for name in listed[0] if len({str(each[name]) for each in listed}) > 1]
    out = []
    for i, each in enumerate(listed):
        label = ", ".join(f"{name}={_short(each[name])}" for name in varied) or behind.title
        out.append((label, each.get("k"), behind if i == place else _remade(behind, each)))
    return out, place


def _remade(method: Method, settings: dict[str, Any]) -> Method:
    if isinstance(method, IRKSNMethod):
        return replace(method, **settings)
    return make_method(method.name, **settings)


def _far(a: Any, b: Any) -> float:
    if isinstance(a, int | float) and isinstance(b, int | float):
        return abs(float(a) - float(b))
    return float(str(a) != str(b))


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _settings(model: Any) -> list[dict[str, Any]]:
    """The distinct settings of the table behind the choice, in order of size."""
    table = model.path_
    names = [name for name in table if name not in NOT_SETTINGS]
    if not names:
        return []
    columns = [np.asarray(table[name]) for name in names]
    seen = {}
    for row in zip(*columns, strict=True):
        value = [each.item() if hasattr(each, "item") else each for each in row]
        if all(each == each for each in value):  # NaN: reached by exchange, not on a path
            seen[tuple(map(str, value))] = dict(zip(names, value, strict=True))
    listed = list(seen.values())
    for each in listed:
        if "k" in each:
            each["k"] = int(each["k"])
    return sorted(listed, key=lambda each: (each.get("k", 0), str(each)))


def _spread(count: int, chosen: int, most: int) -> list[int]:
    """Places in a list, spread over it, that of the chosen one among them."""
    if count <= most:
        return list(range(count))
    places = set(np.linspace(0, count - 1, most - 1).round().astype(int).tolist())
    return [*(places | {chosen})]


def _walk(label: str, k: int | None, result: Result, step: int) -> Walk:
    """Fewer records, denser where the path is young, that of the step among them."""
    assert result.iterates is not None
    t = result.history["t"]
    count = len(t)
    share = np.linspace(0, 1, RECORDS) ** 1.5 * (count - 1)
    at = min(int(np.searchsorted(t, step)), count - 1)
    take = np.union1d(share.round().astype(int) if count > RECORDS else np.arange(count), at)
    iterates = result.iterates[take]
    nonzero = sp.csr_array((iterates != 0).astype(np.int8))
    before = sp.vstack([sp.csr_array((1, nonzero.shape[1]), dtype=np.int8), nonzero[:-1]]).tocsr()
    change = nonzero - before
    entered = np.asarray((change > 0).sum(axis=1)).ravel()
    left = np.asarray((change < 0).sum(axis=1)).ravel()
    return Walk(label, k, t[take], iterates, entered, left)


def drawn_features(walks: list[Walk], chosen: Ints) -> tuple[Ints, int]:
    """The features whose lines are drawn, and how many ever entered a path."""
    peak = np.zeros(walks[0].iterates.shape[1])
    for walk in walks:
        top = abs(walk.iterates).max(axis=0)
        peak = np.maximum(peak, top.toarray().ravel() if sp.issparse(top) else np.ravel(top))
    entered = np.flatnonzero(peak)
    order = entered[np.argsort(-peak[entered], kind="stable")]
    first = [j for j in order if j in set(chosen.tolist())][: LINES * 3 // 4]
    rest = [j for j in order if j not in set(first)][: LINES - len(first)]
    return np.array([*first, *rest], np.intp), len(entered)


def lines_of(walk: Walk, features: Ints) -> dict[str, Any]:
    """A path as the script wants it: one list of values for each line that is not all zero."""
    dense = walk.iterates[:, features].toarray()
    used = np.flatnonzero(dense.any(axis=0))
    return {
        "label": walk.label,
        "t": walk.t.tolist(),
        "size": np.diff(walk.iterates.indptr).tolist(),
        "entered": walk.entered.tolist(),
        "left": walk.left.tolist(),
        "lines": [[int(i), rounded(dense[:, i])] for i in used],
    }


def rounded(values: Any, digits: int = 3) -> list[float | int]:
    """Numbers with as many digits as can be seen; whole ones as integers."""
    out: list[float | int] = []
    for value in np.asarray(values, float).tolist():
        short = float(f"{value:.{digits}g}") if np.isfinite(value) else 0.0
        out.append(int(short) if short == int(short) else short)
    return out


# -- criterion -----------------------------------------------------------------------------


def surface_of(model: Any) -> dict[str, Any] | None:
    """Cross-validated error over settings and steps."""
    table = model.path_
    if "loss" not in table:
        return None
    steps = np.unique(table["t"])
    loss = np.asarray(table["loss"]).reshape(-1, len(steps))
    names = [name for name in table if name not in NOT_SETTINGS]
    columns = {name: np.asarray(table[name])[:: len(steps)] for name in names}
    varied = [name for name in names if len({str(v) for v in columns[name]}) > 1]
    labels = [", ".join(f"{n}={_short(columns[n][i])}" for n in varied) for i in range(len(loss))]
    ks = [int(k) for k in columns["k"]] if "k" in columns else list(range(len(loss)))
    order = np.argsort(ks, kind="stable")
    finite = np.isfinite(loss)
    loss = np.where(finite, loss, loss[finite].max() if finite.any() else 0.0)
    auto = not hasattr(model, "params_")
    chosen = {"k": model.k_, "alpha": model.alpha_} if auto else model.params_
    path = next(i for i in range(len(loss)) if all(columns[n][i] == chosen[n] for n in columns))
    record = int(np.searchsorted(steps, model.n_iter_))
    take = np.unique(np.r_[np.linspace(0, len(steps) - 1, CELLS).astype(int), record])
    return {
        "labels": [labels[i] or "all folds" for i in order],
        "t": steps[take].tolist(),
        "loss": [rounded(loss[i, take], 4) for i in order],
        "chosen": [int(np.flatnonzero(order == path)[0]), int(np.searchsorted(take, record))],
    }


def scores_of(model: Any) -> dict[str, Any] | None:
    """The best criterion for each number of features, less the best of all."""
    if "score" not in model.path_:
        return None
    sizes, worse = least_scores(model)
    return {"size": sizes.tolist(), "worse": rounded(worse, 4)}


# -- rows and features ---------------------------------------------------------------------


def residuals_of(y: Floats, fitted: Floats) -> dict[str, Any]:
    """Observed against fitted, and residuals against normal quantiles."""
    residual = y - fitted
    spread = float(residual.std()) or 1.0
    n = len(y)
    rows = np.unique(np.linspace(0, n - 1, min(n, POINTS)).astype(int))
    order = np.argsort(residual, kind="stable")
    quantiles = ndtri((np.arange(n) + 0.5) / n)
    return {
        "row": (rows + 1).tolist(),
        "observed": rounded(y[rows], 5),
        "fitted": rounded(fitted[rows], 5),
        "sorted_row": (order[rows] + 1).tolist(),
        "quantile": rounded(quantiles[rows], 4),
        "standardised": rounded(residual[order][rows] / spread, 4),
    }


def correlations_of(X: Any, order: list[int]) -> tuple[Floats, list[tuple[int, int, float]]]:
    """Correlations among the first chosen features; pairs of a chosen one and its twins outside."""
    from ...design import Design

    shown = np.asarray(order[:MAPPED], np.intp)
    design = Design.of(X).centred(standardize=True)
    columns = design.columns(shown)
    norms = np.maximum(np.linalg.norm(columns, axis=1), DEPENDENT)
    others = np.maximum(design.column_norms, DEPENDENT)
    r = (design.rmatmat((columns / norms[:, None]).T) / others[:, None]).T  # shown x d
    outside = np.abs(r)
    outside[:, np.asarray(order, np.intp)] = 0.0
    twins = []
    for i, j in enumerate(shown):
        for other in np.argsort(-outside[i], kind="stable")[:TWINS]:
            if outside[i, other] >= NEAR_COPY:
                twins.append((int(j), int(other), float(r[i, other])))
    return r[:, shown], sorted(twins, key=lambda each: -abs(each[2]))
