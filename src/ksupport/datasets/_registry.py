"""Registry of the real datasets: origin, citation, licence and digest of each."""

from __future__ import annotations

from ._by_hand import BY_HAND
from ._info import NO_LICENCE, DatasetInfo, RemoteFile

_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/"
_BREHENY = "https://s3.amazonaws.com/pbreheny-data-sets/"
_BREHENY_MIRROR = "https://github.com/IowaBiostat/data-sets/raw/main/"  # the author's, on GitHub
_HDI = "https://raw.githubusercontent.com/cran/hdi/b31648aa8110030e868a778a79e6cea70bc5d719/data/"


DATASETS: dict[str, DatasetInfo] = {
    info.name: info
    for info in (
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
            licence=NO_LICENCE,
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
            licence=NO_LICENCE,
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
            licence=NO_LICENCE,
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
            licence=NO_LICENCE,
            content_sha256="47026cc77d186f4a3d4547e43a97e35c163366dc5bb8ebffe962bfef3444d062",
            extra="data",
        ),
        DatasetInfo(
            name="riboflavin",
            description="Riboflavin production (log) of Bacillus subtilis from 4088 gene "
            "expressions",
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
        *BY_HAND,
        DatasetInfo(
            name="haxby",
            description="BOLD recordings of subject 2 looking at eight kinds of images, "
            "whole brain; the shape is that of the face/house contrast",
            shape=(216, 39912),
            files=(),  # nilearn downloads it
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
            files=(),
            citation="Haxby et al. (2001), Distributed and overlapping representations of faces "
            "and objects in ventral temporal cortex, Science 293",
            licence="as haxby",
            content_sha256="2996ed9fbf0569959aaf4d98202d0076b2dae00b0b3e2a5c48d0724a79e27563",
            how_to_get="This sample is not published anywhere to download: copy its directory "
            'from where you have it, or use fetch_haxby(subset="full").',
        ),
    )
}


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
