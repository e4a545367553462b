"""Nothing depends on what a process did before; `make test-cpus` asks other CPUs as well."""

import importlib.util
from pathlib import Path

spec = importlib.util.spec_from_file_location("compare", Path(__file__).with_name("compare.py"))
compare = importlib.util.module_from_spec(spec)
spec.loader.exec_module(compare)


def test_the_same_to_the_last_bit_in_any_order():
    assert compare.compare({}, quick=True) == {}
