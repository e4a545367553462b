"""PLINK's three files: genotypes stay on disk, variants name the features, samples the rows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.errors import InputError
from .._common.extra import extra
from .._common.names import title
from .._common.phases import phase
from ..design import Genotypes
from .cells import Marks
from .duplicates import Duplicates
from .source import Source, file_mode
from .table import Matrix, Table

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
        both = zip(duplicates.renamed(self.feature_names), self.other_names, strict=True)
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
        names = _names(bed, bed.allele_1)
        others = _names(bed, bed.allele_2)
        about = _about(bed)
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
    words = f"{count} times -9 in {table.name} was taken for a missing value, as PLINK does."
    return replace(table, about=table.about.mask(coded), remarks=[*table.remarks, words])


def _check_magic(path: Path) -> None:
    with open(path, "rb") as stream:
        start = stream.read(len(MAGIC))
    if start != MAGIC:
        raise InputError(
            f"{title(path)} cannot be read as plink: it does not begin as a .bed file of genotypes "
            "by variants does. Write it again with plink --make-bed"
        )


def _names(bed: Any, alleles: NDArray[Any]) -> tuple[str, ...]:
    """Of each variant and the allele that is counted, as PLINK's own exports have it."""
    known = zip(bed.sid, bed.chromosome, bed.bp_position, alleles, strict=True)
    return tuple(
        f"{f'{chromosome}:{place}' if sid == '.' else sid}_{allele}"
        for sid, chromosome, place, allele in known
    )


def _about(bed: Any) -> Any:
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
