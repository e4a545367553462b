"""Registry of the real datasets: origin, citation, licence and digest of each."""

from __future__ import annotations

from dataclasses import dataclass

NO_LICENCE = "no licence is stated at the origin"


@dataclass(frozen=True)
class RemoteFile:
    """One file of the origin.

    ``digest`` is ``"algorithm:hex"``, or None where the origin publishes none and we know none:
    then only the shape and the contents after conversion are checked.
    """

    filename: str
    urls: tuple[str, ...]  # mirrors of one file, tried in this order
    digest: str | None = None
    stand_in: str | None = None  # a converted copy that a user may provide instead


@dataclass(frozen=True)
class DatasetInfo:
    """One dataset: a row of ``ksupport data list``.

    Attributes
    ----------
    name, description : str
        What it is called, and what was measured.
    shape : tuple of int
        Samples and features.
    citation, licence : str
        Reference and terms of use.
    files : tuple of RemoteFile
        Files to download; empty if a package downloads them or they cannot be downloaded.
    content_sha256 : str, optional
        Of what it measures, in the copy we tested with.
    how_to_get : str
        What to do when it cannot be downloaded as above.
    extra : str
        The optional dependency that its conversion needs.
    n_targets : int, optional
        Responses, if there is more than one.
    """

    name: str
    description: str
    shape: tuple[int, int]
    citation: str
    licence: str = NO_LICENCE
    files: tuple[RemoteFile, ...] = ()
    content_sha256: str | None = None
    how_to_get: str = ""
    extra: str = ""
    n_targets: int | None = None


_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/"
_BREHENY = "https://s3.amazonaws.com/pbreheny-data-sets/"
_BREHENY_MIRROR = "https://github.com/IowaBiostat/data-sets/raw/main/"  # the author's, on GitHub
_HDI = "https://raw.githubusercontent.com/cran/hdi/b31648aa8110030e868a778a79e6cea70bc5d719/data/"
_HIV = (
    "The gene data and the lists of mutations are part of the analysis of 2006 that the HIV Drug "
    "Resistance Database (Stanford) has published (genophenoPNAS2006: DATA and MUTATIONLISTS); "
    "mutations known to be selected by treatment are in its repository hivfacts. The file to make "
    "of them, {name}.npz, holds X (0 or 1 for each isolate and mutation), Y (fold resistance, NaN "
    "where it was not measured), drugs (the columns of Y), feature_names, position, truth (bool) "
    "and truth_positions."
)
_RHEE = (
    "Rhee et al. (2006), Genotypic predictors of human immunodeficiency virus type 1 drug "
    "resistance, PNAS 103"
)

