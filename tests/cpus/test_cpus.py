"""Nothing depends on whether code was just compiled; `make test-cpus` asks other CPUs as well."""

import importlib.util
from pathlib import Path

spec = importlib.util.spec_from_file_location("compare", Path(__file__).with_name("compare.py"))
compare = importlib.util.module_from_spec(spec)
spec.loader.exec_module(compare)


def test_the_same_to_the_last_bit_compiled_or_loaded_in_any_order(tmp_path):
    assert compare.compare({}, tmp_path, quick=True) == {}
