"""Commands as users run them, and a few small data files."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

if not hasattr(os, "fork"):  # every command below is forked, for speed
    pytest.skip("there is no os.fork on this system", allow_module_level=True)
pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

SERVER = Path(__file__).with_name("forking.py")


class Runner:
    """Every command runs in a process of its own, forked from one that has imported the package."""

    def __init__(self, folder):
        self.folder, self.count = folder, 0
        env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
        env |= {"COLUMNS": "100", "TERM": "xterm-256color", "PYTHONUTF8": "1"}
        self.server = subprocess.Popen(
            [sys.executable, str(SERVER)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env,
        )  # fmt: skip

    def __call__(self, *args, cwd, **environment):
        self.count += 1
        out, err = (self.folder / f"{self.count}.{each}" for each in ("out", "err"))
        job = {
            "args": [str(arg) for arg in args], "cwd": str(cwd), "env": environment,
            "out": str(out), "err": str(err),
        }  # fmt: skip
        print(json.dumps(job), file=self.server.stdin, flush=True)
        code = int(self.server.stdout.readline())
        text = [file.read_text(encoding="utf-8") for file in (out, err)]
        return SimpleNamespace(returncode=code, stdout=text[0], stderr=text[1])

    def close(self):
        self.server.stdin.close()
        self.server.wait(60)
        self.server.stdout.close()


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    if not hasattr(os, "fork"):
        pytest.skip("needs os.fork")
    runner = Runner(tmp_path_factory.mktemp("output"))
    yield runner
    runner.close()


@pytest.fixture(scope="session")
def small():
    """60 x 12, of which the first three matter."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 12))
    y = 3 * X[:, 0] - 2 * X[:, 1] + 2 * X[:, 2] + 0.3 * rng.standard_normal(60) + 5
    return X, y


@pytest.fixture
def small_csv(small, tmp_path):
    import pandas as pd

    X, y = small
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(X.shape[1])])
    frame["y"] = y
    frame.to_csv(tmp_path / "small.csv", index=False)
    return tmp_path / "small.csv"
