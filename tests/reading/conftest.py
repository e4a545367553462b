"""Files of every kind, read as the commands and `ksupport.read` do."""

import pytest

pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("typer")


@pytest.fixture
def read_file(tmp_path):
    """Write bytes under a name, and read them as the commands do."""
    from ksupport.reading import Columns, read_data
    from ksupport.reading.options import how_to_read

    def write_and_read(data, name="data.csv", roles=None, **options):
        path = tmp_path / name
        if data is not None:
            path.write_bytes(data.encode() if isinstance(data, str) else data)
        given = {"separator": None, "decimal": ".", "thousands": None, "max_memory": 0.02}
        return read_data(
            path, Columns(**({"target": "y"} | (roles or {}))), how_to_read(**given | options)
        )

    return write_and_read
