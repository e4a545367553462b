"""Small disks, clocks that are set back, homes that are read-only and no network.

Only `make test-faults` asks for them, where Linux has namespaces and libfaketime (`machines.py`).
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

POINTS = int(os.environ.get("FAULT_POINTS", "0"))
HERE = Path(__file__).parent
FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")  # Debian's libfaketime

thorough = pytest.mark.skipif(POINTS < 100, reason="`make test-faults` asks for it")


def may_unshare(*what):
    """Whether there are namespaces, and mounts in them, for whoever runs this."""
    command = ["unshare", *what, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return shutil.which("unshare") and subprocess.run(command, capture_output=True).returncode == 0


def tried(machine, kind, folder, *before):
    command = [*before, sys.executable, HERE / "machines.py", machine, kind, folder]
    done = subprocess.run([*command, str(POINTS // 5), "0"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@thorough
@pytest.mark.parametrize("kind", ["fit", "reproduce", "fetch"])
def test_small_disks_lose_nothing_and_are_told_of(kind, tmp_path):
    if not may_unshare("--mount"):
        pytest.skip("nothing may be mounted here")
    assert tried("disk", kind, tmp_path, "unshare", "--mount")["full"] > 0


@thorough
@pytest.mark.skipif(not FAKETIME.exists(), reason="needs libfaketime")
@pytest.mark.parametrize("kind", ["fit", "reproduce"])
def test_a_clock_that_is_set_back_is_not_noticed(kind, tmp_path, monkeypatch):
    monkeypatch.setenv("FAKETIME_LIBRARY", str(FAKETIME))
    assert tried("clock", kind, tmp_path)["at work"] > 0


ALONE = """
home=$1; shift
mount -t tmpfs -o ro tmpfs "$home"
exec "$@"
"""


@thorough
def test_a_home_that_is_read_only_and_no_network(tmp_path):
    """A fit is done as ever; what needs either says so."""
    if not may_unshare("--mount", "--net"):
        pytest.skip("needs namespaces")
    home, place = tmp_path / "home", tmp_path / "place"
    home.mkdir()
    place.mkdir()
    table = np.random.default_rng(0).standard_normal((40, 4)).round(4)
    np.savetxt(place / "data.csv", table, "%g", ",", header="a,b,c,y", comments="")
    env = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}

    def run(*args):
        alone = ["unshare", "--mount", "--net", "sh", "-c", ALONE, "sh", home]
        return subprocess.run(
            [*alone, sys.executable, "-m", "ksupport_command", *args],
            capture_output=True, text=True, cwd=place, env=env | {"HOME": str(home)},
        )  # fmt: skip

    outputs = ("--output", "model.json", "--report", "report.html")
    done = run("fit", "data.csv", "--target", "y", "--stability", "0", "--no-compare", *outputs)
    assert done.returncode == 0, done.stderr
    assert (place / "report.html").read_text(encoding="utf-8").rstrip().endswith("</html>")
    assert json.loads((place / "model.json").read_text())["target"] == "y"
    done = run("data", "fetch", "leukemia")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert str(home) in done.stderr.replace("\n", "")
    env["KSUPPORT_DATA"] = str(place)  # now only the network is missed
    done = run("data", "fetch", "leukemia")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert str(place / "leukemia") in done.stderr.replace("\n", "")  # where to put it by hand
