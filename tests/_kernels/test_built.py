"""What is compiled is built ahead of time, in modules small enough to read."""

import subprocess
import sys
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src" / "ksupport" / "_kernels"
MODULES = sorted(SOURCES.glob("*.pyx"))


@pytest.mark.skipif(not MODULES, reason="sources are not here")
def test_every_module_is_built_and_below_400_lines():
    listed = (SOURCES / "meson.build").read_text(encoding="utf-8")
    for module in MODULES:
        assert f"'{module.stem}'," in listed, f"{module.name} is not built"
        assert len(module.read_text(encoding="utf-8").splitlines()) < 400, module.name


def test_fits_compile_nothing():
    """numba, which other packages may bring, is not even imported."""
    code = """
import sys
import numpy as np
import ksupport
X = np.random.default_rng(0).standard_normal((40, 20))
ksupport.AutoIRKSN().fit(X, X[:, 0])
ksupport.AutoIRKSNClassifier().fit(X, X[:, 0] > 0)
print("numba" in sys.modules)
"""
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
    assert done.stderr == ""
