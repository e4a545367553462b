"""Is there anything?  The permutation test of a fit, with as many permutations as one likes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from .._common.checks import check_count
from .._common.phases import phase
from .._common.progress import show_progress
from ..posterior.judgement import NoSignalWarning
from ..walking import whole_walks_only

MOST = 1_000_000  # permutations: hours, and a p-value that nobody needs


@dataclass(frozen=True)
class PermutationTest:
    """A p-value from permutations, as returned by `permutation_test`.

    Attributes
    ----------
    p_value : float
        The share of responses, the true one and its permutations, that are explained as well.
    n_permutations : int
        How many were drawn.

    Examples
    --------
    >>> from ksupport import PermutationTest
    >>> print(PermutationTest(0.02, 999))
    p-value 0.020 ± 0.004 (999 permutations)
    """

    p_value: float
    n_permutations: int

    @property
    def standard_error(self) -> float:
        """Of the p-value, as other permutations would have given another: its Monte Carlo error."""
        return float(np.sqrt(self.p_value * (1.0 - self.p_value) / (self.n_permutations + 1)))

    @property
    def words(self) -> str:
        """The result in a sentence."""
        count = round(self.p_value * (self.n_permutations + 1)) - 1
        were = "was" if count == 1 else "were"
        return (
            f"Of {self.n_permutations} permutations of the rows of the response, {count} {were} "
            f"explained as well as the response itself: p-value {self._told}."
        )

    @property
    def _told(self) -> str:
        decimals = max(len(str(self.n_permutations + 1)) - 1, 3)
        return f"{self.p_value:.{decimals}f} ± {self.standard_error:.{decimals}f}"

    def __str__(self) -> str:
        return f"p-value {self._told} ({self.n_permutations} permutations)"


def permutation_test(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    n_permutations: int = 999,
    groups: ArrayLike | None = None,
    verbose: bool = False,
) -> PermutationTest:
    """Test whether features explain more of a response than of its permutations.

    If rows are exchangeable, the p-value is exact whatever the distributions of X and y: two
    statistics, the evidence of a short search for few features and the sum of squared correlations
    of all, are compared with those of permuted responses, and the smaller of both ranks is ranked
    again.  The residuals of y on the mean and the unpenalised columns are permuted (with losses
    other than squares, the gradient); where covariates were projected out beforehand, X and y are
    rotated instead.  No model is fitted.

    Parameters
    ----------
    estimator : AutoIRKSN, AutoIRKSNClassifier or AutoIRKSNSurvival
        Its loss, scaling, unpenalised columns, signs and seed are used.
    X : array, memmap, Zarr or Dask array, data frame, sparse matrix or LinearOperator
        The measurements.
    y : array
        The response, as in ``fit``.
    n_permutations : int, default=999
        Number of permutations; the smallest p-value is 1 / (n_permutations + 1).
    groups : array of shape (n,), optional
        Which rows belong together: means of groups are permuted, and rows within groups.
    verbose : bool, default=False
        Whether to show the time left, once two seconds have passed.

    Returns
    -------
    PermutationTest

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport import AutoIRKSN, permutation_test
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 30))
    >>> print(permutation_test(AutoIRKSN(), X, X[:, 3] + rng.standard_normal(50)))
    p-value 0.002 ± 0.001 (999 permutations)
    >>> permutation_test(AutoIRKSN(), X, rng.standard_normal(50)).p_value > 0.05
    True
    """
    check_count("n_permutations", n_permutations, low=1, high=MOST)
    twin = judging_copy(estimator)
    with show_progress(wanted=verbose), whole_walks_only(), phase("testing for any signal"):
        return PermutationTest(twin._p_value(X, y, groups, n_permutations), n_permutations)


def judging_copy(estimator: Any) -> Any:
    """An unfitted copy of an estimator that gives probabilities."""
    twin = clone(estimator)
    if not hasattr(twin, "_p_value"):
        raise TypeError(
            "estimator must be AutoIRKSN, AutoIRKSNClassifier or AutoIRKSNSurvival, got "
            f"{estimator!r}"
        )
    return twin


def fitted_again(estimator: Any, X: Any, y: Any, groups: Any = None) -> Any:
    """A copy fitted on these data, without rows held out, which decide nothing."""
    twin = judging_copy(estimator)
    twin._holds_out = False
    with warnings.catch_warnings(), whole_walks_only(), phase(""):
        warnings.simplefilter("ignore", NoSignalWarning)
        return twin.fit(X, y, groups=groups)
