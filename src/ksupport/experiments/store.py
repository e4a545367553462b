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


def cell_key(experiment: Experiment, cell: Cell) -> str:
    """What identifies a cell: its parameters and the experiment's version."""
    text = json.dumps([experiment.version, cell], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


class Store:
    """The finished cells of an output folder.

    Every cell is written in one transaction, so a killed process leaves whole cells only.

    Parameters
    ----------
    path : Path
        The SQLite file; made if absent.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        with self._transaction() as connection:
            connection.execute(_SCHEMA)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """A connection that waits for other processes; what goes wrong names the file."""
        try:
            with closing(sqlite3.connect(self.path, timeout=60)) as connection, connection:
                yield connection
        except sqlite3.Error as error:
            raise OSError(f"{self.path} cannot be used as a store of results: {error}") from error

    def get(self, experiment: Experiment, protocol: str) -> dict[str, list[Row]]:
        """The rows of every stored cell, by its key."""
        query = "select cell, rows from results where experiment = ? and protocol = ?"
        with self._transaction() as connection:
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
        with self._transaction() as connection:
            connection.execute("insert or replace into results values (?, ?, ?, ?, ?, ?)", values)
