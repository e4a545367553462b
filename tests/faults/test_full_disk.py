"""A disk that is full: named errors, and whatever was there before stays as it was.

A limit on the size of files, as the kernel sets it for a process, is as good as a full disk: the
write that goes beyond it fails after some of it is written.  `make test-faults` takes a small disk.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

resource = pytest.importorskip("resource", reason="limits as POSIX has them")

LIMITED = """
import resource, signal, sys
limit, *args = sys.argv[1:]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # then the write fails, with an error of its own
sys.dont_write_bytecode = True  # Python before 3.14 keeps what it could write of a module
import ksupport.cli, ksupport.commands.fit
ksupport.cli.program()
resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
sys.argv = ["ksupport", *args]
ksupport.cli.app()
"""


def run(limit, *args, cwd, **env):
    return subprocess.run(
        [sys.executable, "-c", LIMITED, str(limit), *map(str, args)],
        cwd=cwd, capture_output=True, text=True, env=os.environ | env,
    )  # fmt: skip


def assert_told(done, *names):
    """In words, with the names of the files."""
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    for name in names:
        assert name in done.stderr
    assert "File too large" in done.stderr or "disk" in done.stderr


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 8))
    table = np.column_stack([X, X[:, 0] + 0.1 * rng.standard_normal(40)])
    header = ",".join([*(f"g{j}" for j in range(8)), "y"])
    np.savetxt(tmp_path / "data.csv", table, "%.5g", ",", header=header, comments="")
    return tmp_path


def test_model_and_report(data):
    names = ("model.json", "report.html")
    for name in names:
        (data / name).write_text("before")
    options = ["--target", "y", "--no-compare", "--stability", "0"]
    outputs = ["--output", "model.json", "--report", "report.html"]
    done = run(600, "fit", "data.csv", *options, *outputs, cwd=data)
    assert_told(done, *names)
    assert [(data / name).read_text() for name in names] == ["before", "before"]
    assert sorted(path.name for path in data.iterdir()) == ["data.csv", *names]


def test_store_table_and_figure(tmp_path):
    pytest.importorskip("matplotlib")
    args = ["reproduce", "fig-f1-n", "--quick", "--jobs", "1", "--out", "."]
    assert_told(run(8192, *args, cwd=tmp_path), "results.sqlite")
    done = run(2**30, *args, cwd=tmp_path)  # there is room again, and what was done is there
    assert done.returncode == 0, done.stderr
    whole = {path.name: path.read_bytes() for path in (tmp_path / "paper-quick").iterdir()}
    for path in (tmp_path / "paper-quick").iterdir():
        path.unlink()
    assert_told(run(9000, *args, cwd=tmp_path), "fig-f1-n")
    assert not list((tmp_path / "paper-quick").glob(".*"))
    assert run(2**30, *args, cwd=tmp_path).returncode == 0
    assert {path.name: path.read_bytes() for path in (tmp_path / "paper-quick").iterdir()} == whole


FETCH = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
import killing, signal, resource
killing.register_a_dataset(Path(sys.argv[2]))
from ksupport.cli import app, program
program()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
sys.argv = ["ksupport", "data", "fetch", "leukemia"]
app()
"""


def test_cache_of_datasets(tmp_path):
    home, raw = tmp_path / "home", tmp_path / "raw"
    raw.mkdir()
    command = [sys.executable, "-c", FETCH, str(Path(__file__).parent), str(raw)]
    env = os.environ | {"KSUPPORT_DATA": str(home)}
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert_told(done)
    assert not [path for path in home.rglob("*") if path.is_file()]
