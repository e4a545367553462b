"""What is chosen does not depend on the CPU; `make test-cpus` asks more of them, and more fits."""

import importlib.util
import platform
from pathlib import Path

import pytest

spec = importlib.util.spec_from_file_location("compare", Path(__file__).with_name("compare.py"))
compare = importlib.util.module_from_spec(spec)
spec.loader.exec_module(compare)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the other targets are of x86")
def test_the_same_features_on_another_cpu_and_from_the_cache(tmp_path):
    others = {"generic": compare.OTHERS["generic"]}
    assert compare.compare(others, tmp_path, quick=True) == {}
