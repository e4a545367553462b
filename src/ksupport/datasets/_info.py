"""Metadata of a real dataset and of its files."""

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
    files : tuple of RemoteFile
        Files to download; empty if a package downloads them or they cannot be downloaded.
    citation, licence : str
        Reference and terms of use.
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
    files: tuple[RemoteFile, ...]
    citation: str
    licence: str
    content_sha256: str | None = None
    how_to_get: str = ""
    extra: str = ""
    n_targets: int | None = None
