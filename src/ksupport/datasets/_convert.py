"""From the files of the origins to arrays: one small parser per dataset, names as in the cache."""

from __future__ import annotations

import bz2
import csv
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.extra import extra
from ._cache import Arrays, Converter

HOUSING_FEATURES = (
    "MedInc",
    "HouseAge",
    "AveRooms",
    "AveBedrms",
    "Population",
    "AveOccup",
    "Latitude",
    "Longitude",
)

UNPACKED = 1 << 25  # bytes of a text in an archive; the housing data have 2 MB, leukemia 4


def leukemia(raw: tuple[Path, ...]) -> Arrays:
    """LIBSVM text, compressed: the 38 training samples, then the 34 test samples."""
    from sklearn.datasets import load_svmlight_file  # slow to import, seldom needed

    texts = [_unpacked(path) for path in raw]
    (X, y), (X_test, y_test) = (load_svmlight_file(text, n_features=7129) for text in texts)
    if len(y) > 38 or len(y_test) > 34:  # before they are made dense
        raise ValueError(f"leukemia has 38 and 34 rows, got {len(y)} and {len(y_test)}")
    labels = np.unique(np.concatenate([y, y_test])).tolist()
    if labels != [-1.0, 1.0]:
        raise ValueError(f"the labels of leukemia must be -1 and 1, got {labels}")
    return {"X": X.toarray(), "y": y, "X_test": X_test.toarray(), "y_test": y_test}


def california_housing(raw: tuple[Path, ...]) -> Arrays:
    """Counts per district; scikit-learn's features are their averages per household."""
    with tarfile.open(raw[0]) as archive:
        member = archive.getmember("CaliforniaHousing/cal_housing.data")
        if not member.isreg() or member.size > UNPACKED:  # a link, or far too much
            raise ValueError(f"{member.name} must be a file of at most {UNPACKED} bytes")
        table = np.loadtxt(archive.extractfile(member), delimiter=",")  # type: ignore[arg-type]
    longitude, latitude, age, rooms, bedrooms, population, households, income, value = table.T
    features = (
        income,
        age,
        rooms / households,
        bedrooms / households,
        population,
        population / households,
        latitude,
        longitude,
    )
    return {
        "X": np.column_stack(features),
        "y": value / 100_000.0,
        "feature_names": np.array(HOUSING_FEATURES),
    }


def scheetz2006(raw: tuple[Path, ...]) -> Arrays:
    """An R list with the matrix ``X``, its columns named by probe, and the vector ``y``."""
    return _named_matrix(read_r(raw[0]), "X", "y")


def rhee2006(raw: tuple[Path, ...]) -> Arrays:
    """An R list as above; ``X`` holds zeros and ones."""
    arrays = dict(_named_matrix(read_r(raw[0]), "X", "y"))
    X = arrays["X"].astype(np.int8)
    if not np.array_equal(X, arrays["X"]) or not np.isin(X, (0, 1)).all():
        raise ValueError("the mutations of rhee2006 must be 0 or 1")
    return arrays | {"X": X}


def riboflavin(raw: tuple[Path, ...]) -> Arrays:
    """The data frame of the R package hdi, or its CSV export."""
    if raw[0].suffix == ".csv":
        return _riboflavin_csv(raw[0])
    return _named_matrix(read_r(raw[0])["riboflavin"], "x", "y")


CONVERTERS: dict[str, Converter] = {
    "leukemia": leukemia,
    "california_housing": california_housing,
    "scheetz2006": scheetz2006,
    "rhee2006": rhee2006,
    "riboflavin": riboflavin,
}


def _unpacked(path: Path) -> io.BytesIO:
    """The text of a ``.bz2`` that unpacks to no more than it should."""
    with bz2.open(path) as stream:
        text = stream.read(UNPACKED + 1)
    if len(text) > UNPACKED:
        raise ValueError(f"{path.name} unpacks to more than {UNPACKED} bytes")
    return io.BytesIO(text)


def read_r(path: Path) -> Any:
    """Contents of an ``.rds`` or ``.RData`` file; a data frame comes back as a dict of columns."""
    with extra("data", f"reading {path.name} needs the package"):
        import rdata

    # The defaults would force data frames into pandas, which has no place for a matrix column.
    as_is: dict[str | bytes, Any] = {
        "data.frame": lambda columns, attrs: columns,
        "AsIs": lambda value, attrs: value,
    }
    read = rdata.read_rds if path.suffix == ".rds" else rdata.read_rda
    return read(path, constructor_dict={**rdata.conversion.DEFAULT_CLASS_MAP, **as_is})


def _named_matrix(contents: Mapping[str, Any], X: str, y: str) -> Arrays:
    """The arrays ``X`` and ``y`` of an R list, and the names of rows and columns if it has them."""
    matrix = contents[X]
    arrays: dict[str, NDArray[Any]] = {
        "X": np.asarray(matrix, dtype=np.float64),
        "y": np.asarray(contents[y], dtype=np.float64).ravel(),
    }
    coords = getattr(matrix, "coords", {})  # dimnames make it an xarray.DataArray
    for axis, key in enumerate(("sample_names", "feature_names")):
        dim = matrix.dims[axis] if coords else None
        if dim in coords:
            arrays[key] = np.asarray(coords[dim], dtype=np.str_)
    return arrays


def _riboflavin_csv(path: Path) -> Arrays:
    """One sample per row with y first, or, as in the article's supplement, its transpose."""
    with path.open(newline="", encoding="utf-8-sig") as stream:
        header, *rows = csv.reader(stream)
    if len(header) == len(rows[0]) - 1:  # R leaves out the heading of the row names on request
        header = ["", *header]
    names = np.array([row[0] for row in rows])
    values = np.array([[float(cell) for cell in row[1:]] for row in rows])
    columns = np.array(header[1:])
    if len(rows) > len(columns):
        values, names, columns = values.T, columns, names
    return {
        "X": np.asfortranarray(values[:, 1:]),
        "y": values[:, 0].copy(),
        "feature_names": columns[1:],
        "sample_names": names,
    }
