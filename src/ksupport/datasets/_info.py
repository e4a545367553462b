"""What is known of a real dataset, and of each file of its origin."""

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
    urls: tuple[str, ...]  # tried in this order; all hold the same bytes
    digest: str | None = None
    stand_in: str | None = None  # a file of the same numbers that a user may put in its place


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
        What is downloaded; empty where a package does that, or nobody can.
    citation, licence : str
        Whom to thank, and what is allowed.
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
