"""AnnData files: a matrix of cells by genes, and what is known of the cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._common.errors import InputError
from .._common.extra import extra
from .._common.phases import phase
from .size import COPIES, FEATURE, NUMBER, Budget
from .source import Source
from .table import Matrix


def from_h5ad(source: Source, budget: Budget) -> Matrix:
    """X, the names of its columns (``var``) and the annotation of its rows (``obs``)."""
    with extra("h5ad", "AnnData files need"):
        import h5py
        from anndata.io import read_elem
    if not h5py.is_hdf5(source.path):
        raise InputError(
            f"{source.name} cannot be read as h5ad: it is no HDF5 file, or only a part of one. "
            "Write it again with AnnData's write_h5ad"
        )
    with h5py.File(source.path, "r") as file, phase("unpacking"):
        absent = [part for part in ("X", "obs", "var") if part not in file]
        if absent:
            raise InputError(
                f"{source.name} has no {absent[0]}, which an AnnData file needs to learn from; it "
                f"holds {', '.join(file)}"
            )
        budget.check(source.name, _size(file["X"]))
        obs, var = read_elem(file["obs"]), read_elem(file["var"])
        X = read_elem(file["X"])
    about = obs.reset_index(drop=True)
    about.columns = [str(name) for name in about.columns]
    return Matrix(
        source.path,
        about,
        ids=np.array([str(each) for each in obs.index], object),
        feature_names=tuple(str(name) for name in var.index),
        X=_matrix(X),
    )


def _size(X: Any) -> float:
    """Bytes for the matrix as stored and as float64."""
    if hasattr(X, "shape"):
        n, d = X.shape
        return float(n * d * (X.dtype.itemsize + NUMBER) + FEATURE * d)
    return float(COPIES * 2 * NUMBER * X["data"].shape[0] + FEATURE * int(X.attrs["shape"][1]))


def _matrix(X: Any) -> Any:
    if sp.issparse(X):
        return sp.csr_matrix(X, dtype=np.float64)
    return np.ascontiguousarray(X, np.float64)
