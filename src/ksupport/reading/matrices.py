"""Files that hold a matrix: NumPy's, LIBSVM's, AnnData's and PLINK's; each as a `Matrix`."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._common.errors import InputError
from .._common.extra import extra
from .._common.forked import ends_when_forked
from .._common.names import listed, shown, title
from .._common.phases import phase
from ..design import Genotypes
from . import size
from .cells import Marks
from .duplicates import Duplicates
from .size import Budget
from .source import Source, file_mode
from .table import Matrix, Table

# -- NumPy and LIBSVM ------------------------------------------------------------------------


NUMERIC_KINDS = "fiub"  # the kinds of NumPy


def from_npz(source: Source, wanted: Sequence[str], budget: Budget) -> Matrix:
    """An array ``X``, perhaps ``feature_names``, and arrays with an entry for each row."""
    import pandas as pd

    if not zipfile.is_zipfile(io.BytesIO(source.data)):
        raise InputError(
            f"{source.name} cannot be read as npz: it is not an archive of arrays, or only a part "
            "of one. Write it with numpy.savez(file, X=X, y=y)"
        )
    with np.load(io.BytesIO(source.data), allow_pickle=False) as archive:

        def array(key: str) -> NDArray[Any]:
            if key not in archive.files:
                held = listed(archive.files)
                raise InputError(f"{source.name} has no array {key!r}; it holds {held}")
            with archive.zip.open(f"{key}.npy") as stream:
                budget.check(source.name, size.of_npy(stream))
            return np.asarray(archive[key])

        def vector(key: str, length: int, each: str) -> NDArray[Any]:
            found = array(key)
            if found.shape != (length,):
                raise InputError(
                    f"{source.name}: {key} must have one entry for each of the {length} {each} of "
                    f"X, got {_kind(found)}"
                )
            return found

        X = array("X")
        if X.ndim != 2 or X.dtype.kind not in NUMERIC_KINDS:
            raise InputError(f"{source.name}: X must be a matrix of numbers, got {_kind(X)}")
        n, d = X.shape
        about = pd.DataFrame({name: vector(name, n, "rows") for name in wanted}, index=range(n))
        given = "feature_names" in archive.files
        names = vector("feature_names", d, "columns").tolist() if given else numbered(d)
    X = X.astype(np.float64, copy=False)
    return Matrix(source.path, about, feature_names=tuple(map(str, names)), X=X)


def from_npy(source: Source, wanted: Sequence[str], budget: Budget) -> Matrix:
    """A matrix of numbers; columns are called x0, x1, ... and may have a part."""
    import pandas as pd

    X = vector_or_matrix(source, budget)
    if X.ndim != 2:
        raise InputError(
            f"{source.name}: the array must be a matrix, with a row for each sample and a column "
            f"for each feature, got {_kind(X)}"
        )
    names = numbered(X.shape[1])
    place = {name: j for j, name in enumerate(names)}
    about = pd.DataFrame(
        {name: X[:, place[name]] for name in wanted if name in place}, index=range(len(X))
    )
    return Matrix(source.path, about, feature_names=tuple(names), X=X)


def vector_or_matrix(source: Source, budget: Budget) -> NDArray[Any]:
    """The numbers of an ``.npy``, as float64."""
    stream = io.BytesIO(source.data)
    try:
        budget.check(source.name, size.of_npy(stream))
        stream.seek(0)
        array = np.lib.format.read_array(stream, allow_pickle=False)
    except ValueError as error:
        raise InputError(
            f"{source.name} cannot be read as npy: {error}. Write it with numpy.save(file, X)"
        ) from None
    if array.dtype.kind not in NUMERIC_KINDS:
        raise InputError(f"{source.name}: the array must be of numbers, got {_kind(array)}")
    return np.ascontiguousarray(array, np.float64)


def _kind(array: NDArray[Any]) -> str:
    return f"shape {array.shape} of {array.dtype}"


def held_by_npz(source: Source) -> list[str]:
    """The names of the arrays of an archive; none if it is not one."""
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            return [name.removesuffix(".npy") for name in archive.namelist()]
    except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error):
        return []


def from_libsvm(source: Source, target: str, budget: Budget) -> Matrix:
    """A LIBSVM file: the response, then ``index:value``; features are named after their index."""
    import pandas as pd
    from sklearn.datasets import load_svmlight_file

    budget.check(source.name, size.of_libsvm(source.data))
    X, y = load_svmlight_file(io.BytesIO(source.data), zero_based=True)
    widest = f"{source.name}, whose largest index is {X.shape[1] - 1},"
    budget.check(widest, size.FEATURE_BYTES * X.shape[1])
    names = numbered(X.shape[1])
    if X.shape[1] > 1 and X[:, [0]].nnz == 0:  # indices began at 1, as they mostly do
        X, names = X[:, 1:], names[1:]
    about = pd.DataFrame({target: y})
    return Matrix(source.path, about, feature_names=tuple(names), X=X.tocsr())


def numbered(d: int) -> list[str]:
    """Names for columns that have none."""
    return [f"x{j}" for j in range(d)]


# -- AnnData ---------------------------------------------------------------------------------


H5AD_PARTS = ("X", "obs", "var")
PROBED_BYTES = 1 << 24  # bytes of an array up to which a damaged one is found out beforehand


def from_h5ad(source: Source, budget: Budget) -> Matrix:
    """X, the names of its columns (``var``) and the annotation of its rows (``obs``)."""
    with extra("h5ad", "AnnData files need"):
        import h5py
        from anndata.io import read_elem
    if not h5py.is_hdf5(source.path):
        raise InputError(
            f"{source.name} cannot be read as h5ad: it is not an HDF5 file, or only a part of one. "
            "Write it again with AnnData's write_h5ad"
        )
    if not ends_when_forked(lambda: _check_header(source)):
        raise InputError(
            f"{source.name} cannot be read as h5ad: it is damaged, HDF5 finds no end in it. Get or "
            "write the file again"
        )
    with h5py.File(source.path, "r") as file, phase("unpacking"):
        absent = [part for part in H5AD_PARTS if part not in file]
        if absent:
            raise InputError(
                f"{source.name} has no {absent[0]}, which an AnnData file needs for a fit; it "
                f"holds {', '.join(file)}"
            )
        held = sum(map(_bytes, _items(file, source, ["obs", "var"])))
        inside = sum(map(_bytes, _items(file, source, ["X"])))
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
        X=sp.csr_matrix(X, dtype=np.float64) if sp.issparse(X) else np.ascontiguousarray(X, float),
    )


def _check_header(source: Source) -> None:
    """Read all that will be read, except large arrays."""
    import h5py

    with h5py.File(source.path, "r") as file:
        for item in _items(file, source, [part for part in H5AD_PARTS if part in file]):
            list(item.attrs.items())
            if hasattr(item, "shape") and _bytes(item) < PROBED_BYTES:
                item[()]


def _items(file: Any, source: Source, parts: Sequence[str]) -> Iterator[Any]:
    """The groups and arrays of parts of a file; links out of the file are refused."""
    import h5py

    waiting, seen = [(file, part) for part in parts], set()
    while waiting:
        group, key = waiting.pop()
        linked = not isinstance(group.get(key, getlink=True), h5py.HardLink)
        item: Any = None if linked else group[key]
        if linked or (hasattr(item, "shape") and (item.is_virtual or item.external)):
            place = shown(f"{group.name}/{key}".lstrip("/"))
            raise InputError(
                f"{source.name}: {place} is a link, and only what lies in the file itself is read. "
                "Write it again with AnnData's write_h5ad"
            )
        address = h5py.h5o.get_info(item.id).addr
        if address not in seen:
            seen.add(address)
            yield item
            if not hasattr(item, "shape"):
                waiting.extend((item, each) for each in item)


def _bytes(item: Any) -> float:
    """Of an array; a group by itself has none."""
    if not hasattr(item, "shape"):
        return 0.0
    return float(item.size or 0) * (item.dtype.itemsize + size.NUMBER_BYTES)


def _size(X: Any) -> float:
    """Bytes for the matrix as stored and as float64."""
    if hasattr(X, "shape"):
        n, d = X.shape
        return float(n * d * (X.dtype.itemsize + size.NUMBER_BYTES) + size.FEATURE_BYTES * d)
    return float(
        size.TABLE_COPIES * 2 * size.NUMBER_BYTES * X["data"].shape[0]
        + size.FEATURE_BYTES * int(X.attrs["shape"][1])
    )


# -- PLINK -----------------------------------------------------------------------------------


MAGIC = b"\x6c\x1b\x01"  # by variants; PLINK 2 writes nothing else
ABSENT = ("", "NA", "nan", "-9")  # phenotypes that are none
CASES = {"1": "control", "2": "case", "0": None}


@dataclass(frozen=True)
class Variants(Matrix):
    """Genotypes; a feature is called after the allele that it counts."""

    other_names: tuple[str, ...] = ()  # the same if the other allele were counted

    def only(
        self, names: Collection[str], marks: Marks, duplicates: Duplicates
    ) -> tuple[list[str], Any]:
        """Those of these names, with alleles counted as the names say."""
        wanted, found, places, turned = set(names), [], [], []
        both = zip(duplicates.rename(self.feature_names), self.other_names, strict=True)
        for j, (name, other) in enumerate(both):
            if name in wanted or other in wanted:
                found.append(name if name in wanted else other)
                places.append(j)
                turned.append(name not in wanted)
        values = self.X.select(np.array(places, np.intp)).values
        return found, np.where(turned, 2 - values, values)


def from_plink(source: Source) -> Variants:
    """The files of this name that end in .bed, .bim and .fam."""
    for suffix in (".bim", ".fam"):
        file_mode(source.path.with_suffix(suffix), "it must lie beside the .bed file")
    _check_magic(source.path)
    with extra("plink", "genotypes need"):
        from bed_reader import open_bed
    with phase("finding its variants"), open_bed(source.path) as bed:
        shape = (int(bed.iid_count), int(bed.sid_count))
        names = _variant_names(bed, bed.allele_1)
        others = _variant_names(bed, bed.allele_2)
        about = _about_samples(bed)
        ids = np.array(bed.iid, object)
    try:
        X = Genotypes(source.path, shape)
    except ValueError as error:
        raise InputError(f"{error}. Get or write the file again") from None
    return Variants(source.path, about, ids=ids, feature_names=names, X=X, other_names=others)


def without_codes(table: Table) -> Table:
    """A table of phenotypes, in which PLINK writes -9 where one is missing."""
    coded = table.about.isin([-9, "-9"])
    count = int(coded.to_numpy().sum())
    if count == 0:
        return table
    words = f"{count} values of -9 in {table.name} were taken as missing, as PLINK does."
    return replace(table, about=table.about.mask(coded), remarks=[*table.remarks, words])


def _check_magic(path: Path) -> None:
    with open(path, "rb") as stream:
        start = stream.read(len(MAGIC))
    if start != MAGIC:
        raise InputError(
            f"{title(path)} cannot be read as plink: it does not begin as a .bed file of genotypes "
            "by variants does. Write it again with plink --make-bed"
        )


def _variant_names(bed: Any, alleles: NDArray[Any]) -> tuple[str, ...]:
    """Of each variant and the allele that is counted, as PLINK's own exports have it."""
    known = zip(bed.sid, bed.chromosome, bed.bp_position, alleles, strict=True)
    return tuple(
        f"{f'{chromosome}:{place}' if sid == '.' else sid}_{allele}"
        for sid, chromosome, place, allele in known
    )


def _about_samples(bed: Any) -> Any:
    """What a .fam file tells of samples: their sex and a phenotype, where it does."""
    import pandas as pd

    about = pd.DataFrame(index=range(int(bed.iid_count)))
    sex = np.array(bed.sex)
    if sex.any():
        words = {1: "male", 2: "female"}
        about["sex"] = pd.Series([words.get(int(each)) for each in sex], dtype=object)
    phenotype = [None if each in ABSENT else str(each) for each in bed.pheno]
    present = {each for each in phenotype if each is not None}
    if present and present <= CASES.keys() and present != {"0"}:
        about["pheno"] = [None if each is None else CASES[each] for each in phenotype]
    elif present - {"0"}:
        about["pheno"] = Marks().numbers(pd.Series(phenotype, dtype=object))
    return about
