"""EnCluDL: an ensemble of clustered inferences with the desparsified Lasso.

Chevalier et al., "Decoding with confidence: statistical control on decoder maps", NeuroImage 234
(2021).  Each member merges neighbouring voxels into clusters that some of the rows suggest, and
tests the clusters on all rows; p-values of a voxel's clusters are then aggregated.  The
desparsified Lasso and the aggregation are hidimstat's.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.cluster import FeatureAgglomeration
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.image import grid_to_graph
from sklearn.linear_model import LassoCV
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit

from ..design import Floats, Ints
from .images import optional
from .inference import P_VALUES, beyond, z_threshold

MEMBERS = 25  # as many as hidimstat's own ensembles have


@dataclass(frozen=True)
class ClusteredInference:
    """Inference by EnCluDL for every voxel.

    Attributes
    ----------
    coef : ndarray of shape (d,)
        Weights: those of the clusters shared among their voxels, mean over the ensemble.
    z : ndarray of shape (d,)
        z-values of the aggregated p-values, with the sign of the weight.
    threshold : float
        The ``|z|`` beyond which a voxel counts, corrected for the number of clusters.
    """

    coef: Floats
    z: Floats
    threshold: float

    @property
    def thresholded(self) -> Floats:
        """The z-values beyond the threshold; 0 for the others."""
        return beyond(self.z, self.threshold)


def encludl(
    X: Floats,
    y: ArrayLike,
    mask: Any,
    *,
    n_clusters: int = 500,
    n_members: int = MEMBERS,
    share: float = 0.3,
    groups: ArrayLike | None = None,
    fwer: float = 0.1,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> ClusteredInference:
    """Test voxels by clusters of neighbours, many times.

    Parameters
    ----------
    X : array of shape (n, d)
        Recordings: one column for each voxel of the mask, in the order of nilearn's maskers.
    y : array of shape (n,)
        The response, -1 and 1 for two classes.
    mask : boolean array of three dimensions
        The voxels; neighbours on its grid may share a cluster.
    n_clusters : int, default=500
        Clusters of each member of the ensemble.
    n_members : int, default=25
        Clusterings tried.
    share : float, default=0.3
        Rows that each clustering sees, drawn anew.
    groups : array of shape (n,), optional
        Runs: those that a clustering sees are whole ones.
    fwer : float, default=0.1
        Chance to accept, of all clusters, a single one in error.
    random_state : int, default=0
        Source of randomness.
    n_jobs : int, optional
        Members computed at once.

    Returns
    -------
    ClusteredInference

    Examples
    --------
    >>> from ksupport.fmri import encludl
    >>> found = encludl(X, y, mask, n_clusters=100)  # doctest: +SKIP
    >>> found.thresholded.nonzero()  # doctest: +SKIP
    """
    X, target = np.asarray(X, np.float64), np.asarray(y, np.float64)
    where = np.asarray(mask) != 0
    if int(where.sum()) != X.shape[1]:
        raise ValueError(
            f"mask must have as many voxels as X has columns, {X.shape[1]}, got {int(where.sum())}"
        )
    if not 2 <= n_clusters <= X.shape[1]:
        raise ValueError(
            f"n_clusters must be between 2 and n_voxels={X.shape[1]}, got {n_clusters}"
        )
    neighbours = grid_to_graph(*where.shape, mask=where)
    kind = ShuffleSplit if groups is None else GroupShuffleSplit
    splitter = kind(n_members, train_size=share, random_state=random_state)
    members = Parallel(n_jobs=n_jobs)(
        delayed(_member)(X, target, rows, neighbours, n_clusters, random_state + number)
        for number, (rows, _) in enumerate(splitter.split(X, target, groups))
    )
    return _joined(members, z_threshold(fwer, n_clusters))


def _member(
    X: Floats, y: Floats, rows: Ints, neighbours: Any, n_clusters: int, seed: int
) -> tuple[Floats, Floats]:
    """Weights and two-sided p-values of all voxels, from one clustering."""
    ward = FeatureAgglomeration(n_clusters, connectivity=neighbours, linkage="ward")
    with warnings.catch_warnings():
        # A mask of several pieces is fine: clusters may join them, as scikit-learn says.
        warnings.filterwarnings("ignore", message=".*number of connected components")
        warnings.simplefilter("ignore", ConvergenceWarning)
        ward.fit(X[rows])
        reduced = ward.transform(X)
        lasso = optional("hidimstat").DesparsifiedLasso(
            estimator=LassoCV(eps=1e-2, fit_intercept=False, max_iter=1000),
            # hidimstat 0.4.0 sets the nodewise penalties for None alone; else they are all 1.
            preconfigure_model_x_path=None,
            random_state=seed,
        )
        lasso.fit(reduced, y)
        lasso.importance()
    sizes = np.bincount(ward.labels_)
    return (lasso.importances_ / sizes)[ward.labels_], lasso.pvalues_[ward.labels_]


def _joined(members: list[tuple[Floats, Floats]], threshold: float) -> ClusteredInference:
    statistics = optional(P_VALUES)
    aggregation = optional("hidimstat.statistical_tools.aggregation")
    coef = np.mean([weights for weights, _ in members], axis=0)
    p = aggregation.quantile_aggregation(np.array([p for _, p in members]), gamma=0.5)
    above, _, below, _ = statistics.pval_from_two_sided_pval_and_sign(p, np.sign(coef))
    z = np.asarray(statistics.zscore_from_pval(above, below), np.float64)
    return ClusteredInference(coef, z, threshold)
