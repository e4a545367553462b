"""The selected model and how it was selected, as summaries, pictures and reports read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..algorithms import METHODS, Method, make_method
from ..design import Floats, Ints
from ..posterior.judgement import Judgement
from ..walking import History, Reason
from .average import Average
from .folds import Refit
from .grids import STRUCTURE
from .supports import Support

How = Literal["path", "criterion", "folds"]

UNREPORTED = ("norm", "step", "loss", *STRUCTURE)  # parameters


@dataclass(frozen=True)
class Swap:
    """Another support, as what it takes in, what it leaves out, and how much worse it is."""

    into: list[int]
    out: list[int]
    worse: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Selection:
    """A model, the path behind it, and why it was selected.

    Made by `selecting.py` and by `inference.automatic`.  It holds arrays, numbers and text, and no
    data of the fit.
    """

    how: How  # one path to one step; or of many paths, by a criterion or by folds
    by: str | None  # name of the criterion or of the stopping rule, if there is one
    method: str  # whose paths were walked, a name in METHODS
    settings: tuple[Mapping[str, Any], ...]  # parameters of the paths
    path: int | None  # the one behind the model; None: found by exchanging features only
    steps: tuple[int, ...]  # where it was first met, or the last step; one per target
    coef: Floats  # d, or targets x d, in the problem's units
    refit: Refit = None  # how coefficients were fitted; None: those of the iterate
    score: float | None = None  # the criterion's
    fold_errors: Floats | None = None
    table: Mapping[str, NDArray[Any]]  # a row per support, or per setting and step; or empty
    probability: Floats | None = None  # inclusion probability of each feature
    alternatives: tuple[tuple[Support, float], ...] = ()  # near-tied supports and their scores
    reasons: tuple[str, ...] = ()  # why the one path ended, for each target
    histories: tuple[History, ...] = ()  # of the one path, for each target
    shared: bool = False  # whether all targets share one path and one support
    judgement: Judgement | None = None  # of the posterior, if there is one
    average: Average | None = None  # what predictions go by instead of ``coef``, where asked for
    decision: str | None = None  # replaces the sentence of `words`

    @property
    def support(self) -> NDArray[np.bool_]:
        """Which features are in the model, of any target."""
        return np.asarray(np.atleast_2d(self.coef != 0).any(axis=0))

    @property
    def size(self) -> int:
        """How many features are in the model."""
        return int(self.support.sum())

    @property
    def flat(self) -> bool:
        """Whether there is one target only, given as a vector."""
        return self.coef.ndim == 1

    @property
    def positive(self) -> bool:
        """Whether effects could only be positive."""
        return any(each.get("positive", False) for each in self.settings)

    @property
    def one_walk(self) -> bool:
        """Whether there is one step, reason and history, and not one for each target."""
        return self.flat or self.shared

    @property
    def params(self) -> Mapping[str, Any] | None:
        """The parameters of the path behind the model; None if there is none."""
        return None if self.path is None else self.settings[self.path]

    @property
    def irksn(self) -> tuple[int | None, float | None]:
        """k and alpha of the path of IRKSN behind the model; None if there is none."""
        params = self.params if self.method == "irksn" else None
        return (None, None) if params is None else (params.get("k"), params.get("alpha"))

    @property
    def reported(self) -> dict[str, Any]:
        """The parameters of the path behind the model that `words` lists."""
        params = (self.params or {}).items()
        if self.how == "path":
            return {n: v for n, v in params if isinstance(v, Real) and not isinstance(v, bool)}
        return {name: value for name, value in params if name not in UNREPORTED}

    @property
    def method_behind(self) -> Method:
        """The method of the path behind the model; without a path, with k its size."""
        if self.params is not None:
            return make_method(self.method, **self.params)
        params = dict(self.settings[0])
        if "k" in METHODS[self.method].describe().parameters:
            params["k"] = max(self.size, 1)
        return make_method(self.method, **params)

    def of_paths(self, name: str) -> NDArray[Any]:
        """A column of a table made by folds: a row for each setting, a column for each step."""
        return self.table[name].reshape(len(self.settings), -1)

    def least_scores(self) -> tuple[Ints, Floats]:
        """The least criterion for each number of features, above the least of all."""
        score, size = self.table["score"], self.table["size"]
        sizes = np.unique(size)
        return sizes, np.array([score[size == each].min() for each in sizes]) - score.min()

    def swaps(self) -> list[Swap]:
        """The alternatives, by what they exchange."""
        chosen = set(np.flatnonzero(self.support).tolist())
        best = float(self.table["score"].min()) if self.alternatives else 0.0
        return [
            Swap(sorted(set(other) - chosen), sorted(chosen - set(other)), float(score - best))
            for other, score in self.alternatives
        ]

    @property
    def words(self) -> str:
        """How the model was chosen, in a sentence or two."""
        if self.decision is not None:
            return self.decision
        name = METHODS[self.method].title
        params = ", ".join(f"{key}={_value(value)}" for key, value in self.reported.items())
        if self.how == "path":
            walked = f"{name} with {params}" if params else name
            return f"{walked}: {self._ending}."
        if self.how == "folds":
            return (
                f"Cross-validation chose {name} with {params or 'its defaults'}, at step "
                f"{self.steps[0]}: {self.size} features."
            )
        where = f"first visited on the path with {params or 'its defaults'}"
        where = where if self.path is not None else "reached by exchanging features"
        visited = f"the supports that {name} visits"
        return f"{str(self.by).upper()} chose {self.size} features among {visited}, {where}."

    @property
    def _ending(self) -> str:
        """The step that was kept, how many were walked, and why no more."""
        first, last = min(self.steps), max(self.steps)
        walked = max(int(history["t"][-1]) for history in self.histories)
        kept = f"step {first}" if first == last else f"steps {first} to {last}"
        why = "; ".join(self._why(reason) for reason in sorted(set(self.reasons)))
        return f"kept {kept} of {walked}; {why}"

    def _why(self, reason: str) -> str:
        if reason != Reason.STOPPED:
            return Reason[reason.upper()].words
        rule = "a callback" if self.by is None else f"the stopping rule {self.by}"
        return f"{rule} ended the walk"


def _value(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)
