"""Which features are chosen again and again: stability selection by complementary pairs."""

from __future__ import annotations

from contextvars import copy_context
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator
from sklearn.base import clone
from sklearn.utils import check_consistent_length, check_random_state, indexable

from .. import limits
from .._common.checks import check_count, check_interval
from .._common.names import shown
from .._common.phases import phase
from .._common.progress import show_progress
from ..design import Floats, Ints, fetched, names_of, unwrapped
from ..walking import whole_walks_only
from ..walking.threads import threads_of

SHOWN = 20  # features listed in a printed result


@dataclass(frozen=True)
class StabilitySelection:
    """How often each feature was chosen, as returned by `stability_selection`.

    Attributes
    ----------
    frequency : ndarray of shape (d,)
        Share of the half-samples on which each feature was chosen.
    support : ndarray of bool, shape (d,)
        The features whose frequency is at least ``threshold``.
    threshold : float
        The frequency from which on a feature counts as stable.
    n_pairs : int
        Complementary pairs of half-samples drawn.
    average_size : float
        How many features were chosen on a half-sample, on average: the bound's q.
    error_bound : float
        ``average_size² / ((2 threshold - 1) n_sets)``; see `stability_selection`.
    n_sets : int
        What is counted: features, or sets of them where ``feature_sets`` was given.
    feature_sets : ndarray of int, shape (d,)
        The number of the set that each feature belongs to; by default each is a set of its own.
    feature_names : tuple of str
        Names of the columns, if X has them; else ``x0, x1, ...``.
    """

    frequency: Floats
    support: NDArray[np.bool_]
    threshold: float
    n_pairs: int
    average_size: float
    error_bound: float
    n_sets: int
    feature_sets: Ints = field(repr=False)
    feature_names: tuple[str, ...] = field(repr=False)

    @property
    def words(self) -> str:
        """The result in a sentence."""
        what = "features" if self.n_sets == self.support.size else "sets of features"
        return (
            f"{self._count(self.support)} of {self.n_sets} {what} were selected on at least "
            f"{self.threshold:.0%} of {2 * self.n_pairs} half-samples; at most "
            f"{self.error_bound:.2g} of them are expected to be no more likely than at random."
        )

    def _count(self, chosen: NDArray[np.bool_]) -> int:
        """How many features, or sets of them."""
        return np.unique(self.feature_sets[chosen]).size

    def unimodal_bound(self, threshold: float) -> float:
        """A smaller bound than ``error_bound``: Theorem 2 of Shah and Samworth.

        It assumes that the share of pairs of which both halves choose an unlikely feature has a
        unimodal distribution, and is infinite where the theorem says nothing.

        Parameters
        ----------
        threshold : float
            Frequency from which on a feature counts as stable, in (0.5, 1].
        """
        check_interval("threshold", threshold, low=0.5, high=1, open_low=True)
        likely, pair = self.average_size / self.n_sets, 1.0 / (2 * self.n_pairs)
        least = min(0.5 + likely**2, 0.5 + pair + 0.75 * likely**2)
        if likely > 1 / np.sqrt(3) or threshold <= least or 2 * threshold - 1 <= pair:
            return float("inf")
        factor = 4 * (1 - threshold + pair) / (1 + 2 * pair)
        if threshold <= 0.75:
            factor = 1 / (2 * (2 * threshold - 1 - pair))
        return factor * self.average_size * likely

    def select(self, fdr: float = 0.1) -> NDArray[np.bool_]:
        """The largest selection of features, or sets, with a false discovery rate up to ``fdr``.

        The threshold is the lowest at which `unimodal_bound`, divided by the number that reach it,
        is at most ``fdr``.  The bound holds for a threshold that is chosen beforehand; for the one
        that is found in this way it is an estimate.

        Parameters
        ----------
        fdr : float, default=0.1
            The false discovery rate, between 0 and 1.

        Returns
        -------
        ndarray of bool, shape (d,)
        """
        check_interval("fdr", fdr, low=0, high=1, open_low=True, open_high=True)
        steps = 2 * self.n_pairs
        for count in range(self.n_pairs + 1, steps + 1):
            chosen = np.asarray(self.frequency >= count / steps - 1e-12)
            size = self._count(chosen)
            if size and self.unimodal_bound(count / steps) <= fdr * size:
                return chosen
        return np.zeros(self.support.size, bool)

    def _table_rows(self) -> list[tuple[str, str, str]]:
        """The most frequent features: name, frequency, whether stable."""
        order = np.argsort(-self.frequency, kind="stable")
        order = order[self.frequency[order] > 0][:SHOWN]
        return [
            (
                shown(self.feature_names[j]),
                f"{self.frequency[j]:.2f}",
                "yes" if self.support[j] else "",
            )
            for j in order
        ]

    def __str__(self) -> str:
        rows = [("feature", "frequency", "stable"), *self._table_rows()]
        width = max(len(name) for name, _, _ in rows)
        lines = [
            f"{name.ljust(width)}  {share.rjust(9)}  {stable}".rstrip()
            for name, share, stable in rows
        ]
        return "\n".join([self.words, "", *lines])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{cell}</th>" for cell in ("feature", "frequency", "stable"))
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._table_rows()
        )
        return (
            f"<div><p>{escape(self.words)}</p><table><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table></div>"
        )