_ALL = (
    DatasetInfo(
        name="leukemia",
        description="Two kinds of acute leukemia, -1 and 1, from 7129 gene expressions",
        shape=(38, 7129),
        files=(
            # LIBSVM publishes no checksums: shape and labels are checked after parsing.
            RemoteFile("leu.bz2", (_LIBSVM + "leu.bz2",)),
            RemoteFile("leu.t.bz2", (_LIBSVM + "leu.t.bz2",)),
        ),
        citation="Golub et al. (1999), Molecular classification of cancer, Science 286",
        content_sha256="ca6568dfe9e5cb76580726baf6216dfcf8bd4cd7e920687a66a9d34a30a17417",
    ),
    DatasetInfo(
        name="california_housing",
        description="Median house values of Californian districts, in 100 000 dollars",
        shape=(20640, 8),
        files=(
            # The address and the checksum that scikit-learn's own fetcher uses.
            RemoteFile(
                "cal_housing.tgz",
                ("https://ndownloader.figshare.com/files/5976036",),
                "sha256:aaa5c9a6afe2225cc2aed2723682ae403280c4a3695a2ddda4ffb5d8215ea681",
            ),
        ),
        citation="Pace and Barry (1997), Sparse spatial autoregressions, "
        "Statistics and Probability Letters 33",
        content_sha256="f8ce03213e1c375e51c57d02cb41558c30b643325347f1cc0b26ce713ce3a0b7",
    ),
    DatasetInfo(
        name="scheetz2006",
        description="Expression of the gene Trim32 from 18975 others, in the eyes of 120 rats",
        shape=(120, 18975),
        files=(
            RemoteFile(
                "Scheetz2006.rds",
                (
                    _BREHENY + "Scheetz2006.rds",
                    _BREHENY_MIRROR + "Scheetz2006/Scheetz2006.rds",
                ),
                "sha256:1b3450f6ed59afce27dd162e4563aa27c6512e41f65735b5fa448e0643d5d6b4",
            ),
        ),
        citation="Scheetz et al. (2006), Regulation of gene expression in the mammalian eye, "
        "PNAS 103",
        content_sha256="2f5b35a825d7765ac3e50c4b1d3c8f794039b86908873c21cf18222b6d3fb7e8",
        extra="data",
    ),
    DatasetInfo(
        name="rhee2006",
        description="Resistance of HIV-1 to nelfinavir (log fold) from 361 mutations",
        shape=(842, 361),
        files=(
            RemoteFile(
                "Rhee2006.rds",
                (_BREHENY + "Rhee2006.rds", _BREHENY_MIRROR + "Rhee2006/Rhee2006.rds"),
                "sha256:51b532e605d8594e70e9198053ccaf4da8bee2fd30660fc9c77e08c16b1cf47f",
            ),
        ),
        citation="Rhee et al. (2006), Genotypic predictors of human immunodeficiency virus "
        "type 1 drug resistance, PNAS 103",
        content_sha256="47026cc77d186f4a3d4547e43a97e35c163366dc5bb8ebffe962bfef3444d062",
        extra="data",
    ),
    DatasetInfo(
        name="riboflavin",
        description="Riboflavin production (log) of Bacillus subtilis from 4088 gene expressions",
        shape=(71, 4088),
        files=(
            # The data file of the R package hdi in GitHub's mirror of CRAN, pinned to a
            # commit; the MD5 is the one in the package's own manifest at that commit.
            RemoteFile(
                "riboflavin.RData",
                (_HDI + "riboflavin.RData",),
                "md5:2ea5489eabefbaa5ff1fe91d28b2b509",
                stand_in="riboflavin.csv",
            ),
        ),
        citation="Bühlmann, Kalisch and Meier (2014), High-dimensional statistics with a view "
        "toward applications in biology, Annual Review of Statistics and Its Application 1",
        licence="data provided by DSM (Switzerland); the package hdi is under the GPL",
        content_sha256="04213d82864c690e0aafaaf3f14380ba94dc2cac30f9d3ab378a2b8797ea46b1",
        how_to_get=(
            "The article offers it only as a supplement, without a lasting direct address. "
            "In R, install.packages('hdi'); data(riboflavin, package='hdi'); "
            "write.csv(cbind(y=riboflavin$y, unclass(riboflavin$x)), 'riboflavin.csv') "
            "writes a file that can take the place of riboflavin.RData, as can the "
            "article's own riboflavin.csv."
        ),
        extra="data",
    ),
    # No address of the next six lasts.
    DatasetInfo(
        name="colon",
        description="Tumours and normal tissues of the colon, 1 and 0, from 2000 gene expressions",
        shape=(62, 2000),
        citation="Alon et al. (1999), Broad patterns of gene expression revealed by clustering "
        "analysis of tumor and normal colon tissues, PNAS 96",
        content_sha256="0cafda89cba5f0a943f5e93539f4abe630c88d966afdfbd1600fc0857042769f",
        how_to_get="The authors' page at Princeton offers the matrix I2000 of raw intensities and "
        "the tissues; Bioconductor's package colonCA has the same numbers. The file to make of "
        "them, colon.npz, holds X (62 x 2000) and y (1 for a tumour).",
    ),
    DatasetInfo(
        name="khan",
        description="Four kinds of small round blue cell tumours, 0 to 3, from 2308 genes",
        shape=(63, 2308),
        citation="Khan et al. (2001), Classification and diagnostic prediction of cancers using "
        "gene expression profiling and artificial neural networks, Nature Medicine 7",
        content_sha256="5376c210d7c659336c7377e61dc604d9e973c9c3a37ca6b24e44288693cb9f1a",
        how_to_get="The R package ISLR has it: data(Khan, package='ISLR'). The file to make of its "
        "training part, khan.npz, holds X (Khan$xtrain) and y (Khan$ytrain less 1).",
    ),
    DatasetInfo(
        name="hiv_pi",
        description="Resistance of HIV-1 to seven protease inhibitors from 361 mutations; those "
        "selected by treatment are known",
        shape=(846, 361),
        citation=_RHEE,
        content_sha256="b2a096b99034aa7a7cddd1036b0b5d66a23811da212fb3e22cbb044c26277ad5",
        how_to_get=_HIV.format(name="hiv_pi"),
        n_targets=7,
    ),
    DatasetInfo(
        name="hiv_nnrti",
        description="Resistance of HIV-1 to three inhibitors of reverse transcriptase from 655 "
        "mutations; those selected by treatment are known",
        shape=(745, 655),
        citation=_RHEE,
        content_sha256="3724caa86dbacac5057dfb19eaacf718eca98b2fb8ab49ff4c1b67c2031c7870",
        how_to_get=_HIV.format(name="hiv_nnrti"),
        n_targets=3,
    ),
    DatasetInfo(
        name="spike_in_u133",
        description="Concentrations (log2) of transcripts added to 42 arrays from 500 probe sets; "
        "the three of each profile are known",
        shape=(42, 500),
        citation="McCall and Irizarry (2008), Consolidated strategy for the analysis of microarray "
        "spike-in data, Nucleic Acids Research 36",
        content_sha256="c00f33c120a7d3cc77e94319f2af25717883bd608a760dd5cc8859eaeca06cc7",
        how_to_get="Bioconductor's package spkTools and its data have Affymetrix' spike-in arrays "
        "(HG-U133A). The file to make of them, spike_in_u133.npz, holds X (42 x 500 expressions), "
        "Y (42 x 14 log2 concentrations), truth (14 x 500, bool) and feature_names.",
        n_targets=14,
    ),
    DatasetInfo(
        name="finemapping_n3",
        description="Two simulated traits with three causes each among 1001 linked genotypes",
        shape=(574, 1001),
        citation="Wang, Sarkar, Carbonetto and Stephens (2020), A simple new approach to variable "
        "selection in regression, with application to genetic fine mapping, JRSS B 82",
        licence="the package susieR is under the BSD licence",
        content_sha256="e5c0c069393d1bdff64089b95acdc82d59cd655394a2b341ee76ea64b5d2c4ed",
        how_to_get="The R package susieR has it: data(N3finemapping, package='susieR'). The file "
        "to make of it, finemapping_n3.npz, holds X, Y (574 x 2), true_coef (1001 x 2) and "
        "position.",
        n_targets=2,
    ),
    DatasetInfo(
        name="haxby",
        description="BOLD recordings of subject 2 looking at eight kinds of images, "
        "whole brain; the shape is that of the face/house contrast",
        shape=(216, 39912),
        citation="Haxby et al. (2001), Distributed and overlapping representations of faces "
        "and objects in ventral temporal cortex, Science 293",
        licence="nilearn, from which it is downloaded, gives the licence as unknown",
        how_to_get="nilearn.datasets.fetch_haxby downloads it (about 300 MB).",
        extra="fmri",
    ),
    DatasetInfo(
        name="haxby_slice",
        description="One slice (530 voxels) of the recordings of one Haxby subject",
        shape=(216, 530),
        citation="Haxby et al. (2001), Distributed and overlapping representations of faces "
        "and objects in ventral temporal cortex, Science 293",
        licence="as haxby",
        content_sha256="2996ed9fbf0569959aaf4d98202d0076b2dae00b0b3e2a5c48d0724a79e27563",
        how_to_get="This sample is not published anywhere to download: copy its directory "
        'from where you have it, or use fetch_haxby(subset="full").',
    ),
)
DATASETS: dict[str, DatasetInfo] = {info.name: info for info in _ALL}


def list_datasets() -> tuple[DatasetInfo, ...]:
    """Every real dataset this package can load, with its origin, citation and licence.

    Returns
    -------
    tuple of DatasetInfo
        With the fields ``name``, ``description``, ``shape``, ``files``, ``citation``,
        ``licence``, ``content_sha256``, ``how_to_get``, ``extra`` and ``n_targets``.

    Examples
    --------
    >>> from ksupport.datasets import list_datasets
    >>> for info in list_datasets()[:2]:
    ...     print(info.name, info.shape)
    leukemia (38, 7129)
    california_housing (20640, 8)
    """
    return tuple(DATASETS.values())


def dataset_info(name: str) -> DatasetInfo:
    """The registry's row of one dataset."""
    if name not in DATASETS:
        raise ValueError(f"name must be one of {sorted(DATASETS)}, got {name!r}")
    return DATASETS[name]
