"""Results on disk: one SQLite file, one line per finished cell."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from .experiment import Cell, Experiment, Row

_SCHEMA = """
create table if not exists results (
    experiment text not null,
    protocol text not null,
    cell text not null,        -- hash of the experiment's version and the cell's parameters
    parameters text not null,  -- JSON
    rows text not null,        -- JSON
    seconds real not null,
    primary key (experiment, protocol, cell)
) without rowid
"""


COLUMNS = ["experiment", "protocol", "cell", "parameters", "rows", "seconds"]


class StoreError(OSError):
    """The file of results cannot be used."""


def cell_key(experiment: Experiment, cell: Cell) -> str:
    """What identifies a cell: its parameters and the experiment's version."""
    text = json.dumps([experiment.version, cell], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


class Store:
    """The finished cells of an output folder, in a SQLite file that is made if absent.

    Every cell is written in one transaction, so a killed process leaves whole cells only.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        with self._opened() as connection:
            self._refuse_others(connection)
            connection.execute(_SCHEMA)

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=60)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """One transaction; errors of SQLite become a `StoreError` with a remedy."""
        try:
            with closing(self._connect()) as connection, connection:
                yield connection
        except sqlite3.OperationalError as error:
            raise StoreError(
                f"{self.path} cannot be used ({error}): check that the file and its folder are "
                "writable, that the disk is not full and that no other run uses the file, or "
                "choose another output folder"
            ) from error
        except sqlite3.DatabaseError as error:
            raise self._not_ours(str(error)) from error

    def _refuse_others(self, connection: sqlite3.Connection) -> None:
        """Refuse a database that holds something else."""
        found = connection.execute("select name from sqlite_master where type = 'table'")
        tables = [name for (name,) in found]
        columns = [row[1] for row in connection.execute("pragma table_info(results)")]
        if tables and columns != COLUMNS:
            raise self._not_ours(f"it is a database of {', '.join(map(repr, tables[:3]))}")

    def _not_ours(self, why: str) -> StoreError:
        return StoreError(
            f"{self.path} does not hold results of experiments ({why}): move it away, or choose "
            "another output folder"
        )

    def get(self, experiment: Experiment, protocol: str) -> dict[str, list[Row]]:
        """The rows of every stored cell, by its key."""
        query = "select cell, rows from results where experiment = ? and protocol = ?"
        with self._opened() as connection:
            found = connection.execute(query, (experiment.name, protocol)).fetchall()
        return {key: json.loads(rows) for key, rows in found}

    def put(
        self, experiment: Experiment, protocol: str, cell: Cell, rows: list[Row], seconds: float
    ) -> None:
        """Add a finished cell."""
        values = (
            experiment.name,
            protocol,
            cell_key(experiment, cell),
            json.dumps(cell, sort_keys=True),
            json.dumps(rows),
            seconds,
        )
        with self._opened() as connection:
            connection.execute("insert or replace into results values (?, ?, ?, ?, ?, ?)", values)