def stability_selection(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    n_pairs: int = 50,
    threshold: float = 0.75,
    feature_sets: ArrayLike | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: bool = False,
) -> StabilitySelection:
    """Choose features on many half-samples, and keep those that are chosen often.

    The rows are split at random into two halves of ``n // 2`` rows, ``n_pairs`` times; the
    estimator is fitted on each half, and the frequency of a feature is the share of the fits that
    chose it [1]_.

    Parameters
    ----------
    estimator : estimator
        Anything with ``get_support()`` or ``coef_`` after ``fit(X, y)``; it should choose few
        features.  If its ``random_state`` is None, every fit gets a seed of its own.
    X : array, list, data frame, table or sparse matrix of shape (n, d)
        The measurements.
    y : array of shape (n,)
        The response.
    n_pairs : int
        Pairs of half-samples; the authors recommend 50.
    threshold : float
        Frequency from which on a feature counts as stable, in (0.5, 1].
    feature_sets : array of int of shape (d,), optional
        The set to which each feature belongs, for instance a cluster of correlated columns.  A set
        is chosen where one of its features is; frequencies, sizes and bounds are those of sets.
    n_jobs : int, optional
        Fits at once, in threads.
    random_state : int, RandomState or None
        Draws the half-samples.
    verbose : bool
        Whether to show the time left, once two seconds have passed.

    Returns
    -------
    StabilitySelection

    Notes
    -----
    Call a feature *unlikely* if the chance that it is chosen on a half-sample is at most q/d, where
    q is the expected number of features chosen there: no likelier than in a draw of q features
    at random.  Theorem 1 of [1]_ with θ = q/d bounds the expected number of unlikely features
    among those whose frequency is at least τ > 1/2 by ``θ/(2τ - 1)`` times the expected number of
    unlikely features chosen on one half-sample, and so by ``q² / ((2τ - 1) d)``.  It assumes
    nothing about the data or the estimator.  ``error_bound`` is that number with the average
    size in the place of q, which is unknown.

    Theorem 2 gives a smaller bound if, over draws of pairs, the share of pairs of which both halves
    choose an unlikely feature is unimodal (`StabilitySelection.unimodal_bound`).  ``select(fdr)``
    of the result uses it to select features at a rate that does not depend on a prior.

    References
    ----------
    .. [1] R. D. Shah, R. J. Samworth, "Variable selection with error control: another look at
       stability selection", Journal of the Royal Statistical Society B 75, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport import IRKSNIC, stability_selection
    >>> from ksupport.datasets import make_correlated_data
    >>> truth = [3.0, -2.0, 2.0] + [0.0] * 47
    >>> X, y, w = make_correlated_data(80, 50, rho=0.5, w_true=truth, snr=5, random_state=0)
    >>> result = stability_selection(IRKSNIC(), X, y, n_pairs=10, random_state=0)
    >>> np.flatnonzero(result.support)
    array([0, 1, 2])
    >>> print(result.words)
    3 of 50 features were selected on at least 75% of 20 half-samples; at most ... of them are ...
    """
    check_count("n_pairs", n_pairs, high=limits.MOST_PAIRS)
    check_interval("threshold", threshold, low=0.5, high=1, open_low=True)
    names, X = names_of(X), unwrapped(X)
    if isinstance(X, LinearOperator):
        raise TypeError(
            "stability_selection needs to select rows of X, which a LinearOperator does not "
            "support: give an array, a data frame or a sparse matrix"
        )
    if np.ndim(X) != 2:
        raise ValueError(f"X must have rows and columns, got {type(X).__name__} {np.shape(X)}")
    y = np.asarray(fetched(y))
    (X,) = indexable(np.asarray(X) if isinstance(X, list | tuple) else X)
    check_consistent_length(X, y)
    n = len(y)
    if n < 4:
        raise ValueError(f"half-samples need at least 4 samples, got n_samples={n}")
    rng = check_random_state(random_state)
    halves: list[Ints] = []
    for _ in range(n_pairs):
        order = rng.permutation(n)
        halves += [np.sort(order[: n // 2]), np.sort(order[n // 2 : 2 * (n // 2)])]
    seeds = rng.randint(np.iinfo(np.int32).max, size=len(halves))

    def choose(half: tuple[Ints, Any]) -> NDArray[np.bool_]:
        rows, seed = half
        return _chosen(estimator, X, y, rows, int(seed))

    pairs = list(zip(halves, seeds, strict=True))
    # joblib starts as many threads as it is told, work for them or not.
    threads = min(threads_of(n_jobs), len(pairs))
    answers = []
    with show_progress(wanted=verbose), phase("half-samples", len(pairs)) as update:
        tasks = [delayed(copy_context().run)(choose, pair) for pair in pairs]
        for answer in Parallel(n_jobs=threads, prefer="threads", return_as="generator")(tasks):
            answers.append(answer)
            update(len(answers))
    chosen = np.stack(answers)
    d = chosen.shape[1]
    sets = _checked_sets(feature_sets, d)
    by_set = np.zeros((len(chosen), sets.max() + 1), bool)
    fits, features = np.nonzero(chosen)
    by_set[fits, sets[features]] = True
    size, n_sets = float(by_set.sum(axis=1).mean()), by_set.shape[1]
    frequency = by_set.mean(axis=0)[sets]
    return StabilitySelection(
        frequency=frequency,
        support=frequency >= threshold - 1e-12,  # shares of fits are not exact in binary
        threshold=float(threshold),
        n_pairs=int(n_pairs),
        average_size=size,
        error_bound=size**2 / ((2 * threshold - 1) * n_sets),
        n_sets=n_sets,
        feature_sets=sets,
        feature_names=tuple(names) if names is not None else _default_names(d),
    )


def _checked_sets(feature_sets: ArrayLike | None, d: int) -> Ints:
    """The set of each feature, as numbers from 0 on; by default each is a set of its own."""
    if feature_sets is None:
        return np.arange(d)
    given = np.asarray(feature_sets)
    if given.shape != (d,) or given.dtype.kind not in "iu":
        raise ValueError(
            f"feature_sets must have one integer for each of {d} features, got {given.dtype} of "
            f"shape {given.shape}"
        )
    return np.unique(given, return_inverse=True)[1]


def _chosen(estimator: Any, X: Any, y: NDArray[Any], rows: Ints, seed: int) -> NDArray[np.bool_]:
    """The features that a fresh copy of the estimator chooses on these rows."""
    model = clone(estimator)
    if "random_state" in model.get_params() and model.get_params()["random_state"] is None:
        model.set_params(random_state=seed)
    with whole_walks_only(), phase(""):  # its passes over X are not those of other halves
        model.fit(rows_of(X, rows), y[rows])
    if hasattr(model, "get_support"):
        return np.asarray(model.get_support())
    if not hasattr(model, "coef_"):
        raise TypeError(
            f"estimator must have get_support() or coef_ after fit, got {estimator!r}; instead of "
            "a pipeline, give its selecting step, and transform X before"
        )
    return np.asarray(np.atleast_2d(model.coef_).any(axis=0))


def rows_of(X: Any, rows: Ints) -> Any:
    """Some rows of an array, a data frame, a table or a sparse matrix."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "column_names"):  # a table of pyarrow
        return X.take(rows)
    return X[rows]


def _default_names(d: int) -> tuple[str, ...]:
    return tuple(f"x{j}" for j in range(d))
