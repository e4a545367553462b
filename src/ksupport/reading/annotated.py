"""AnnData files: a matrix of cells by genes, and what is known of the cells."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._common.apart import is_safe
from .._common.errors import InputError
from .._common.extra import extra
from .._common.names import shown
from .._common.phases import phase
from .size import COPIES, FEATURE, NUMBER, Budget
from .source import Source
from .table import Matrix

LOOKED_AT = 1 << 24  # bytes of an array up to which a damaged one is found out beforehand


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
    if not is_safe(lambda: _look(source.path)):
        raise InputError(
            f"{source.name} cannot be read as h5ad: it is damaged, HDF5 finds no end in it. Get or "
            "write the file again"
        )
    with h5py.File(source.path, "r") as file, phase("unpacking"):
        absent = [part for part in ("X", "obs", "var") if part not in file]
        if absent:
            raise InputError(
                f"{source.name} has no {absent[0]}, which an AnnData file needs to learn from; it "
                f"holds {', '.join(file)}"
            )
        held = sum(_bytes(each) for part in ("obs", "var") for each in _own(file, part, source))
        inside = sum(_bytes(each) for each in _own(file, "X", source))
        budget.check(source.name, held + max(inside, _size(file["X"])))
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


def _look(path: Path) -> None:
    """Ask for all that will be asked for, but for entries of large arrays."""
    import h5py

    with h5py.File(path, "r") as file:
        waiting, seen = [file[part] for part in ("X", "obs", "var") if part in file], set()
        while waiting:
            item = waiting.pop()
            address = h5py.h5o.get_info(item.id).addr
            if address in seen:
                continue
            seen.add(address)
            list(item.attrs.items())
            if not hasattr(item, "shape"):
                waiting.extend(item[key] for key in item)
            elif _bytes(item) < LOOKED_AT:
                item[()]


def _own(file: Any, part: str, source: Source) -> Iterator[Any]:
    """The arrays below a part; what leads out of the file is refused, as it could be any file."""
    import h5py

    waiting, seen = [(file, part)], set()
    while waiting:
        group, key = waiting.pop()
        linked = not isinstance(group.get(key, getlink=True), h5py.HardLink)
        if linked or _is_elsewhere(group[key]):
            place = shown(f"{group.name}/{key}".lstrip("/"))
            raise InputError(
                f"{source.name}: {place} is a link, and only what lies in the file itself is read. "
                "Write it again with AnnData's write_h5ad"
            )
        item = group[key]
        address = h5py.h5o.get_info(item.id).addr
        if address not in seen and hasattr(item, "shape"):
            yield item
        elif address not in seen:
            waiting.extend((item, each) for each in item)
        seen.add(address)


def _is_elsewhere(item: Any) -> bool:
    return hasattr(item, "shape") and bool(item.is_virtual or item.external)


def _bytes(array: Any) -> float:
    return float(array.size or 0) * (array.dtype.itemsize + NUMBER)


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
