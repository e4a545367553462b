"""Commands that are killed lose nothing and leave no half-written file; see `killing.py`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

POINTS = int(os.environ.get("FAULT_POINTS", "3"))  # `make test-faults` takes 100

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")


@pytest.mark.parametrize("kind", ["fit", "reproduce", "fetch"])
def test_what_is_killed_leaves_whole_files(kind, tmp_path):
    pytest.importorskip("typer")
    pytest.importorskip("matplotlib")
    script = Path(__file__).with_name("killing.py")
    done = subprocess.run(
        [sys.executable, script, kind, tmp_path, str(POINTS), "0"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    hit = json.loads(done.stdout)
    assert hit.get("moment", 0) + hit.get("touch", 0) == POINTS
