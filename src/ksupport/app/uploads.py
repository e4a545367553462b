"""Files that the page is sent, kept under harmless names in a folder of the page."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ACCEPTED = (
    ".csv", ".tsv", ".txt", ".tab", ".gz", ".bz2", ".xz", ".xlsx", ".xlsm", ".ods", ".parquet",
    ".pq", ".arrow", ".feather", ".ipc", ".npz", ".npy", ".svm", ".libsvm", ".svmlight", ".h5ad",
    ".bed", ".bim", ".fam",
)  # fmt: skip
LONGEST_FILE_NAME = 100  # characters of a name
DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)  # names on Windows
MAIN = ".bed"  # of several files, the one that names the others


def safe_name(name: str) -> str:
    """A name that stays in its folder, and looks like the one that was given.

    >>> safe_name("../../etc/pass wd.csv"), safe_name("C:\\\\x\\\\con.csv"), safe_name("..")
    ('pass wd.csv', '_con.csv', 'file')
    """
    last = re.split(r"[/\\]", name)[-1]
    kept = re.sub(r"[^\w.()+ -]", "_", last).strip(". ")[-LONGEST_FILE_NAME:].lstrip(". -")
    return f"_{kept}" if DEVICES.match(kept) else kept or "file"


def taken(uploads: Sequence[Mapping[str, Any]], folder: Path) -> Path:
    """Move files that were sent into a new folder, and give the one to read.

    Files of PLINK come in threes; otherwise it is the first.
    """
    into = Path(tempfile.mkdtemp(dir=folder))
    paths = []
    for upload in uploads:
        path = into / safe_name(str(upload["name"]))
        os.replace(upload["datapath"], path)
        paths.append(path)
    return next((path for path in paths if path.suffix.lower() == MAIN), paths[0])
